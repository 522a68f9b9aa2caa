//===- FaultObjects.cpp - Buffers, callbacks, imports, state with faults --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/cuda/FaultScenarios.h"

#include <atomic>

using namespace xc;
using namespace xc::test;

/// As dlpack.h has it.
struct DLManagedTensor {
  void *data;
  int32_t deviceType, deviceId, rank;
  uint8_t typeCode, typeBits;
  uint16_t typeLanes;
  int64_t *shape, *strides;
  uint64_t byteOffset;
  void *context;
  void (*deleter)(DLManagedTensor *self);
};

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

static void runTransfers(Attempt &attempt) {
  // More than one turn of the ring through pinned memory.
  std::vector<float> large = iota((5u << 20) / 4), seen(large.size());
  Buffer buffer, small, view;
  attempt.step([&] { return attempt.makeBuffer(large, buffer); });
  attempt.step([&] { return attempt.makeBuffer(iota(16), small); });
  attempt.step([&] { return attempt.read(buffer.get(), seen); });
  if (attempt.code == XCR_STATUS_OK)
    EXPECT_EQ(seen, large);
  attempt.step(
      [&] { return attempt.take(xcr_buffer_write(buffer.get(), 8, large.data(), 4u << 20)); });
  void *data = nullptr;
  attempt.step(
      [&] { return attempt.take(xcr_buffer_map(small.get(), XCR_MAP_READ_WRITE, &data)); });
  if (attempt.code != XCR_STATUS_OK)
    return;
  static_cast<float *>(data)[3] = 30;
  bool isMapped = true;
  attempt.step([&] {
    const float thirty = 30;
    bool wasMapped = isMapped;
    isMapped = false; // also after a failure, which loses what was written
    return attempt.take(wasMapped ? xcr_buffer_unmap(small.get())
                                  : xcr_buffer_write(small.get(), 12, &thirty, 4));
  });
  attempt.step([&] {
    xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
    int64_t shape = 4;
    options.dtype = XCR_DTYPE_F32;
    options.rank = 1;
    options.shape = &shape;
    xcr_buffer_t *object = nullptr;
    xcr_status_t status = xcr_buffer_view(small.get(), &options, 8, &object);
    std::vector<float> part(4);
    if (!attempt.keep(status, object, view) || !attempt.read(view.get(), part))
      return false;
    EXPECT_EQ(part, (std::vector<float>{2, 30, 4, 5}));
    return true;
  });
}

static void runListing(Attempt &attempt) {
  attempt.step([&] {
    xcr_device_list_t *list = nullptr;
    bool isFine = attempt.take(xcr_device_list_create(nullptr, &list));
    xcr_device_list_release(list);
    return isFine;
  });
}

//===----------------------------------------------------------------------===//
// Callbacks
//===----------------------------------------------------------------------===//

static void runCallbacks(Attempt &attempt) {
  std::atomic<int> heard{0};
  int added = 0;
  auto listen = [](void *data, xcr_status_t) { ++*static_cast<std::atomic<int> *>(data); };
  auto drop = [](void *data, xcr_status_t) {
    xcr_buffer_release(static_cast<xcr_buffer_t *>(data));
  };
  {
    Instance instance;
    Call call;
    Stream stream;
    Buffer dropped;
    attempt.step([&] {
      return attempt.makeInstance(instance) && attempt.makeCall(instance, "main", call) &&
             attempt.makeStream(stream) && attempt.makeBuffer(iota(8), dropped);
    });
    attempt.step([&] { return runChain(attempt, call.get(), stream.get(), 16); });
    attempt.step([&] {
      if (!attempt.take(xcr_call_launch(call.get(), stream.get())) ||
          !attempt.take(xcr_stream_add_callback(stream.get(), listen, &heard)))
        return false;
      ++added;
      return true;
    });
    attempt.step([&] {
      if (dropped && attempt.take(xcr_stream_add_callback(stream.get(), drop, dropped.get())))
        dropped.release();
      return !dropped;
    });
    attempt.step([&] { return attempt.take(xcr_stream_synchronize(stream.get())); });
    if (attempt.code == XCR_STATUS_OK)
      EXPECT_EQ(heard.load(), 1);
  }
  // A stream that has gone has called everybody.
  EXPECT_EQ(heard.load(), added);
}

//===----------------------------------------------------------------------===//
// Things of others
//===----------------------------------------------------------------------===//

