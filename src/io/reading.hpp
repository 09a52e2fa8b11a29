// What readers of several formats share: weights in the type that was asked for, and promises of both arcs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/format.hpp"

namespace spillway {

/// The path without .gz or .zst at its end.
std::string without_compression(std::string path);

/// True when the name ends in ".suffix", before ".gz" or ".zst".
bool named_with(const std::string& path, std::string_view suffix);

/// The type weights are kept in when the file holds them as `held`; asking for weights it lacks is an error.
WeightType kept_weights(const ReadJob& job, WeightType held);

/// The bits of a whole number as a weight of `type`; nothing where it does not fit.
std::optional<std::uint32_t> weight_bits(std::int64_t value, WeightType type);
std::optional<std::uint32_t> weight_bits(double value, WeightType type);

/// Notes that neighbours may have 64 bits, where records of neighbour and weight were expected.
void note_zero_weights(std::span<const std::uint32_t> weights, ReadJob& job);

/// Tells of weights in a binary file, read as whole numbers, that are something else by their looks.
void note_odd_weights(std::span<const std::uint32_t> weights, ReadJob& job, std::string_view remedy = "");

/// Likewise of floats.
void note_tiny_weights(std::span<const std::uint32_t> weights, ReadJob& job);

/// Lists that have each undirected edge once often have the same end first: the smaller, or the larger; empty
/// where this one does not, or where both arcs were asked for. `what`: names the ends.
std::string one_way_clause(const ReadResult& read, const Transform& transform, std::string_view what = "id");

/// For formats that state neither direction: comments (lines that begin with `mark`) that say that edges have
/// none, and edges that all lead the same way.
void note_directions(const ReadResult& read, char mark, ReadJob& job);
/// Whether edges are listed from both ends; none said: it cannot be seen, since rows are elsewhere.
std::optional<bool> lists_both_ways(const ReadResult& read, int threads);

/// from_rows for a format that lists both arcs of every edge; a file that does not is refused.
ReadResult from_symmetric_rows(Csr csr, IdMap ids, WeightType weight_type, std::string_view format, ReadJob& job);

/// True when the whole text fits a METIS header, and every edge stands on the lines of both its ends. Two numbers
/// above a blank line say too little. Where all lines have as many words, it may be an edge list as well.
bool fits_metis(std::string_view text, bool& lines_differ);

/// An arc as a message shows it: "3 -> 5 (weight 2)".
std::string arc_name(const IdMap& ids, Vertex source, Vertex target, WeightType weight_type, std::uint32_t weight);

}  // namespace spillway
