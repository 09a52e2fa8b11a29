// What a user writes: Active, Compute, Combine over vertices and edges (SIMD-X, section 3), as plain functions of
// a struct. The engine finds out at compile time what a program offers; docs/programs.md teaches how to write one.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <spillway/combine.hpp>
#include <spillway/types.hpp>

namespace spillway {

/// The weight of an edge in programs that read none.
struct NoWeight {};

template <class Weight = NoWeight>
struct Edge {
  Vertex                       source;
  Vertex                       target;
  [[no_unique_address]] Weight weight;
};

/// Which way updates travel.
enum class Along {
  out,     ///< from the source of an arc to its target
  in,      ///< from the target to the source
  both,    ///< either way: an arc is an edge without direction
  simple,  ///< either way, once: loops, parallel arcs and weights are left out
};

struct NoGlobal {
  SPILLWAY_HD void operator+=(NoGlobal) {}
};

/// What the engine knows where it calls `publish` and `apply`.
template <class Global = NoGlobal>
struct Step {
  Vertex        vertex    = 0;
  std::uint32_t iteration = 0;  ///< from 0
  std::uint64_t bucket    = 0;  ///< of programs with a priority: the one that is being settled
  EdgeIndex     degree    = 0;  ///< edges that leave the vertex along the program's way; known to `publish` only
  const Global* global    = nullptr;  ///< in `apply`: what all `publish` calls of this iteration added up to
  Global*       total     = nullptr;  ///< where `publish` and `apply` add their part
};

/// What is known of every vertex beforehand: so many entries each, one vertex after the other, in memory of the
/// caller's that stays as it is while a run lasts. Programs have it as a member that their `inputs` name; a GPU
/// gets a copy.
template <class T>
class VertexInput {
 public:
  using Entry = T;

  VertexInput() = default;
  explicit VertexInput(std::span<const T> entries, std::uint32_t per_vertex = 1)
      : entries_(entries.data()), size_(entries.size()), per_vertex_(per_vertex) {}

  SPILLWAY_HD const T& operator()(Vertex v, std::uint32_t i = 0) const {
    return entries_[std::uint64_t{v} * per_vertex_ + i];
  }

  const T*      data() const { return entries_; }
  std::uint64_t size() const { return size_; }  ///< entries of all vertices
  std::uint32_t per_vertex() const { return per_vertex_; }

  /// The same entries, elsewhere.
  VertexInput at(const T* entries) const {
    VertexInput there = *this;
    there.entries_    = entries;
    return there;
  }

