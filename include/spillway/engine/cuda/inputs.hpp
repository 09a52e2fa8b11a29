// What a program reads by vertex, on a device.
#pragma once

#include <cstddef>
#include <vector>

#include <spillway/engine/cuda/memory.hpp>
#include <spillway/program.hpp>

namespace spillway::cuda {

/// Room for the inputs of a program, and a copy of the program that reads them there. They are in the order of the
/// graph whatever the rows are in: programs know vertices by their numbers in the graph.
template <class P>
class DeviceInputs {
 public:
  DeviceInputs(Device& device, const P& program) : program_(program) {
    for_each_input(program_, [&]<class T>(VertexInput<T>& input) {
      arrays_.emplace_back(device, input.size() * sizeof(T), "the inputs of the vertices");
      input = input.at(reinterpret_cast<const T*>(arrays_.back().data()));
    });
  }

  /// From where this program has them.
  void upload(const P& from) {
    auto array = arrays_.begin();
    for_each_input(from,
                   [&](const auto& input) { array++->upload(reinterpret_cast<const std::byte*>(input.data())); });
  }

  const P& program() const { return program_; }

 private:
  P                                   program_;
  std::vector<DeviceArray<std::byte>> arrays_;
};

}  // namespace spillway::cuda
