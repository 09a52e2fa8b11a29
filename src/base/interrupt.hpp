// The one flag that Ctrl-C sets. Library code looks at it only where it would otherwise wait for ever.
#pragma once

#include <csignal>

namespace spillway {

inline volatile std::sig_atomic_t interrupt_requested = 0;

}  // namespace spillway
