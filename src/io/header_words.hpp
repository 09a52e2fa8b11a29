// The words that headers of edge lists are made of: which name the ends of arcs, which their weights.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

using Fields = std::vector<std::string>;

/// Whatever its case.
bool is_any(const std::string& word, std::initializer_list<std::string_view> words);

/// What tables write for a value that is missing. It stands in data, not in headers.
bool is_missing_value(const std::string& word);

/// Of a comment, in any spelling: "un-directed", "Directed: false", "symmetric"; not "undirected = 0" nor "not an
/// undirected" (edge_statements.cpp).
bool says_undirected(std::string_view line);
bool says_bipartite(std::string_view line);
/// Perhaps which way they lead, or how often each is listed.
bool says_how_edges_lie(std::string_view line);

// Surest first: what hardly anything but a header says, and what names an end beside its partner.
bool surely_source(const std::string& word);
bool surely_target(const std::string& word);
bool probably_source(const std::string& word);
bool probably_target(const std::string& word);
bool surely_weight(const std::string& word);
bool names_weight(const std::string& word);
/// A number or a date of the line itself, and none of its ends.
bool names_the_line(const std::string& word);

std::optional<unsigned> position_in(const Fields& header, const std::function<bool(const std::string&)>& names);

/// Source and target as the header's words have them.
struct Ends {
  std::optional<unsigned> from, to;
  bool                    letters = false;  ///< nothing but letters says so
};
Ends ends_of(const Fields& header);

}  // namespace spillway
