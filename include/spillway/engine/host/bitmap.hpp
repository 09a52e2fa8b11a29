// One bit a vertex, in huge pages. The only bitmap there is on the host.
#pragma once

#include <bit>
#include <cstring>

#include <spillway/engine/atomics.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/types.hpp>

namespace spillway::host {

class Bitmap {
 public:
  static constexpr std::uint64_t bits = 64;

  static constexpr std::uint64_t word_count(std::uint64_t n) { return (n + bits - 1) / bits; }

  Bitmap() = default;
  Bitmap(std::uint64_t n, const std::shared_ptr<MemoryBudget>& budget, std::string_view what)
      : words_(word_count(n), budget, what) {}

  std::uint64_t  size() const { return words_.size(); }
  std::uint64_t& word(std::uint64_t i) { return words_[i]; }

  bool test(Vertex v) const { return (atomics::load(words_[v / bits]) >> (v % bits)) & 1; }

  /// True for the one caller that set it.
  bool claim(Vertex v) {
    const std::uint64_t bit = mask(v);
    return !(atomics::set_bits(words_[v / bits], bit) & bit);
  }

  /// True for the one caller that cleared it.
  bool take(Vertex v) {
    const std::uint64_t bit = mask(v);
    return atomics::clear_bits(words_[v / bits], bit) & bit;
  }

  void clear_word_of(Vertex v) { atomics::store(words_[v / bits], std::uint64_t{0}); }
  void clear(std::uint64_t first_word, std::uint64_t last_word) {
    std::memset(words_.data() + first_word, 0, (last_word - first_word) * sizeof(std::uint64_t));
  }

  /// body(v) for every set bit of a word that covers `first` and the 63 after it.
  template <class Body>
  static void for_each(std::uint64_t word, std::uint64_t index, Body&& body) {
    for (; word != 0; word &= word - 1)
      body(static_cast<Vertex>(index * bits + static_cast<std::uint64_t>(std::countr_zero(word))));
  }

 private:
  static std::uint64_t mask(Vertex v) { return std::uint64_t{1} << (v % bits); }

  Buffer<std::uint64_t> words_;
};

}  // namespace spillway::host
