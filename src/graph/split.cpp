#include "graph/split.hpp"

#include <algorithm>
#include <numeric>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/build_size.hpp"
#include "graph/csr.hpp"
#include "graph/split_family.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>

namespace spillway {
namespace {

constexpr std::uint64_t rows_a_task = 1u << 12;

/// body(first, last) over stretches of [0, count), on all threads.
template <class Body>
void for_each_stretch(int threads, std::uint64_t count, Body&& body) {
  for_each_task(threads, (count + rows_a_task - 1) / rows_a_task, [&](std::uint64_t task, int) {
    body(task * rows_a_task, std::min(count, (task + 1) * rows_a_task));
  });
}

/// Where the tree vertices of each vertex begin, and the end; they are in the order of their roots.
Buffer<Vertex> first_tree_vertices(std::uint64_t originals, std::span<const Vertex> roots,
                                   const std::shared_ptr<MemoryBudget>& budget, int threads) {
  Buffer<Vertex> first{originals + 1, budget, "the split"};
  for_each_stretch(threads, originals + 1, [&](std::uint64_t begin, std::uint64_t end) {
    auto at = std::lower_bound(roots.begin(), roots.end(), begin);
    for (std::uint64_t v = begin; v < end; ++v) {
      while (at != roots.end() && *at < v) ++at;
      first[v] = static_cast<Vertex>(at - roots.begin());
    }
  });
  return first;
}

/// The row of the split that is a family's member, and where it is to be written.
struct MemberRow {
  const Csr&       from;    ///< rows before the split
  EdgeIndex        source;  ///< where the vertex's own edges begin there
  SplitFamily::Row row;
  std::uint64_t    first_child;  ///< the vertex that child 0 is
};

void write_row(const MemberRow& member, Vertex* targets, std::uint32_t* weights) {
  const auto own =
      member.from.targets.span().subspan(member.source + member.row.edges.first, member.row.edges.size());
  targets = std::copy(own.begin(), own.end(), targets);
  if (weights != nullptr)
    std::copy_n(member.from.weights.data() + member.source + member.row.edges.first, own.size(), weights);
  for (std::uint64_t child = member.row.children.first; child < member.row.children.last; ++child)
    if (child != member.row.except) *targets++ = static_cast<Vertex>(member.first_child + child);
}

/// What splitting adds.
struct Added {
  std::uint64_t vertices;
  EdgeIndex     arcs;
};

/// Tree arcs of a family with so many tree vertices.
EdgeIndex tree_arcs_of(SplitKind kind, std::uint64_t added) {
  return kind == SplitKind::clique ? added * added : added;
}

/// Or an error where vertices would be too many to be numbered.
Added count_added(const Csr& rows, const SplitForm& form, int threads) {
  std::atomic<std::uint64_t> added{0}, arcs{0};
  for_each_stretch(threads, rows.vertex_count(), [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t own = 0, own_arcs = 0;
    for (std::uint64_t v = begin; v < end; ++v) {
      const SplitFamily family{form.kind, form.degree_bound, rows.degree(static_cast<Vertex>(v))};
      own += family.added(), own_arcs += tree_arcs_of(form.kind, family.added());
    }
    added += own, arcs += own_arcs;
  });
  constexpr EdgeIndex most_arcs = EdgeIndex{1} << 48;
  if (arcs > most_arcs)
    throw usage_error(
        "--split {}: {} edges between parts of vertices are too many; choose a larger K, or another form",
        text_of(form), with_commas(arcs));
  if (added > max_vertices - rows.vertex_count())
    throw usage_error(
        "--split {}: {} vertices and {} that are added to them are more than the 2^32-1 that can be numbered; "
        "choose a larger K",
        text_of(form), with_commas(rows.vertex_count()), with_commas(added));
  return {added, arcs};
}

/// Of rows that are split, and of what making them takes.
std::uint64_t bytes_of(const Csr& rows, const Added& added) {
  const std::uint64_t vertices = rows.vertex_count() + added.vertices;
  return rows_bytes(vertices, rows.arc_count() + added.arcs, !rows.weights.empty()) + vertices * sizeof(Vertex);
}

Buffer<Vertex> roots_of(const Csr& rows, const SplitForm& form, std::uint64_t added,
                        const std::shared_ptr<MemoryBudget>& budget) {
  Buffer<Vertex> roots{added, budget, "the split"};
  std::uint64_t  at = 0;
  for (std::uint64_t v = 0; v < rows.vertex_count(); ++v) {
    const std::uint64_t family =
        SplitFamily{form.kind, form.degree_bound, rows.degree(static_cast<Vertex>(v))}.added();
    std::fill_n(roots.data() + at, family, static_cast<Vertex>(v));
    at += family;
  }
  return roots;
}

/// body(row, vertex, member) for each row of the split from `begin` to before `end`.
template <class Body>
void for_each_member(std::uint64_t begin, std::uint64_t end, std::uint64_t originals,
                     std::span<const Vertex> roots, std::span<const Vertex> first, Body&& body) {
  for (std::uint64_t row = begin; row < end; ++row) {
    const bool          is_root = row < originals;
    const Vertex        v       = is_root ? static_cast<Vertex>(row) : roots[row - originals];
    const std::uint64_t member  = is_root ? 0 : row - originals - first[v] + 1;
    body(row, v, member);
  }
}

Csr split_rows(const Csr& rows, const SplitForm& form, std::span<const Vertex> roots,
               const BuildContext& context) {
  const std::uint64_t  n = rows.vertex_count(), all = n + roots.size();
  const Buffer<Vertex> first  = first_tree_vertices(n, roots, context.budget, context.threads);
  const auto           row_of = [&](Vertex v, std::uint64_t member) {
    return SplitFamily{form.kind, form.degree_bound, rows.degree(v)}.row(member);
  };
  Buffer<EdgeIndex> offsets{all + 1, context.budget, "the split rows"};
  for_each_stretch(context.threads, all, [&](std::uint64_t begin, std::uint64_t end) {
    for_each_member(begin, end, n, roots, first.span(), [&](std::uint64_t row, Vertex v, std::uint64_t member) {
      offsets[row + 1] = row_of(v, member).length();
    });
  });
  std::partial_sum(offsets.data(), offsets.data() + all + 1, offsets.data());
  Buffer<Vertex>        targets{offsets[all], context.budget, "the split rows"};
  Buffer<std::uint32_t> weights{rows.weights.empty() ? 0 : offsets[all], context.budget, "the split rows"};
  for_each_stretch(context.threads, all, [&](std::uint64_t begin, std::uint64_t end) {
    check_cancelled(*context.progress);
    for_each_member(begin, end, n, roots, first.span(), [&](std::uint64_t row, Vertex v, std::uint64_t member) {
      write_row({.from = rows, .source = rows.offsets[v], .row = row_of(v, member), .first_child = n + first[v]},
                targets.data() + offsets[row], weights.size() == 0 ? nullptr : weights.data() + offsets[row]);
    });
  });
  return {std::move(offsets).freeze(), std::move(targets).freeze(), std::move(weights).freeze()};
}

/// Edges of the vertex's own in a row whose tree vertices come last.
std::uint64_t own_edges(const Csr& rows, std::uint64_t row, std::uint64_t originals) {
  const auto neighbors = rows.neighbors(static_cast<Vertex>(row));
  return static_cast<std::uint64_t>(std::ranges::lower_bound(neighbors, originals) - neighbors.begin());
}

BuildContext context_for(const std::shared_ptr<MemoryBudget>& budget, int threads) {
  return {.budget = budget, .transform = {}, .threads = threads};
}

}  // namespace

SplitRows::SplitRows(Parts parts, std::shared_ptr<MemoryBudget> budget, bool trusted)
    : parts_(std::move(parts)),
      budget_(std::move(budget)),
      split_checked_(trusted),
      transposed_ready_(trusted && !parts_.transposed.offsets.empty()),
      transposed_given_(!parts_.transposed.offsets.empty()) {}

bool SplitRows::has_transposed() const {
  return transposed_given_ || transposed_ready_.load(std::memory_order_acquire);
}

/// A file may say anything of which vertex is part of which. Rows that the form would not have made of some
/// vertex's edges are refused: whatever goes by the form can trust them then.
void SplitRows::check() const {
  const int threads = thread_count();
  check_rows(parts_.split, parts_.weight_type, parts_.name, threads);
  const std::uint64_t n      = originals();
  const auto          roots  = parts_.roots.span();
  const auto          refuse = [&](std::uint64_t v) {
    throw bad_input(
                 "{}: the rows of vertex {} and of what it is split into are not what a split {} makes; the file "
                          "is damaged",
                 parts_.name, v, text_of(form()));
  };
  if (!std::ranges::is_sorted(roots) || (!roots.empty() && roots.back() >= n))
    throw bad_input("{}: the table of split vertices is damaged", parts_.name);
  const Buffer<Vertex>       first = first_tree_vertices(n, roots, budget_, threads);
  std::atomic<std::uint64_t> arcs{0};
  for_each_stretch(threads, n, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v) {
      const std::uint64_t members = 1 + first[v + 1] - first[v], tree = n + first[v];
      const auto          row_of = [&](std::uint64_t member) { return member == 0 ? v : tree + member - 1; };
      EdgeIndex           degree = 0;
      for (std::uint64_t member = 0; member < members; ++member)
        degree += own_edges(parts_.split, row_of(member), n);
      const SplitFamily family{form().kind, form().degree_bound, degree};
      if (family.added() != members - 1) refuse(v);
      for (std::uint64_t member = 0; member < members; ++member) {
        const SplitFamily::Row row       = family.row(member);
        const auto             neighbors = parts_.split.neighbors(static_cast<Vertex>(row_of(member)));
        if (neighbors.size() != row.length() || own_edges(parts_.split, row_of(member), n) != row.edges.size())
          refuse(v);
        std::uint64_t at = row.edges.size();
        if (!parts_.split.weights.empty()) {
          const auto weights = parts_.split.weights.span().subspan(parts_.split.offsets[row_of(member)] + at);
          if (std::ranges::any_of(weights.first(row.tree_edges()), [](auto weight) { return weight != 0; }))
            refuse(v);
        }
        for (std::uint64_t child = row.children.first; child < row.children.last; ++child)
          if (child != row.except && neighbors[at++] != tree + child) refuse(v);
      }
      arcs += degree;
    }
  });
  if (arcs != original_arcs())
    throw bad_input("{}: {} arcs before it was split are stated, and its rows have {}", parts_.name,
                    original_arcs(), arcs.load());
}

