#include "queue_order.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>

#include <spillway/progress.hpp>
#include <spillway/types.hpp>

#include "base/fail.hpp"
#include "convert.hpp"
#include "work.hpp"

namespace spillway::python {
namespace {

using Offsets = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Targets = nb::ndarray<const Vertex, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct Rows {
  Offsets offsets;
  Targets targets;

  std::uint64_t vertex_count() const { return offsets.shape(0) - 1; }
};

/// The levels follow each other: level i is order[levels[i] … levels[i + 1]).
struct Met {
  std::vector<Vertex>        order;
  std::vector<Vertex>        parents;  ///< of the same entry of `order`; sources are their own
  std::vector<std::uint64_t> levels;
};

constexpr std::uint64_t look_every = 1u << 16;  // vertices between two looks whether the work is cancelled

Met met_from(const Rows& rows, const std::vector<Vertex>& sources, std::uint64_t depth, Progress& progress) {
  Met               met;
  std::vector<bool> seen(rows.vertex_count());
  const auto        meet = [&](Vertex v, Vertex parent) {
    if (seen[v]) return;
    seen[v] = true;
    met.order.push_back(v), met.parents.push_back(parent);
  };
  for (const Vertex source : sources) meet(source, source);
  met.levels = {0, met.order.size()};
  const std::uint64_t* const offsets = rows.offsets.data();
  while (met.levels.size() - 2 < depth && met.levels[met.levels.size() - 2] < met.levels.back()) {
    for (std::uint64_t i = met.levels[met.levels.size() - 2]; i < met.levels.back(); ++i) {
      if (i % look_every == 0) check_cancelled(progress);
      const Vertex v = met.order[i];
      for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) meet(rows.targets.data()[e], v);
    }
    met.levels.push_back(met.order.size());
  }
  if (met.levels.size() > 2 && met.levels[met.levels.size() - 2] == met.levels.back()) met.levels.pop_back();
  return met;
}

/// Rows of the package's own making; whoever calls otherwise is told before memory is read.
void check(const Rows& rows, const std::vector<Vertex>& sources) {
  const std::uint64_t  n = rows.offsets.shape(0) == 0 ? 0 : rows.vertex_count();
  const std::uint64_t* o = rows.offsets.data();
  const bool           good =
      rows.offsets.shape(0) > 0 && o[0] == 0 && o[n] == rows.targets.shape(0) && std::is_sorted(o, o + n + 1) &&
      std::all_of(rows.targets.data(), rows.targets.data() + rows.targets.shape(0), [&](Vertex v) { return v < n; }) &&
      std::all_of(sources.begin(), sources.end(), [&](Vertex v) { return v < n; });
  if (!good) throw usage_error("these are no rows of a graph with those sources");
}

nb::tuple queue_order(const Offsets& offsets, const Targets& targets, const std::vector<Vertex>& sources,
                      std::uint64_t depth, nb::handle tick) {
  const auto rows = std::make_shared<const Rows>(Rows{offsets, targets});
  Met        met  = work(tick, [rows, sources, depth](Progress& progress) {
    check(*rows, sources);
    return met_from(*rows, sources, depth, progress);
  });
  return nb::make_tuple(array_of(std::move(met.order)), array_of(std::move(met.parents)),
                        array_of(std::move(met.levels)));
}

}  // namespace

void add_queue_order(nb::module_& module) {
  module.def("queue_order", &queue_order, nb::arg("offsets"), nb::arg("targets"), nb::arg("sources"),
             nb::arg("depth"), nb::arg("tick").none());
}

}  // namespace spillway::python
