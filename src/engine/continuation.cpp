#include <algorithm>

#include "base/fail.hpp"
#include "graph/split.hpp"

#include <spillway/run.hpp>

namespace spillway {

void detail::check_given_values(std::uint64_t given, const Graph& graph, bool whole) {
  if (whole && graph.split() && given == graph.split()->vertex_count()) return;
  if (given != 0 && given != graph.vertex_count())
    throw usage_error("a run starts from {} values and the graph has {} vertices; give one a vertex, or none",
                      given, graph.vertex_count());
}

void detail::check_input(std::uint64_t entries, std::uint32_t per_vertex, const Graph& graph) {
  if (entries != graph.vertex_count() * per_vertex)
    throw usage_error("an input of the program has {} entries, {} a vertex, and the graph has {} vertices",
                      entries, per_vertex, graph.vertex_count());
}

void detail::refuse_other_devices(const RunOptions& options) {
  if (options.device.kind == cuda_kind())
    throw usage_error("this program was compiled for the CPU alone; compile it with nvcc, or use --device cpu");
}

void detail::refuse_frontiers(bool all_active, bool prioritised) {
  if (all_active || prioritised)
    throw usage_error("frontiers are not recorded or replayed of programs that {}",
                      all_active ? "have every vertex active all the time" : "have a priority");
}

void detail::refuse_resident() {
  throw usage_error("values or frontiers lie on a GPU, and this program was compiled for the CPU alone");
}

void detail::check_split(const Graph& graph, const SplitNeeds& needs) {
  if (!has_tree_vertices(graph)) return;
  const SplitForm& form   = graph.split()->form();
  const auto       refuse = [&](const std::string& why) {
    throw usage_error("{}: its vertices are split ({}), and {}; convert it with --split none", graph.name(),
                            text_of(form), why);
  };
  if (!needs.survives || needs.along == Along::simple || (needs.along == Along::both && !needs.relays))
    refuse("this program depends on who is whose neighbour");
  if (needs.reads_degree && form.in_edges == (needs.along == Along::in))
    refuse(needs.along == Along::in ? "this program reads in-degrees, which a split of in-edges changes"
                                    : "this program reads out-degrees, which only a split of in-edges (--split "
                                      "KIND:K:in) leaves as they are");
  if (needs.counts_paths && form.kind == SplitKind::clique)
    refuse("this program counts every way to a vertex, of which a clique has several");
}

void detail::check_replay(const Schedule* replay, const Graph& graph) {
  if (replay && replay->vertex_bound() > graph.vertex_count())
    throw usage_error(
        "the frontiers to replay are those of another graph: they name a vertex {}, and this one has {}",
        replay->vertex_bound() - 1, graph.vertex_count());
}

void check_state_size(const Topology& topology, bool continues, bool has_inputs) {
  if (topology.answer_size() > topology.vertices) throw internal_error("the answer is larger than the state");
  if (continues && topology.answer_size() != topology.vertices)
    throw usage_error(
        "this run goes on from another, or another from it, and of vertices that are split neither has all "
        "values; "
        "convert the graph with --split none");
  if (has_inputs && topology.answer_size() != topology.vertices)
    throw usage_error(
        "this program has inputs, of which there are none for what vertices are split into; convert the graph "
        "with "
        "--split none");
}

void Schedule::reserve(std::uint64_t vertices, const std::shared_ptr<MemoryBudget>& budget) {
  vertices_ = Buffer<Vertex>::where_it_fits(vertices, budget, "the recorded frontiers");
  resident_.reset();
  starts_.assign(1, 0);
  end_   = 0;
  bound_ = vertices;
}

void Schedule::set_resident(std::shared_ptr<Resident> vertices, std::vector<std::uint64_t> starts,
                            std::uint64_t bound) {
  vertices_ = {};
  resident_ = std::move(vertices);
  starts_   = std::move(starts);
  bound_    = bound;
}

Schedule Schedule::on_host(Buffer<Vertex> vertices) const {
  Schedule home;
  home.vertices_ = std::move(vertices);
  home.starts_   = starts_;
  home.bound_    = bound_;
  return home;
}

void Schedule::extend(std::span<const Vertex> some) {
  if (some.size() > vertices_.size() - end_)
    throw usage_error(
        "frontiers are recorded of programs in which a vertex is active once; this one was active again");
  std::ranges::copy(some, vertices_.data() + end_);
  end_ += some.size();
}

void Schedule::end_level() {
  starts_.push_back(end_);
  evict();
}

void Schedule::exchange(StateExchange& with) {
  with.exchange(starts_);
  const bool ascends = !starts_.empty() && starts_.front() == 0 && std::ranges::is_sorted(starts_);
  if (!ascends || starts_.back() > vertices_.size()) refuse_checkpoint();
  end_ = starts_.back();
  with.exchange(vertices_.data(), end_ * sizeof(Vertex));
  evict();
}

}  // namespace spillway
