// Names of vertices: numbers or strings, found by binary search since they ascend.
#include <spillway/ids.hpp>

#include <algorithm>
#include <vector>

#include <spillway/engine/search.hpp>
#include "base/text.hpp"

namespace spillway {

IdMap IdMap::consecutive(std::uint64_t first) {
  IdMap map;
  map.first_ = first;
  return map;
}

IdMap IdMap::numbers(Array<std::uint64_t> numbers) {
  IdMap map;
  map.kind_    = Kind::numbers;
  map.numbers_ = std::move(numbers);
  return map;
}

IdMap IdMap::strings(Array<std::uint64_t> ends, Array<char> bytes) {
  IdMap map;
  map.kind_    = Kind::strings;
  map.numbers_ = std::move(ends);
  map.bytes_   = std::move(bytes);
  return map;
}

IdMap IdMap::ordered(IdMap ids, Array<Vertex> order) {
  ids.order_ = std::move(order);
  return ids;
}

IdMap IdMap::ascending() const { return ordered(*this, {}); }

std::string_view IdMap::string_at(std::uint64_t place) const {
  const std::uint64_t begin = place == 0 ? 0 : numbers_[place - 1];
  return {bytes_.data() + begin, static_cast<std::size_t>(numbers_[place] - begin)};
}

std::string_view IdMap::string(Vertex v) const { return string_at(place(v)); }

/// Few are looked for: no inverse is kept for them.
std::optional<Vertex> IdMap::vertex_at(std::uint64_t place) const {
  if (order_.size() == 0) return static_cast<Vertex>(place);
  const auto* const found = std::find(order_.begin(), order_.end(), place);
  if (found == order_.end()) return std::nullopt;
  return static_cast<Vertex>(found - order_.begin());
}

void IdMap::append_name(std::string& out, Vertex v) const {
  switch (kind_) {
    case Kind::consecutive:
      out += std::to_string(first_ + place(v));
      return;
    case Kind::numbers:
      out += std::to_string(numbers_[place(v)]);
      return;
    case Kind::strings:
      out += string(v);
      return;
  }
}

std::string IdMap::name(Vertex v) const {
  std::string text;
  append_name(text, v);
  return text;
}

std::optional<Vertex> IdMap::find(std::uint64_t number, std::uint64_t vertex_count) const {
  if (kind_ == Kind::consecutive) {
    if (number < first_ || number - first_ >= vertex_count) return std::nullopt;
    return vertex_at(number - first_);
  }
  if (kind_ == Kind::strings) return find(std::to_string(number), vertex_count);
  const auto* found = std::lower_bound(numbers_.begin(), numbers_.end(), number);
  if (found == numbers_.end() || *found != number) return std::nullopt;
  return vertex_at(static_cast<std::uint64_t>(found - numbers_.begin()));
}

std::optional<Vertex> IdMap::find(std::string_view name, std::uint64_t vertex_count) const {
  if (kind_ != Kind::strings) {
    const bool other_spelling = name.size() > 1 && name.starts_with('0');  // 007 is not 7
    const auto number         = other_spelling ? std::nullopt : parse_number(name);
    return number ? find(*number, vertex_count) : std::nullopt;
  }
  const auto          before = [&](std::uint64_t i) { return string_at(i) < name; };
  const std::uint64_t found  = partition_point(std::uint64_t{0}, vertex_count, before);
  if (found == vertex_count || string_at(found) != name) return std::nullopt;
  return vertex_at(found);
}

namespace {

bool is_permutation(std::span<const Vertex> order, std::uint64_t vertex_count) {
  if (order.size() != vertex_count) return false;
  std::vector<bool> seen(vertex_count);
  for (const Vertex v : order) {
    if (v >= vertex_count || seen[v]) return false;
    seen[v] = true;
  }
  return true;
}

}  // namespace

bool IdMap::valid_for(std::uint64_t vertex_count) const {
  if (order_.size() > 0 && !is_permutation(order_.span(), vertex_count)) return false;
  if (kind_ == Kind::consecutive) return first_ <= UINT64_MAX - vertex_count;
  if (numbers_.size() != vertex_count) return false;
  if (kind_ == Kind::numbers)
    return std::adjacent_find(numbers_.begin(), numbers_.end(), std::greater_equal<>{}) == numbers_.end();
  if (!std::is_sorted(numbers_.begin(), numbers_.end())) return false;
  if ((vertex_count == 0 ? 0 : numbers_[vertex_count - 1]) != bytes_.size()) return false;
  for (std::uint64_t v = 1; v < vertex_count; ++v)
    if (string_at(v - 1) >= string_at(v)) return false;
  return true;
}

}  // namespace spillway
