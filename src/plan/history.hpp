// What earlier runs over a graph had active, for the planner: in this process, and in a file beside the rates.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <spillway/graph.hpp>
#include <spillway/result.hpp>

namespace spillway {

/// Iterations that are alike, and what of the graph is active in each.
struct Activity {
  double iterations = 1;
  double edges      = 1;      ///< share of all…
  double rows       = edges;  ///< …and of the rows that they are in
  double looked_at  = -1;     ///< of all edges, where kernels choose push or pull; below 0: not known

  friend bool operator==(const Activity&, const Activity&) = default;
};

/// Iterations with about as many active edges are taken together: their order does not matter to what they cost.
/// `chose`: edges were where kernels reach them, so that each iteration was pushed or pulled, whichever was less.
std::vector<Activity> summary_of(std::span<const IterationStatistics> iterations, std::uint64_t vertices,
                                 std::uint64_t arcs, bool chose);
/// Of one.
Activity activity_of(const IterationStatistics& iteration, std::uint64_t vertices, std::uint64_t arcs, bool chose);

/// Of one graph, by the programs that ran.
class RunHistory : public Graph::Attachment {
 public:
  static std::shared_ptr<RunHistory> of(const Graph& graph);

  /// Of the last run of `program`; nothing where there was none, or nobody is to know.
  std::vector<Activity> find(const Graph& graph, const std::string& program, History history);
  void note(const Graph& graph, const std::string& program, std::vector<Activity> activity, History history);

 private:
  using Programs = std::map<std::string, std::vector<Activity>>;

  void read_kept(const Graph& graph);

  std::mutex            mutex_;
  Programs              programs_, kept_;  ///< of the last runs, and as the file has them
  std::set<std::string> written_;          ///< programs, by this process
  std::string           key_;              ///< in the file; empty: it was not asked yet
};

/// A graph's file, its size and a checksum: of its rows in a few places, or of all its pages.
std::string identity_of(const Graph& graph);

/// Where histories are kept: spillway/history.json (cache_file.hpp).
std::string history_path();

}  // namespace spillway
