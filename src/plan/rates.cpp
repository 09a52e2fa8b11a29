#include "plan/rates.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files.hpp"

#include <spillway/error.hpp>

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

/// What was measured in another way is measured again.
constexpr auto way_name = "way";
constexpr int  way      = 3;

/// What is no such file is an empty one.
Json read_cache(const std::string& path) {
  std::ifstream file{path};
  Json          cache = Json::parse(file, nullptr, false);
  return cache.is_object() ? cache : Json::object();
}

}  // namespace

std::string rates_path() {
  namespace fs       = std::filesystem;
  const auto* cache  = std::getenv("XDG_CACHE_HOME");
  const auto* home   = std::getenv("HOME");
  const auto  folder = cache && *cache == '/' ? fs::path{cache}
                       : home && *home == '/' ? fs::path{home} / ".cache"
                                              : fs::path{};
  return folder.empty() ? std::string{} : (folder / "spillway" / "rates.json").string();
}

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
  try {
    std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
    Json cache     = read_cache(path);
    cache[machine] = std::move(entry);
    OutputFile        file{path};
    const std::string text = cache.dump(2) + "\n";
    file.write_at(0, text.data(), text.size());
    file.commit();
  } catch (const Error&) {
  } catch (const std::filesystem::filesystem_error&) {
  }
}

}  // namespace spillway
