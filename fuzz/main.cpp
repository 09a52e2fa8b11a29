// The entry point of one libFuzzer target; SPILLWAY_FUZZ_TARGET names the format.
#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spillway::fuzz::run(SPILLWAY_FUZZ_TARGET, data, size);
  return 0;
}
