// Mapped files. A page that the system cannot bring (the file was cut short, the disk fails) is SIGBUS: a handler
// over our own mappings turns that into a message and exit 3. So does SIGSEGV while a mapped file is not what it
// was. All others go to whoever handled them before.
#include <linux/magic.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/system_calls.hpp"

namespace spillway {

/// An entry of the table that the handler searches. Entries are used again, never freed: the handler takes no
/// lock.
struct Mapping {
  std::atomic<std::uintptr_t> begin{0}, end{0};  ///< begin 0: free
  std::string                 message, changed;  ///< complete before `begin` is set
  const MappedFile*           file = nullptr;
  Mapping*                    next = nullptr;
};

namespace {

/// File systems that are reached over a network, or served by a process. (linux/magic.h lacks some.)
constexpr std::array<unsigned long, 13> remote_file_systems{
    NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC, FUSE_SUPER_MAGIC,
    V9FS_MAGIC,      AFS_SUPER_MAGIC, AFS_FS_MAGIC,     CODA_SUPER_MAGIC, CEPH_SUPER_MAGIC,
    0x0BD00BD0,  // Lustre
    0x47504653,  // GPFS
    0x19830326,  // BeeGFS
};

bool is_remote(const FileHandle& file) {
  struct statfs info {};
  if (retried([&] { return system_calls().fstatfs(file.get(), &info); }) != 0) return false;  // it only guides
  // The type is signed on some machines, and its upper half then no part of the number.
  const auto type = static_cast<unsigned long>(info.f_type) & 0xFFFFFFFFul;
  return std::find(remote_file_systems.begin(), remote_file_systems.end(), type) != remote_file_systems.end();
}

std::mutex                      table_mutex;  ///< of those who change it
constinit std::atomic<Mapping*> table{nullptr};
struct sigaction                bus_error {
}, bad_address{};  ///< who handled them before

std::string as_error(const std::string& message) { return "error: " + message + "\n"; }

std::string (*fault_text)(const std::string&) = as_error;
volatile sig_atomic_t fault_descriptor        = STDERR_FILENO;

/// What would have happened without our handler.
void pass_on(const struct sigaction& before, int signal, siginfo_t* info, void* context) {
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
  const bool sent = info->si_code <= 0;  // by a process; a fault cannot be ignored
  if (before.sa_handler == SIG_IGN && sent) return;
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  raise(signal);  // delivered as soon as this handler returns
}

[[noreturn]] void end_with(const std::string& message) {
  [[maybe_unused]] const ssize_t written = ::write(fault_descriptor, message.data(), message.size());
  _exit(static_cast<int>(ExitCode::bad_input));  // no destructor is safe in the middle of an instruction
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto place = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (const Mapping* entry = table.load(std::memory_order_acquire); entry; entry = entry->next) {
    const std::uintptr_t begin = entry->begin.load(std::memory_order_acquire);
    if (begin == 0 || place < begin || place >= entry->end.load(std::memory_order_relaxed)) continue;
    end_with(entry->message);
  }
  pass_on(bus_error, signal, info, context);
}

/// Rows were checked when the file was mapped. If it was written to since, they lead anywhere.
void on_bad_address(int signal, siginfo_t* info, void* context) {
  for (const Mapping* entry = table.load(std::memory_order_acquire); entry; entry = entry->next)
    if (entry->begin.load(std::memory_order_acquire) != 0 && !entry->file->is_unchanged())
      end_with(entry->changed);
  pass_on(bad_address, signal, info, context);
}

void install_handler() {
  static const bool installed = [] {
    const auto install = [](int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction& before) {
      struct sigaction ours {};
      ours.sa_sigaction = handler;
      ours.sa_flags     = SA_SIGINFO | SA_ONSTACK;
      sigemptyset(&ours.sa_mask);
      return sigaction(signal, nullptr, &before) == 0 && sigaction(signal, &ours, nullptr) == 0;
    };
    const bool first = install(SIGBUS, on_bus_error, bus_error);
    return install(SIGSEGV, on_bad_address, bad_address) && first;
  }();
  static_cast<void>(installed);
}

Mapping* free_entry() {
  for (Mapping* entry = table.load(); entry; entry = entry->next)
    if (entry->begin.load() == 0) return entry;
  auto* const entry = new Mapping;
  entry->next       = table.load();
  table.store(entry, std::memory_order_release);
  return entry;
}

}  // namespace

MappedFile::MappedFile(const std::string& path, std::shared_ptr<MemoryBudget> budget)
    : path_(path), file_(open_input(path)) {
  struct stat info {};
  if (retried([&] { return system_calls().fstat(file_.get(), &info); }) != 0) throw system_error("inspect", path);
  if (info.st_size == 0) {  // pipes have no size, nor have the files that the system makes up while they are read
    streamed_ = read_whole(file_, path);
    data_     = streamed_;
    file_     = {};
    return;
  }
  version_.emplace(info);
  data_                  = {nullptr, static_cast<std::size_t>(info.st_size)};
  const bool should_read = is_remote(file_) && budget && budget->has_room(data_.size());
  if (should_read || !map()) read(std::move(budget));
}

/// False where the file system has no mappings.
bool MappedFile::map() {
  install_handler();
  const std::scoped_lock lock{table_mutex};
  Mapping* const         entry = free_entry();
  entry->message               = fault_text(
                    path_ +
                    ": a part of the file can no longer be read: it was cut short while it was in use, or its disk or server "
                                  "failed; restore it and run again");
  entry->changed =
      fault_text(path_ + ": the file changed while it was in use; run again when no other process writes to it");
  void* mapped = MAP_FAILED;
  do {
    mapped = system_calls().mmap(nullptr, data_.size(), PROT_READ, MAP_SHARED, file_.get(), 0);
  } while (mapped == MAP_FAILED && errno == EINTR);
  if (mapped == MAP_FAILED && errno == ENODEV) return false;
  if (mapped == MAP_FAILED) throw system_error("map", path_);
  data_        = {static_cast<const char*>(mapped), data_.size()};
  mapping_     = entry;
  entry->file  = this;
  entry->end   = reinterpret_cast<std::uintptr_t>(mapped) + data_.size();
  entry->begin = reinterpret_cast<std::uintptr_t>(mapped);
  return true;
}

void MappedFile::read(std::shared_ptr<MemoryBudget> budget) {
  if (!budget) budget = std::make_shared<MemoryBudget>();
  copied_ = Buffer<char>{data_.size(), budget, path_};
  read_at(file_, path_, 0, copied_.data(), data_.size());
  check_unchanged();
  data_ = {copied_.data(), data_.size()};
  file_ = {};
  version_.reset();
}

MappedFile::~MappedFile() {
  if (!mapping_) return;
  const std::scoped_lock lock{table_mutex};
  mapping_->begin = 0;
  system_calls().munmap(const_cast<char*>(data_.data()), data_.size());
}

bool MappedFile::is_unchanged() const {
  struct stat info {};
  return !version_ || (system_calls().fstat(file_.get(), &info) == 0 && FileVersion{info} == *version_);
}

void MappedFile::check_unchanged() const {
  if (!version_) return;
  struct stat info {};
  if (retried([&] { return system_calls().fstat(file_.get(), &info); }) != 0) throw system_error("inspect", path_);
  const FileVersion now{info};
  if (now == *version_) return;
  throw bad_input(
      "{}: the file changed while it was in use ({}), so no result can be trusted; run again when no process "
      "writes to it, or on a copy",
      path_,
      now.size == version_->size ? "it was written to"
                                 : fmt::format("{} bytes, then {}", version_->size, now.size));
}

void report_mapped_faults(std::string (*text)(const std::string& message), int descriptor) {
  const std::scoped_lock lock{table_mutex};
  fault_text       = text ? text : as_error;
  fault_descriptor = descriptor;
}

void check_mapped_files(const std::string& path) {
  const std::scoped_lock lock{table_mutex};
  for (const Mapping* entry = table.load(); entry; entry = entry->next)
    if (entry->begin.load() != 0 && (path.empty() || entry->file->path() == path)) entry->file->check_unchanged();
}

}  // namespace spillway
