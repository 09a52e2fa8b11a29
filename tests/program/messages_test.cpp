// Wrong programs as their authors meet them: the compiler's first error names the mistake, and is the only one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "support.hpp"

namespace spillway {
namespace {

using testing::read_file;
using testing::TemporaryFolder;

/// A program without its name and braces, and what the compiler should say.
struct Mistake {
  std::string name, members, message;
};

// What most programs need, and the mistakes are made in.
const std::string value   = "using Value = std::uint32_t; ";
const std::string init    = "Value init(Vertex v) const { return v; } ";
const std::string compute = "Value compute(const Value& from, const Edge<>&) const { return from; } ";
const std::string minimum = value + "using Combine = Min<Value>; ";
const std::string sum     = value + "using Combine = Sum<Value>; ";
const std::string apply   = "bool apply(Value& value, const Value& update) const { return value < update; } ";

const std::vector<Mistake>& common_mistakes() {
  static const std::vector<Mistake> all{
      {"NoValue",
       "using Combine = Min<float>; float init(Vertex) const { return 0; } float compute(const Edge<>&) const;",
       "a program needs `using Value = ...`: the state of one vertex"},
      {"NoCombine", value + init + compute,
       "a program needs `using Combine = ...`: Min, Max, Sum, Or or Any of the update's type"},
      {"CombineOfAnotherType", value + "using Combine = Min<float>; " + init + compute,
       "Combine must be of the type of the update: `Update`, or `Value` where there is no `Update`"},
      {"WrongCompute", minimum + init + "Value compute(const Edge<>&, const Value& from) const { return from; }",
       "a program needs `Update compute(message, edge) const`, compute(edge) or compute(message, edge, to), "
       "where edge is `const Edge<Weight>&` and message what publish returns, or Value without publish"},
      {"WrongApply", sum + init + compute + "void apply(Value& value, Value update) const { value += update; }",
       "apply must be `bool apply(Value& value, const Update& update) const`, or take a third "
       "`const Step<Global>&`; it returns whether the vertex becomes active"},
      {"SumWithoutApply", sum + init + compute,
       "without `apply` updates are combined into the value itself: that needs Update to be Value and a "
       "Combine that may see an update twice (Min, Max, Or); otherwise write `apply`"},
      {"PriorityAndAllActive",
       sum + init + compute + apply +
           "static constexpr bool all_active = true; Value priority(const Value& value) const { return value; }",
       "a program with a priority cannot be all_active"},
      {"ValueWithAContainer",
       "using Value = std::string; using Combine = Min<Value>; Value init(Vertex) const { return {}; } " + compute,
       "Value must be trivially copyable: numbers and structs of numbers, no containers"},
      {"AnyWithoutApply", value + "using Combine = Any<Value>; " + init + compute,
       "a voting program (Any) needs `apply`: what the vote does to the vertex"},
  };
  return all;
}

std::vector<Mistake> rarer_mistakes() {
  const std::string all_active = "static constexpr bool all_active = true; ";
  const std::string priority   = "Value priority(const Value& value) const { return value; } ";
  const std::string open       = "bool open(const Value&) const { return true; } ";
  const std::string starts     = "bool starts(Vertex) const { return true; } ";
  const std::string global     = "struct Global { double sum = 0; void operator+=(const Global&) {} }; ";
  return {
      {"NotACombine", value + "using Combine = std::uint32_t; " + init + compute,
       "Combine must be one of spillway::Min, Max, Sum, Or, Any"},
      {"UpdateWithAContainer",
       value + "using Update = std::string; using Combine = Any<Update>; " + init +
           "Update compute(const Edge<>&) const { return {}; } bool apply(Value&, const Update&) const { return "
           "true; }",
       "Update must be trivially copyable: numbers and structs of numbers, no containers"},
      {"WrongWeight",
       minimum + "using Weight = double; " + init +
           "Value compute(const Value& from, const Edge<double>&) const { return from; }",
       "Weight must be std::uint32_t or float, or left out by programs that read no weights"},
      {"WrongGlobal", sum + "struct Global { double sum = 0; }; " + init + compute + apply,
       "Global must start as nothing (`Global{}`) and have `operator+=(const Global&)`"},
      {"SmallSum", "using Value = std::uint16_t; using Combine = Sum<std::uint16_t>; " + init + compute + apply,
       "spillway::Sum adds numbers of 4 or 8 bytes"},
      {"GlobalWithAContainer",
       sum + "struct Global { std::vector<int> all; void operator+=(const Global&) {} }; " + init + compute +
           "bool apply(Value&, const Value&, const Step<Global>&) const { return true; }",
       "a program and its Global must be trivially copyable"},
      {"UnusedGlobal", sum + global + init + compute + apply,
       "Global needs a `publish` or an `apply` that takes the step and adds to *step.total"},
      {"LateOrderFree", minimum + "bool order_free = true; " + init + compute,
       "order_free must be `static constexpr bool order_free = true;`"},
      {"LateAllActive", sum + "bool all_active = true; " + init + compute + apply,
       "all_active must be `static constexpr bool all_active = true;`"},
      {"LateSettles", minimum + "bool settles = true; " + init + compute,
       "settles must be `static constexpr bool settles = true;`"},
      {"SettlesNothing", minimum + "static constexpr bool settles = true; " + init + compute,
       "settles is a promise about buckets: the program needs a `priority`"},
      {"WrongCouldImprove",
       minimum + "static constexpr bool order_free = true; " + init + compute + priority +
           "bool could_improve(const Value&) const { return true; }",
       "could_improve must be `bool could_improve(Weight weight, const Value& to, Priority start) const`"},
      {"LateReadsDegree", minimum + "bool reads_degree = false; " + init + compute,
       "reads_degree must be `static constexpr bool reads_degree = false;`"},
      {"LateAlong", minimum + "Along along = Along::both; " + init + compute,
       "along must be `static constexpr Along along = Along::out;`, Along::in, Along::both or Along::simple"},
      {"LateInputs", minimum + init + compute + "int inputs = 0; ",
       "inputs must be `static constexpr auto inputs = std::tuple{&Program::member, ...};`"},
      {"InputThatIsNone",
       minimum + init + compute +
           "const float* of = nullptr; static constexpr auto inputs = std::tuple{&InputThatIsNone::of}; ",
       "where each member is a VertexInput<T> that is not const"},
      {"InputWithAContainer",
       minimum + init + compute +
           "VertexInput<std::string> of; static constexpr auto inputs = std::tuple{&InputWithAContainer::of}; ",
       "the entries of a VertexInput must be trivially copyable: numbers and structs of numbers"},
      {"NoInit", minimum + compute,
       "a program needs `Value init(Vertex v) const` or init(v, degree): the value a vertex starts with"},
      {"WrongPublish", minimum + init + compute + "Value publish(Value& value) const { return value; }",
       "publish must be `Message publish(Value& value, const Step<Global>& step) const`"},
      {"WrongOpen", sum + init + compute + apply + "bool open(Vertex, const Value&) const { return true; }",
       "open must be `bool open(const Value& value) const`"},
      {"WrongStarts", minimum + init + compute + "bool starts() const { return true; }",
       "starts must be `bool starts(Vertex v) const`, or take `const Value&` as well"},
      {"WrongPriority", minimum + init + compute + "bool* priority(const Value&) const { return nullptr; }",
       "priority must be `number priority(const Value& value) const`"},
      {"WrongConverged", sum + init + compute + apply + "bool converged() const { return true; }",
       "converged must be `bool converged(const Global& global) const`"},
      {"OpenInPlace", minimum + init + compute + open,
       "open belongs to programs with `apply`; an in-place value closes itself by not improving"},
      {"AllActiveInPlace", minimum + all_active + init + compute,
       "an all_active program needs `apply` and a Combine that counts every update (not Any)"},
      {"AllActiveOpen", sum + all_active + init + compute + apply + open,
       "an all_active program cannot have `open`: every vertex takes updates in every iteration"},
      {"AllActiveStarts", sum + all_active + init + compute + apply + starts,
       "an all_active program cannot have `starts`: every vertex is active in every iteration"},
      {"PriorityOfVotes", value + "using Combine = Any<Value>; " + init + compute + apply + priority,
       "a voting program cannot have a priority"},
      {"PriorityInOrder", minimum + init + compute + priority,
       "a program with a priority that combines in place must be order_free: buckets are settled without "
       "waiting for one another's updates"},
      {"PriorityPublishes",
       minimum + "static constexpr bool order_free = true; " + init + compute + priority +
           "Value publish(Value& value, const Step<>&) const { return value; }",
       "a program with a priority that combines in place sends its values: compute(value, edge), no publish"},
  };
}

/// The errors that the compiler has for a file, one line each.
std::vector<std::string> errors_of(const std::string& source) {
  const TemporaryFolder folder;
  const std::string     file    = folder.write("program.cpp",
                                               "#include <spillway/run.hpp>\n#include <string>\n"
                                                      "using namespace spillway;\n" +
                                                   source);
  const std::string     log     = folder / "log";
  const std::string     command = "LC_ALL=C '" SPILLWAY_COMPILER "' -std=c++20 -fsyntax-only -I'" SPILLWAY_SOURCE
                              "/include' '" +
                              file + "' >'" + log + "' 2>&1";
  const int                status = std::system(command.c_str());
  std::vector<std::string> errors;
  std::istringstream       lines{read_file(log)};
  bool                     refused_type = false;  // clang adds that what refuses its type is no operator
  for (std::string line; std::getline(lines, line);) {
    const bool consequence = refused_type && line.find("Combine must be one of") != std::string::npos;
    if (line.find("error:") == std::string::npos || consequence) continue;
    errors.push_back(line);
    refused_type = line.find("combine.hpp:") != std::string::npos;
  }
  EXPECT_EQ(status == 0, errors.empty()) << read_file(log);
  return errors;
}

std::string joined(const std::vector<std::string>& errors) {
  std::string text;
  for (const std::string& error : errors) text += error + "\n";
  return text;
}

std::string as_source(const Mistake& mistake) {
  return "struct " + mistake.name + " { " + mistake.members + " };\nauto use" + mistake.name + "() { return run(" +
         mistake.name + "{}, Graph{}).values.size(); }\n";
}

/// Few enough for one file that no compiler stops counting.
TEST(WrongPrograms, AreToldOneErrorEach) {
  auto all = common_mistakes();
  std::ranges::copy(rarer_mistakes(), std::back_inserter(all));
  constexpr std::size_t batch = 12;
  for (std::size_t first = 0; first < all.size(); first += batch) {
    const std::vector<Mistake> some{
        all.begin() + static_cast<std::ptrdiff_t>(first),
        all.begin() + static_cast<std::ptrdiff_t>(std::min(first + batch, all.size()))};
    std::string source;
    for (const Mistake& mistake : some) source += as_source(mistake);
    const auto errors = errors_of(source);
    ASSERT_EQ(errors.size(), some.size()) << joined(errors);
    for (std::size_t i = 0; i < errors.size(); ++i)
      EXPECT_NE(errors[i].find(some[i].message), std::string::npos) << some[i].name << ": " << errors[i];
  }
}

TEST(RightProgram, IsToldNothing) {
  EXPECT_EQ(errors_of(as_source({"Right", minimum + init + compute, ""})), std::vector<std::string>{});
}

}  // namespace
}  // namespace spillway