const Csr& SplitRows::split() const {
  if (!split_checked_.load(std::memory_order_acquire)) {
    const std::scoped_lock lock{mutex_};
    if (!split_checked_) {
      check();
      split_checked_.store(true, std::memory_order_release);
    }
  }
  return parts_.split;
}

const Csr& SplitRows::transposed() const {
  const Csr& rows = split();
  if (!transposed_ready_.load(std::memory_order_acquire)) {
    const std::scoped_lock lock{mutex_};
    if (!transposed_ready_) {
      if (transposed_given_)
        check_rows(parts_.transposed, parts_.weight_type, parts_.name + " (transposed)", thread_count());
      else
        parts_.transposed = spillway::transposed(rows, parts_.weight_type, context_for(budget_, thread_count()));
      transposed_ready_.store(true, std::memory_order_release);
    }
  }
  return parts_.transposed;
}

std::uint64_t SplitRows::largest_family() const {
  std::uint64_t largest = 0, family = 0;
  for (std::uint64_t i = 0; i < roots().size(); ++i) {
    family  = i > 0 && roots()[i] == roots()[i - 1] ? family + 1 : 1;
    largest = std::max(largest, family);
  }
  return largest;
}

std::uint64_t SplitRows::most_hops() const {
  return SplitFamily::most_hops(form().kind, form().degree_bound, largest_family());
}

