// Numbers for ids that are not numbers, or too large: each thread numbers what it meets as it meets it,
// and in the end all are put in order and numbered anew.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"

#include <spillway/error.hpp>
#include <spillway/types.hpp>

namespace spillway {

inline std::uint64_t hash_of(std::uint64_t key) {
  key ^= key >> 32;
  key *= 0xd6e8feb86659fd93u;  // a multiplier found by search (Mulvey 2016); two rounds mix all bits
  key ^= key >> 32;
  key *= 0xd6e8feb86659fd93u;
  return key ^ key >> 32;
}
inline std::uint64_t hash_of(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }

/// The strings live here, so that views of them stay valid.
class StringArena {
 public:
  std::string_view keep(std::string_view text) {
    if (text.size() > room_) {
      const std::size_t bytes = std::max(text.size(), chunk_bytes);
      chunks_.push_back(std::make_unique<char[]>(bytes));
      next_ = chunks_.back().get();
      room_ = bytes;
      total_ += bytes;
    }
    std::memcpy(next_, text.data(), text.size());
    const std::string_view kept{next_, text.size()};
    next_ += text.size();
    room_ -= text.size();
    return kept;
  }
  std::uint64_t keep(std::uint64_t number) { return number; }
  std::uint64_t bytes() const { return total_; }

 private:
  static constexpr std::size_t         chunk_bytes = 1u << 20;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char*                                next_  = nullptr;
  std::size_t                          room_  = 0;
  std::uint64_t                        total_ = 0;
};

/// Key is std::uint64_t or std::string_view.
template <class Key>
class Interner {
 public:
  explicit Interner(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)), slots_(1024, empty) {}
  Interner(Interner&&) = delete;
  ~Interner() { budget_->give(counted_); }

  Vertex number_of(Key key) {
    const std::uint64_t hash = hash_of(key);
    for (std::size_t slot = hash & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
      const Vertex number = slots_[slot];
      if (number == empty) return insert(slot, key);
      if (keys_[number] == key) return number;
    }
  }

  const std::vector<Key>& keys() const { return keys_; }

 private:
  static constexpr Vertex empty = no_vertex;

  Vertex insert(std::size_t slot, Key key) {
    const auto number = static_cast<Vertex>(keys_.size());
    if (number == empty) throw Error{ExitCode::bad_input, "more than 2^32-1 distinct vertex ids"};
    keys_.push_back(arena_.keep(key));
    slots_[slot] = number;
    if (keys_.size() * 2 > slots_.size()) grow();
    return number;
  }

  void grow() {
    const std::uint64_t bytes =
        slots_.size() * 2 * sizeof(Vertex) + keys_.capacity() * sizeof(Key) + arena_.bytes();
    if (bytes > counted_) budget_->take(bytes - counted_, "the table of vertex ids"), counted_ = bytes;
    std::vector<Vertex> larger(slots_.size() * 2, empty);
    for (Vertex number = 0; number < keys_.size(); ++number) {
      std::size_t slot = hash_of(keys_[number]) & (larger.size() - 1);
      while (larger[slot] != empty) slot = (slot + 1) & (larger.size() - 1);
      larger[slot] = number;
    }
    slots_ = std::move(larger);
  }

  std::shared_ptr<MemoryBudget> budget_;
  std::uint64_t                 counted_ = 0;
  std::vector<Vertex>           slots_;
  std::vector<Key>              keys_;
  StringArena                   arena_;
};

/// All keys of all interners, ascending, each once.
template <class Key>
std::vector<Key> merged_keys(const std::vector<std::unique_ptr<Interner<Key>>>& interners) {
  std::vector<std::vector<Key>> sorted(interners.size());
  for_each_task(static_cast<int>(interners.size()), interners.size(), [&](std::uint64_t i, int) {
    sorted[i] = interners[i]->keys();
    std::sort(sorted[i].begin(), sorted[i].end());
  });
  std::vector<Key> all;
  for (auto& part : sorted) {
    std::vector<Key> both;
    both.reserve(all.size() + part.size());
    std::set_union(all.begin(), all.end(), part.begin(), part.end(), std::back_inserter(both));
    all  = std::move(both);
    part = {};
  }
  return all;
}

}  // namespace spillway