static void runImports(Attempt &attempt) {
  bool isReleased = false;
  std::vector<float> data = iota(64), seen(64);
  Device guest;
  Instance instance;
  Call call;
  Stream stream;
  Buffer wrapped, again, onGuest;
  attempt.step([&] {
    xcr_device_options_t options = XCR_DEVICE_OPTIONS_INIT;
    options.native_context = attempt.foreign.context;
    xcr_device_t *object = nullptr;
    xcr_status_t status = xcr_device_create(xcr_string(attempt.uri), &options, &object);
    return attempt.keep(status, object, guest);
  });
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  int64_t shape = 64;
  options.dtype = XCR_DTYPE_F32;
  options.rank = 1;
  options.shape = &shape;
  attempt.step([&] {
    xcr_buffer_t *object = nullptr;
    xcr_status_t status =
        xcr_buffer_create_from_host(guest.get(), &options, data.data(), 256, &object);
    return attempt.keep(status, object, onGuest) && attempt.read(onGuest.get(), seen);
  });
  attempt.step([&] {
    xcr_stream_options_t streamOptions = XCR_STREAM_OPTIONS_INIT;
    streamOptions.native_stream = attempt.foreign.stream;
    xcr_stream_t *object = nullptr;
    xcr_status_t status = xcr_stream_create(attempt.device, &streamOptions, &object);
    return attempt.keep(status, object, stream);
  });
  attempt.step([&] {
    xcr_buffer_t *object = nullptr;
    xcr_status_t status = xcr_buffer_wrap(
        attempt.device, &options, reinterpret_cast<void *>(attempt.foreign.memory), 256,
        [](void *flag) { *static_cast<bool *>(flag) = true; }, &isReleased, &object);
    return attempt.keep(status, object, wrapped) &&
           attempt.take(xcr_buffer_write(wrapped.get(), 0, data.data(), 256));
  });
  attempt.step(
      [&] { return attempt.makeInstance(instance) && attempt.makeCall(instance, "main", call); });
  attempt.step([&] {
    std::vector<float> result(64);
    if (!attempt.take(xcr_call_set_input(call.get(), 0, wrapped.get())) ||
        !attempt.take(xcr_call_launch(call.get(), stream.get())) ||
        !attempt.take(xcr_stream_synchronize(stream.get())) ||
        !attempt.read(xcr_call_output(call.get(), 0), result))
      return false;
    EXPECT_EQ(result[63], 128.0f);
    return true;
  });
  attempt.step([&] {
    DLManagedTensor *tensor = nullptr;
    xcr_buffer_t *object = nullptr;
    if (!attempt.take(xcr_buffer_to_dlpack(xcr_call_output(call.get(), 0), &tensor)))
      return false;
    xcr_status_t status = xcr_buffer_from_dlpack(attempt.device, tensor, &object);
    if (!xcr_is_ok(status))
      tensor->deleter(tensor); // it is still the caller's
    return attempt.keep(status, object, again) && attempt.read(again.get(), seen);
  });
  if (attempt.code == XCR_STATUS_OK)
    EXPECT_EQ(seen[1], 4.0f);
  bool wasWrapped = wrapped != nullptr;
  call.reset();
  stream.reset();
  wrapped.reset();
  EXPECT_EQ(isReleased, wasWrapped);
}

//===----------------------------------------------------------------------===//
// State of instances
//===----------------------------------------------------------------------===//

/// packed = 3 constant + 1, once; step(x): total += x; get() = total, packed.
static ModuleSpec stateModule() {
  ModuleSpec module = cudaKernelModule();
  module.constants = {{fb::DType::F32, {4}, bytesOf(iota(4))}};
  module.variables = {{"total", fb::DType::F32, {4}, 0}, {"zeros", fb::DType::F32, {4}}};
  fb::Value bytes = literal(16);
  InitPlanSpec init;
  init.packedSizes = {16};
  VariantSpec pack;
  pack.exportOrdinal = kScale;
  pack.scalars = {literal(4), literal(3), literal(1)};
  init.plan.dispatch({pack},
                     {reads(fb::Space::Constant, 0, bytes), writes(fb::Space::Packed, 0, bytes)});
  module.initPlans = {init};
  FunctionSpec step, get;
  step.name = "step";
  step.inputs = {{"x", fb::DType::F32, {literal(4)}}};
  PlanSpec add;
  VariantSpec variant;
  variant.exportOrdinal = kAccumulate;
  variant.scalars = {literal(4)};
  add.dispatch({variant}, {binding(fb::Space::Variable, 0, bytes, fb::Access::ReadWrite),
                           reads(fb::Space::Input, 0, bytes)});
  step.plans = {add};
  get.name = "get";
  get.outputs = {{"total", fb::DType::F32, {literal(4)}},
                 {"zeros", fb::DType::F32, {literal(4)}},
                 {"packed", fb::DType::F32, {literal(4)}}};
  PlanSpec copy;
  copy.copy(reads(fb::Space::Variable, 0, bytes), writes(fb::Space::Output, 0, bytes));
  copy.copy(reads(fb::Space::Variable, 1, bytes), writes(fb::Space::Output, 1, bytes));
  copy.copy(reads(fb::Space::Packed, 0, bytes), writes(fb::Space::Output, 2, bytes));
  get.plans = {copy};
  module.functions = {step, get};
  return module;
}