Buffer<Vertex> SplitRows::hops(int threads) const {
  const Csr&           rows  = split();
  const std::uint64_t  n     = originals();
  const Buffer<Vertex> first = first_tree_vertices(n, roots().span(), budget_, threads);
  Buffer<Vertex>       hops{rows.vertex_count(), budget_, "the split"};
  const auto           lead = [&](std::uint64_t row) {
    const auto neighbors = rows.neighbors(static_cast<Vertex>(row));
    for (const Vertex child : neighbors.subspan(own_edges(rows, row, n)))
      if (child != row) hops[child] = hops[row] + 1;
  };
  for_each_stretch(threads, n, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v) {
      const std::uint64_t tree = n + first[v], last = n + first[v + 1];
      lead(v);
      if (form().kind == SplitKind::udt)  // those made last lead to those before
        for (std::uint64_t row = last; row-- > tree;) lead(row);
      else if (form().kind == SplitKind::circular)
        for (std::uint64_t row = tree; row < last; ++row) lead(row);
    }
  });
  return hops;
}

Csr SplitRows::original_rows(int threads) const {
  const Csr&           rows   = split();
  const std::uint64_t  n      = originals();
  const Buffer<Vertex> first  = first_tree_vertices(n, roots().span(), budget_, threads);
  const auto           row_of = [&](std::uint64_t v, std::uint64_t k) {
    const std::uint64_t family = first[v + 1] - first[v];
    const std::uint64_t member = SplitFamily::member_at(form().kind, k, family);
    return static_cast<Vertex>(member == 0 ? v : n + first[v] + member - 1);
  };
  budget_->expect(rows_bytes(n, original_arcs(), !rows.weights.empty()), "the rows before the split");
  Buffer<EdgeIndex> offsets{n + 1, budget_, "the rows before the split"};
  for_each_stretch(threads, n, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v)
      for (std::uint64_t k = 0; k <= first[v + 1] - first[v]; ++k)
        offsets[v + 1] += own_edges(rows, row_of(v, k), n);
  });
  std::partial_sum(offsets.data(), offsets.data() + n + 1, offsets.data());
  Buffer<Vertex>        targets{offsets[n], budget_, "the rows before the split"};
  Buffer<std::uint32_t> weights{rows.weights.empty() ? 0 : offsets[n], budget_, "the rows before the split"};
  for_each_stretch(threads, n, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v) {
      EdgeIndex at = offsets[v];
      for (std::uint64_t k = 0; k <= first[v + 1] - first[v]; ++k) {
        const Vertex        row = row_of(v, k);
        const std::uint64_t own = own_edges(rows, row, n);
        std::copy_n(rows.targets.data() + rows.offsets[row], own, targets.data() + at);
        if (weights.size() > 0) std::copy_n(rows.weights.data() + rows.offsets[row], own, weights.data() + at);
        at += own;
      }
    }
  });
  Csr before{std::move(offsets).freeze(), std::move(targets).freeze(), std::move(weights).freeze()};
  if (!form().in_edges) return before;
  return spillway::transposed(before, parts_.weight_type, context_for(budget_, threads));
}

