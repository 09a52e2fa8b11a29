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

struct Rows {
  Offsets offsets;
  Targets targets;

  std::uint64_t vertex_count() const { return offsets.shape(0) - 1; }
};

constexpr std::uint64_t look_every = 1u << 16;  // vertices between two looks whether the work is cancelled

bool are_vertices(std::span<const Vertex> some, std::uint64_t n) {
  return std::all_of(some.begin(), some.end(), [n](Vertex v) { return v < n; });
}

/// The rows are of the package's own making; if they are not, that is said before memory is read.
void check(const Rows& rows, std::span<const Vertex> others) {
  const std::uint64_t  entries = rows.offsets.shape(0), arcs = rows.targets.shape(0);
  const std::uint64_t* offsets = rows.offsets.data();
  const bool good = entries > 0 && offsets[0] == 0 && offsets[entries - 1] == arcs &&
                    std::is_sorted(offsets, offsets + entries) &&
                    are_vertices({rows.targets.data(), arcs}, entries - 1) && are_vertices(others, entries - 1);
  if (!good) throw usage_error("these are no rows of a graph with those vertices");
}

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
  met.levels                         = {0, met.order.size()};
  const std::uint64_t* const offsets = rows.offsets.data();
  for (std::uint64_t level = 0; level < depth; ++level) {
    const std::uint64_t end = met.levels[level + 1];
    for (std::uint64_t i = met.levels[level]; i < end; ++i) {
      if (i % look_every == 0) check_cancelled(progress);
      const Vertex v = met.order[i];
      for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) meet(rows.targets.data()[e], v);
    }
    if (met.order.size() == end) break;
    met.levels.push_back(met.order.size());
  }
  return met;
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
    path.push_back({c, of.starts[c], rows.offsets.data()[of.members[of.starts[c]]]});
    return true;
  };
  const auto go_on = [&](Visit& at) {  // true: into another component
    for (; at.member < of.starts[at.component + 1]; ++at.member) {
      const Vertex v = of.members[at.member];
      at.arc         = std::max(at.arc, rows.offsets.data()[v]);
      while (at.arc < rows.offsets.data()[v + 1])
        if (enter(labels[rows.targets.data()[at.arc++]])) return true;
    }
    return false;
  };
  for (std::uint64_t v = 0; v < labels.size(); ++v) {
    if (v % look_every == 0) check_cancelled(progress);
    if (!enter(labels[v])) continue;
    while (!path.empty()) {
      const std::size_t top = path.size() - 1;
      if (go_on(path[top])) continue;
      order.push_back(path.back().component);
      path.pop_back();
    }
  }
  return order;
}

nb::object component_order(const Offsets& offsets, const Targets& targets, const Targets& labels, nb::handle tick) {
  struct Input {
    Rows    rows;
    Targets labels;
  };
  const auto input = std::make_shared<const Input>(Input{{offsets, targets}, labels});
  return array_of(work(tick, [input](Progress& progress) {
    const std::span<const Vertex> of{input->labels.data(), input->labels.shape(0)};
    check(input->rows, of);
    if (of.size() != input->rows.vertex_count()) throw usage_error("a label a vertex is expected");
    return sinks_first(input->rows, of, progress);
  }));
}

}  // namespace

void add_orders(nb::module_& module) {
  const auto ticks = nb::arg("tick").none();
  module.def("queue_order", &queue_order, nb::arg("offsets"), nb::arg("targets"), nb::arg("sources"),
             nb::arg("depth"), ticks);
  module.def("component_order", &component_order, nb::arg("offsets"), nb::arg("targets"), nb::arg("labels"), ticks);
}

}  // namespace spillway::python
