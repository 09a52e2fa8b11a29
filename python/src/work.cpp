#include "work.hpp"

#include <unistd.h>  // getpid

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace spillway::python {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds look_every{50};
constexpr milliseconds grace{200};  // for work that looks whether it is cancelled: most of it does

/// What the work has got to, for another thread to look at.
class WatchedProgress : public Progress {
 public:
  void begin(std::string_view stage, std::uint64_t total, ProgressUnit unit) override {
    const std::scoped_lock lock{mutex_};
    stage_ = stage, total_ = total, unit_ = unit, done_ = 0;
  }
  void advance(std::uint64_t amount) override { done_.fetch_add(amount, std::memory_order_relaxed); }
  bool cancelled() const override { return cancelled_.load(std::memory_order_relaxed); }

  void cancel() { cancelled_ = true; }

  void tell(nb::handle tick) {
    static constexpr const char* units[] = {"items", "bytes", "edges"};
    std::string                  stage;
    std::uint64_t                total = 0;
    const char*                  unit  = "";
    {
      const std::scoped_lock lock{mutex_};
      stage = stage_, total = total_, unit = units[static_cast<int>(unit_)];
    }
    if (!stage.empty()) tick(stage.c_str(), done_.load(), total, unit);
  }

 private:
  std::mutex                 mutex_;
  std::string                stage_;
  ProgressUnit               unit_  = ProgressUnit::items;
  std::uint64_t              total_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool>          cancelled_{false};
};

struct Task {
  explicit Task(std::function<void(Progress&)> work) : body(std::move(work)) {}

  std::function<void(Progress&)> body;
  WatchedProgress                progress;
  std::exception_ptr             failure;
  bool                           done = false;  ///< guarded by the crew's lock
};

/// Threads that wait for tasks. They are kept, since OpenMP keeps threads of its own for each of them; there are
/// as many as Python has threads that wait at once. A process that was forked has none of them, and a crew of its
/// own.
class Crew {
 public:
  /// Tasks that were cancelled and are busy still. What they own may be Python's: its lock guards them.
  std::vector<std::unique_ptr<Task>> left_behind;

  /// To be called with Python's lock. It is never destroyed: its threads may outlive all that is static.
  static Crew& of_this_process() {
    static Crew* crew = new Crew;
    if (crew->process_ != getpid()) crew = new Crew;
    return *crew;
  }

  void start(Task& task) {
    const std::scoped_lock lock{mutex_};
    if (idle_ == waiting_.size()) std::thread{[this] { serve(); }}.detach(), ++idle_;
    waiting_.push_back(&task);
    changed_.notify_all();
  }

  /// True if it is done; waits so long for that.
  bool done_within(const Task& task, milliseconds time) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, time, [&] { return task.done; });
  }

 private:
  void serve() {
    for (std::unique_lock lock{mutex_};;) {
      changed_.wait(lock, [&] { return !waiting_.empty(); });
      Task& task = *waiting_.front();
      waiting_.pop_front();
      --idle_;
      lock.unlock();
      try {
        task.body(task.progress);
      } catch (...) {
        task.failure = std::current_exception();
      }
      lock.lock();
      task.done = true;
      ++idle_;
      changed_.notify_all();
    }
  }

  pid_t                   process_ = getpid();
  std::mutex              mutex_;
  std::condition_variable changed_;
  std::deque<Task*>       waiting_;
  std::size_t             idle_ = 0;  ///< threads, with those that a waiting task will wake
};

/// The thread that ends the interpreter, once it does.
std::atomic<std::thread::id> ending{};

/// Other threads that wait would be ended when they take Python's lock again, through frames that cannot be
/// unwound: they stay where they are.
void stay_if_ending() {
  const std::thread::id by = ending.load();
  while (by != std::thread::id{} && by != std::this_thread::get_id())
    std::this_thread::sleep_for(std::chrono::hours{1});
}

bool done_unlocked(Crew& crew, const Task& task, milliseconds time) {
  PyThreadState* const state = PyEval_SaveThread();
  const bool           done  = crew.done_within(task, time);
  stay_if_ending();
  PyEval_RestoreThread(state);
  return done;
}

/// Whether Python wants the work to end: an exception is set then.
bool interrupted(Task& task, nb::handle tick) {
  if (PyErr_CheckSignals() != 0) return true;
  if (tick.is_none()) return false;
  try {
    task.progress.tell(tick);
    return false;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return true;
}

/// What they own is given back when the list is as it should be: that may call anything.
void clear_done(Crew& crew) {
  std::vector<std::unique_ptr<Task>> done;
  std::erase_if(crew.left_behind, [&](auto& task) {
    if (!crew.done_within(*task, {})) return false;
    done.push_back(std::move(task));
    return true;
  });
}

}  // namespace

void wait_for(nb::handle tick, std::function<void(Progress&)> body) {
  Crew& crew = Crew::of_this_process();
  clear_done(crew);
  auto task = std::make_unique<Task>(std::move(body));
  crew.start(*task);
  while (!done_unlocked(crew, *task, look_every)) {
    if (!interrupted(*task, tick)) continue;
    nb::python_error raised;  // takes what is set
    task->progress.cancel();
    if (!done_unlocked(crew, *task, grace)) crew.left_behind.push_back(std::move(task));
    throw raised;
  }
  if (task->failure) std::rethrow_exception(task->failure);
}

void finish_all_work() {
  ending     = std::this_thread::get_id();
  Crew& crew = Crew::of_this_process();
  while (!crew.left_behind.empty()) {
    done_unlocked(crew, *crew.left_behind.front(), look_every);
    clear_done(crew);
  }
}

}  // namespace spillway::python
