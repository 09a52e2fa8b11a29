// Writing arcs as text: rows are formatted on all threads and appended in order.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <iterator>
#include <string>
#include <vector>

#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/parallel.hpp"

#include <spillway/graph.hpp>

namespace spillway {

/// The shortest text that reads back as the same weight.
inline void append_weight(std::string& out, WeightType type, std::uint32_t bits) {
  if (type == WeightType::f32) {
    fmt::format_to(std::back_inserter(out), "{}", std::bit_cast<float>(bits));
  } else {
    fmt::format_to(std::back_inserter(out), "{}", bits);
  }
}

/// format_row(text, v) appends what row v reads as.
template <class FormatRow>
void write_rows(const Graph& graph, OutputFile& file, Progress& progress, FormatRow&& format_row) {
  constexpr EdgeIndex arcs_at_once = 1u << 18;
  const Csr&          csr          = graph.out();
  const auto          n            = static_cast<Vertex>(csr.vertex_count());
  const int           threads      = thread_count();
  progress.begin("writing", csr.arc_count(), ProgressUnit::edges);
  for (Vertex v = 0; v < n;) {
    std::vector<Vertex> bounds{v};  // one run of rows a thread
    for (int thread = 0; thread < threads; ++thread) {
      const EdgeIndex goal = csr.offsets[v] + v + arcs_at_once;
      while (v < n && csr.offsets[v] + v < goal) ++v;
      bounds.push_back(v);
    }
    std::vector<std::string> texts(static_cast<std::size_t>(threads));
    for_each_task(threads, texts.size(), [&](std::uint64_t i, int) {
      for (Vertex row = bounds[i]; row < bounds[i + 1]; ++row) format_row(texts[i], row);
    });
    for (const std::string& text : texts) file.append(text);
    progress.advance(csr.offsets[v] - csr.offsets[bounds.front()]);
    check_cancelled(progress);
  }
  progress.end();
}

}  // namespace spillway
