// Windows of edges on the CPU: an arena stands for a GPU's memory, so that all that brings edges to a device runs,
// and is tested, without one.
#pragma once

#include "supply/windows.hpp"

namespace spillway {

class HostWindows final : public EdgeSupply, WindowDevice {
 public:
  /// Error where the executor's state and the smallest windows do not fit `options.device.memory`.
  HostWindows(CpuExecutor& executor, const Topology& topology, const WindowNeeds& needs, const RunOptions& options,
              const std::shared_ptr<MemoryBudget>& budget);

  bool      may_fuse() const override { return false; }
  BlockWork bring(Executor& executor, Direction direction, IterationStatistics& made,
                  RunStatistics& statistics) override;
  void      complete(RunStatistics& statistics) const override;

 private:
  struct Slot {
    Buffer<Vertex>        targets;
    Buffer<std::uint32_t> weights;

    Slot() = default;
    Slot(EdgeIndex edges, bool weighted, const std::shared_ptr<MemoryBudget>& budget);
    Rows rows(EdgeIndex from = 0) const;
  };

  LayoutSize   lay_out(std::size_t side, bool everyone, std::vector<PartAt>& parts) override;
  ChunkLayout  chunks(std::uint64_t first, std::uint64_t last) override;
  void         reuse(std::size_t) override {}
  void         send(std::size_t slot, const WindowSide& side, std::size_t part) override;
  EdgePointers stage(std::size_t slot, EdgeIndex at) override;
  void         send_staged(std::size_t, EdgeIndex, EdgeIndex) override {}  // it is there
  void         visit(std::size_t slot, const WindowAt& window) override;

  void                     make_room(std::vector<WindowSide>& sides, const std::shared_ptr<MemoryBudget>& budget);
  [[noreturn]] static void offsets_changed();
  ChunkLayout              layout() const;

  CpuExecutor&                  executor_;
  WindowNeeds                   needs_;
  RunOptions                    options_;
  WindowSizes                   sizes_;
  std::uint64_t                 vertices_;
  std::vector<Rows>             hosts_;
  std::vector<EdgeIndex>        arcs_;
  std::vector<Slot>             kept_, slots_;
  std::uint64_t                 device_bytes_ = 0;
  BlockWork                     work_;
  std::unique_ptr<WindowSupply> supply_;

  Charge                       laid_memory_;
  std::vector<Vertex>          active_;  ///< ascending
  std::vector<ChunkDescriptor> entries_;
  std::vector<EdgeIndex>       starts_;
};

}  // namespace spillway
