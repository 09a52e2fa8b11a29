// spillway verify FILE.spill: every checksum, every index, every promise of the header.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "store/spill_file.hpp"

namespace spillway::cli {
namespace {

void verify_file(const std::string& path, const Common& common) {
  ProgressBar bar      = progress_bar(common);
  const auto  verdicts = store::verify(path, bar);
  const bool  good =
      std::all_of(verdicts.begin(), verdicts.end(), [](const auto& verdict) { return verdict.problem.empty(); });
  if (common.json) {
    Json checks = Json::array();
    for (const auto& verdict : verdicts)
      checks.push_back({{"part", verdict.section}, {"bytes", verdict.bytes}, {"problem", verdict.problem}});
    print_json(Json{{"file", path}, {"good", good}, {"checks", checks}});
  } else {
    for (const auto& verdict : verdicts)
      fmt::print("{:<18} {:>12}  {}\n", verdict.section, verdict.bytes ? human_bytes(verdict.bytes) : "",
                 verdict.problem.empty() ? "good" : verdict.problem);
  }
  if (!good) throw bad_input("{}: the file is damaged; make it again from its source", path);
}

}  // namespace

void add_verify(Command& app, Context& context) {
  Command command = app.subcommand("verify", "Check a .spill file: checksums, indices, in-edges, symmetry");
  auto    path    = std::make_shared<std::string>();
  command.option("FILE", *path, "A .spill file").required();
  add_common_options(command, context.common);
  command.on_parsed(
      [&context, path] { context.action = [&context, path] { verify_file(*path, context.common); }; });
}

}  // namespace spillway::cli
