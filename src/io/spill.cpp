// Spillway's own format, as one entry of the table; the file itself is the store's business.
#include "base/fail.hpp"
#include "graph/edge_list.hpp"
#include "io/format.hpp"
#include "store/spill_file.hpp"

namespace spillway {

Format spill_format() {
  return {
      .name        = "spill",
      .description = "Spillway's own: maps in milliseconds, checksummed, holds ids, weights and in-edges",
      .suffixes    = {"spill"},
      .has_magic   = true,
      .recognises =
          [](const Sample& sample) {
            return sample.text.starts_with(std::string_view{store::magic.data(), store::magic.size()});
          },
      .read =
          [](ReadJob& job) {
            job.require_plain_file("a .spill file");
            Graph::Parts parts = store::SpillFile{job.path(), job.context.budget}.parts();
            if (parts.pages && job.options.transform.any())
              throw usage_error(
                  "{}: its edges are in pages, which --undirected, --symmetrize, --dedup and --drop-loops do not "
                  "change; convert what it was made from with them, or it with --layout rows first",
                  job.path());
            if (parts.split && job.options.transform.any())
              throw usage_error(
                  "{}: its vertices are split, which --undirected, --symmetrize, --dedup and --drop-loops would "
                  "undo; "
                  "convert it with --split none first",
                  job.path());
            if (parts.edges && job.options.edges) {
              parts.edges =
                  transformed(parts.edges, job.options.transform, job.context.threads, job.context.budget);
              parts.symmetric = parts.edges->both_ways();
            } else if (job.options.transform.any()) {
              const Graph stored{std::move(parts)};  // checks what is about to be indexed with
              return from_rows(stored.out(), stored.ids(), stored.weight_type(), stored.symmetric(), job);
            }
            ReadResult result;
            result.csr         = std::move(parts.out);
            result.in          = std::move(parts.in);
            result.pages       = std::move(parts.pages);
            result.in_pages    = std::move(parts.in_pages);
            result.split       = std::move(parts.split);
            result.edges       = std::move(parts.edges);
            result.ids         = std::move(parts.ids);
            result.weight_type = parts.weight_type;
            result.symmetric   = parts.symmetric;
            result.trusted     = false;
            return result;
          },
      .write      = [](const Graph& graph, OutputFile& file, Progress& progress,
                  std::vector<std::string>&) { store::write(graph, file, progress); },
      .companions = store::stripes_of};
}

}  // namespace spillway
