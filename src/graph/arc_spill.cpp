#include "graph/arc_spill.hpp"

#include <cerrno>
#include <cstring>

#include "base/fail.hpp"
#include "base/system_calls.hpp"

namespace spillway {
ArcSpill::ArcSpill(std::string folder, std::uint64_t memory)
    : folder_(std::move(folder)), file_(open_nameless(folder_)), memory_(memory) {}

std::uint64_t ArcSpill::write(const void* data, std::uint64_t bytes) {
  const std::uint64_t at   = end_.fetch_add(bytes);
  const auto*         from = static_cast<const char*>(data);
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t wrote = retried([&] {
      return system_calls().pwrite(file_.get(), from + done, bytes - done, static_cast<off_t>(at + done));
    });
    if (wrote <= 0)
      throw does_not_fit("{}: writing temporary data stopped after {} bytes: {}; --temporary names another folder",
                         folder_, at + done, std::strerror(wrote < 0 ? errno : ENOSPC));
    done += static_cast<std::uint64_t>(wrote);
  }
  return at;
}

void ArcSpill::read(std::uint64_t at, void* into, std::uint64_t bytes) const {
  read_at(file_, "temporary data in " + folder_, at, into, bytes);
}

}  // namespace spillway
