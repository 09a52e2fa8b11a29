// Numbers for ids that are not numbers, or too large: each thread numbers what it meets as it meets it,
// and in the end all are put in order and numbered anew.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include "base/hash.hpp"

#include <spillway/error.hpp>
#include <spillway/ids.hpp>
#include <spillway/types.hpp>

namespace spillway {

/// Ids from here on are looked up rather than indexed with, among so many edges.
inline std::uint64_t sparse_from(std::uint64_t edges) {
  constexpr std::uint64_t floor = 1u << 20, ids_an_edge = 16;
  return std::min(max_vertices, floor + ids_an_edge * edges);
}

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
  explicit Interner(std::shared_ptr<MemoryBudget> budget)
      : charge_(std::move(budget), "the table of vertex ids"), slots_(1024, empty) {
    keys_.reserve(slots_.size() / 2);
  }

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
    if (keys_.size() == keys_.capacity()) {
      grow();
      return number_of(key);
    }
    keys_.push_back(arena_.keep(key));
    slots_[slot] = number;
    charge_.raise_to(fixed_bytes_ + arena_.bytes());
    return number;
  }

  /// Keys and slots double together, so that the table is never more than half full. The old ones live until they
  /// are copied, which counts.
  void grow() {
    const std::size_t capacity = keys_.capacity() * 2;
    fixed_bytes_ = (capacity + keys_.size()) * sizeof(Key) + (capacity * 2 + slots_.size()) * sizeof(Vertex);
    charge_.raise_to(fixed_bytes_ + arena_.bytes());
    keys_.reserve(capacity);
    std::vector<Vertex> larger(capacity * 2, empty);
    for (Vertex number = 0; number < keys_.size(); ++number) {
      std::size_t slot = hash_of(keys_[number]) & (larger.size() - 1);
      while (larger[slot] != empty) slot = (slot + 1) & (larger.size() - 1);
      larger[slot] = number;
    }
    slots_ = std::move(larger);
  }

  Charge              charge_;
  std::uint64_t       fixed_bytes_ = 0;
  std::vector<Vertex> slots_;  ///< a power of two of them
  std::vector<Key>    keys_;
  StringArena         arena_;
};

/// All keys of all interners in order, and the place of each interner's own among them.
template <class Key>
class OrderedKeys {
 public:
  using Interners = std::vector<std::unique_ptr<Interner<Key>>>;

  OrderedKeys(const Interners& interners, const std::shared_ptr<MemoryBudget>& budget)
      : charge_(budget, "putting the vertex ids in order"), sorted_(interners.size()) {
    std::uint64_t total = 0;
    for (const auto& interner : interners) total += interner->keys().size();
    // Each thread's keys with their numbers, the union twice while it is merged, and the places handed out.
    charge_.raise_to(total * (sizeof(Numbered) + 2 * sizeof(Key) + sizeof(Vertex)));
    for_each_task(static_cast<int>(interners.size()), interners.size(), [&](std::uint64_t i, int) {
      const std::vector<Key>& keys = interners[i]->keys();
      sorted_[i].reserve(keys.size());
      for (Vertex number = 0; number < keys.size(); ++number) sorted_[i].push_back({keys[number], number});
      std::sort(sorted_[i].begin(), sorted_[i].end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    });
    for (const auto& part : sorted_) merge(part);
  }

  const std::vector<Key>& keys() const { return keys_; }

  /// For each number of interner `i`, where its key stands in `all`; missing(key) for one that does not.
  template <class Missing>
  std::vector<Vertex> places_in(const std::vector<Key>& all, std::size_t i, Missing&& missing) const {
    std::vector<Vertex> places(sorted_[i].size());
    std::size_t         place = 0;
    for (const Numbered& each : sorted_[i]) {
      while (place < all.size() && all[place] < each.key) ++place;
      if (place == all.size() || all[place] != each.key) missing(each.key);
      places[each.number] = static_cast<Vertex>(place);
    }
    return places;
  }

 private:
  struct Numbered {
    Key    key;
    Vertex number;
  };

  void merge(const std::vector<Numbered>& part) {
    std::vector<Key> both;
    both.reserve(keys_.size() + part.size());
    auto next = keys_.begin();
    for (const Numbered& each : part) {
      while (next != keys_.end() && *next < each.key) both.push_back(*next++);
      if (next != keys_.end() && *next == each.key) ++next;
      both.push_back(each.key);
    }
    both.insert(both.end(), next, keys_.end());
    keys_ = std::move(both);
  }

  Charge                             charge_;
  std::vector<std::vector<Numbered>> sorted_;
  std::vector<Key>                   keys_;
};

/// What vertices are called whose ids, in order, are these.
inline IdMap id_map_of(const std::vector<std::uint64_t>& keys, const std::shared_ptr<MemoryBudget>& budget) {
  if (keys.empty()) return IdMap::consecutive();
  // Near the end of 64 bits the id behind the last would have none.
  if (keys.back() - keys.front() + 1 == keys.size() && keys.front() <= UINT64_MAX - max_vertices)
    return IdMap::consecutive(keys.front());
  return IdMap::numbers(make_array<std::uint64_t>(keys, budget, "the table of vertex ids"));
}

inline IdMap id_map_of(const std::vector<std::string_view>& keys, const std::shared_ptr<MemoryBudget>& budget) {
  std::uint64_t bytes = 0;
  for (const std::string_view key : keys) bytes += key.size();
  Buffer<std::uint64_t> ends{keys.size(), budget, "the table of vertex names"};
  Buffer<char>          text{bytes, budget, "the table of vertex names"};
  std::uint64_t         end = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::memcpy(text.data() + end, keys[i].data(), keys[i].size());
    ends[i] = end += keys[i].size();
  }
  return IdMap::strings(std::move(ends).freeze(), std::move(text).freeze());
}

}  // namespace spillway
