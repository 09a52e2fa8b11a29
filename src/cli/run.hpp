// What `spillway run` is asked: its words, the questions that follow from them, and the files that answers go to.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fail.hpp"
#include "cli/command.hpp"
#include "plan/fresh_list.hpp"

#include <spillway/algorithms.hpp>

namespace spillway::cli {

struct RunArguments {
  const Algorithm*           algorithm = nullptr;
  std::string                named;  ///< the algorithm as the user names it: for a plug-in, its path
  LoadArguments              load;
  std::string                device = "auto", method = "auto", direction = "auto", top = "0", repeat = "1";
  std::string                filter = "jit", fusion = "all", order = "auto", compress = "auto", async = "auto";
  std::optional<std::string> output, id_map, trace, weights, device_memory, resident;
  std::optional<std::string> checkpoint, temporary, state_chunks;
  std::optional<std::string> checkpoint_every, hub_sums;
  bool                       resume = false;
  bool verify = false, deterministic = false, statistics = false, aggregate = false, explain = false,
       no_history                         = false;
  bool                     all_partitions = false;
  bool                     planned        = false;  ///< and not run
  std::string              successors     = "changed";
  unsigned                 bin_entries    = CudaTuning{}.bin_entries;
  unsigned                 bucket_queue   = CudaTuning{}.bucket_queue;
  unsigned                 streams        = CudaTuning{}.streams;
  std::string              edge_values    = "global";
  unsigned                 edge_block = CudaTuning{}.edge_block, edge_passes = CudaTuning{}.edge_passes;
  std::string              page_cache = "first", balance = "auto";
  std::string              split_edges = "coalesced", split_mapping = "dynamic", worklist = "on";
  std::string              word;         ///< that was parsed as the algorithm
  std::vector<std::string> gpu_options;  ///< those that were given and concern GPUs alone
  ParameterValues          given;        ///< of the algorithm's own parameters
  std::vector<FormPrice>   forms;        ///< of a fresh list, if they were priced
  /// Of parameters that take vertices: every value that was given, and the same with the ids of files in it.
  std::map<std::string, std::vector<std::string>> lists, read_lists;

  bool writes_to_standard_output() const { return output == "-"; }
};

/// Options that say how a run is to be made.
void add_way_options(Command& command, RunArguments& arguments);
/// The words for the algorithm and the graph.
void add_question(Command& command, const std::shared_ptr<RunArguments>& arguments);
/// When all options are there: where `words` are for this command and name an algorithm, its parameters become
/// options, too. Returns the words to parse; what they ask is answered by `action`.
std::vector<std::string> asked_by(Command& command, Context& context,
                                  const std::shared_ptr<RunArguments>& arguments, std::vector<std::string> words,
                                  std::function<void()> action);

/// That there is such a device. Without a GPU, "auto" is the CPU.
DeviceChoice device_of(const RunArguments& arguments);
/// Options that cannot be together, or not on this machine.
void check_ways(const RunArguments& arguments);
/// `runs`: over this graph that are to come.
RunOptions run_options_of(const RunArguments& arguments, const Common& common, Progress& progress,
                          std::uint64_t runs = 1);
/// Whether edges are asked to be sent to the device, or read, a part at a time.
bool sends(const RunArguments& arguments);

/// Calls into the algorithm. A plug-in may throw anything; what says nothing of where it comes from gets its name.
template <class Body>
auto asking(const RunArguments& arguments, Body&& body) {
  const std::string& name = arguments.named;
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw internal_error("{}: {}", name, error.what());
  } catch (...) {
    throw internal_error("{}: threw something that is no std::exception", name);
  }
}

/// One question: an algorithm with a list of sources has several.
struct Question {
  ParameterValues            parameters;
  std::string                source;          ///< empty where the algorithm has none
  std::optional<std::string> output, id_map;  ///< with the source in their names
};

/// The word among those after `run` that names the algorithm. It must be known before the words are parsed, since
/// the algorithm's parameters are options like any other.
std::optional<std::string> algorithm_word(const Command& command, const std::vector<std::string>& words);

/// Parameters that are yes or no get their yes where only their name stands, so that the next word is not theirs.
std::vector<std::string> with_flags_spelled_out(const Algorithm& algorithm, std::vector<std::string> words);

/// The parameter that the command line runs once for each value of; null if there is none.
const Parameter* source_parameter(const Algorithm& algorithm);

/// True where the algorithm has a parameter of this name.
bool has_parameter(const Algorithm& algorithm, const std::string& name);

/// Reads the files of ids that --source @FILE and its like name, once: a pipe has no second time.
void read_id_files(RunArguments& arguments);

/// Whether only the graph can tell if a text is one id or several: "Smith, John".
bool may_name_with_commas(const RunArguments& arguments);

/// All that is asked, each source once. What can be seen to be wrong before the graph is there is Error{usage};
/// when it is, ids that hold commas are known as such.
std::vector<Question> questions(const RunArguments& arguments, const Graph* graph = nullptr);

/// Puts the names of files into the questions. No answer may go where another goes, over a file that the run
/// reads, or to a place where no file can be made: all that is found out before the work.
void place_answers(std::vector<Question>& asked, const RunArguments& arguments, const Common& common);

/// What is read from a pipe is gone afterwards: refused where it would be read twice.
void check_streams(const RunArguments& arguments);

}  // namespace spillway::cli
