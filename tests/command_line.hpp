// The program as a person runs it, in a folder of the test's own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support.hpp"

namespace spillway::testing {

struct Outcome {
  int         code = -1;
  std::string out, err;
};

class CommandLineTest : public ::testing::Test {
 protected:
  /// Runs `spillway` with the arguments, in a folder of the test's own.
  Outcome spillway(const std::string& arguments, const std::string& before = "") {
    const std::string command =
        "cd '" + (folder_ / "") + "' && " + before + "'" SPILLWAY_BINARY "' " + arguments + " >out.log 2>err.log";
    const int status = std::system(command.c_str());
    Outcome   outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder_ / "out.log"),
                    read_file(folder_ / "err.log")};
    std::filesystem::remove(folder_ / "out.log");
    std::filesystem::remove(folder_ / "err.log");
    return outcome;
  }

  /// The command ends with `code` and says `text` on standard error.
  void expect_error(const std::string& arguments, int code, const std::string& text,
                    const std::string& before = "") {
    const Outcome outcome = spillway(arguments, before);
    EXPECT_EQ(outcome.code, code) << arguments << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(text), std::string::npos) << arguments << ": " << outcome.err;
  }

  TemporaryFolder folder_;
};

}  // namespace spillway::testing
