// What needs a GPU. Without one each test says so and is skipped.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "devices/devices.hpp"

namespace spillway {
namespace {

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU on this machine";
  }
};

TEST_F(Gpu, IsListedWithItsMemory) {
  const CudaDevices found = cuda_devices();
  ASSERT_FALSE(found.devices.empty()) << found.absence;
  const DeviceInfo& first = found.devices.front();
  EXPECT_EQ(first.name, "cuda:0");
  EXPECT_GT(first.cores, 0);
  EXPECT_GT(first.memory_total, 1u << 30);
  EXPECT_LE(first.memory_free, first.memory_total);
  EXPECT_GT(first.memory_free, 0u);
}

}  // namespace
}  // namespace spillway
