#include "graph/build_journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>

#include "base/fail.hpp"
#include "base/hash.hpp"
#include "base/system_calls.hpp"

namespace spillway {
namespace {

constexpr std::array<char, 8> journal_magic{'\x89', 'S', 'P', 'J', 'R', 'N', 'L', '\n'};
constexpr std::uint32_t       journal_version = 2;

// Files that states may speak of; a name of none is a mistake in here.
constexpr std::array work_files{"arcs", "out-rows", "in-rows", "ids", "edges"};

constexpr const char* finished_state = "finished";  // has the hash of the output's beginning

/// Commits take at most a part of the time: this is between two of them, in multiples of what the last took.
constexpr double pause_for_cost = 40;

struct JournalHeader {
  std::array<char, 8> magic    = journal_magic;
  std::uint32_t       version  = journal_version;
  std::uint32_t       reserved = 0;
  std::uint64_t       bytes    = 0;  ///< that follow
  std::uint64_t       checksum = 0;  ///< of them
};

void remove_file(const std::string& path) noexcept {
  retried([&] { return system_calls().unlink(path.c_str()); });
}

FileHandle opened(const std::string& path, int flags) {
  FileHandle file{retried([&] { return system_calls().open(path.c_str(), flags | O_CLOEXEC, 0600); })};
  if (file.get() < 0) throw system_error("create", path);
  return file;
}

void write_all(const FileHandle& file, const std::string& path, std::uint64_t at, const void* data,
               std::uint64_t bytes) {
  const auto* from = static_cast<const char*>(data);
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t wrote = retried([&] {
      return system_calls().pwrite(file.get(), from + done, bytes - done, static_cast<off_t>(at + done));
    });
    if (wrote == 0) errno = ENOSPC;
    if (wrote <= 0) throw system_error("write", path);
    done += static_cast<std::uint64_t>(wrote);
  }
}

void flush_file(const FileHandle& file, const std::string& path) {
  if (retried([&] { return system_calls().fsync(file.get()); }) == 0) return;
  if (errno != EINVAL && errno != ENOSYS && errno != EROFS) throw system_error("write to disk", path);
}

}  // namespace

void StateReader::check(bool good) {
  if (!good) throw bad_input("the journal of a conversion is damaged; remove it to start anew");
}

BuildJournal::BuildJournal(Options options)
    : options_(std::move(options)), last_(std::chrono::steady_clock::now()) {
  refusal_ = load();
  if (!refusal_.empty()) states_.clear();
  goes_on_ = committed_ = !states_.empty();
  if (!goes_on_) files_.clear(), remove_files();
  output_ = opened(options_.output, O_RDWR);
  if (!goes_on_ && !was_finished_) start_output();
}

void BuildJournal::start_output() {
  std::random_device random;
  for (std::uint64_t& word : stamp_) word = std::uint64_t{random()} << 32 | random();
  if (retried([&] { return system_calls().ftruncate(output_.get(), 0); }) != 0)
    throw system_error("resize", options_.output);
  write_all(output_, options_.output, 0, &stamp_, sizeof stamp_);
}

BuildJournal::~BuildJournal() {
  if (!keeps_ || !committed_) remove_files();
}

void BuildJournal::remove_files() noexcept {
  remove_file(path());  // first: the others are worth nothing without it, and it nothing without them
  remove_file(path_of("journal-next"));
  for (const char* name : work_files) remove_file(path_of(name));
}

std::string BuildJournal::path_of(std::string_view name) const {
  return fmt::format("{}.{}", options_.prefix, name);
}

double BuildJournal::seconds_since(std::chrono::steady_clock::time_point moment) const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - moment).count();
}

bool BuildJournal::due() const {
  if (options_.seconds == 0) return true;
  return seconds_since(last_) >= std::max(options_.seconds, pause_for_cost * commit_seconds_);
}

std::uint64_t BuildJournal::stretch(int threads) const {
  constexpr std::uint64_t usual = 64u << 20, least = 256u << 10;
  return (options_.seconds == 0 ? least : usual) * static_cast<std::uint64_t>(threads);
}

/// The states that are there; or why they are of no use.
std::string BuildJournal::load() {
  if (!file_exists(path())) return {};
  const FileHandle    journal = open_for_reading(path());
  const std::uint64_t bytes   = file_size(journal, path());
  JournalHeader       header;
  if (bytes < sizeof header) return "it is damaged";
  read_at(journal, path(), 0, &header, sizeof header);
  if (header.magic != journal_magic || header.bytes != bytes - sizeof header) return "it is damaged";
  if (header.version != journal_version) return "another version of Spillway wrote it";
  std::string content(header.bytes, '\0');
  read_at(journal, path(), sizeof header, content.data(), content.size());
  if (XXH3_64bits(content.data(), content.size()) != header.checksum) return "it is damaged";
  StateReader reader{content};
  if (reader.get_text() != options_.question) return "the input or the options are others now";
  stamp_ = reader.get<Stamp>();
  return load_states(reader);
}

