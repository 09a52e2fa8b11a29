#include <spillway/engine/memory.hpp>
#include <spillway/result.hpp>

namespace spillway {

void fetch(Column& column, const std::shared_ptr<MemoryBudget>& budget) {
  if (!column.on_device) return;
  std::visit(
      [&]<class Entry>(Array<Entry>& values) {
        if (values.size() == column.on_device->size()) return;
        Buffer<Entry> here{column.on_device->size(), budget, "the result"};
        column.on_device->download(here.data());
        values = std::move(here).freeze();
      },
      column.values);
  column.on_device.reset();
}

}  // namespace spillway
