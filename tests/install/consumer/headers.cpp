// The test writes this list from what is installed: every header, in one go.
#include "all_headers.hpp"
