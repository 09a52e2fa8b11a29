#include "base/fail.hpp"

#include <cerrno>
#include <cstring>

namespace spillway {

Error system_error(const char* what, const std::string& path) {
  const int code = errno;
  return bad_input("{}: cannot {}: {}", path, what, std::strerror(code));
}

Progress& Progress::none() {
  static Progress silent;
  return silent;
}

}  // namespace spillway
