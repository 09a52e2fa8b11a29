// What a .spill file says of itself, held against all of its bytes.
#include <algorithm>
#include <bit>

#include "base/fail.hpp"
#include "graph/edge_list.hpp"
#include "graph/split.hpp"
#include "graph/symmetry.hpp"
#include "store/spill_file.hpp"

#include <spillway/engine/parallel.hpp>

namespace spillway::store {
namespace {

/// Runs a check; its complaint, or nothing.
template <class Check>
std::string complaint_of(Check&& check) {
  try {
    check();
    return {};
  } catch (const Error& error) {
    if (error.code() != ExitCode::bad_input) throw;
    return error.what();
  }
}

/// Every page, without holding more than one a thread.
SectionVerdict verified(const PagedRows& pages, bool real, const char* what, Progress& progress) {
  const std::string problem = complaint_of([&] {
    for_each_page(
        pages, {thread_count(), "verifying pages", progress}, [&](std::uint64_t page, const PageRows& rows) {
          if (!real) return;
          for (EdgeIndex i = rows.edges.first; i < rows.edges.last; ++i)
            if (!(std::bit_cast<float>(rows.rows.weights[i]) >= pages.least_weight()))
              throw bad_input("page {} has a weight that is no number, or less than the table says", page);
        });
  });
  return {what, pages.bytes(), problem};
}

void verify_pages(const SpillFile& file, std::vector<SectionVerdict>& verdicts, Progress& progress) {
  Graph::Parts parts;
  verdicts.push_back({"table", 0, complaint_of([&] { parts = file.parts(); })});
  if (!verdicts.back().problem.empty()) return;
  const bool real = parts.weight_type == WeightType::f32;
  verdicts.push_back(verified(*parts.pages, real, "pages", progress));
  if (parts.in_pages) verdicts.push_back(verified(*parts.in_pages, real, "pages of in-edges", progress));
  const Graph graph{std::move(parts)};
  verdicts.push_back({"ids", 0, complaint_of([&] { graph.ids(); })});
}

/// That both sides are there is no promise; that one is the other, transposed, is one.
SectionVerdict verified(const SplitRows& split, Progress& progress) {
  SectionVerdict verdict{"split", split.arc_count() * sizeof(Vertex), complaint_of([&] {
                           split.out();
                           if (split.has_transposed()) split.in();
                         })};
  if (verdict.problem.empty() && split.has_transposed() &&
      !are_transposed(split.out(), split.in(), thread_count(), progress))
    verdict.problem = "the in-edges are not the out-edges transposed";
  return verdict;
}

}  // namespace

std::vector<SectionVerdict> verify(const std::string& path, Progress& progress) {
  const SpillFile             file{path};
  std::vector<SectionVerdict> verdicts{{"header", sizeof(Header) + file.sections().size_bytes(), {}}};
  progress.begin("verifying", file.header().file_bytes, ProgressUnit::bytes);
  for (const Section& section : file.sections()) {
    if (section.kind == SectionKind::pages || section.kind == SectionKind::in_pages) continue;  // below
    SectionVerdict verdict{std::string{to_string(section.kind)}, section.bytes, {}};
    if (section_checksum(file.bytes_of(section), thread_count(), progress) != section.checksum)
      verdict.problem = fmt::format("bytes {} to {} do not match their checksum", section.offset,
                                    section.offset + section.bytes);
    verdicts.push_back(std::move(verdict));
  }
  progress.end();

  const bool whole = std::ranges::all_of(verdicts, [](const auto& verdict) { return verdict.problem.empty(); });
  if (file.is_paged()) {
    if (whole) verify_pages(file, verdicts, progress);
    check_mapped_files(path);
    return verdicts;
  }
  const Graph graph{file.parts()};
  if (graph.edges()) {
    verdicts.push_back({"ends of edges", graph.edges()->words().size() * sizeof(std::uint32_t),
                        complaint_of([&] { graph.edges()->edges(thread_count()); })});
    verdicts.push_back({"ids", 0, complaint_of([&] { graph.ids(); })});
    check_mapped_files(path);
    return verdicts;
  }
  verdicts.push_back({"rows", graph.arc_count() * sizeof(Vertex), complaint_of([&] { graph.out(); })});
  if (graph.split()) verdicts.push_back(verified(*graph.split(), progress));
  verdicts.push_back({"ids", 0, complaint_of([&] { graph.ids(); })});
  const bool usable =
      std::all_of(verdicts.begin(), verdicts.end(), [](const auto& v) { return v.problem.empty(); });
  if (!usable) return verdicts;
  if (graph.symmetric()) {
    const bool lone = find_lone_arc(graph.out(), thread_count(), progress).has_value();
    verdicts.push_back({"symmetry", 0, lone ? "the header says that every arc has its reverse; one has not" : ""});
  } else if (graph.has_in()) {
    verdicts.push_back({"in-edges", 0, complaint_of([&] { graph.in(); })});
    if (verdicts.back().problem.empty() && !are_transposed(graph.out(), graph.in(), thread_count(), progress))
      verdicts.back().problem = "the in-edges are not the out-edges transposed";
  }
  check_mapped_files(path);
  return verdicts;
}

}  // namespace spillway::store
