// One bit a vertex, in huge pages. The only bitmap there is on the host.
#pragma once

#include <bit>
#include <cstring>

#include <spillway/engine/atomics.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/types.hpp>

namespace spillway::host {

/// The bits themselves. Loops take a copy, so that the compiler knows that no store moves them.
struct BitmapView {
  static constexpr std::uint64_t bits = 64;

  std::uint64_t* words = nullptr;

  static std::uint64_t mask(Vertex v) { return std::uint64_t{1} << (v % bits); }

  bool test(Vertex v) const { return (atomics::load(words[v / bits]) >> (v % bits)) & 1; }

  /// True for the one caller that set it.
  bool claim(Vertex v) const { return !(atomics::set_bits(words[v / bits], mask(v)) & mask(v)); }

  /// Whoever sees the bit by `test_acquiring` sees what was written before it was claimed by `claim_releasing`.
  bool test_acquiring(Vertex v) const {
    return (__atomic_load_n(words + v / bits, __ATOMIC_ACQUIRE) >> (v % bits)) & 1;
  }
  bool claim_releasing(Vertex v) const {
    return !(__atomic_fetch_or(words + v / bits, mask(v), __ATOMIC_RELEASE) & mask(v));
  }

  /// True for the one caller that cleared it.
  bool take(Vertex v) const { return (atomics::clear_bits(words[v / bits], mask(v)) & mask(v)) != 0; }

  void clear_word_of(Vertex v) const { atomics::store(words[v / bits], std::uint64_t{0}); }
};

class Bitmap {
 public:
  static constexpr std::uint64_t bits = BitmapView::bits;

  static constexpr std::uint64_t word_count(std::uint64_t n) { return (n + bits - 1) / bits; }

  Bitmap() = default;
  Bitmap(std::uint64_t n, const std::shared_ptr<MemoryBudget>& budget, std::string_view what)
      : words_(word_count(n), budget, what) {}

  BitmapView     view() const { return {words_.data()}; }
  std::uint64_t  size() const { return words_.size(); }
  std::uint64_t* data() const { return words_.data(); }
  std::uint64_t& word(std::uint64_t i) { return words_[i]; }

  bool test(Vertex v) const { return view().test(v); }
  bool claim(Vertex v) { return view().claim(v); }
  bool take(Vertex v) { return view().take(v); }
  void clear_word_of(Vertex v) { view().clear_word_of(v); }

  void clear(std::uint64_t first_word, std::uint64_t last_word) {
    std::memset(words_.data() + first_word, 0, (last_word - first_word) * sizeof(std::uint64_t));
  }

  /// body(v) for every set bit of word `index`.
  template <class Body>
  static void for_each(std::uint64_t word, std::uint64_t index, Body&& body) {
    for (; word != 0; word &= word - 1)
      body(static_cast<Vertex>(index * bits + static_cast<std::uint64_t>(std::countr_zero(word))));
  }

 private:
  Buffer<std::uint64_t> words_;
};

}  // namespace spillway::host
