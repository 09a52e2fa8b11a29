// Long runs that survive: the state of a run on the CPU is saved between iterations now and then, and a later
// process goes on from there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <spillway/result.hpp>

namespace spillway {

class Executor;
class StateExchange;
struct FrontierSize;

struct CheckpointOptions {
  std::string folder;
  std::string question;         ///< what is asked of which graph: a checkpoint of anything else is refused
  bool        resume  = false;  ///< from the one that is there; without, there must be none
  double      seconds = 60;     ///< from one to the next; more where saving takes long; 0: after every iteration
};

/// Of one question, in RunOptions::checkpoints. Of an algorithm that makes several runs, those of the same part
/// (`begin_parts`) before the one that was saved are made again.
class Checkpoints {
 public:
  /// Error{usage} where the folder or what it holds does not fit; Error{bad_input} where a checkpoint is damaged.
  explicit Checkpoints(CheckpointOptions options);

  /// A run has set its state up: goes on from the checkpoint, if it is of this one.
  std::optional<FrontierSize> begin(Executor& executor, RunStatistics& statistics);
  /// Between two iterations: saves, if it is time to. What hinders it does not end the run.
  void offer(Executor& executor, const RunStatistics& statistics);
  /// Of an algorithm whose work has many parts, one after the other: `exchange` passes on what it has come to, and
  /// gets it back now if there is a checkpoint.
  void begin_parts(std::function<void(StateExchange&)> exchange);
  /// Runs are those of the next part from now on.
  void end_part();
  void end_parts() { exchange_parts_ = {}; }
  /// The answer is safe: removes the file.
  void finish();

  /// Iteration that was gone on from; none: there was no checkpoint.
  std::optional<std::uint64_t> resumed_at() const { return resumed_at_; }
  std::uint64_t                saved() const { return saved_; }
  /// Why the last could not be saved; empty: it could.
  const std::string& trouble() const { return trouble_; }
  /// Whether there was a run that could have been saved: some algorithms make none.
  bool        was_asked() const { return asked_; }
  std::string path() const;

 private:
  void save(Executor& executor, const RunStatistics& statistics);

  CheckpointOptions            options_;
  bool                         exists_ = false;
  bool                         asked_  = false;
  std::uint32_t                run_ = 0, saved_run_ = 0;    ///< of a part
  double                       last_ms_ = 0, save_ms_ = 0;  ///< when the last was saved, and how long that took
  std::uint64_t                saved_ = 0;
  std::optional<std::uint64_t> resumed_at_;
  std::string                  trouble_;

  std::function<void(StateExchange&)> exchange_parts_;
};

/// What was saved is not the state of this run: of another method, or of another program or graph.
[[noreturn]] void refuse_checkpoint(bool of_another_method = false);

/// What passes between an executor's state and a file, in the same order both ways.
class StateExchange {
 public:
  /// Error{bad_input} where a file does not have so many more.
  virtual void check_left(std::uint64_t /*count*/, std::uint64_t /*bytes_of_each*/) const {}
  virtual ~StateExchange()                               = default;
  virtual bool is_reading() const                        = 0;
  virtual void exchange(void* data, std::uint64_t bytes) = 0;

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void exchange(T& value) { exchange(&value, sizeof value); }
  template <class T>
  void exchange(std::vector<T>& values) {
    std::uint64_t count = values.size();
    exchange(count);
    check_left(count, sizeof(T));
    if (is_reading()) values.resize(count);
    exchange(values.data(), count * sizeof(T));
  }
};

}  // namespace spillway
