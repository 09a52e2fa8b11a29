// Writing arcs as text: they are formatted on all threads and appended in order.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include <spillway/engine/parallel.hpp>
#include "base/fail.hpp"
#include "base/files.hpp"

#include <spillway/graph.hpp>

namespace spillway {

/// The shortest text that reads back as the same weight. Whole numbers that a float rounds have a fraction, so
/// that no reader takes their digits for exact.
inline void append_weight(std::string& out, WeightType type, std::uint32_t bits) {
  constexpr float exact_below = 1u << 24, exponent_from = 1e16f;  // where the shortest text has one
  if (type == WeightType::f32) {
    const float value = std::bit_cast<float>(bits);
    fmt::format_to(std::back_inserter(out), "{}", value);
    if (std::abs(value) >= exact_below && std::abs(value) < exponent_from) out += ".0";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", bits);
  }
}

/// format_arc(text, v, i) appends what arc i of row v reads as. Arcs are cut into pieces, whatever rows they are
/// in: a hub is not formatted as one string.
template <class FormatArc>
void write_arcs(const Graph& graph, OutputFile& file, Progress& progress, FormatArc&& format_arc) {
  constexpr EdgeIndex arcs_at_once = 1u << 16;
  const Csr&          csr          = graph.out();
  const int           threads      = thread_count();
  const EdgeIndex     arcs         = csr.arc_count();
  progress.begin("writing", arcs, ProgressUnit::edges);
  std::vector<std::string> texts(static_cast<std::size_t>(threads));
  for (EdgeIndex done = 0; done < arcs;) {
    for_each_task(threads, texts.size(), [&](std::uint64_t task, int) {
      const EdgeIndex begin = std::min(arcs, done + task * arcs_at_once);
      const EdgeIndex end   = std::min(arcs, begin + arcs_at_once);
      texts[task].clear();
      auto v = static_cast<Vertex>(std::upper_bound(csr.offsets.begin(), csr.offsets.end(), begin) -
                                   csr.offsets.begin() - 1);
      for (EdgeIndex i = begin; i < end; ++i) {
        while (csr.offsets[v + 1] <= i) ++v;
        format_arc(texts[task], v, i);
      }
    });
    for (const std::string& text : texts) file.append(text);
    const EdgeIndex next = std::min(arcs, done + texts.size() * arcs_at_once);
    progress.advance(next - done);
    done = next;
    check_cancelled(progress);
  }
  progress.end();
}

}  // namespace spillway