std::string BuildJournal::load_states(StateReader& reader) {
  const auto                                 output = reader.get<Known>();
  std::vector<std::pair<std::string, Known>> files;
  for (auto count = reader.get<std::uint64_t>(); count > 0; --count) {
    std::string name = reader.get_text();
    files.emplace_back(std::move(name), reader.get<Known>());
  }
  for (auto count = reader.get<std::uint64_t>(); count > 0; --count) {
    std::string name = reader.get_text();
    states_.emplace(std::move(name), reader.get_text());
  }
  auto                finished = find(finished_state);
  const std::uint64_t whole    = finished ? finished->get<std::uint64_t>() : 0;
  was_finished_                = whole != 0 && hash_of_beginning(options_.finished) == whole;
  if (was_finished_) return states_.clear(), std::string{};
  if (!is_there(options_.output, output)) return "the unfinished output is not there";
  Stamp at_beginning{};
  read_at(open_for_reading(options_.output), options_.output, 0, &at_beginning, sizeof at_beginning);
  if (at_beginning != stamp_ && !(whole != 0 && hash_of_beginning(options_.output) == whole))
    return "the unfinished output is that of another conversion";
  states_.erase(finished_state);
  for (const auto& [name, known] : files) {
    if (!is_there(path_of(name), known)) return path_of(name) + " is not there";
    file(name);  // which the next commit speaks of, too
  }
  return {};
}

/// 0: there is no such file.
std::uint64_t BuildJournal::hash_of_beginning(const std::string& path) const {
  if (!file_exists(path)) return 0;
  constexpr std::uint64_t beginning = 4096;
  const FileHandle        file      = open_for_reading(path);
  std::string             bytes(std::min(beginning, file_size(file, path)), '\0');
  read_at(file, path, 0, bytes.data(), bytes.size());
  return XXH3_64bits(bytes.data(), bytes.size());
}

void BuildJournal::commit_finished() {
  if (!committed_) return;
  StateWriter state;
  state.put(hash_of_beginning(options_.output));
  put(finished_state, std::move(state));
  commit();
}

/// That it is the same file, and no shorter.
bool BuildJournal::is_there(const std::string& path, const Known& known) const {
  const auto info = information_on(path);
  return info && info->st_ino == known.inode && static_cast<std::uint64_t>(info->st_size) >= known.bytes;
}

std::optional<StateReader> BuildJournal::find(std::string_view name) const {
  const auto found = states_.find(name);
  return found == states_.end() ? std::nullopt : std::optional{StateReader{found->second}};
}

void BuildJournal::put(std::string name, StateWriter state) {
  states_.insert_or_assign(std::move(name), std::move(state).bytes());
}

BuildJournal::Known BuildJournal::flushed(const FileHandle& file, const std::string& path) const {
  flush_file(file, path);
  struct stat info {};
  if (retried([&] { return system_calls().fstat(file.get(), &info); }) != 0) throw system_error("inspect", path);
  return {info.st_ino, static_cast<std::uint64_t>(info.st_size)};
}

void BuildJournal::commit() {
  const auto  begin = std::chrono::steady_clock::now();
  StateWriter writer;
  writer.put_text(options_.question);
  writer.put(stamp_);
  writer.put(flushed(output_, options_.output));
  writer.put(std::uint64_t{files_.size()});
  for (const auto& [name, file] : files_) {
    writer.put_text(name);
    writer.put(flushed(file, path_of(name)));
  }
  writer.put(std::uint64_t{states_.size()});
  for (const auto& [name, state] : states_) {
    writer.put_text(name);
    writer.put_text(state);
  }
  const std::string content = std::move(writer).bytes();
  JournalHeader     header;
  header.bytes    = content.size();
  header.checksum = XXH3_64bits(content.data(), content.size());

  const std::string next = path_of("journal-next");
  {
    const FileHandle file = opened(next, O_WRONLY | O_CREAT | O_TRUNC);
    try {
      write_all(file, next, 0, &header, sizeof header);
      write_all(file, next, sizeof header, content.data(), content.size());
      flush_file(file, next);
      if (retried([&] { return system_calls().rename(next.c_str(), path().c_str()); }) != 0)
        throw system_error("rename", next);
    } catch (...) {
      remove_file(next);
      throw;
    }
  }
  // Names last when their folders are on disk.
  for (const std::string& folder : {folder_of(path()), folder_of(options_.output)}) {
    const FileHandle opened_folder{
        retried([&] { return system_calls().open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0); })};
    if (opened_folder.get() >= 0) flush_file(opened_folder, folder);
  }
  committed_      = true;
  last_           = std::chrono::steady_clock::now();
  commit_seconds_ = seconds_since(begin);
}

const FileHandle& BuildJournal::file(const std::string& name) {
  if (std::ranges::find(work_files, name) == work_files.end())
    throw internal_error("no work file is called {}", name);
  FileHandle& handle = files_[name];
  if (handle.get() < 0) handle = opened(path_of(name), O_RDWR | O_CREAT | O_NOFOLLOW);
  return handle;
}

void BuildJournal::write(const std::string& name, std::uint64_t at, const void* data, std::uint64_t bytes) {
  write_all(file(name), path_of(name), at, data, bytes);
}

void BuildJournal::read(const std::string& name, std::uint64_t at, void* into, std::uint64_t bytes) {
  read_at(file(name), path_of(name), at, into, bytes);
}

}  // namespace spillway
