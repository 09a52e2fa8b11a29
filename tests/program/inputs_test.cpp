#include "program/input_tests.hpp"
