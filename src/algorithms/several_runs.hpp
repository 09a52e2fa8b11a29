// What an answer took that several runs were made for.
#pragma once

#include <spillway/result.hpp>

namespace spillway {

/// Adds the statistics of one of them. The list of iterations of many would be longer than the answer.
void add_statistics(RunStatistics& total, const RunStatistics& part, bool with_iterations);

}  // namespace spillway