bool has_tree_vertices(const Graph& graph) { return graph.split() && graph.split()->tree_vertices() > 0; }

void name_originals(const Graph& graph, std::span<Vertex> vertices, int threads) {
  if (!graph.split()) return;
  const SplitRows& split = *graph.split();
  for_each_share(threads, vertices.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t v = begin; v < end; ++v) vertices[v] = split.original(vertices[v]);
  });
}

// --- forms ---

SplitForm split_form(const std::string& text) {
  const auto refuse = [&]() -> Error {
    return usage_error(
        "--split {}: KIND[:K][:in] is expected, where KIND is udt, star, circular or clique and K a number from 2 "
        "on "
        "(udt:10, udt:1000:in)",
        printable(text));
  };
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  SplitForm form;
  bool      known = false;
  for (const SplitKind kind : {SplitKind::udt, SplitKind::star, SplitKind::circular, SplitKind::clique})
    if (words[0] == to_string(kind)) form.kind = kind, known = true;
  if (!known) throw refuse();
  std::size_t next = 1;
  if (next < words.size() && words[next] != "in") {
    const auto number = parse_number(words[next++]);
    if (!number) throw refuse();
    if (*number < 2)
      throw usage_error(
          "--split {}: K is the number of edges that a vertex may have, and must be 2 or more; with fewer, "
          "splitting "
          "would never end",
          printable(text));
    form.degree_bound = *number;
  }
  if (next < words.size() && words[next] == "in") form.in_edges = true, ++next;
  if (next != words.size()) throw refuse();
  return form;
}

std::string text_of(const SplitForm& form) {
  return fmt::format("{}{}{}", to_string(form.kind),
                     form.degree_bound > 0 ? fmt::format(":{}", form.degree_bound) : "",
                     form.in_edges ? ":in" : "");
}

