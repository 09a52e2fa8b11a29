// A file of edges in any order, before it is read: whether an answer comes sooner from the edges as they lie, or
// from rows that a GPU or the CPU builds first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spillway {

/// What is known of the file and of what is asked.
struct FreshList {
  double edges = 0, vertices = 0;  ///< about
  bool   ascending  = false;       ///< by their sources: rows need hardly be sorted
  bool   text       = false;       ///< is parsed, by all threads
  bool   weighted   = false;       ///< weights are used
  bool   both_ways  = false;       ///< each edge is an arc in both directions
  double passes     = 0;           ///< over all edges, without rows
  double row_passes = 0;           ///< of a run over rows, in all
  bool   gathers    = false;       ///< all vertices all the time, into accumulators
  bool   hooks      = false;       ///< on the CPU, which takes one pass
  double runs       = 1;
  int    threads    = 1;

  double gpu_memory  = 0;      ///< bytes; 0: there is none, or it is not to be used
  bool   gpu_started = false;  ///< or asked for by name: its initialisation is no question of how edges are read
  bool   cpu         = true;   ///< may compute
};

/// Where rows are built, or that they are not.
enum class ListForm { edges, rows_by_gpu, rows_by_cpu };

struct FormPrice {
  ListForm    form;
  bool        on_gpu;         ///< the run
  double      seconds;        ///< from when the file is read to the answer
  std::string excluded = {};  ///< the reason; empty: it is possible
};

/// Cheapest first; those that are excluded last.
std::vector<FormPrice> priced_forms(const FreshList& list);

/// "edges", "rows by GPU" or "rows by CPU".
const char* to_string(ListForm form);
/// "edges as they lie, on the GPU"…
std::string name_of(const FormPrice& price);

/// Passes over the edges that an algorithm makes without rows, and with them; of others none are known.
struct ListPasses {
  double edges = 0, rows = 0;
  bool   gathers = false;

  explicit operator bool() const { return edges > 0; }
};
ListPasses list_passes(const std::string& algorithm, double vertices, double arcs, double iterations);

}  // namespace spillway
