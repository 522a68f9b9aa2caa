//===- HalTest.h - The suite that every HAL driver passes ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// One suite, run for each driver and mode of recording. A backend brings a
// device and the kernels of test/runtime/kernels.c in its own form, under the
// same ordinals.
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_RUNTIME_HAL_HALTEST_H
#define XC_TEST_RUNTIME_HAL_HALTEST_H

#include "runtime/hal/device.h"
#include "runtime/module/module.h"
#include "test/runtime/XcrTest.h"

namespace xc::test {

struct Backend {
  const char *name; ///< "cpu", "cuda_graph", ...
  const char *uri;
  /// A module whose first executable holds the kernels.
  ModuleSpec (*module)();
};
void PrintTo(const Backend &backend, std::ostream *stream);
/// Every driver and mode that this build has.
std::vector<Backend> backends();
std::string backendName(const ::testing::TestParamInfo<Backend> &info);

/// A command list that owns its vectors.
class TestPlan {
public:
  uint32_t dispatch(hal::Executable *code, Kernel kernel, std::vector<uint64_t> bindings,
                    std::vector<int64_t> scalars, uint32_t x = 1, uint32_t y = 1, uint32_t z = 1,
                    std::vector<uint32_t> edges = {});
  uint32_t copy(uint64_t source, uint64_t target, uint64_t length,
                std::vector<uint32_t> edges = {});
  uint32_t fill(uint64_t target, uint64_t length, uint64_t pattern, uint8_t patternSize,
                std::vector<uint32_t> edges = {});
  /// An if, or with \p isLoop a while, over the regions of these ordinals.
  uint32_t control(bool isLoop, uint64_t condition, uint32_t first, uint32_t second,
                   std::vector<uint32_t> edges = {});
  /// What was added since the last call, or since the beginning, is the next region.
  void endRegion();
  hal::CommandList list() const;

  std::vector<hal::Command> commands;
  std::vector<uint32_t> edges;
  std::vector<uint64_t> addresses;
  std::vector<int64_t> scalars;
  std::vector<hal::Range> regions; ///< empty: one with all commands

private:
  hal::Command &add(hal::CommandKind kind, std::vector<uint64_t> bindings,
                    std::vector<uint32_t> after);
};

class HalTest : public ::testing::TestWithParam<Backend> {
protected:
  void SetUp() override;

  Ref<hal::Memory> allocate(uint64_t size);
  template <typename T> Ref<hal::Memory> upload(const std::vector<T> &data) {
    Ref<hal::Memory> memory = allocate(data.size() * sizeof(T));
    EXPECT_TRUE(ok(device->write(*memory, 0, data.data(), data.size() * sizeof(T))));
    return memory;
  }
  template <typename T> std::vector<T> download(hal::Memory &memory, size_t count) {
    std::vector<T> data(count);
    EXPECT_TRUE(ok(device->read(memory, 0, data.data(), count * sizeof(T))));
    return data;
  }
  Ref<hal::Recording> record(const TestPlan &plan, bool profile = false);
  Ref<hal::Stream> stream();
  Ref<hal::Event> event();
  /// Launches on a stream and waits.
  void run(hal::Recording &recording);
  void run(const TestPlan &plan) {
    Ref<hal::Recording> recording = record(plan);
    ASSERT_TRUE(recording);
    run(*recording);
  }
  static ::testing::AssertionResult ok(Status status) { return isOk(status.release()); }

  Ref<hal::Device> device;
  Ref<hal::Executable> code;
  std::vector<uint8_t> moduleBytes;
  Ref<xcr_module> module;
};

/// Of a float, the byte with the sign and most of the exponent: 0 where the number is.
inline constexpr uint64_t kTopByte = 3;

} // namespace xc::test

#endif // XC_TEST_RUNTIME_HAL_HALTEST_H
