#include "io/reading.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/symmetry.hpp"

namespace spillway {

std::string without_compression(std::string path) {
  for (const std::string_view compressed : {".gz", ".zst"})
    if (lower_case(path).ends_with(compressed)) path.resize(path.size() - compressed.size());
  return path;
}

bool named_with(const std::string& path, std::string_view suffix) {
  const std::string name = lower_case(without_compression(path));
  return name.size() > suffix.size() && name.ends_with(suffix) && name[name.size() - suffix.size() - 1] == '.';
}

WeightType kept_weights(const ReadJob& job, WeightType held) {
  const auto& asked = job.options.weight_type;
  if (job.options.weight_column == "none" || asked == WeightType::none) return WeightType::none;
  if (held == WeightType::none && asked)
    throw usage_error("{}: --weight-type {} asked for, but the file has no weights", job.path(),
                      to_string(*asked));
  return asked.value_or(held);
}

std::optional<std::uint32_t> weight_bits(std::int64_t value, WeightType type) {
  if (type == WeightType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (value < 0 || value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

std::optional<std::uint32_t> weight_bits(double value, WeightType type) {
  if (type == WeightType::f32) {
    if (std::isfinite(value) && std::abs(value) > double{std::numeric_limits<float>::max()}) return std::nullopt;
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  if (!(value >= 0 && value <= std::numeric_limits<std::uint32_t>::max())) return std::nullopt;
  if (std::trunc(value) != value) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

std::string arc_name(const IdMap& ids, Vertex source, Vertex target, WeightType weight_type,
                     std::uint32_t weight) {
  std::string name = fmt::format("{} -> {}", ids.name(source), ids.name(target));
  if (weight_type == WeightType::u32) name += fmt::format(" (weight {})", weight);
  if (weight_type == WeightType::f32) name += fmt::format(" (weight {})", std::bit_cast<float>(weight));
  return name;
}

ReadResult from_symmetric_rows(Csr csr, IdMap ids, WeightType weight_type, std::string_view format, ReadJob& job) {
  Transform& transform = job.context.transform;
  if (transform.undirected) {
    transform.undirected = false;  // both arcs are there: adding them again would double every edge
    job.notes.push_back(fmt::format("--undirected changes nothing: {} lists both arcs of every edge", format));
  }
  // With --symmetrize a missing arc is no lie but what the user wants added.
  const bool promised = !transform.symmetrize;
  ReadResult result   = from_rows(std::move(csr), std::move(ids), weight_type, /*undirected_file=*/promised, job);
  if (!promised) return result;
  if (const auto lone = find_lone_arc(result.csr, job.context.threads, job.progress()))
    throw bad_input(
        "{}: {} lists both arcs of every edge, but {} has no reverse{}; correct the file, or add what is "
        "missing with --symmetrize",
        job.path(), format, arc_name(result.ids, lone->source, lone->target, weight_type, lone->weight),
        weight_type == WeightType::none ? "" : " of the same weight");
  return result;
}

}  // namespace spillway
