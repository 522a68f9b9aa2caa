//===- FaultScenarios.h - What is done while driver calls fail ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_RUNTIME_CUDA_FAULTSCENARIOS_H
#define XC_TEST_RUNTIME_CUDA_FAULTSCENARIOS_H

#include "test/runtime/cuda/CudaKernels.h"

#include "runtime/hal/cuda/cuda_symbols.h"

#include <functional>

namespace xc::test {

/// What another library in the process has of the device: made before a fault is set, and released
/// after all of it.
struct Foreign {
  const cuda::Symbols *cu = nullptr;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr memory = 0; ///< 256 bytes
};

/// One go through a scenario, in which a driver call may fail. Keeps the first failure.
class Attempt {
public:
  Attempt(const char *uri, xcr_device_t *device, xcr_module_t *module, const Foreign &foreign)
      : uri(uri), device(device), module(module), foreign(foreign) {}

  /// Releases the status; whether it was a success.
  bool take(xcr_status_t status);
  /// Takes over an object of the C API.
  template <typename T> bool keep(xcr_status_t status, T *object, Owned<T> &out) {
    out.reset(object);
    return take(status);
  }
  /// Does a part of the scenario. Where that fails, the fault is taken back, and \p body must
  /// succeed with the same objects, unless the device is lost. Objects die outside of steps.
  bool step(const std::function<bool()> &body);

  /// Lets the fault strike from here on; what is before it in a scenario with armsItself is spared.
  void arm() {
    if (setFault)
      setFault();
    setFault = nullptr;
  }
  void forget() {
    code = XCR_STATUS_OK;
    message.clear();
  }

  bool makeInstance(Instance &out);
  bool makeCall(const Instance &instance, const char *name, Call &out, uint32_t flags = 0);
  bool makeStream(Stream &out);
  /// What most scenarios need: a call of `main`, and a stream for it.
  bool makeMain(Instance &instance, Call &call, Stream &stream);
  /// Launches the call and waits for it.
  bool run(xcr_call_t *call, xcr_stream_t *stream);
  bool makeBuffer(const std::vector<float> &values, Buffer &out) {
    return makeBuffer({static_cast<int64_t>(values.size())}, values, out);
  }
  bool makeBuffer(const std::vector<int64_t> &shape, const std::vector<float> &values, Buffer &out);
  bool read(xcr_buffer_t *buffer, std::vector<float> &values) {
    return take(xcr_buffer_read(buffer, 0, values.data(), values.size() * sizeof(float)));
  }

  const char *const uri;
  xcr_device_t *const device;
  xcr_module_t *const module;
  const Foreign &foreign;
  xcr_status_code_t code = XCR_STATUS_OK;
  std::string message;
  bool wasStruckInStep = false;
  std::function<void()> setFault; ///< or null
};

struct FaultScenario {
  const char *name;
  ModuleSpec (*module)();
  void (*run)(Attempt &attempt);
  /// Functions that the runtime does without, separated by blanks, beside those that it always can
  /// (see FaultTest.cpp).
  const char *dispensable = "";
  /// The scenario calls arm(); else its first call is within the fault's reach.
  bool armsItself = false;
};

/// Scenarios of FaultScenarios.cpp and of FaultObjects.cpp.
const std::vector<FaultScenario> &callScenarios();
const std::vector<FaultScenario> &objectScenarios();

/// main: z = (x + 1) * 2 for n up to 64, the sum in an arena of n times \p arenaUnit bytes; a copy
/// of z; and a pattern of eight bytes.
ModuleSpec chainModule(int64_t arenaUnit = 4);
/// Runs it once with an input of its own, and looks at what it returns.
bool runChain(Attempt &attempt, xcr_call_t *call, xcr_stream_t *stream, size_t count);

} // namespace xc::test

#endif // XC_TEST_RUNTIME_CUDA_FAULTSCENARIOS_H
