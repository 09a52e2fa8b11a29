// The model of belief propagation out of parameters and files.
#include "algorithms/bp.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

#include <spillway/engine/parallel.hpp>
#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "generate/random.hpp"

namespace spillway {
namespace {

/// Far more than any run needs; their product with the arcs stays within 64 bits.
constexpr std::uint64_t most_iterations = 1'000'000;

/// The words of a text file, line by line. # starts a comment.
class Lines {
 public:
  explicit Lines(const std::string& path) : path_(path), file_(path), rest_(file_.text()) {}

  /// The next line that has words; false at the end.
  bool next(std::vector<std::string_view>& words) {
    words.clear();
    while (words.empty() && !rest_.empty()) {
      const auto             end  = std::min(rest_.find('\n'), rest_.size());
      const std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      split(line.substr(0, line.find('#')), words);
    }
    return !words.empty();
  }

  double factor(std::string_view word) const {
    double      value      = 0;
    const char* end        = word.data() + word.size();
    const auto [rest, bad] = std::from_chars(word.data(), end, value);
    const bool valid       = bad == std::errc{} && rest == end && value >= least_factor && value <= most_factor;
    if (!valid) throw wrong("'{}' should be a number from {} to {}", printable(word), least_factor, most_factor);
    return value;
  }

  template <class... Args>
  Error wrong(fmt::format_string<Args...> format, Args&&... args) const {
    const std::string place =
        number_ > 0 ? fmt::format("{}:{}", path_, number_) : path_;  // an empty file has no line
    return bad_input("{}: {}", place, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  static void split(std::string_view line, std::vector<std::string_view>& words) {
    constexpr std::string_view blanks = " \t\r,";
    for (auto begin = line.find_first_not_of(blanks); begin != std::string_view::npos;) {
      const auto end = std::min(line.find_first_of(blanks, begin), line.size());
      words.push_back(line.substr(begin, end - begin));
      begin = line.find_first_not_of(blanks, end);
    }
  }

  std::string      path_;
  MappedFile       file_;
  std::string_view rest_;
  std::uint64_t    number_ = 0;
};

PotentialTable table_in_file(const std::string& path, std::uint64_t states) {
  PotentialTable                table{};
  Lines                         lines{path};
  std::vector<std::string_view> words;
  for (std::uint64_t row = 0; row < states; ++row) {
    if (!lines.next(words))
      throw lines.wrong("the table ends after {} rows; {} states need {}", row, states, states);
    if (words.size() != states)
      throw lines.wrong("a row of {} numbers; {} states need {}", words.size(), states, states);
    for (std::uint64_t column = 0; column < states; ++column) table[row][column] = lines.factor(words[column]);
  }
  if (lines.next(words)) throw lines.wrong("more rows than the {} that {} states need", states, states);
  return table;
}

PotentialTable table_of_coupling(double coupling, std::uint64_t states) {
  PotentialTable table{};
  for (std::uint64_t row = 0; row < states; ++row) {
    std::fill_n(table[row].begin(), states, 1.0);
    table[row][row] = coupling;
  }
  return table;
}

/// Says where the table differs from its transpose; nothing if it does not.
std::optional<std::string> asymmetry(const PotentialTable& table, std::uint64_t states) {
  for (std::uint64_t a = 0; a < states; ++a)
    for (std::uint64_t b = 0; b < a; ++b)
      if (table[a][b] != table[b][a])
        return fmt::format("row {} column {} is {}, row {} column {} is {}", b + 1, a + 1, table[b][a], a + 1,
                           b + 1, table[a][b]);
  return std::nullopt;
}

/// From a tenth to one: no vertex is nearly decided before it has heard from others.
void draw_priors(const BeliefModel& model, std::uint64_t seed, int threads) {
  const RandomStream random{seed, RandomUse::priors};
  for_each_share(threads, model.priors.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t i = begin; i < end; ++i) model.priors[i] = 0.1 + 0.9 * random.unit(i);
  });
}

void read_priors(const BeliefModel& model, const Graph& graph, const std::string& path) {
  Lines                         lines{path};
  std::vector<std::string_view> words;
  while (lines.next(words)) {
    const auto vertex = graph.ids().find(words[0], graph.vertex_count());
    if (!vertex) throw lines.wrong("vertex '{}' is not in the graph", printable(words[0]));
    if (words.size() != model.states + 1)
      throw lines.wrong("{} numbers for vertex '{}'; it has {} states", words.size() - 1, printable(words[0]),
                        model.states);
    double* const prior = model.priors.data() + *vertex * model.states;
    if (*prior != 0) throw lines.wrong("vertex '{}' has its priors already", printable(words[0]));
    for (std::uint64_t x = 0; x < model.states; ++x) prior[x] = lines.factor(words[x + 1]);
  }
}

/// Where all are zero no line has named the vertex: every state is as likely.
void scale_priors(const BeliefModel& model, int threads) {
  for_each_share(threads, model.priors.size() / model.states, [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t v = begin; v < end; ++v) {
      double* const prior = model.priors.data() + v * model.states;
      const double  whole = std::accumulate(prior, prior + model.states, 0.0);
      for (std::uint64_t x = 0; x < model.states; ++x)
        prior[x] = whole > 0 ? prior[x] / whole : 1.0 / static_cast<double>(model.states);
    }
  });
}

}  // namespace

double BeliefModel::factor(std::uint64_t from, std::uint64_t to, ArcsBetween arcs) const {
  if (arcs == backward) return table[to][from];
  if (arcs == both) return std::sqrt(table[from][to] * table[to][from]);
  return table[from][to];
}

BeliefModel belief_model(const Graph& graph, const ParameterValues& values, int threads) {
  const Parameters parameters{"bp", values};
  BeliefModel      model;
  model.states                   = parameters.number("states", 2, most_states);
  model.iterations               = parameters.number("iterations", 1, most_iterations);
  model.tolerance                = parameters.real("tolerance", 0, 1);
  model.damping                  = parameters.real("damping", 0, 1);
  const double        coupling   = parameters.real("coupling", least_factor, most_factor);
  const std::uint64_t seed       = parameters.number("seed", 0, UINT64_MAX);
  const std::string&  potentials = parameters.text("potentials");
  const std::string&  priors     = parameters.text("priors");

  model.table        = potentials == "coupling" ? table_of_coupling(coupling, model.states)
                                                : table_in_file(potentials, model.states);
  const auto unequal = asymmetry(model.table, model.states);
  if (unequal && graph.symmetric())
    throw bad_input("{}: {}; edges without direction need a symmetric table", potentials, *unequal);
  model.oriented = unequal.has_value();

  model.priors = Buffer<double>{graph.vertex_count() * model.states, graph.budget(), "the priors of bp"};
  if (priors == "random") {
    draw_priors(model, seed, threads);
  } else {
    read_priors(model, graph, priors);
  }
  scale_priors(model, threads);
  return model;
}

}  // namespace spillway
