#include "generate/parameters.hpp"

#include <charconv>

#include "base/fail.hpp"
#include "base/text.hpp"

namespace spillway {

const std::string& Parameters::text(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw usage_error("{} needs a value for '{}'", kind_, name);
  return found->second;
}

std::uint64_t Parameters::number(const std::string& name, std::uint64_t least, std::uint64_t most) const {
  const auto value = parse_number(text(name));
  if (!value || *value < least || *value > most)
    throw usage_error("{}: '{}' is {}; it must be a whole number from {} to {}", kind_, name,
                      printable(text(name)), least, most);
  return *value;
}

double Parameters::real(const std::string& name, double least, double most) const {
  const std::string& given = text(name);
  const char*        end   = given.data() + given.size();
  double             value = 0;
  const auto [rest, bad]   = std::from_chars(given.data(), end, value);
  const bool valid = bad == std::errc{} && rest == end && value >= least && value <= most;  // NaN fails too
  if (!valid)
    throw usage_error("{}: '{}' is {}; it must be a number from {} to {}", kind_, name, printable(given), least,
                      most);
  return value;
}

bool Parameters::yes(const std::string& name) const {
  const std::string& given = text(name);
  if (given != "yes" && given != "no")
    throw usage_error("{}: '{}' is {}; it must be yes or no", kind_, name, printable(given));
  return given == "yes";
}

}  // namespace spillway
