// Running the program as a person does, in a folder of the test's own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "support.hpp"

namespace spillway::testing {

struct CommandOutcome {
  int         code = -1;
  std::string out, err;
};

class CommandLineTest : public ::testing::Test {
 protected:
  /// Runs `spillway` with the arguments; `before` may be a command that starts it.
  CommandOutcome spillway(const std::string& arguments, const std::string& before = "") {
    const std::string command =
        "cd '" + (folder_ / "") + "' && " + before + "'" SPILLWAY_BINARY "' " + arguments + " >out.log 2>err.log";
    const int      status = std::system(command.c_str());
    CommandOutcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder_ / "out.log"),
                           read_file(folder_ / "err.log")};
    std::filesystem::remove(folder_ / "out.log");
    std::filesystem::remove(folder_ / "err.log");
    return outcome;
  }

  TemporaryFolder folder_;
};

}  // namespace spillway::testing
