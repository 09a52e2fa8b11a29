#include "orders.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include <spillway/progress.hpp>
#include <spillway/types.hpp>

#include "base/fail.hpp"
#include "convert.hpp"
#include "work.hpp"

namespace spillway::python {
namespace {

using Offsets = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Targets = nb::ndarray<const Vertex, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

bool are_vertices(std::span<const Vertex> some, std::uint64_t n) {
  return std::all_of(some.begin(), some.end(), [n](Vertex v) { return v < n; });
}

/// Rows of arrays that the package has made; they are checked once.
struct Rows {
  Offsets held_offsets;
  Targets held_targets;

  std::span<const std::uint64_t> offsets{held_offsets.data(), held_offsets.shape(0)};
  std::span<const Vertex>        targets{held_targets.data(), held_targets.shape(0)};

  Rows(Offsets with_offsets, Targets with_targets)
      : held_offsets(std::move(with_offsets)), held_targets(std::move(with_targets)) {
    const bool good = !offsets.empty() && offsets.front() == 0 && offsets.back() == targets.size() &&
                      std::is_sorted(offsets.begin(), offsets.end()) && are_vertices(targets, vertex_count());
    if (!good) throw usage_error("these are no rows of a graph");
  }
  std::uint64_t           vertex_count() const { return offsets.size() - 1; }
  std::span<const Vertex> row(Vertex v) const { return targets.subspan(offsets[v], offsets[v + 1] - offsets[v]); }
};

using SharedRows = std::shared_ptr<const Rows>;

constexpr std::uint64_t look_every = 1u << 16;  // vertices between two looks whether the work is cancelled

// ---------------------------------------------------------------------------------- breadth first, by one queue

/// The levels follow each other: level i is order[levels[i] … levels[i + 1]).
struct Met {
  std::vector<Vertex>        order;
  std::vector<Vertex>        parents;  ///< of the same entry of `order`; sources are their own
  std::vector<std::uint64_t> levels;
};

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
  for (std::uint64_t level = 0; level < depth; ++level) {
    const std::uint64_t end = met.levels[level + 1];
    for (std::uint64_t i = met.levels[level]; i < end; ++i) {
      if (i % look_every == 0) check_cancelled(progress);
      const Vertex v = met.order[i];
      for (const Vertex target : rows.row(v)) meet(target, v);
    }
    if (met.order.size() == end) break;
    met.levels.push_back(met.order.size());
  }
  return met;
}

nb::tuple queue_order(const SharedRows& rows, const std::vector<Vertex>& sources, std::uint64_t depth,
                      nb::handle tick) {
  if (!are_vertices(sources, rows->vertex_count())) throw usage_error("a source is no vertex");
  Met met =
      work(tick, [rows, sources, depth](Progress& progress) { return met_from(*rows, sources, depth, progress); });
  return nb::make_tuple(array_of(std::move(met.order)), array_of(std::move(met.parents)),
                        array_of(std::move(met.levels)));
}

// ------------------------------------------------------------------------------------- strong components in order

/// Vertices by component: members[starts[c] … starts[c + 1]), c being the smallest of them.
struct Members {
  std::vector<std::uint64_t> starts;
  std::vector<Vertex>        members;

  Members(std::span<const Vertex> labels) : starts(labels.size() + 1), members(labels.size()) {
    for (const Vertex c : labels) ++starts[c + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::uint64_t> next{starts.begin(), starts.end() - 1};
    for (std::uint64_t v = 0; v < labels.size(); ++v) members[next[labels[v]]++] = static_cast<Vertex>(v);
  }
};

/// A component comes after all that its arcs lead to: depth first, from the first vertices on.
std::vector<Vertex> sinks_first(const Rows& rows, std::span<const Vertex> labels, Progress& progress) {
  struct Visit {
    Vertex        component;
    std::uint64_t member, arc;  ///< the next to be looked at
  };
  const Members       of{labels};
  std::vector<Vertex> order;
  std::vector<bool>   seen(labels.size());
  std::vector<Visit>  path;
  const auto          enter = [&](Vertex c) {
    if (seen[c]) return false;
    seen[c] = true;
    path.push_back({c, of.starts[c], rows.offsets[of.members[of.starts[c]]]});
    return true;
  };
  const auto enter_next = [&](Visit at) {  // by value: entering moves the path
    for (; at.member < of.starts[at.component + 1]; ++at.member) {
      const Vertex v = of.members[at.member];
      for (at.arc = std::max(at.arc, rows.offsets[v]); at.arc < rows.offsets[v + 1];) {
        const Vertex next = labels[rows.targets[at.arc++]];
        if (seen[next]) continue;
        path.back() = at;
        return enter(next);
      }
    }
    return false;
  };
  for (std::uint64_t v = 0; v < labels.size(); ++v) {
    if (!enter(labels[v])) continue;
    while (!path.empty()) {
      if (enter_next(path.back())) continue;
      if (order.size() % look_every == 0) check_cancelled(progress);
      order.push_back(path.back().component);
      path.pop_back();
    }
  }
  return order;
}

nb::object component_order(const SharedRows& rows, const Targets& labels, nb::handle tick) {
  const auto held = std::make_shared<const Targets>(labels);
  return array_of(work(tick, [rows, held](Progress& progress) {
    const std::span<const Vertex> of{held->data(), held->shape(0)};
    const bool                    good = of.size() == rows->vertex_count() && are_vertices(of, of.size()) &&
                      std::all_of(of.begin(), of.end(), [of](Vertex c) { return of[c] == c; });
    if (!good) throw usage_error("each label is a vertex of its component, the same for all of it");
    return sinks_first(*rows, of, progress);
  }));
}

}  // namespace

void add_orders(nb::module_& module) {
  const auto ticks = nb::arg("tick").none();
  nb::class_<SharedRows>(module, "Rows")
      .def("__init__", [](SharedRows* self, const Offsets& offsets, const Targets& targets) {
        new (self) SharedRows{std::make_shared<const Rows>(offsets, targets)};
      });
  module.def("queue_order", &queue_order, nb::arg("rows"), nb::arg("sources"), nb::arg("depth"), ticks);
  module.def("component_order", &component_order, nb::arg("rows"), nb::arg("labels"), ticks);
}

}  // namespace spillway::python
