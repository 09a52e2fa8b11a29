// The entry points of libFuzzer. SPILLWAY_FUZZ_TARGET, a variable of the environment, names the format; without it
// the targets are listed.
#include <cstdio>
#include <cstdlib>

#include "targets.hpp"

namespace {

const char* target() {
  static const char* const named = std::getenv("SPILLWAY_FUZZ_TARGET");
  return named;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (target()) return 0;
  for (const std::string& name : spillway::fuzz::targets()) std::puts(name.c_str());
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spillway::fuzz::run(target(), data, size);
  return 0;
}
