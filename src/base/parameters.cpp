#include "base/parameters.hpp"

#include <algorithm>
#include <charconv>

#include "base/fail.hpp"
#include "base/text.hpp"

namespace spillway {

ParameterValues completed(std::string_view owner, const std::vector<Parameter>& parameters,
                          const ParameterValues& given) {
  std::vector<std::string> names;
  ParameterValues          values = given;
  for (const Parameter& parameter : parameters) {
    names.push_back(parameter.name);
    if (!parameter.default_value.empty()) values.try_emplace(parameter.name, parameter.default_value);
  }
  for (const auto& [name, value] : given)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw usage_error("{} has no parameter '{}'; {}", owner, printable(name),
                        names.empty() ? "it takes none" : advice(name, names));
  return values;
}

const std::string& Parameters::text(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw usage_error("{} needs a value for '{}'", owner_, name);
  return found->second;
}

std::uint64_t Parameters::number(const std::string& name, std::uint64_t least, std::uint64_t most) const {
  const auto value = parse_number(text(name));
  if (!value || *value < least || *value > most)
    throw usage_error("{}: '{}' is {}; it must be a whole number from {} to {}", owner_, name,
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
    throw usage_error("{}: '{}' is {}; it must be a number from {} to {}", owner_, name, printable(given), least,
                      most);
  return value;
}

bool Parameters::yes(const std::string& name) const {
  const std::string& given = text(name);
  if (given != "yes" && given != "no")
    throw usage_error("{}: '{}' is {}; it must be yes or no", owner_, name, printable(given));
  return given == "yes";
}

}  // namespace spillway
