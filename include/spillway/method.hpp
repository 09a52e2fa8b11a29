// How edges reach the device that computes: a table of methods, each defined in a file of its own (src/supply).
#pragma once

#include <string_view>
#include <vector>

namespace spillway {

/// What the command line, the planner, documents and tests know of a method.
struct MethodFacts {
  std::string_view name;
  std::string_view help;  ///< completes "Where edges are: …"
  bool             requires_gpu   = false;
  bool             requires_cpu   = false;
  bool             all_resident   = false;  ///< on the device before the first iteration
  bool             transfers      = false;  ///< edges are transferred while a run lasts
  bool             gathers        = false;  ///< those of active vertices, gathered by the host
  bool             reads_in_place = false;  ///< the device reads edges in host memory
  bool             compresses     = false;  ///< --compress on goes with it
  bool             asynchronous   = false;  ///< --async on goes with it
  bool             chosen_by_auto = false;  ///< priced by these facts
  bool             streams_pages  = false;  ///< from disk, of graphs that rest in pages
  bool             of_edge_lists  = false;  ///< edges are processed in the order that they rest in, without rows
  bool             takes_arena    = false;  ///< on the CPU too, as much of them at a time as --device-memory says

  /// Edges come while a run lasts.
  bool in_blocks() const { return transfers || streams_pages || of_edge_lists; }
};

/// One of `methods()`, or auto.
class Method {
 public:
  Method() = default;  ///< auto
  explicit Method(const MethodFacts& facts) : facts_(&facts) {}

  bool               automatic() const { return facts_ == nullptr; }
  const MethodFacts& facts() const { return facts_ ? *facts_ : of_auto; }
  const MethodFacts* operator->() const { return &facts(); }
  bool               operator==(const Method&) const = default;

 private:
  static constexpr MethodFacts of_auto{.name = "auto", .help = ""};

  const MethodFacts* facts_ = nullptr;  // a plug-in has an `of_auto` of its own: no address may mean auto
};

/// As they were registered.
std::vector<Method> methods();
/// `auto` too; Error{usage} where there is none of this name.
Method method_named(std::string_view name);

// By what they do, for those who choose.
Method resident_edges();
Method edges_in_place();
Method whole_partitions();
Method least_predicted();  ///< for each part of the graph, in every iteration
Method pages_from_disk();
Method unsorted_edges();

}  // namespace spillway
