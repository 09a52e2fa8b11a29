#include "algorithms/several_runs.hpp"

#include <algorithm>

namespace spillway {

void add_statistics(RunStatistics& total, const RunStatistics& part, bool with_iterations) {
  total.prepare_ms += part.prepare_ms;
  total.run_ms += part.run_ms;
  total.transfer_ms += part.transfer_ms;
  total.device = part.device;
  if (total.device_note.empty()) total.device_note = part.device_note;
  total.device_bytes = std::max(total.device_bytes, part.device_bytes);
  total.uploaded_bytes += part.uploaded_bytes;
  total.method     = part.method;
  total.compressed = part.compressed;
  if (!part.balance.empty()) total.balance = part.balance;
  if (total.candidates.empty()) total.candidates = part.candidates;
  total.edges_resident = std::max(total.edges_resident, part.edges_resident);
  total.bytes_sent += part.bytes_sent;
  total.bytes_read += part.bytes_read;
  total.pages_wanted += part.pages_wanted;
  total.pages_sent += part.pages_sent;
  total.pages_in_place += part.pages_in_place;
  total.pages_read += part.pages_read;
  total.state_chunks  = std::max(total.state_chunks, part.state_chunks);
  total.page_io       = part.page_io;
  total.edges_on_host = std::max(total.edges_on_host, part.edges_on_host);
  total.iterations += part.iterations;
  total.edges_processed += part.edges_processed;
  total.counters += part.counters;
  if (!with_iterations) return;
  total.per_iteration.insert(total.per_iteration.end(), part.per_iteration.begin(), part.per_iteration.end());
}

}  // namespace spillway
