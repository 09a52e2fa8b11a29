// What is wrong with a program, said by the compiler in one sentence before it says anything else.
// docs/programs.md lists the messages; tests/program/messages_test.cpp compiles a wrong program for each.
#pragma once

#include <spillway/program.hpp>

namespace spillway {
namespace detail {

template <class P>
constexpr bool check_value() {
  constexpr bool there = requires { typename P::Value; };
  static_assert(there, "a program needs `using Value = ...`: the state of one vertex");
  constexpr bool plain = std::is_trivially_copyable_v<ValueOf<P>>;
  static_assert(plain, "Value must be trivially copyable: numbers and structs of numbers, no containers");
  return there && plain;
}

template <class P>
constexpr bool check_combine() {
  constexpr bool there = requires { typename P::Combine; };
  static_assert(there, "a program needs `using Combine = ...`: Min, Max, Sum, Or or Any of the update's type");
  if constexpr (there) {
    constexpr bool known = CombineOperator<typename P::Combine>;
    static_assert(known, "Combine must be one of spillway::Min, Max, Sum, Or, Any");
    if constexpr (known) {
      constexpr bool fits = std::is_same_v<typename P::Combine::Type, UpdateOf<P>>;
      static_assert(fits,
                    "Combine must be of the type of the update: `Update`, or `Value` where there is no `Update`");
      return fits;
    }
  }
  return false;
}

template <class Global>
concept AddsUp = std::is_default_constructible_v<Global> && requires(Global sum, const Global& part) {
  sum += part;
  sum = part;
};

template <class P>
constexpr bool check_other_types() {
  using Weight         = WeightOf<P>;
  constexpr bool plain = std::is_trivially_copyable_v<UpdateOf<P>>;
  constexpr bool weight_fits =
      std::is_same_v<Weight, NoWeight> || std::is_same_v<Weight, std::uint32_t> || std::is_same_v<Weight, float>;
  constexpr bool global_adds = AddsUp<GlobalOf<P>>;
  constexpr bool copied      = std::is_trivially_copyable_v<P> && std::is_trivially_copyable_v<GlobalOf<P>>;
  static_assert(copied,
                "a program and its Global must be trivially copyable: they travel to other devices byte by byte");
  static_assert(plain, "Update must be trivially copyable: numbers and structs of numbers, no containers");
  static_assert(weight_fits,
                "Weight must be std::uint32_t or float, or left out by programs that read no weights");
  static_assert(global_adds, "Global must start as nothing (`Global{}`) and have `operator+=(const Global&)`");
  return copied && plain && weight_fits && global_adds;
}

template <class P>
concept FixesOrderFree = requires {
  typename std::bool_constant<P::order_free>;
};
template <class P>
concept FixesAllActive = requires {
  typename std::bool_constant<P::all_active>;
};
template <class P>
concept FixesSettles = requires {
  typename std::bool_constant<P::settles>;
};
template <class P>
concept FixesReadsDegree = requires {
  typename std::bool_constant<P::reads_degree>;
};
template <class P>
concept FixesRelays = requires {
  typename std::bool_constant<P::relays>;
};
template <class P>
concept FixesAlong = requires {
  typename std::bool_constant<P::along == Along::out>;
};

/// The engine is compiled for what these say: a member of every object, or a variable, comes too late.
template <class P>
constexpr bool check_flags() {
  constexpr bool order_free = FixesOrderFree<P> || !requires { P::order_free; };
  constexpr bool all_active = FixesAllActive<P> || !requires { P::all_active; };
  constexpr bool settles    = FixesSettles<P> || !requires { P::settles; };
  constexpr bool degree     = FixesReadsDegree<P> || !requires { P::reads_degree; };
  constexpr bool along      = FixesAlong<P> || !requires { P::along; };
  constexpr bool relays     = FixesRelays<P> || !requires { P::relays; };
  static_assert(order_free, "order_free must be `static constexpr bool order_free = true;`");
  static_assert(all_active, "all_active must be `static constexpr bool all_active = true;`");
  static_assert(settles, "settles must be `static constexpr bool settles = true;`");
  static_assert(degree, "reads_degree must be `static constexpr bool reads_degree = false;`");
  static_assert(relays, "relays must be `static constexpr bool relays = true;`");
  static_assert(
      along,
      "along must be `static constexpr Along along = Along::out;`, Along::in, Along::both or Along::simple");
  constexpr bool simple = [] {
    if constexpr (FixesAlong<P>) return P::along != Along::simple || !Traits<P>::weighted;
    return true;
  }();
  static_assert(simple, "along = Along::simple leaves out weights: the program cannot have a Weight");
  return order_free && all_active && settles && degree && along && relays && simple;
}

/// `publish` stands before `compute`, whose message is what it returns.
template <class P>
constexpr bool check_functions() {
  constexpr bool init    = Inits<P>;
  constexpr bool publish = Publishes<P> || !requires { &P::publish; };
  constexpr bool compute = !publish || Computes<P>;
  constexpr bool apply   = Applies<P> || !requires { &P::apply; };
  static_assert(init,
                "a program needs `Value init(Vertex v) const` or init(v, degree): the value a vertex starts with");
  static_assert(publish, "publish must be `Message publish(Value& value, const Step<Global>& step) const`");
  static_assert(
      compute,
      "a program needs `Update compute(message, edge) const`, compute(edge) or compute(message, edge, to), "
      "where edge is `const Edge<Weight>&` and message what publish returns, or Value without publish");
  static_assert(apply,
                "apply must be `bool apply(Value& value, const Update& update) const`, or take a third "
                "`const Step<Global>&`; it returns whether the vertex becomes active");
  return init && publish && compute && apply;
}

template <class P>
constexpr bool check_optional_functions() {
  constexpr bool open      = Opens<P> || !requires { &P::open; };
  constexpr bool starts    = Starts<P> || !requires { &P::starts; };
  constexpr bool priority  = Prioritises<P> || !requires { &P::priority; };
  constexpr bool converged = Converges<P> || !requires { &P::converged; };
  constexpr bool neutral   = SaysNeutral<P> || !requires { &P::neutral; };
  static_assert(open, "open must be `bool open(const Value& value) const`");
  static_assert(starts, "starts must be `bool starts(Vertex v) const`, or take `const Value&` as well");
  static_assert(priority, "priority must be `number priority(const Value& value) const`");
  static_assert(converged, "converged must be `bool converged(const Global& global) const`");
  static_assert(
      neutral,
      "neutral must be `Update neutral(message, edge) const` or neutral(message, edge, to), where edge is "
      "`const Edge<Weight>&` and message what publish returns, or Value without publish");
  return open && starts && priority && converged && neutral;
}

template <class T>
inline constexpr bool makes_a_column = std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t> ||
                                       std::is_same_v<T, float> || std::is_same_v<T, double>;

template <class P, int i>
constexpr bool has_column() {
  if constexpr (requires(const P p, const ValueOf<P>& value) { p.template column<i>(value); })
    return makes_a_column<ColumnEntry<P, i>>;
  else
    return false;
}

template <class P>
constexpr bool check_columns() {
  constexpr bool columns = []<int... i>(std::integer_sequence<int, i...>) { return (has_column<P, i>() && ...); }
  (std::make_integer_sequence<int, column_count<P>>{});
  static_assert(
      columns,
      "with `static constexpr int columns = N` a program needs `template <int i> Entry column(const Value& "
      "value) const` for i = 0 to N-1, where Entry is std::uint32_t, std::uint64_t, float or double");
  return columns;
}

template <class P, class Member>
inline constexpr bool is_input_of = false;
template <class P, class T, class Owner>
inline constexpr bool is_input_of<P, VertexInput<T> Owner::*> = std::is_base_of_v<Owner, P>;

template <class P, class Inputs>
inline constexpr bool are_inputs_of = false;
template <class P, class... Member>
inline constexpr bool are_inputs_of<P, const std::tuple<Member...>> = (is_input_of<P, Member> && ...);

template <class Inputs>
inline constexpr bool have_plain_entries = true;
template <class... T, class... Owner>
inline constexpr bool have_plain_entries<const std::tuple<VertexInput<T> Owner::*...>> =
    (std::is_trivially_copyable_v<T> && ...);

/// Where it is a member of every object there is no such thing.
template <class P>
concept FixesInputs = requires {
  typename std::bool_constant<(static_cast<void>(P::inputs), true)>;
};

template <class P>
constexpr bool check_inputs() {
  if constexpr (!has_inputs<P>) {
    return true;
  } else {
    constexpr bool named = FixesInputs<P> && are_inputs_of<P, decltype(P::inputs)>;
    static_assert(named,
                  "inputs must be `static constexpr auto inputs = std::tuple{&Program::member, ...};`, where each "
                  "member is a VertexInput<T> that is not const");
    constexpr bool plain = have_plain_entries<decltype(P::inputs)>;
    static_assert(plain,
                  "the entries of a VertexInput must be trivially copyable: numbers and structs of numbers");
    return named && plain;
  }
}

template <class P>
constexpr bool check_apply() {
  using T               = Traits<P>;
  constexpr bool vote   = !T::voting || Applies<P>;
  constexpr bool place  = !T::in_place || (T::Combine::idempotent && std::is_same_v<ValueOf<P>, UpdateOf<P>>);
  constexpr bool closes = !T::in_place || !Opens<P>;
  constexpr bool adds   = !T::has_global || AppliesWithStep<P> || Publishes<P>;
  static_assert(vote, "a voting program (Any) needs `apply`: what the vote does to the vertex");
  static_assert(place,
                "without `apply` updates are combined into the value itself: that needs Update to be Value and a "
                "Combine that may see an update twice (Min, Max, Or); otherwise write `apply`");
  static_assert(closes, "open belongs to programs with `apply`; an in-place value closes itself by not improving");
  static_assert(adds, "Global needs a `publish` or an `apply` that takes the step and adds to *step.total");
  return vote && place && closes && adds;
}

template <class P>
constexpr bool check_all_active() {
  constexpr bool open     = !Opens<P>;
  constexpr bool starts   = !Starts<P>;
  constexpr bool gathers  = Traits<P>::gathers;
  constexpr bool priority = !Prioritises<P>;
  static_assert(priority, "a program with a priority cannot be all_active");
  static_assert(gathers, "an all_active program needs `apply` and a Combine that counts every update (not Any)");
  static_assert(open, "an all_active program cannot have `open`: every vertex takes updates in every iteration");
  static_assert(starts, "an all_active program cannot have `starts`: every vertex is active in every iteration");
  return open && starts && gathers && priority;
}

/// What is said of buckets needs some.
template <class P>
constexpr bool check_promises() {
  constexpr bool settles = !Traits<P>::settles || Prioritises<P>;
  constexpr bool improve = CouldImprove<P> || !requires { &P::could_improve; };
  static_assert(settles, "settles is a promise about buckets: the program needs a `priority`");
  static_assert(
      improve,
      "could_improve must be `bool could_improve(Weight weight, const Value& to, Priority start) const`, "
      "where Priority is what `priority` returns");
  return settles && improve;
}

template <class P>
constexpr bool check_priority() {
  using T                   = Traits<P>;
  constexpr bool counts     = !T::voting;
  constexpr bool order_free = !T::in_place || T::order_free;
  constexpr bool values     = !T::in_place || (!Publishes<P> && !ComputesFromEdge<P>);
  static_assert(counts, "a voting program cannot have a priority");
  static_assert(order_free,
                "a program with a priority that combines in place must be order_free: buckets are settled without "
                "waiting for one another's updates");
  static_assert(
      values,
      "a program with a priority that combines in place sends its values: compute(value, edge), no publish");
  return counts && order_free && values;
}

}  // namespace detail

/// Every mistake has its own message, and later checks wait for those they build on: the first error the compiler
/// shows is the one to mend. False only where it has shown one.
template <class P>
constexpr bool check_program() {
  // Joined with ||, all would be instantiated, and say what they have to say.
  if constexpr (!detail::check_value<P>())
    return false;  // NOLINT(bugprone-branch-clone)
  else if constexpr (!detail::check_combine<P>())
    return false;
  else if constexpr (!detail::check_other_types<P>() || !detail::check_flags<P>() || !detail::check_inputs<P>())
    return false;
  else if constexpr (!detail::check_functions<P>() || !detail::check_optional_functions<P>())
    return false;
  else if constexpr (!detail::check_apply<P>() || !detail::check_promises<P>() || !detail::check_columns<P>())
    return false;
  else if constexpr (Traits<P>::all_active)
    return detail::check_all_active<P>();
  else if constexpr (Prioritises<P>)
    return detail::check_priority<P>();
  else
    return true;
}

}  // namespace spillway
