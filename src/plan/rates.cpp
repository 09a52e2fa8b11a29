#include "plan/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/cache_file.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

/// What was measured in another way is measured again.
constexpr auto way_name       = "way";
constexpr auto corrected_name = "corrected";
constexpr int  way            = 7;

std::optional<double> positive(const Json& object, const char* name) {
  const auto entry = object.find(name);
  if (entry == object.end() || !entry->is_number()) return std::nullopt;
  const auto number = entry->get<double>();
  return std::isfinite(number) && number > 0 ? std::optional{number} : std::nullopt;
}

std::optional<Rates> rates_from(const Json& object) {
  Rates rates;
  for (const auto& [name, value] : rate_fields) {
    const auto number = positive(object, name);
    if (!number) return std::nullopt;
    rates.*value = *number;
  }
  return rates;
}

std::optional<Rates> measured_rates(const Json& entry) {
  if (!entry.is_object() || entry.value(way_name, Json{}) != way) return std::nullopt;
  return rates_from(entry);
}

Json to_json(const Rates& rates) {
  Json object = Json::object();
  for (const auto& [name, value] : rate_fields) object[name] = rates.*value;
  return object;
}

}  // namespace

std::string rates_path() { return cache_path("rates.json"); }

std::optional<MachineRates> kept_rates(const std::string& path, const std::string& machine) {
  if (path.empty()) return std::nullopt;
  const Json cache = read_cache(path);
  const auto found = cache.find(machine);
  if (found == cache.end()) return std::nullopt;
  const auto measured = measured_rates(*found);
  if (!measured) return std::nullopt;
  const auto entry = found->find(corrected_name);
  const auto since = entry == found->end() || !entry->is_object() ? std::nullopt : rates_from(*entry);
  return MachineRates{*measured, since.value_or(*measured)};
}

void keep_rates(const std::string& path, const std::string& machine, const MachineRates& rates) {
  if (path.empty()) return;
  Json entry            = to_json(rates.measured);
  entry[way_name]       = way;
  entry[corrected_name] = to_json(rates.corrected);
  Json cache            = read_cache(path);
  cache[machine]        = std::move(entry);
  write_cache(path, cache);
}

Rates corrected(const MachineRates& rates, std::span<const RateObservation> observations) {
  constexpr double most_of = 0.7, long_enough = 2e-3;  // of an iteration that says something
  constexpr double step = 2, far = 4, learned = 0.5;
  Rates            better = rates.corrected;
  for (const auto& field : rate_fields) {
    double Rates::*const rate     = field.value;
    double               expected = 0, taken = 0;
    for (const RateObservation& each : observations) {
      if (each.rate != rate || each.taken < long_enough || each.by_rate < most_of * each.predicted) continue;
      expected += each.by_rate;
      taken += std::max(each.taken - (each.predicted - each.by_rate), each.by_rate / step);
    }
    if (expected <= 0) continue;
    const double slower = std::clamp(taken / expected, 1 / step, step);
    better.*rate        = std::clamp(better.*rate * std::pow(slower, -learned), rates.measured.*rate / far,
                                     rates.measured.*rate * far);
  }
  return better;
}

StartupFacts startup_facts(const std::string& path, int threads) {
  constexpr double of_a_thread = 60e6;
  const Rates      guess;
  StartupFacts     facts{guess.context, of_a_thread * threads, guess.host_iteration};
  if (path.empty()) return facts;
  // Of several GPUs, the one that is ready first.
  const Json cache = read_cache(path);
  bool       known = false;
  for (const auto& [machine, entry] : cache.items()) {
    if (!machine.ends_with(fmt::format(", {} threads", threads))) continue;
    const auto rates = measured_rates(entry);
    if (!rates || (known && facts.context <= rates->context)) continue;
    facts = {rates->context, rates->host_visited_far, rates->host_iteration};
    known = true;
  }
  return facts;
}

}  // namespace spillway
