// Cooperative groups as far as the grid's barrier; the rest takes seconds to compile.
#pragma once

#ifndef _CG_LIMIT_INCLUDED_DEPENDENCIES
#define _CG_LIMIT_INCLUDED_DEPENDENCIES
#endif
#include <cooperative_groups.h>
