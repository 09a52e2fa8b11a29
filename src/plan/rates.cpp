#include "plan/rates.hpp"

#include <cmath>

#include "plan/cache_file.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

/// What was measured in another way is measured again.
constexpr auto way_name = "way";
constexpr int  way      = 5;

}  // namespace

std::string rates_path() { return cache_path("rates.json"); }

std::optional<Rates> kept_rates(const std::string& path, const std::string& machine) {
  if (path.empty()) return std::nullopt;
  const Json cache = read_cache(path);
  const auto found = cache.find(machine);
  if (found == cache.end() || !found->is_object()) return std::nullopt;
  if (found->value(way_name, Json{}) != way) return std::nullopt;
  Rates rates;
  for (const auto& [name, value] : rate_fields) {
    const auto entry = found->find(name);
    if (entry == found->end() || !entry->is_number()) return std::nullopt;
    rates.*value = entry->get<double>();
    if (!std::isfinite(rates.*value) || rates.*value <= 0) return std::nullopt;
  }
  return rates;
}

void keep_rates(const std::string& path, const std::string& machine, const Rates& rates) {
  if (path.empty()) return;
  Json entry{{way_name, way}};
  for (const auto& [name, value] : rate_fields) entry[name] = rates.*value;
  Json cache     = read_cache(path);
  cache[machine] = std::move(entry);
  write_cache(path, cache);
}

}  // namespace spillway
