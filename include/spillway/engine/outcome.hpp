// What a run is given and what it leaves: shared by what g++ compiles of a program and what nvcc does.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <spillway/engine/check_program.hpp>
#include <spillway/engine/executor.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include <spillway/graph.hpp>
#include <spillway/program.hpp>
#include <spillway/result.hpp>

namespace spillway {

namespace detail {

template <class P, class Indices = std::make_integer_sequence<int, column_count<P>>>
struct ColumnsOf;
template <class P, int... i>
struct ColumnsOf<P, std::integer_sequence<int, i...>> {
  using type = std::tuple<Buffer<ColumnEntry<P, i>>...>;
};

}  // namespace detail

/// The columns that a program makes of its values, to be written to.
template <class P>
using Columns = typename detail::ColumnsOf<P>::type;

/// visit(i, column) for each, where i is a constant.
template <class P, class Visit>
void for_each_column(Columns<P>& columns, Visit&& visit) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (visit(std::integral_constant<int, i>{}, std::get<i>(columns)), ...);
  }
  (std::make_integer_sequence<int, column_count<P>>{});
}

/// What a run leaves: the value of every vertex, the last Global, and what it took.
template <class P>
struct Outcome {
  // The first thing that a call of `run` needs of the program, so what is wrong with it is said here.
  static_assert(check_program<P>() || true);
  using Value = ValueOf<P>;

  Buffer<Value>                 values;    ///< unless the program makes columns of them
  Columns<P>                    columns;   ///< that it makes
  std::shared_ptr<Resident>     resident;  ///< the values, where they were kept on a device
  /// The columns, or the values if there are none, where they were left there (RunOptions::leave_answer).
  std::vector<std::shared_ptr<const ColumnOnDevice>> left;
  GlobalOf<P>                   global{};  ///< of the last iteration
  std::vector<GlobalOf<P>>      history;   ///< of every iteration
  RunStatistics                 statistics;
  std::shared_ptr<MemoryBudget> budget;
  int                           threads = 1;

  const Value& operator[](Vertex v) const { return values[v]; }

  /// `get(value)`, for every vertex, made on the host. Its time counts as part of the run.
  template <class Get>
  Column column(const std::string& name, Get&& get) {
    using Entry = std::remove_cvref_t<decltype(get(std::declval<const Value&>()))>;
    static_assert(
        detail::makes_a_column<Entry>,
        "the entries of a column are std::uint32_t, std::uint64_t, float or double: let `get` return one");
    Stopwatch     clock;
    Buffer<Entry> entries = column_of<Entry>(get);
    statistics.run_ms += clock.milliseconds();
    return {.name = name, .values = std::move(entries).freeze()};
  }

  /// Columns of values that are on the host, which are given up. The time counts as part of the run.
  void make_columns(const P& program) {
    Stopwatch clock;
    if constexpr (makes_columns<P>)
      for_each_column<P>(columns, [&]<int i, class Entry>(std::integral_constant<int, i>, Buffer<Entry>& column) {
        column = column_of<Entry>([&](const Value& value) { return program.template column<i>(value); });
      });
    values = {};
    statistics.run_ms += clock.milliseconds();
  }

  /// A column that the program makes. It is moved out.
  template <int i>
  Column column(const std::string& name) {
    return {.name = name, .values = std::move(std::get<i>(columns)).freeze(), .on_device = left_one(i)};
  }

  /// The values themselves, where they are numbers. They are moved out.
  Column column(const std::string& name) {
    static_assert(!makes_columns<P>, "the program makes columns of its values: take one with column<i>(name)");
    static_assert(detail::makes_a_column<Value>,
                  "the entries of a column are std::uint32_t, std::uint64_t, float or double: take one out of the "
                  "value with column(name, [](const Value& value) { return value.part; })");
    return {.name = name, .values = std::move(values).freeze(), .on_device = left_one(0)};
  }

 private:
  std::shared_ptr<const ColumnOnDevice> left_one(std::size_t i) const {
    return i < left.size() ? left[i] : nullptr;
  }

  /// On disk where values are there and memory does not hold it; a part at a time then.
  template <class Entry, class Get>
  Buffer<Entry> column_of(Get&& get) const {
    static constexpr auto what    = "the result";
    const std::uint64_t   count   = values.size();
    Buffer<Entry>         entries = values.is_on_disk() ? Buffer<Entry>::where_it_fits(count, budget, what)
                                                        : Buffer<Entry>{count, budget, what};
    in_parts(count, [&](std::uint64_t first, std::uint64_t last) {
      for_each_share(threads, last - first, [&](std::uint64_t begin, std::uint64_t end, int) {
        for (std::uint64_t v = first + begin; v < first + end; ++v)
          entries[v] = get(static_cast<const Value&>(values[v]));
      });
    });
    return entries;
  }
};

struct OtherDevice;

/// How one program goes on from another.
template <class Value>
struct Continuation {
  /// Start from these, one a vertex, instead of `init`. A program with `columns` leaves them only to `keep`.
  Buffer<Value>             values   = {};
  std::shared_ptr<Resident> resident = {};       ///< or from these, which the outcome of another run holds
  const Schedule*           replay   = nullptr;  ///< walk these frontiers, the last one first
  Schedule*                 record   = nullptr;  ///< keep the frontiers here; every vertex may be active once only
  bool                      keep = false;  ///< the values may stay on the device: another run goes on from them
  /// Columns may be left on the device, if the caller of the algorithm wants that: nothing looks at them.
  bool leave = false;
  /// Of split vertices, values of their parts are given and left, too: SplitRows::vertex_count.
  bool whole = false;
  /// Where the CPU is predicted to be done sooner, this says so, and nothing is run: the caller has a program of
  /// its own for it.
  OtherDevice* instead = nullptr;
};

}  // namespace spillway
