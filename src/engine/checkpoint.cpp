#include <spillway/checkpoint.hpp>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

#include <spillway/engine/executor.hpp>

namespace spillway {
namespace {

constexpr std::array<char, 8> magic{'\x89', 'S', 'P', 'S', 'T', 'A', 'T', '\n'};
constexpr std::uint32_t       version          = 2;
constexpr std::size_t         most_of_question = 1000;  // characters of a message

/// Of the file; the question and the state follow.
struct Header {
  std::array<char, 8> magic          = spillway::magic;
  std::uint32_t       version        = spillway::version;
  std::uint32_t       run            = 0;  ///< of those that the algorithm makes for one part of its work
  std::uint64_t       question_bytes = 0;
  std::uint64_t       state_bytes    = 0;
  std::uint64_t       checksum       = 0;  ///< of header, question and state, with this field zero
  std::uint64_t       iterations = 0, edges_processed = 0, bytes_read = 0, pages_wanted = 0, pages_read = 0;
};

double now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

class StateWriter final : public StateExchange {
 public:
  StateWriter(OutputFile& file, std::uint64_t at) : file_(file), at_(at), begin_(at) { XXH3_64bits_reset(&hash_); }

  bool is_reading() const override { return false; }
  void exchange(void* data, std::uint64_t bytes) override {
    XXH3_64bits_update(&hash_, data, bytes);
    file_.write_at(at_, data, bytes);
    at_ += bytes;
  }
  std::uint64_t bytes() const { return at_ - begin_; }
  std::uint64_t checksum() const { return XXH3_64bits_digest(&hash_); }

 private:
  OutputFile&   file_;
  std::uint64_t at_, begin_;
  XXH3_state_t  hash_;
};

class StateReader final : public StateExchange {
 public:
  StateReader(const FileHandle& file, const std::string& path, std::uint64_t at, std::uint64_t bytes)
      : file_(file), path_(path), at_(at), end_(at + bytes) {
    XXH3_64bits_reset(&hash_);
  }

  bool is_reading() const override { return true; }
  void check_left(std::uint64_t count, std::uint64_t bytes_of_each) const override {
    if (count > (end_ - at_) / bytes_of_each)
      throw bad_input("{}: the state of another run; remove the file to start anew", path_);
  }
  void exchange(void* data, std::uint64_t bytes) override {
    check_left(bytes, 1);
    read_at(file_, path_, at_, data, bytes);
    XXH3_64bits_update(&hash_, data, bytes);
    at_ += bytes;
  }
  bool          at_end() const { return at_ == end_; }
  std::uint64_t checksum() const { return XXH3_64bits_digest(&hash_); }

 private:
  const FileHandle&  file_;
  const std::string& path_;
  std::uint64_t      at_, end_;
  XXH3_state_t       hash_;
};

std::uint64_t checksum_of(Header header, const std::string& question, std::uint64_t of_state) {
  header.checksum = 0;
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, &header, sizeof header);
  XXH3_64bits_update(&state, question.data(), question.size());
  XXH3_64bits_update(&state, &of_state, sizeof of_state);
  return XXH3_64bits_digest(&state);
}

/// The header of a checkpoint and what it is of.
std::pair<Header, std::string> opened(const FileHandle& file, const std::string& path) {
  Header              header;
  const std::uint64_t bytes = file_size(file, path);
  if (bytes >= sizeof header) read_at(file, path, 0, &header, sizeof header);
  if (bytes < sizeof header || header.magic != magic)
    throw bad_input("{}: not a checkpoint; remove the file to start anew", path);
  if (header.version != version)
    throw bad_input(
        "{}: a checkpoint of version {}; this Spillway reads version {}: remove the file to start anew", path,
        header.version, version);
  if (header.question_bytes > bytes - sizeof header ||
      header.state_bytes != bytes - sizeof header - header.question_bytes)
    throw bad_input("{}: {} bytes are not those of a whole checkpoint; remove the file to start anew", path,
                    bytes);
  std::string question(header.question_bytes, ' ');
  read_at(file, path, sizeof header, question.data(), question.size());
  return {header, std::move(question)};
}

/// Before anything else is made of it.
void check_whole(const FileHandle& file, const std::string& path, const Header& header,
                 const std::string& question) {
  StateReader            reader{file, path, sizeof header + header.question_bytes, header.state_bytes};
  std::vector<std::byte> some(1u << 16);
  for (std::uint64_t left = header.state_bytes; left > 0;) {
    const std::uint64_t here = std::min<std::uint64_t>(left, some.size());
    reader.exchange(some.data(), here);
    left -= here;
  }
  if (checksum_of(header, question, reader.checksum()) != header.checksum)
    throw bad_input("{}: it does not match its checksum; remove the file to start anew", path);
}

}  // namespace