 private:
  const T*      entries_    = nullptr;
  std::uint64_t size_       = 0;
  std::uint32_t per_vertex_ = 1;
};

/// The message of programs whose updates depend on the edge alone.
struct NoMessage {};

namespace detail {

/// Stands in for what a program lacks, so that every name below means something and the compiler gets as far as
/// check_program, which says what is missing.
struct Absent {};

template <class P>
struct ValueType {
  using Type = Absent;
};
template <class P>
requires requires { typename P::Value; }
struct ValueType<P> {
  using Type = typename P::Value;
};

template <class P>
struct UpdateType {
  using Type = typename ValueType<P>::Type;
};
template <class P>
requires requires { typename P::Update; }
struct UpdateType<P> {
  using Type = typename P::Update;
};

template <class P>
struct WeightChoice {
  using Type = NoWeight;
};
template <class P>
requires requires { typename P::Weight; }
struct WeightChoice<P> {
  using Type = typename P::Weight;
};

template <class P>
struct GlobalType {
  using Type = NoGlobal;
};
template <class P>
requires requires { typename P::Global; }
struct GlobalType<P> {
  using Type = typename P::Global;
};

}  // namespace detail

template <class P>
using ValueOf = typename detail::ValueType<P>::Type;
template <class P>
using UpdateOf = typename detail::UpdateType<P>::Type;
template <class P>
using WeightOf = typename detail::WeightChoice<P>::Type;
template <class P>
using GlobalOf = typename detail::GlobalType<P>::Type;
template <class P>
using StepOf = Step<GlobalOf<P>>;
template <class P>
using EdgeOf = Edge<WeightOf<P>>;

/// `publish(value, step)`: what an active vertex sends, asked once before its edges are visited. It may change the
/// value (PageRank takes its residual there), and return nothing where the edge says all (a vertex leaves its
/// core).
template <class P>
concept Publishes = requires(const P p, ValueOf<P>& value, const StepOf<P>& step) {
  p.publish(value, step);
};

/// A `publish` that leaves the value as it is may be asked ahead of time.
template <class P>
concept PublishesConst = !Publishes<P> || requires(const P p, const ValueOf<P>& value, const StepOf<P>& step) {
  p.publish(value, step);
};

/// `compute(edge)`: the update depends on the edge alone.
template <class P>
concept ComputesFromEdge = requires(const P p, const EdgeOf<P>& edge) {
  { p.compute(edge) } -> std::convertible_to<UpdateOf<P>>;
};

namespace detail {

template <class P>
struct MessageType {
  using Type = std::conditional_t<ComputesFromEdge<P>, NoMessage, ValueOf<P>>;
};
template <class P>
requires Publishes<P>
struct MessageType<P> {
  using Returned = std::remove_cvref_t<decltype(std::declval<const P>().publish(
      std::declval<ValueOf<P>&>(), std::declval<const StepOf<P>&>()))>;
  using Type     = std::conditional_t<std::is_void_v<Returned>, NoMessage, Returned>;
};

}  // namespace detail

template <class P>
using MessageOf = typename detail::MessageType<P>::Type;

/// `compute(message, edge)`: the update an edge carries.
template <class P>
concept ComputesFromMessage = requires(const P p, const MessageOf<P>& message, const EdgeOf<P>& edge) {
  { p.compute(message, edge) } -> std::convertible_to<UpdateOf<P>>;
};

/// `compute(message, edge, to)`: one that looks at the value of the vertex it goes to as well.
template <class P>
concept ComputesFromBoth = requires(const P p, const MessageOf<P>& message, const EdgeOf<P>& edge,
                                    const ValueOf<P>& to) {
  { p.compute(message, edge, to) } -> std::convertible_to<UpdateOf<P>>;
};

template <class P>
concept Computes = ComputesFromEdge<P> || ComputesFromMessage<P> || ComputesFromBoth<P>;

/// `neutral(message, edge)`, or with `to` as in compute: the update that an arc carries which connects the parts
/// of a split vertex (Tigr), and is no arc of the graph.
template <class P>
concept SaysNeutralFromMessage = requires(const P p, const MessageOf<P>& message, const EdgeOf<P>& edge) {
  { p.neutral(message, edge) } -> std::convertible_to<UpdateOf<P>>;
};

template <class P>
concept SaysNeutral = SaysNeutralFromMessage<P> ||
    requires(const P p, const MessageOf<P>& message, const EdgeOf<P>& edge, const ValueOf<P>& to) {
  { p.neutral(message, edge, to) } -> std::convertible_to<UpdateOf<P>>;
};

template <class P>
concept AppliesWithStep = requires(const P p, ValueOf<P>& value, const UpdateOf<P>& update,
                                   const StepOf<P>& step) {
  { p.apply(value, update, step) } -> std::convertible_to<bool>;
};

template <class P>
concept AppliesPlainly = requires(const P p, ValueOf<P>& value, const UpdateOf<P>& update) {
  { p.apply(value, update) } -> std::convertible_to<bool>;
};

template <class P>
concept Applies = AppliesWithStep<P> || AppliesPlainly<P>;

/// `open(value)`: false means that the vertex takes no more updates.
template <class P>
concept Opens = requires(const P p, const ValueOf<P>& value) {
  { p.open(value) } -> std::convertible_to<bool>;
};

/// `init(vertex, degree)`: the first value may depend on the number of edges that leave the vertex.
template <class P>
concept InitsFromDegree = requires(const P p) {
  { p.init(Vertex{}, EdgeIndex{}) } -> std::convertible_to<ValueOf<P>>;
};

template <class P>
concept Inits = InitsFromDegree<P> || requires(const P p) {
  { p.init(Vertex{}) } -> std::convertible_to<ValueOf<P>>;
};

/// `starts(vertex)` or `starts(vertex, value)`: which vertices are active at first; without it all are.
template <class P>
concept StartsFromValue = requires(const P p, const ValueOf<P>& value) {
  { p.starts(Vertex{}, value) } -> std::convertible_to<bool>;
};

template <class P>
concept Starts = StartsFromValue<P> || requires(const P p) {
  { p.starts(Vertex{}) } -> std::convertible_to<bool>;
};

/// `priority(value)`: the engine settles vertices in the order of it, in buckets of width `delta`.
template <class P>
concept Prioritises = requires(const P p, const ValueOf<P>& value) {
  requires std::is_arithmetic_v<std::remove_cvref_t<decltype(p.priority(value))>>;
};

/// `could_improve(weight, to, start)`: false if no message of a vertex whose priority is `start` or higher
/// improves `to` along an edge of this weight. It spares a pull the look at who is there.
template <class P>
concept CouldImprove = Prioritises<P> && requires(const P p, const WeightOf<P>& weight, const ValueOf<P>& to) {
  { p.could_improve(weight, to, p.priority(to)) } -> std::convertible_to<bool>;
};

/// `converged(global)`: asked after every iteration.
template <class P>
concept Converges = requires(const P p, const GlobalOf<P>& global) {
  { p.converged(global) } -> std::convertible_to<bool>;
};

/// `inputs = std::tuple{&P::member, ...}`: members of type VertexInput, which devices bring to where they compute.
template <class P>
inline constexpr bool has_inputs = requires {
  P::inputs;
};

/// visit(input) for each; of a program that is not const it may change them.
template <class P, class Visit>
void for_each_input(P& program, Visit&& visit) {
  if constexpr (has_inputs<P>) std::apply([&](auto... member) { (visit(program.*member), ...); }, P::inputs);
}

/// `columns = N` and `column<i>(value)`: the answer, entry by entry, made where the values are. Without them it is
/// the values.
template <class P>
inline constexpr int column_count = [] {
  if constexpr (requires { P::columns; }) return static_cast<int>(P::columns);
  return 0;
}();

template <class P>
inline constexpr bool makes_columns = column_count<P> != 0;

template <class P, int i>
using ColumnEntry =
    std::remove_cvref_t<decltype(std::declval<const P&>().template column<i>(std::declval<const ValueOf<P>&>()))>;

/// What a program offers, in one place. Methods ask here, never the program itself.
template <class P>
struct Traits {
  using Value   = ValueOf<P>;
  using Update  = UpdateOf<P>;
  using Message = MessageOf<P>;
  using Weight  = WeightOf<P>;
  using Global  = GlobalOf<P>;
  using Combine = typename P::Combine;

