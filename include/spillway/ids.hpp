// What the user calls a vertex. Computing uses 0 to n-1; everything a person reads goes through here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <spillway/array.hpp>
#include <spillway/types.hpp>

namespace spillway {

class IdMap {
 public:
  enum class Kind : std::uint32_t {
    consecutive = 0,  ///< first, first+1, …: nothing is stored
    numbers     = 1,  ///< ascending 64-bit numbers
    strings     = 2,  ///< ascending byte strings
  };

  /// Ids first, first+1, …
  static IdMap consecutive(std::uint64_t first = 0);
  /// `numbers` strictly ascending, one a vertex.
  static IdMap numbers(Array<std::uint64_t> numbers);
  /// String v is bytes[ends[v-1], ends[v]); strictly ascending.
  static IdMap strings(Array<std::uint64_t> ends, Array<char> bytes);

  /// Vertex v is what `ids` calls order[v]; `order` holds every vertex once.
  static IdMap ordered(IdMap ids, Array<Vertex> order);

  Kind          kind() const { return kind_; }
  std::uint64_t first() const { return first_; }

  void        append_name(std::string& out, Vertex v) const;
  std::string name(Vertex v) const;

  /// The vertex the user calls `name`, in a graph of `vertex_count` vertices.
  std::optional<Vertex> find(std::string_view name, std::uint64_t vertex_count) const;
  std::optional<Vertex> find(std::uint64_t number, std::uint64_t vertex_count) const;

  const Array<std::uint64_t>& number_table() const { return numbers_; }
  const Array<std::uint64_t>& string_ends() const { return numbers_; }
  const Array<char>&          string_bytes() const { return bytes_; }
  std::string_view            string(Vertex v) const;
  /// Place of each vertex among the ids; empty: its own.
  const Array<Vertex>& order() const { return order_; }
  /// The same ids, in their own order.
  IdMap         ascending() const;
  std::uint64_t bytes() const {
    return numbers_.size() * sizeof(std::uint64_t) + bytes_.size() + order_.size() * sizeof(Vertex);
  }

  /// Strictly ascending but for their order, one entry a vertex, string ends within the bytes. A map from a file
  /// is checked with this before it is trusted.
  bool valid_for(std::uint64_t vertex_count) const;

 private:
  Kind                 kind_  = Kind::consecutive;
  std::uint64_t        first_ = 0;
  Array<std::uint64_t> numbers_;
  Array<char>          bytes_;
  Array<Vertex>        order_;

  Vertex                place(Vertex v) const { return order_.size() == 0 ? v : order_[v]; }
  std::string_view      string_at(std::uint64_t place) const;
  std::optional<Vertex> vertex_at(std::uint64_t place) const;
};

}  // namespace spillway