static bool expectState(Attempt &attempt, xcr_call_t *get, xcr_stream_t *stream,
                        const std::vector<float> &total) {
  std::vector<float> seen[3] = {total, total, total};
  if (!attempt.take(xcr_call_launch(get, stream)) || !attempt.take(xcr_stream_synchronize(stream)))
    return false;
  for (uint32_t i = 0; i < 3; ++i)
    if (!attempt.read(xcr_call_output(get, i), seen[i]))
      return false;
  EXPECT_EQ(seen[0], total);
  EXPECT_EQ(seen[1], std::vector<float>(4));
  EXPECT_EQ(seen[2], (std::vector<float>{1, 4, 7, 10}));
  return true;
}

static void runState(Attempt &attempt) {
  Instance instance;
  Call step, get;
  Stream stream;
  Buffer input, replacement;
  attempt.step([&] { return attempt.makeInstance(instance); });
  attempt.step([&] {
    return attempt.makeCall(instance, "step", step) && attempt.makeCall(instance, "get", get) &&
           attempt.makeStream(stream) && attempt.makeBuffer({1, 1, 1, 1}, input) &&
           attempt.makeBuffer({5, 5, 5, 5}, replacement) &&
           attempt.take(xcr_call_set_input(step.get(), 0, input.get()));
  });
  attempt.step([&] { return expectState(attempt, get.get(), stream.get(), {0, 1, 2, 3}); });
  // A launch that has failed may have done its work or not, so each try begins from a known state.
  attempt.step([&] {
    std::vector<float> start = iota(4, 7);
    xcr_buffer_t *variable = nullptr;
    return attempt.take(
               xcr_instance_get_variable(instance.get(), xcr_string("total"), &variable)) &&
           attempt.take(xcr_buffer_write(variable, 0, start.data(), 16)) &&
           attempt.take(xcr_call_launch(step.get(), stream.get())) &&
           expectState(attempt, get.get(), stream.get(), {8, 9, 10, 11});
  });
  attempt.step([&] {
    std::vector<float> start(4, 5);
    return attempt.take(xcr_buffer_write(replacement.get(), 0, start.data(), 16)) &&
           attempt.take(
               xcr_instance_set_variable(instance.get(), xcr_string("total"), replacement.get())) &&
           attempt.take(xcr_call_launch(step.get(), stream.get())) &&
           expectState(attempt, get.get(), stream.get(), {6, 6, 6, 6});
  });
  // In flight while everything is dropped.
  attempt.step([&] { return attempt.take(xcr_call_launch(step.get(), stream.get())); });
}

/// As chainModule, its code machine code that the driver refuses, with PTX as the alternative.
static ModuleSpec alternativesModule() {
  ModuleSpec module = chainModule();
  ExecutableSpec refused = module.executables[0];
  refused.kind = fb::CodeKind::Cubin;
  refused.arch = "sm_90";
  refused.image = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0};
  module.executables.insert(module.executables.begin(), refused);
  return module;
}

static void runCode(Attempt &attempt) {
  Instance instance;
  Call call;
  Stream stream;
  attempt.step([&] { return attempt.makeInstance(instance); });
  attempt.step([&] {
    return attempt.makeCall(instance, "main", call) && attempt.makeStream(stream) &&
           runChain(attempt, call.get(), stream.get(), 8);
  });
}

const std::vector<FaultScenario> &xc::test::objectScenarios() {
  static const std::vector<FaultScenario> scenarios = {
      // Without pinned memory the driver copies from pageable memory.
      {"Transfers", [] { return chainModule(); }, runTransfers, "cuMemHostAlloc cuEventCreate"},
      // A device that cannot be described is listed all the same.
      {"Listing", [] { return chainModule(); }, runListing,
       "cuDeviceGetCount cuDeviceGet cuDeviceGetName cuDeviceTotalMem cuDeviceGetAttribute"},
      {"Callbacks", [] { return chainModule(); }, runCallbacks},
      // Without an answer a stream counts as not captured.
      {"Imports", [] { return chainModule(); }, runImports, "cuStreamIsCapturing"},
      {"State", stateModule, runState},
      {"Code", alternativesModule, runCode},
  };
  return scenarios;
}