  static constexpr bool weighted   = !std::is_same_v<Weight, NoWeight>;
  static constexpr bool has_global = !std::is_same_v<Global, NoGlobal>;
  static constexpr bool voting     = Combine::voting;
  static constexpr bool in_place   = !voting && !Applies<P>;  ///< Combine works on the value itself
  static constexpr bool gathers    = !voting && !in_place;    ///< updates meet in an accumulator first

  static constexpr bool order_free = [] {
    if constexpr (requires { P::order_free; }) return static_cast<bool>(P::order_free);
    return false;
  }();
  static constexpr bool all_active = [] {
    if constexpr (requires { P::all_active; }) return static_cast<bool>(P::all_active);
    return false;
  }();
  /// No update is of a lower priority than the vertex that sends it: a bucket that is finished stays so.
  static constexpr bool settles = [] {
    if constexpr (requires { P::settles; }) return static_cast<bool>(P::settles);
    return false;
  }();
  static constexpr Along along = [] {
    if constexpr (requires { P::along; }) return P::along;
    return Along::out;
  }();

  /// Degrees are those of the rows that push. An all-active program along in-edges whose `publish` does without
  /// says so with `reads_degree = false`, and need not wait until these rows are built.
  static constexpr bool reads_degree = [] {
    if constexpr (InitsFromDegree<P>) return true;
    if constexpr (requires { P::reads_degree; }) return Publishes<P> && static_cast<bool>(P::reads_degree);
    return Publishes<P>;
  }();

  /// Of a run that walks recorded frontiers, updates count for vertices of the next one alone.
  static constexpr bool next_receive = [] {
    if constexpr (requires { P::next_receive; }) return static_cast<bool>(P::next_receive);
    return false;
  }();

  /// An edge of this weight changes nothing: what the arcs of a split (Tigr) have.
  static constexpr bool has_neutral_weight = weighted && requires { P::neutral_weight; };
  /// Edges hand messages on as they are, so that arcs of a split are edges like any other.
  static constexpr bool relays = [] {
    if constexpr (requires { P::relays; }) return static_cast<bool>(P::relays);
    return false;
  }();
  /// Arcs of a split differ from the graph's own.
  static constexpr bool heeds_trees    = !relays && (has_neutral_weight || SaysNeutral<P>);
  static constexpr bool survives_split = relays || heeds_trees;

  static constexpr bool no_message = std::is_same_v<Message, NoMessage>;
  /// Messages are read from the values themselves; otherwise they are published into an array of their own first,
  /// because values may change while edges are visited.
  static constexpr bool live_messages = !no_message && !Publishes<P> && order_free && atomics::readable<Value>;
  /// Asynchronously, with what is at hand, before others have come.
  static constexpr bool supports_async = order_free && !voting && !all_active && !has_global;
  /// Of what is combined for a vertex in shared memory, of unsorted edges (edge_blocks.cuh).
  static constexpr std::size_t local_bytes = voting     ? sizeof(unsigned)
                                             : in_place ? sizeof(Value)
                                                        : sizeof(typename Combine::Accumulator);
  /// In the last bits of floating sums, and of a Global's.
  static constexpr bool order_sensitive =
      has_global || (gathers && !Combine::idempotent && !std::is_integral_v<Update>);
};

}  // namespace spillway
