// Kernels on the CPU, for machines without a GPU: every thread of a block is a fibre, a block is a thread of the
// operating system. Lanes of a warp meet where they exchange something, threads of a block at barriers, blocks of
// a cooperative grid at its barriers; those that would wait for ever are reported. It is slow, and it shows what a
// compiler cannot: lanes that do not come along, memory that is read before it is written, words that two write.
#pragma once

#include <cstdint>
#include <functional>

namespace emulator {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

/// Where the calling thread is.
struct Place {
  Index thread, block, block_size, grid_size;
};
extern thread_local Place here;

/// Blocks one after the other, or all at once (`together`) if they may wait for one another.
void launch(unsigned blocks, unsigned threads, bool together, const std::function<void()>& kernel);

/// All lanes of the warp come; what each brought.
const std::uint64_t* exchange(std::uint64_t value);
/// All threads of the block come; the sum of what they brought.
int sum_over_block(int value);
/// All threads of all blocks come.
void meet_in_grid();

}  // namespace emulator
