// How far a build outside of memory has got, on disk, so that the same command goes on from there after a kill.
//
// Everything that takes part puts its state under a name of its own, when nothing is under way; `commit` makes the
// files durable that the states speak of, and replaces the journal by one rename. Whatever ends the process, there
// is a whole journal of some moment, or none.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/files.hpp"

namespace spillway {

/// A state as bytes: values one behind the other.
class StateWriter {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void put_all(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(std::uint64_t{values.size()});
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  void        put_text(std::string_view text) { put_all(std::span{text.data(), text.size()}); }
  std::string bytes() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what a StateWriter wrote, in the same order; Error{bad_input} where there is less.
class StateReader {
 public:
  explicit StateReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    alignas(T) std::byte value[sizeof(T)];
    std::memcpy(value, next(sizeof value), sizeof value);
    return *std::launder(reinterpret_cast<const T*>(value));
  }
  template <class T>
  std::vector<T> get_all() {
    const auto count = get<std::uint64_t>();
    check(count <= bytes_.size() / sizeof(T));
    std::vector<T>    values(count);
    const char* const from = next(count * sizeof(T));
    if (count > 0) std::memcpy(values.data(), from, count * sizeof(T));
    return values;
  }
  std::string get_text() {
    const std::vector<char> text = get_all<char>();
    return {text.begin(), text.end()};
  }

 private:
  static void check(bool good);
  const char* next(std::uint64_t bytes) {
    check(bytes <= bytes_.size());
    const char* const from = bytes_.data();
    bytes_.remove_prefix(bytes);
    return from;
  }

  std::string_view bytes_;
};

class BuildJournal {
 public:
  struct Options {
    std::string prefix;    ///< of the names of its files
    std::string question;  ///< what is made of what: another journal is not used
    std::string output;    ///< the unfinished file that is written…
    std::string finished;  ///< …and its name when it is whole
    double seconds = 10;   ///< between commits, at least, and more where they take long; 0: as often as possible
  };

  /// Without states to go on from, the output starts anew.
  explicit BuildJournal(Options options);
  BuildJournal(const BuildJournal&) = delete;
  /// All files go, unless they are to stay.
  ~BuildJournal();

  /// Whether there are states of an earlier process.
  bool goes_on() const { return goes_on_; }
  /// Whether that had come to its end, but for removing the files.
  bool was_finished() const { return was_finished_; }
  /// Why those that were there are not used; empty: there were none, or they are.
  const std::string& refusal() const { return refusal_; }
  std::string        path() const { return path_of("journal"); }

  bool due() const;
  /// Bytes of input after which a reader lets its threads meet and looks whether a commit is due.
  std::uint64_t stretch(int threads) const;

  std::optional<StateReader> find(std::string_view name) const;
  void                       put(std::string name, StateWriter state);
  void                       forget_all() { states_.clear(); }
  void                       commit();
  bool                       has_committed() const { return committed_; }
  /// The output is whole, and gets its name next: whoever finds it there knows it by its beginning.
  void commit_finished();
  /// Files stay when the journal is dropped, for another process to go on.
  void keep() { keeps_ = true; }

  // Files that states speak of, beside the output.
  const FileHandle& file(const std::string& name);
  std::string       path_of(std::string_view name) const;
  void              write(const std::string& name, std::uint64_t at, const void* data, std::uint64_t bytes);
  void              read(const std::string& name, std::uint64_t at, void* into, std::uint64_t bytes);

 private:
  struct Known {
    std::uint64_t inode = 0, bytes = 0;
  };
  /// Of one conversion, at the beginning of its output until that is whole: another may have taken the file.
  using Stamp = std::array<std::uint64_t, 2>;

  std::string          load();
  std::string          load_states(StateReader& reader);
  void                 start_output();
  std::uint64_t        hash_of_beginning(const std::string& path) const;
  bool                 is_there(const std::string& path, const Known& known) const;
  Known                flushed(const FileHandle& file, const std::string& path) const;
  void                 remove_files() noexcept;
  [[nodiscard]] double seconds_since(std::chrono::steady_clock::time_point moment) const;

  Options                                         options_;
  std::map<std::string, std::string, std::less<>> states_;
  std::map<std::string, FileHandle, std::less<>>  files_;
  FileHandle                                      output_;
  Stamp                                           stamp_{};
  std::string                                     refusal_;
  std::chrono::steady_clock::time_point           last_;
  double                                          commit_seconds_ = 0;
  bool goes_on_ = false, committed_ = false, keeps_ = false, was_finished_ = false;
};

}  // namespace spillway