void refuse_checkpoint(bool of_another_method) {
  if (of_another_method)
    throw usage_error("the checkpoint is of a run by another --method; give the same, or remove it to start anew");
  throw bad_input("the checkpoint is of another program or graph; remove it to start anew");
}

std::string Checkpoints::path() const {
  return (std::filesystem::path{options_.folder} / "run.checkpoint").string();
}

Checkpoints::Checkpoints(CheckpointOptions options) : options_(std::move(options)), last_ms_(now_ms()) {
  std::error_code none;
  if (!std::filesystem::is_directory(options_.folder, none))
    throw usage_error("--checkpoint {}: there is no such folder; make it first", printable(options_.folder));
  exists_ = std::filesystem::exists(path(), none);
  check_can_write(path());
  if (!exists_) return;
  if (!options_.resume)
    throw usage_error("{}: there is a checkpoint already; --resume goes on from it, or remove it to start anew",
                      path());
  const auto [header, question] = opened(open_for_reading(path()), path());
  if (question != options_.question)
    throw usage_error(
        "{}: a checkpoint of another question ({}), not of this one ({}); give another folder, or "
        "remove the file",
        path(), printable(question, most_of_question), printable(options_.question, most_of_question));
  saved_run_ = header.run;
}

std::optional<FrontierSize> Checkpoints::begin(Executor& executor, RunStatistics& statistics) {
  asked_ = true;
  if (run_++ != saved_run_ || !exists_ || resumed_at_) return std::nullopt;
  const std::string name        = path();
  const FileHandle  file        = open_for_reading(name);
  const auto [header, question] = opened(file, name);
  if (header.run != saved_run_ || question != options_.question)
    throw bad_input("{}: another process has written to it meanwhile; start anew", name);
  check_whole(file, name, header, question);
  StateReader reader{file, name, sizeof header + header.question_bytes, header.state_bytes};
  if (exchange_parts_) exchange_parts_(reader);
  const auto frontier = executor.exchange_state(reader);
  if (!frontier) throw usage_error("{}: this run cannot go on from a checkpoint; remove the file", name);
  if (!reader.at_end()) throw bad_input("{}: the state of another run; remove the file to start anew", name);
  statistics.iterations      = header.iterations;
  statistics.edges_processed = header.edges_processed;
  statistics.bytes_read      = header.bytes_read;
  statistics.pages_wanted    = header.pages_wanted;
  statistics.pages_read      = header.pages_read;
  resumed_at_                = header.iterations;
  last_ms_                   = now_ms();
  return frontier;
}

void Checkpoints::offer(Executor& executor, const RunStatistics& statistics) {
  if (exists_ && !resumed_at_ && run_ <= saved_run_) return;  // what was saved is further than this
  constexpr double most_of_time = 0.05;
  const double     since        = now_ms() - last_ms_;
  const bool       each         = options_.seconds == 0;
  if (!each && (since < 1e3 * options_.seconds || since * most_of_time < save_ms_)) return;
  const double began = now_ms();
  try {
    save(executor, statistics);
    trouble_.clear();
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    trouble_ = error.what();
  }
  last_ms_ = now_ms();
  save_ms_ = last_ms_ - began;
}

void Checkpoints::save(Executor& executor, const RunStatistics& statistics) {
  OutputFile  file{path()};
  StateWriter writer{file, sizeof(Header) + options_.question.size()};
  if (exchange_parts_) exchange_parts_(writer);
  if (!executor.exchange_state(writer))
    throw usage_error("{}: runs of this algorithm have state that cannot be saved", path());
  Header header{.run             = run_ - 1,
                .question_bytes  = options_.question.size(),
                .state_bytes     = writer.bytes(),
                .iterations      = statistics.iterations,
                .edges_processed = statistics.edges_processed,
                .bytes_read      = statistics.bytes_read,
                .pages_wanted    = statistics.pages_wanted,
                .pages_read      = statistics.pages_read};
  header.checksum = checksum_of(header, options_.question, writer.checksum());
  file.write_at(sizeof header, options_.question.data(), options_.question.size());
  file.write_at(0, &header, sizeof header);
  file.commit();
  ++saved_;
}

void Checkpoints::begin_parts(std::function<void(StateExchange&)> exchange) {
  exchange_parts_ = std::move(exchange);
  if (!exists_) return;
  const FileHandle file         = open_for_reading(path());
  const auto [header, question] = opened(file, path());
  check_whole(file, path(), header, question);
  StateReader reader{file, path(), sizeof header + header.question_bytes, header.state_bytes};
  exchange_parts_(reader);
}

void Checkpoints::end_part() {
  if (exists_ && !resumed_at_) refuse_checkpoint();  // it is of a run that this part has not made
  run_ = 0;
}

void Checkpoints::finish() {
  std::error_code none;
  if (exists_ || saved_ > 0) std::filesystem::remove(path(), none);
}

}  // namespace spillway
