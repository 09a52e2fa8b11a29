#pragma once

#include "primitives.cuh"
