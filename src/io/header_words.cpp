#include "io/header_words.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.hpp"

namespace spillway {

bool is_any(const std::string& word, std::initializer_list<std::string_view> words) {
  const std::string lowered = lower_case(word);
  return std::any_of(words.begin(), words.end(), [&](std::string_view each) { return lowered == each; });
}

bool is_missing_value(const std::string& word) {
  return is_any(word, {"", "na", "n/a", "nan", "null", "none", "nil", "inf", "-inf", "?", "-", ".", "\\n"});
}

// Words of headers, surest first: what hardly anything but a header says, what names an end beside its partner,
// and letters, which are names as well.
bool surely_source(const std::string& word) {
  return is_any(
      word, {"source", "src", "from", "sourceid", "source_id", "src_id", "source_node", "fromnodeid", "from_id",
             "from_node", ":start_id", "start_id", "startnode", "start_node", "~from", "_from"});
}
bool surely_target(const std::string& word) {
  return is_any(word,
                {"target", "dst", "dest", "destination", "to", "targetid", "target_id", "dst_id", "target_node",
                 "tonodeid", "to_id", "to_node", ":end_id", "end_id", "endnode", "end_node", "~to", "_to"});
}
bool probably_source(const std::string& word) {
  return is_any(word, {"start",   "node1",   "node_1",   "id1",         "id_1",   "vertex1",    "user",   "user1",
                       "user_id", "userid",  "follower", "follower_id", "sender", "parent",     "citing", "caller",
                       "origin",  "subject", "person1",  "author1",     "tail",   "predecessor"});
}
bool probably_target(const std::string& word) {
  return is_any(
      word, {"end",      "node2", "node_2",   "id2",         "id_2",     "vertex2",   "friend",   "friend_id",
             "friendid", "user2", "followee", "followee_id", "followed", "following", "receiver", "recipient",
             "child",    "cited", "callee",   "object",      "person2",  "author2",   "head",     "successor"});
}
/// Letters name the ends of an edge in pairs only: t alone is a time.
constexpr std::pair<std::string_view, std::string_view> letters[] = {{"u", "v"}, {"i", "j"}, {"s", "t"}};

bool surely_weight(const std::string& word) { return is_any(word, {"weight", "w"}); }
bool names_weight(const std::string& word) {
  return is_any(word, {"weight", "w", "cost", "distance", "dist", "length", "capacity", "value"});
}

bool names_the_line(const std::string& word) {
  const std::string lowered = lower_case(word);
  return is_any(word, {"", "index", "idx", "id", "_id", "key", "_key", "row", "row_id", "rowid", "eid", "edge_id",
                       "edgeid", "unnamed: 0", "time", "timestamp", "created_at"}) ||
         lowered.ends_with("date");
}

namespace {

bool names_relation(const std::string& word) {
  return is_any(word, {"relation", "rel", "predicate", "relation_id", "relationship"});
}

/// Words inside a column's name, in lower case: "Target Node", "to_address", "nodeTo".
std::vector<std::string> words_in(const std::string& name) {
  std::vector<std::string> words;
  bool                     inside = false;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (!std::isalnum(u)) {
      inside = false;
      continue;
    }
    if (!inside || (std::isupper(u) && !std::isupper(static_cast<unsigned char>(words.back().back())))) {
      words.emplace_back();
      inside = true;
    }
    words.back() += c;
  }
  for (std::string& word : words) word = lower_case(word);
  return words;
}

/// A longer name of which one word says which end it is.
bool mentions(const std::string& name, std::initializer_list<std::string_view> wanted) {
  const auto words = words_in(name);
  return words.size() > 1 &&
         std::any_of(words.begin(), words.end(), [&](const std::string& word) { return is_any(word, wanted); });
}
bool mentions_source(const std::string& name) {
  return mentions(
      name, {"source", "src", "from", "sender", "origin", "start", "predecessor", "follower", "citing", "caller"});
}
bool mentions_target(const std::string& name) {
  return mentions(name, {"target", "dst", "dest", "destination", "to", "receiver", "recipient", "end", "successor",
                         "followee", "cited", "callee"});
}

}  // namespace

std::optional<unsigned> position_in(const Fields& header, const std::function<bool(const std::string&)>& names) {
  for (unsigned i = 0; i < header.size(); ++i)
    if (names(header[i])) return i;
  return std::nullopt;
}

Ends ends_of(const Fields& header) {
  Ends ends{position_in(header, surely_source), position_in(header, surely_target)};
  if (!ends.from) ends.from = position_in(header, probably_source);
  if (!ends.to) ends.to = position_in(header, probably_target);
  // An arc leads from its tail to its head. Triples of knowledge graphs (head, relation, tail) mean the opposite.
  const auto is = [&](std::optional<unsigned> i, std::string_view word) {
    return i && lower_case(header[*i]) == word;
  };
  if (is(ends.from, "tail") && is(ends.to, "head") && position_in(header, names_relation))
    std::swap(ends.from, ends.to);
  if (ends.from || ends.to) return ends;
  ends.from = position_in(header, mentions_source), ends.to = position_in(header, mentions_target);
  if (ends.from && ends.to && ends.from != ends.to) return ends;
  for (const auto& [source, target] : letters) {
    const auto named = [](std::string_view letter) {
      return [letter](const std::string& word) { return is_any(word, {letter}); };
    };
    ends.from    = position_in(header, named(source));
    ends.to      = position_in(header, named(target));
    ends.letters = ends.from && ends.to;
    if (ends.letters) return ends;
  }
  ends.from = ends.to = std::nullopt;
  return ends;
}

}  // namespace spillway
