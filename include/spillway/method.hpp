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
  bool             all_resident   = false;  ///< on the device before the first iteration
  bool             transfers      = false;  ///< while a run lasts, for whole partitions or…
  bool             gathers        = false;  ///< …the edges of active vertices…
  bool             reads_in_place = false;  ///< …or the device reads them where the host has them
  bool             compresses     = false;  ///< --compress on goes with it
  bool             asynchronous   = false;  ///< --async on goes with it
};

/// One of `methods()`, or auto.
class Method {
 public:
  Method() = default;
  explicit Method(const MethodFacts& facts) : facts_(&facts) {}

  bool               automatic() const { return facts_ == &of_auto; }
  const MethodFacts* operator->() const { return facts_; }
  bool               operator==(const Method&) const = default;

 private:
  static constexpr MethodFacts of_auto{.name = "auto", .help = ""};

  const MethodFacts* facts_ = &of_auto;
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

}  // namespace spillway