std::uint64_t default_degree_bound(EdgeIndex largest_degree) {
  // Pokec (8.8 thousand): 500; LiveJournal, Hollywood, Orkut (11 to 33): 1,000; Sinaweibo, Twitter (278 and more):
  // 10,000.
  if (largest_degree < 10'000) return 500;
  return largest_degree < 100'000 ? 1'000 : 10'000;
}

// --- graphs ---

EdgeIndex largest_degree(const Csr& rows) {
  EdgeIndex largest = 0;
  for (std::uint64_t v = 0; v < rows.vertex_count(); ++v)
    largest = std::max(largest, rows.degree(static_cast<Vertex>(v)));
  return largest;
}

namespace {

/// Ids behind the last one, for tree vertices.
IdMap with_more_ids(const IdMap& ids, std::uint64_t vertices, std::uint64_t more,
                    const std::shared_ptr<MemoryBudget>& budget) {
  static constexpr auto what = "ids of tree vertices";
  if (vertices == 0 || more == 0) return ids;
  const auto refuse = [&] {
    return bad_input("the largest vertex id is {}: no {} larger ones are left for what vertices are split into",
                     ids.name(static_cast<Vertex>(vertices - 1)), with_commas(more));
  };
  if (ids.kind() == IdMap::Kind::consecutive) {
    if (ids.first() > UINT64_MAX - vertices - more) throw refuse();
    return ids;
  }
  Buffer<std::uint64_t> numbers{vertices + more, budget, what};
  std::ranges::copy(ids.number_table().span(), numbers.data());
  const std::uint64_t last = ids.number_table()[vertices - 1];
  if (ids.kind() == IdMap::Kind::numbers) {
    if (last > UINT64_MAX - more) throw refuse();
    for (std::uint64_t i = 0; i < more; ++i) numbers[vertices + i] = last + 1 + i;
    return IdMap::numbers(std::move(numbers).freeze());
  }
  // Behind the last name in every order of bytes: it, and a number of as many digits as the others.
  const std::string prefix{ids.string(static_cast<Vertex>(vertices - 1))};
  const std::size_t digits = fmt::format("{}", more).size();
  const std::size_t length = prefix.size() + 1 + digits;
  Buffer<char>      bytes{ids.string_bytes().size() + more * length, budget, what};
  std::ranges::copy(ids.string_bytes().span(), bytes.data());
  char* to = bytes.data() + ids.string_bytes().size();
  for (std::uint64_t i = 0; i < more; ++i) {
    to                    = fmt::format_to(to, "{}~{:0{}}", prefix, i, digits);
    numbers[vertices + i] = static_cast<std::uint64_t>(to - bytes.data());
  }
  return IdMap::strings(std::move(numbers).freeze(), std::move(bytes).freeze());
}

Graph graph_of(const Graph& graph, Csr out, IdMap ids, bool symmetric) {
  Graph::Parts parts;
  parts.out         = std::move(out);
  parts.ids         = std::move(ids);
  parts.weight_type = graph.weight_type();
  parts.symmetric   = symmetric;
  parts.name        = graph.name();
  parts.report      = graph.report();
  parts.budget      = graph.budget();
  return Graph{std::move(parts)};
}

}  // namespace

Graph split(const Graph& graph, SplitForm form, int threads, Progress* progress) {
  if (graph.split())
    throw usage_error("{}: its vertices are split already ({}); convert it with --split none first", graph.name(),
                      text_of(graph.split()->form()));
  if (form.degree_bound == 1)
    throw usage_error("a split into vertices of one edge never ends; K must be 2 or more");
  const Csr&         rows = form.in_edges ? graph.in() : graph.out();
  const BuildContext context{.budget    = graph.budget(),
                             .transform = {},
                             .threads   = thread_count(threads),
                             .progress  = progress ? progress : &Progress::none()};
  if (form.degree_bound == 0) form.degree_bound = default_degree_bound(largest_degree(rows));
  const Added added = count_added(rows, form, context.threads);
  context.budget->expect(bytes_of(rows, added), "the split");
  SplitRows::Parts parts{.form          = form,
                         .originals     = graph.vertex_count(),
                         .original_arcs = graph.arc_count(),
                         .roots         = roots_of(rows, form, added.vertices, context.budget).freeze(),
                         .split         = {},
                         .transposed    = {},
                         .weight_type   = graph.weight_type(),
                         .name          = graph.name()};
  parts.split = split_rows(rows, form, parts.roots.span(), context);
  Graph::Parts whole;
  whole.split       = std::make_shared<SplitRows>(std::move(parts), graph.budget(), /*trusted=*/true);
  whole.ids         = graph.ids();
  whole.weight_type = graph.weight_type();
  whole.symmetric   = graph.symmetric();
  whole.name        = graph.name();
  whole.report      = graph.report();
  whole.budget      = graph.budget();
  return Graph{std::move(whole)};
}

Graph transformed(const Graph& graph) {
  const SplitRows& rows = *graph.split();
  return graph_of(graph, rows.out(),
                  with_more_ids(graph.ids(), graph.vertex_count(), rows.tree_vertices(), graph.budget()), false);
}

Graph without_split(const Graph& graph, int threads) {
  return graph_of(graph, graph.split()->original_rows(thread_count(threads)), graph.ids(), graph.symmetric());
}

}  // namespace spillway
