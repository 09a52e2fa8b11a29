// docs/json.md lists every field that --json prints, and no other: what programs read may not change unsaid.
#include "command_line.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace spillway {
namespace {

using Paths = std::set<std::string>;

/// Objects whose keys are data: facts of an algorithm, its columns, rates of a machine.
bool has_open_keys(const std::string& path) {
  for (const char* open : {"facts", "top[]", "farthest", "largest", "largest_group", "rates", "corrected_rates"})
    if (path == open || path.ends_with(std::string{"."} + open)) return true;
  return false;
}

/// What is null or empty says nothing of its fields. With several sources each has what else the answer has.
void collect(const nlohmann::json& value, const std::string& path, Paths& paths) {
  constexpr std::string_view each_source = "runs[].";
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      const std::string name = has_open_keys(path) ? "*" : key;
      collect(inner, path.empty() ? name : path + "." + name, paths);
    }
  } else if (value.is_array()) {
    for (const auto& inner : value) collect(inner, path + "[]", paths);
  } else if (!value.is_null()) {
    paths.insert(path.starts_with(each_source) ? path.substr(each_source.size()) : path);
  }
}

/// The fields in the tables of docs/json.md by the heading they stand under; those that only a GPU gives apart.
struct Documented {
  std::map<std::string, Paths> fields, optional;

  Documented() {
    std::istringstream lines{testing::read_file(SPILLWAY_SOURCE "/docs/json.md")};
    std::string        heading;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("## ")) heading = line.substr(3);
      if (!line.starts_with("| `")) continue;
      const std::string path = line.substr(3, line.find('`', 3) - 3);
      (line.find("(optional)") == std::string::npos ? fields : optional)[heading].insert(path);
    }
  }
};

class Json : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    folder_.write("g.txt", "0 1 4\n1 2 5\n2 0 7\n7 8 1\n");
    folder_.write("names.csv", "source,target,weight\na,b,1\nb,c,2\n");
  }

  /// All that a command prints under a heading of the document.
  void run(const std::string& heading, const std::string& command, int code = 0) {
    const auto outcome = spillway(command + " --json");
    ASSERT_EQ(outcome.code, code) << command << ": " << outcome.err;
    const auto document = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(document["schema"], 1) << command;
    collect(document, "", printed_[heading]);
  }

  std::map<std::string, Paths> printed_;
};

TEST_F(Json, IsDocumented) {
  run("info", "info g.txt");
  run("info", "info names.csv");
  run("convert", "convert g.txt g.spill");
  run("convert", "convert g.txt p.spill --layout pages --temporary .");
  run("info", "info g.spill");
  run("convert", "convert g.txt s.spill --layout pages --stripe .,.");
  run("info", "info s.spill");
  run("convert", "convert g.txt v.spill --split udt:2");
  run("info", "info v.spill");
  run("generate", "generate star --vertices 5 p.spill");
  run("verify", "verify g.spill");
  run("algorithms", "algorithms");
  run("devices", "devices");
  run("run", "run bfs g.txt --source 0 --top 2 --verify");
  run("run", "run cc g.txt --top 2");
  run("run", "run pagerank g.txt --top 2");
  run("run", "run bfs g.txt --source 0,1 --top 1");
  run("run", "run bfs g.txt --source 0 --trace t.json");
  run("run", "run sssp g.spill --source 0 --method subgraph --device cpu --device-memory 1MiB");
  run("plan", "plan bfs g.txt");
  ASSERT_EQ(spillway("generate kron --scale 17 --layout edges list.spill -q").code, 0);
  run("plan", "plan cc list.spill --device cpu");
  run("plan", "plan bfs g.txt --method subgraph --device cpu --device-memory 1MiB");
  run("plan", "plan bfs g.txt --host-memory 64KiB");
  run("info", "info g.txt --host-memory 64KiB");
  run("convert", "convert names.csv n.bcsr");
  run("errors", "run bfs g.txt", 2);
  run("errors", "info missing.txt", 3);

  const Documented documented;
  Paths            everywhere = documented.fields.at("every object");
  everywhere.insert(documented.optional.at("every object").begin(), documented.optional.at("every object").end());
  everywhere.insert(documented.fields.at("graph").begin(), documented.fields.at("graph").end());
  everywhere.insert(documented.optional.at("graph").begin(), documented.optional.at("graph").end());
  Paths all;
  for (const auto& [heading, paths] : printed_) all.insert(paths.begin(), paths.end());
  for (const std::string& path : everywhere) EXPECT_TRUE(all.contains(path)) << "nothing prints `" << path << "`";
  for (const auto& [heading, paths] : printed_) {
    ASSERT_TRUE(documented.fields.contains(heading)) << heading;
    for (const std::string& path : paths)
      EXPECT_TRUE(documented.fields.at(heading).contains(path) || everywhere.contains(path) ||
                  (documented.optional.contains(heading) && documented.optional.at(heading).contains(path)))
          << heading << ": docs/json.md does not list `" << path << "`";
    Paths must = documented.fields.at(heading);
    if (documented.optional.contains(heading) && heading != "devices")  // rates are for GPUs
      must.insert(documented.optional.at(heading).begin(), documented.optional.at(heading).end());
    for (const std::string& path : must)  // candidates and overlap are of GPUs, too
      EXPECT_TRUE(paths.contains(path) || path.starts_with("candidates[]") || path == "forms[].excluded" ||
                  path == "trace.overlap")
          << heading << ": nothing prints `" << path << "`";
  }
}

TEST_F(Json, IsOneObjectAlsoOfErrors) {
  for (const std::string command :
       {"rnu --json", "run bfs g.txt --json", "run bfs missing --source 1 --json", "run --json", "info --json",
        "run bfs g.txt --source 99 --json", "verify g.txt --json", "convert g.txt g.xyz --json"}) {
    const auto outcome = spillway(command);
    EXPECT_NE(outcome.code, 0) << command;
    const auto document = nlohmann::json::parse(outcome.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << command << ": " << outcome.out;
    EXPECT_EQ(document["error"]["exit"], outcome.code) << command;
    EXPECT_NE(outcome.err.find(document["error"]["message"].get<std::string>()), std::string::npos) << command;
  }
}

TEST_F(Json, HoldsTheNotes) {
  const auto document = nlohmann::json::parse(spillway("run bfs g.txt --source 0 --json -q").out);
  EXPECT_NE(document["notes"].dump().find("bfs does not use the weights"), std::string::npos) << document["notes"];
}

}  // namespace
}  // namespace spillway
