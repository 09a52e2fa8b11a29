// The worked example of WolfGraph's paper, on a GPU.
#include "supply/worked_example.hpp"
