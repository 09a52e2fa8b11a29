#include "graph/arc_spill.hpp"

#include <cerrno>
#include <cstring>

#include "base/fail.hpp"
#include "base/system_calls.hpp"

namespace spillway {
ArcSpill::ArcSpill(std::string folder, std::uint64_t memory)
    : folder_(std::move(folder)), file_(open_nameless(folder_)), memory_(memory) {}

ArcSpill::ArcSpill(BuildJournal& journal, std::uint64_t memory)
    : folder_(folder_of(journal.path())), journal_(&journal), memory_(memory) {
  if (auto state = journal.find(journaled)) end_ = state->get<std::uint64_t>();
  cut_off();
}

/// What a process wrote after its last commit is room for others.
void ArcSpill::cut_off() {
  if (retried([&] { return system_calls().ftruncate(file().get(), static_cast<off_t>(end_.load())); }) != 0)
    throw system_error("resize", journal_ ? journal_->path_of(journaled) : folder_);
}

void ArcSpill::save() {
  StateWriter state;
  state.put(end_.load());
  journal_->put(journaled, std::move(state));
}

void ArcSpill::clear() {
  end_ = 0;
  cut_off();
}

std::uint64_t ArcSpill::write(const void* data, std::uint64_t bytes) {
  const std::uint64_t at   = end_.fetch_add(bytes);
  const auto*         from = static_cast<const char*>(data);
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t wrote = retried([&] {
      return system_calls().pwrite(file().get(), from + done, bytes - done, static_cast<off_t>(at + done));
    });
    if (wrote <= 0)
      throw does_not_fit("{}: writing temporary data stopped after {} bytes: {}; --temporary names another folder",
                         folder_, at + done, std::strerror(wrote < 0 ? errno : ENOSPC));
    done += static_cast<std::uint64_t>(wrote);
  }
  return at;
}

void ArcSpill::read(std::uint64_t at, void* into, std::uint64_t bytes) const {
  read_at(file(), "temporary data in " + folder_, at, into, bytes);
}

}  // namespace spillway
