// The entry points of libFuzzer. SPILLWAY_FUZZ_TARGET, a variable of the environment, names the format; without it
// the targets are listed. With SPILLWAY_FUZZ_SEEDS, the name of a folder, the target's seeds are written to it.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "seeds.hpp"
#include "targets.hpp"

namespace {

const char* target() {
  static const char* const named = std::getenv("SPILLWAY_FUZZ_TARGET");
  return named;
}

void write_seeds(const std::filesystem::path& folder) {
  int number = 0;
  for (const std::string& bytes : spillway::fuzz::seeds(target()))
    std::ofstream{folder / ("seed-" + std::to_string(number++)), std::ios::binary} << bytes;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (const char* const folder = std::getenv("SPILLWAY_FUZZ_SEEDS"); folder && target()) {
    write_seeds(folder);
    std::exit(0);
  }
  if (target()) return 0;
  for (const std::string& name : spillway::fuzz::targets()) std::puts(name.c_str());
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spillway::fuzz::run(target(), data, size);
  return 0;
}
