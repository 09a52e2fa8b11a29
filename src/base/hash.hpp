// XXH3, compiled in: the one place that includes it, since its header must be configured before.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>
