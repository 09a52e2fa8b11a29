// For types that must be one and the same on both sides of a plug-in's boundary: an exception is caught, and a
// virtual function found, even where the plug-in is compiled with -fvisibility=hidden.
#pragma once

#define SPILLWAY_API __attribute__((visibility("default")))
