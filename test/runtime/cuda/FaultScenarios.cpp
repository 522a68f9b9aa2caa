//===- FaultScenarios.cpp - Calls and plans while driver calls fail -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/cuda/FaultScenarios.h"

using namespace xc;
using namespace xc::test;

//===----------------------------------------------------------------------===//
// Attempts
//===----------------------------------------------------------------------===//

bool Attempt::take(xcr_status_t status) {
  if (xcr_is_ok(status))
    return true;
  if (code == XCR_STATUS_OK) {
    code = xcr_status_code(status);
    xcr_string_view_t text = xcr_status_message(status);
    message.assign(text.data, text.size);
  }
  xcr_status_release(status);
  return false;
}

bool Attempt::step(const std::function<bool()> &body) {
  if (code != XCR_STATUS_OK)
    return false;
  uint64_t fired = standIn()->faultsFired();
  bool isFine = body();
  wasStruckInStep = wasStruckInStep || standIn()->faultsFired() != fired;
  EXPECT_EQ(isFine, code == XCR_STATUS_OK) << message;
  if (isFine || code == XCR_STATUS_DEVICE_LOST)
    return isFine;
  standIn()->clearFaults();
  xcr_status_code_t firstCode = code;
  std::string firstMessage = message;
  code = XCR_STATUS_OK;
  // What was submitted before the failure may still run.
  take(xcr_device_synchronize(device));
  EXPECT_TRUE(body()) << "the second time: " << message;
  code = firstCode;
  message = firstMessage;
  return false;
}

bool Attempt::makeInstance(Instance &out) {
  xcr_instance_t *object = nullptr;
  xcr_status_t status = xcr_instance_create(device, module, nullptr, &object);
  return keep(status, object, out);
}

bool Attempt::makeCall(const Instance &instance, const char *name, Call &out, uint32_t flags) {
  xcr_call_options_t options = XCR_CALL_OPTIONS_INIT;
  options.flags = flags;
  xcr_call_t *object = nullptr;
  xcr_status_t status = xcr_call_create(instance.get(), xcr_string(name), &options, &object);
  return keep(status, object, out);
}

bool Attempt::makeMain(Instance &instance, Call &call, Stream &stream) {
  return makeInstance(instance) && makeCall(instance, "main", call) && makeStream(stream);
}

bool Attempt::run(xcr_call_t *call, xcr_stream_t *stream) {
  return take(xcr_call_launch(call, stream)) && take(xcr_stream_synchronize(stream));
}

bool Attempt::makeStream(Stream &out) {
  xcr_stream_t *object = nullptr;
  xcr_status_t status = xcr_stream_create(device, nullptr, &object);
  return keep(status, object, out);
}

bool Attempt::makeBuffer(const std::vector<int64_t> &shape, const std::vector<float> &values,
                         Buffer &out) {
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  options.dtype = XCR_DTYPE_F32;
  options.rank = static_cast<uint32_t>(shape.size());
  options.shape = shape.data();
  xcr_buffer_t *object = nullptr;
  xcr_status_t status = xcr_buffer_create_from_host(device, &options, values.data(),
                                                    values.size() * sizeof(float), &object);
  return keep(status, object, out);
}

//===----------------------------------------------------------------------===//
// A chain of commands, and an arena that grows
//===----------------------------------------------------------------------===//

ModuleSpec xc::test::chainModule(int64_t arenaUnit) {
  ModuleSpec module = cudaKernelModule();
  module.constants.push_back({fb::DType::F32, {64}, bytesOf(std::vector<float>(64, 1.0f)), 64});
  FunctionSpec function;
  function.symbols = {{"n", 0, 0, 1, 64}};
  fb::Value n = function.formulas.add({symbol(0)});
  function.inputs = {{"x", fb::DType::F32, {n}}};
  function.outputs = {{"z", fb::DType::F32, {n}},
                      {"copy", fb::DType::F32, {n}},
                      {"fill", fb::DType::I64, {literal(8)}}};
  PlanSpec plan;
  fb::Value count = plan.formulas.add({symbol(0)});
  fb::Value bytes = plan.formulas.add({symbol(0), constant(4), op(fb::FormulaOp::Mul)});
  plan.arenaSize = plan.formulas.add({symbol(0), constant(arenaUnit), op(fb::FormulaOp::Mul)});
  VariantSpec add, scale;
  add.exportOrdinal = kAdd;
  add.scalars = {count};
  scale.exportOrdinal = kScale;
  scale.scalars = {count, literal(2), literal(0)};
  uint32_t sum =
      plan.dispatch({add}, {reads(fb::Space::Input, 0, bytes), reads(fb::Space::Constant, 0, bytes),
                            writes(fb::Space::Arena, 0, bytes)});
  uint32_t scaled = plan.dispatch(
      {scale}, {reads(fb::Space::Arena, 0, bytes), writes(fb::Space::Output, 0, bytes)}, {sum});
  plan.copy(reads(fb::Space::Output, 0, bytes), writes(fb::Space::Output, 1, bytes), {scaled});
  plan.fill(writes(fb::Space::Output, 2, literal(64)), 0x0102030405060708, 8);
  function.plans = {plan};
  module.functions = {function};
  return module;
}

static bool checkChain(Attempt &attempt, xcr_call_t *call, size_t count) {
  for (uint32_t output = 0; output < 2; ++output) {
    std::vector<float> seen(count);
    if (!attempt.read(xcr_call_output(call, output), seen))
      return false;
    for (size_t i = 0; i < count; ++i)
      EXPECT_EQ(seen[i], 2.0f * static_cast<float>(i + 1));
  }
  std::vector<int64_t> pattern(8);
  if (!attempt.take(xcr_buffer_read(xcr_call_output(call, 2), 0, pattern.data(), 64)))
    return false;
  EXPECT_EQ(pattern, std::vector<int64_t>(8, 0x0102030405060708));
  return true;
}

bool xc::test::runChain(Attempt &attempt, xcr_call_t *call, xcr_stream_t *stream, size_t count) {
  Buffer input;
  return attempt.makeBuffer(iota(count), input) &&
         attempt.take(xcr_call_set_input(call, 0, input.get())) && attempt.run(call, stream) &&
         checkChain(attempt, call, count);
}

static void runCalls(Attempt &attempt) {
  Instance instance;
  Call call;
  Stream stream;
  attempt.step([&] { return attempt.makeInstance(instance); });
  attempt.step([&] { return attempt.makeCall(instance, "main", call); });
  attempt.step([&] { return attempt.makeStream(stream); });
  // The last size grows the outputs and the arena.
  for (size_t count : {40, 40, 64})
    attempt.step([&] { return runChain(attempt, call.get(), stream.get(), count); });
  attempt.step([&] {
    return attempt.take(xcr_device_trim(attempt.device)) &&
           attempt.take(xcr_device_synchronize(attempt.device));
  });
  attempt.step([&] { return runChain(attempt, call.get(), stream.get(), 64); });
}

static void runGrowingArena(Attempt &attempt) {
  Instance instance;
  Call call;
  Stream stream;
  attempt.step([&] { return attempt.makeMain(instance, call, stream); });
  for (size_t count : {16, 64})
    attempt.step([&] { return runChain(attempt, call.get(), stream.get(), count); });
}

static void runInvoke(Attempt &attempt) {
  Instance instance;
  Buffer input, outputs[3];
  attempt.step([&] { return attempt.makeInstance(instance); });
  attempt.step([&] { return attempt.makeBuffer(iota(16), input); });
  attempt.step([&] {
    xcr_buffer_t *in = input.get(), *out[3] = {};
    bool isFine = attempt.take(xcr_invoke(instance.get(), xcr_string("main"), 1, &in, 3, out));
    for (int i = 0; i < 3; ++i)
      outputs[i].reset(out[i]);
    std::vector<float> seen(16);
    if (!isFine || !attempt.read(out[1], seen))
      return false;
    EXPECT_EQ(seen[15], 32.0f);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Several things in flight
//===----------------------------------------------------------------------===//

static void runInFlight(Attempt &attempt) {
  std::vector<float> data = iota(64), seen(64);
  std::vector<uint8_t> filled(32);
  Instance instance;
  Buffer input, copy, target;
  Call calls[2];
  Event event;
  Stream streams[2];
  attempt.step([&] {
    return attempt.makeInstance(instance) && attempt.makeCall(instance, "main", calls[0]) &&
           attempt.makeCall(instance, "main", calls[1]) && attempt.makeStream(streams[0]) &&
           attempt.makeStream(streams[1]);
  });
  attempt.step([&] {
    xcr_event_t *object = nullptr;
    xcr_status_t status = xcr_event_create(attempt.device, &object);
    return attempt.keep(status, object, event);
  });
  attempt.step([&] {
    return attempt.makeBuffer(std::vector<float>(64), input) &&
           attempt.makeBuffer(std::vector<float>(64), copy) &&
           attempt.makeBuffer(std::vector<float>(8), target);
  });
  // The second call reads what the first one writes, behind an event.
  attempt.step([&] {
    xcr_stream_t *first = streams[0].get(), *second = streams[1].get();
    bool isFine = attempt.take(xcr_stream_write(first, input.get(), 0, data.data(), 256)) &&
                  attempt.take(xcr_call_set_input(calls[0].get(), 0, input.get())) &&
                  attempt.take(xcr_call_launch(calls[0].get(), first)) &&
                  attempt.take(xcr_call_launch(calls[0].get(), first)) &&
                  attempt.take(xcr_stream_record(first, event.get())) &&
                  attempt.take(xcr_stream_wait(second, event.get()));
    isFine =
        isFine &&
        attempt.take(xcr_call_set_input(calls[1].get(), 0, xcr_call_output(calls[0].get(), 0))) &&
        attempt.take(xcr_call_launch(calls[1].get(), second)) &&
        attempt.take(
            xcr_stream_copy(second, xcr_call_output(calls[1].get(), 0), 0, copy.get(), 0, 256)) &&
        attempt.take(xcr_stream_read(second, copy.get(), 0, seen.data(), 256));
    return isFine && attempt.take(xcr_stream_synchronize(first)) &&
           attempt.take(xcr_stream_synchronize(second));
  });
  if (attempt.code == XCR_STATUS_OK)
    EXPECT_EQ(seen[63], 258.0f);
  attempt.step([&] {
    for (uint32_t i = 0; i < 4; ++i)
      if (!attempt.take(xcr_stream_fill(streams[0].get(), target.get(), 8 * i, 8,
                                        0x0807060504030201, 1u << i)))
        return false;
    return attempt.take(xcr_stream_read(streams[0].get(), target.get(), 0, filled.data(), 32)) &&
           attempt.take(xcr_stream_record(streams[0].get(), event.get())) &&
           attempt.take(xcr_event_synchronize(event.get())) &&
           attempt.take(xcr_stream_synchronize(streams[0].get()));
  });
  if (attempt.code == XCR_STATUS_OK) {
    EXPECT_EQ(filled[7], 1);
    EXPECT_EQ(filled[9], 2);
    EXPECT_EQ(filled[23], 4);
    EXPECT_EQ(filled[31], 8);
  }
  attempt.step([&] {
    bool isDone = false, isReached = false;
    if (!attempt.take(xcr_stream_query(streams[0].get(), &isDone)) ||
        !attempt.take(xcr_event_query(event.get(), &isReached)))
      return false;
    EXPECT_TRUE(isDone && isReached);
    return true;
  });
}

/// More in flight than a batch holds, and objects that go while it is.
static void runManyInFlight(Attempt &attempt) {
  Instance instance;
  Call call;
  Stream stream;
  Buffer target;
  std::vector<Buffer> sources(40);
  attempt.step([&] {
    for (size_t i = 0; i < sources.size(); ++i)
      if (!attempt.makeBuffer({static_cast<float>(i)}, sources[i]))
        return false;
    return attempt.makeMain(instance, call, stream) &&
           attempt.makeBuffer(std::vector<float>(1), target);
  });
  attempt.arm();
  attempt.step([&] {
    Buffer input;
    if (!attempt.makeBuffer(iota(64), input) ||
        !attempt.take(xcr_call_set_input(call.get(), 0, input.get())))
      return false;
    return attempt.take(xcr_call_launch(call.get(), stream.get()));
  });
  call.reset();
  attempt.step([&] {
    for (Buffer &source : sources)
      if (!attempt.take(xcr_stream_copy(stream.get(), source.get(), 0, target.get(), 0, 4)))
        return false;
    return true;
  });
  sources.clear();
  attempt.step([&] {
    std::vector<float> seen(1);
    if (!attempt.take(xcr_stream_synchronize(stream.get())) || !attempt.read(target.get(), seen))
      return false;
    EXPECT_EQ(seen[0], 39.0f);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Plans of other forms
//===----------------------------------------------------------------------===//

/// y = 3 x in blocks of 256, a copy of y, and bytes 1, 2, 1, 2, ...; all for n elements, so that
/// sizes become nothing and the fill of an odd number of bytes is a kernel.
static ModuleSpec patchModule() {
  ModuleSpec module = cudaKernelModule();
  FunctionSpec function;
  function.symbols = {{"n", 0, 0, 0, 1024}};
  fb::Value n = function.formulas.add({symbol(0)});
  function.inputs = {{"x", fb::DType::F32, {n}}};
  function.outputs = {
      {"y", fb::DType::F32, {n}}, {"copy", fb::DType::F32, {n}}, {"bytes", fb::DType::I8, {n}}};
  PlanSpec plan;
  fb::Value count = plan.formulas.add({symbol(0)});
  fb::Value bytes = plan.formulas.add({symbol(0), constant(4), op(fb::FormulaOp::Mul)});
  VariantSpec scale;
  scale.exportOrdinal = kScale;
  scale.scalars = {count, literal(3), literal(0)};
  scale.grid[0] = plan.formulas.add({symbol(0), constant(256), op(fb::FormulaOp::CeilDiv)});
  uint32_t scaled = plan.dispatch(
      {scale}, {reads(fb::Space::Input, 0, bytes), writes(fb::Space::Output, 0, bytes)});
  plan.copy(reads(fb::Space::Output, 0, bytes), writes(fb::Space::Output, 1, bytes), {scaled});
  plan.fill(writes(fb::Space::Output, 2, count), 0x0201, 1);
  function.plans = {plan};
  module.functions = {function};
  return module;
}

static void runPatches(Attempt &attempt) {
  Instance instance;
  Call call;
  Stream stream;
  std::vector<Buffer> inputs(4);
  const int64_t sizes[] = {64, 300, 0, 64};
  attempt.step([&] { return attempt.makeMain(instance, call, stream); });
  attempt.step([&] {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!inputs[i] && !attempt.makeBuffer(iota(static_cast<size_t>(sizes[i])), inputs[i]))
        return false;
    return true;
  });
  for (size_t i = 0; i < inputs.size(); ++i)
    attempt.step([&] {
      auto count = static_cast<size_t>(sizes[i]);
      std::vector<float> seen(count);
      std::vector<int8_t> bytes(count);
      if (!attempt.take(xcr_call_set_input(call.get(), 0, inputs[i].get())) ||
          !attempt.run(call.get(), stream.get()) ||
          !attempt.read(xcr_call_output(call.get(), 1), seen) ||
          !attempt.take(xcr_buffer_read(xcr_call_output(call.get(), 2), 0, bytes.data(), count)))
        return false;
      for (size_t j = 0; j < count; ++j)
        EXPECT_EQ(seen[j], 3.0f * static_cast<float>(j));
      EXPECT_EQ(bytes, std::vector<int8_t>(count, 1));
      return true;
    });
}

/// Three fills that are copied on, without edges between the pairs: three streams.
static ModuleSpec branchModule() {
  ModuleSpec module = cudaKernelModule();
  FunctionSpec function;
  PlanSpec plan;
  for (uint32_t i = 0; i < 3; ++i) {
    function.outputs.push_back({"", fb::DType::I32, {literal(4)}});
    function.outputs.push_back({"", fb::DType::I32, {literal(4)}});
    uint32_t fill = plan.fill(writes(fb::Space::Output, 2 * i, literal(16)), i + 1, 4);
    plan.copy(reads(fb::Space::Output, 2 * i, literal(16)),
              writes(fb::Space::Output, 2 * i + 1, literal(16)), {fill});
  }
  function.plans = {plan};
  module.functions = {function};
  return module;
}

static void runBranches(Attempt &attempt) {
  Instance instance;
  Call call;
  Stream stream;
  attempt.step([&] { return attempt.makeMain(instance, call, stream); });
  for (int round = 0; round < 2; ++round)
    attempt.step([&] {
      if (!attempt.run(call.get(), stream.get()))
        return false;
      for (uint32_t i = 0; i < 3; ++i) {
        int32_t seen[4];
        if (!attempt.take(xcr_buffer_read(xcr_call_output(call.get(), 2 * i + 1), 0, seen, 16)))
          return false;
        EXPECT_EQ(seen[3], static_cast<int32_t>(i + 1));
      }
      return true;
    });
}

/// y = x doubled n times, if n is not zero from the start, else 3 x: an if around a while. The top
/// bytes of n as a float are the conditions.
static ModuleSpec controlModule() {
  ModuleSpec module = cudaKernelModule();
  FunctionSpec function;
  function.inputs = {{"n", fb::DType::F32, {literal(1)}}, {"x", fb::DType::F32, {literal(16)}}};
  function.outputs = {{"y", fb::DType::F32, {literal(16)}}};
  PlanSpec plan;
  auto scaled = [&](int64_t size, int64_t factor, int64_t offset, fb::Binding from,
                    fb::Binding to) {
    VariantSpec variant;
    variant.exportOrdinal = kScale;
    variant.scalars = {literal(size), literal(factor), literal(offset)};
    plan.dispatch({variant}, {from, to});
  };
  fb::Value length = literal(64), word = literal(4), byte = literal(1);
  // The whole plan: the if. Its regions: copies and the while, and one kernel. Those of the while.
  plan.controls.emplace_back(false, reads(fb::Space::Input, 0, byte, literal(3)), fb::Range(0, 2));
  plan.controls.emplace_back(true, reads(fb::Space::Arena, 0, byte, literal(67)), fb::Range(2, 2));
  plan.commands.emplace_back(fb::CommandKind::Control, 0, fb::Range(0, 0));
  uint32_t counter = plan.copy(reads(fb::Space::Input, 0, word), writes(fb::Space::Arena, 0, word));
  uint32_t start =
      plan.copy(reads(fb::Space::Input, 1, length), writes(fb::Space::Output, 0, length));
  uint32_t firstEdge = static_cast<uint32_t>(plan.edges.size());
  plan.edges.insert(plan.edges.end(), {counter - 1, start - 1}); // within the region
  plan.commands.emplace_back(fb::CommandKind::Control, 1, fb::Range(firstEdge, 2));
  scaled(16, 3, 0, reads(fb::Space::Input, 1, length), writes(fb::Space::Output, 0, length));
  plan.copy(reads(fb::Space::Arena, 0, word), writes(fb::Space::Arena, 0, word, literal(64)));
  scaled(16, 2, 0, reads(fb::Space::Output, 0, length), writes(fb::Space::Output, 0, length));
  scaled(1, 1, -1, reads(fb::Space::Arena, 0, word), writes(fb::Space::Arena, 0, word));
  plan.regions = {fb::Region(fb::Range(0, 1)), fb::Region(fb::Range(1, 3)),
                  fb::Region(fb::Range(4, 1)), fb::Region(fb::Range(5, 1)),
                  fb::Region(fb::Range(6, 2))};
  plan.regionOrdinals = {1, 2, 3, 4};
  plan.arenaSize = literal(128);
  function.plans = {plan};
  module.functions = {function};
  return module;
}

static void runControl(Attempt &attempt) {
  Instance instance;
  Call call;
  Stream stream;
  const float counts[] = {2, 0}, factors[] = {4, 3};
  Buffer x, inputs[2];
  attempt.step([&] {
    return attempt.makeMain(instance, call, stream) && attempt.makeBuffer(iota(16), x) &&
           attempt.makeBuffer({counts[0]}, inputs[0]) &&
           attempt.makeBuffer({counts[1]}, inputs[1]) &&
           attempt.take(xcr_call_set_input(call.get(), 1, x.get()));
  });
  for (int round = 0; round < 2; ++round)
    attempt.step([&] {
      std::vector<float> seen(16);
      if (!attempt.take(xcr_call_set_input(call.get(), 0, inputs[round].get())) ||
          !attempt.run(call.get(), stream.get()) ||
          !attempt.read(xcr_call_output(call.get(), 0), seen))
        return false;
      EXPECT_EQ(seen[15], 15 * factors[round]);
      return true;
    });
}

/// y = 2 x where x has at most 16 elements, else 3 x by way of the arena.
static ModuleSpec choiceModule() {
  ModuleSpec module = cudaKernelModule();
  module.requiredFeatures = {"choices"};
  FunctionSpec function;
  function.symbols = {{"n", 0, 0}};
  fb::Value n = function.formulas.add({symbol(0)});
  function.inputs = {{"x", fb::DType::F32, {n}}};
  function.outputs = {{"y", fb::DType::F32, {n}}};
  PlanSpec plan;
  fb::Value size = plan.formulas.add({symbol(0)});
  fb::Value bytes = plan.formulas.add({symbol(0), constant(4), op(fb::FormulaOp::Mul)});
  // n / 17, which is 0 for the second region.
  fb::Value isLong = plan.formulas.add({symbol(0), constant(17), op(fb::FormulaOp::FloorDiv)});
  plan.choices.emplace_back(isLong, fb::Range(0, 2));
  plan.commands.emplace_back(fb::CommandKind::Choice, 0, fb::Range(0, 0));
  auto scaled = [&](int64_t factor, fb::Binding from, fb::Binding to,
                    const std::vector<uint32_t> &after) {
    VariantSpec variant;
    variant.exportOrdinal = kScale;
    variant.scalars = {size, literal(factor), literal(0)};
    plan.dispatch({variant}, {from, to}, after);
  };
  plan.copy(reads(fb::Space::Input, 0, bytes), writes(fb::Space::Arena, 0, bytes));
  scaled(3, reads(fb::Space::Arena, 0, bytes), writes(fb::Space::Output, 0, bytes), {0});
  scaled(2, reads(fb::Space::Input, 0, bytes), writes(fb::Space::Output, 0, bytes), {});
  plan.regions = {fb::Region(fb::Range(0, 1)), fb::Region(fb::Range(1, 2)),
                  fb::Region(fb::Range(3, 1))};
  plan.regionOrdinals = {1, 2};
  plan.arenaSize = bytes;
  function.plans = {plan};
  module.functions = {function};
  return module;
}

/// Sizes on both sides of a border, to and fro.
static void runChoices(Attempt &attempt) {
  Instance instance;
  Call call;
  Stream stream;
  const size_t sizes[] = {16, 32, 8, 48};
  Buffer inputs[4];
  attempt.step([&] {
    bool isMade = attempt.makeMain(instance, call, stream);
    for (int i = 0; i < 4; ++i)
      isMade = isMade && attempt.makeBuffer(iota(sizes[i]), inputs[i]);
    return isMade;
  });
  for (int round = 0; round < 4; ++round)
    attempt.step([&] {
      std::vector<float> seen(sizes[round]);
      if (!attempt.take(xcr_call_set_input(call.get(), 0, inputs[round].get())) ||
          !attempt.run(call.get(), stream.get()) ||
          !attempt.read(xcr_call_output(call.get(), 0), seen))
        return false;
      EXPECT_EQ(seen[7], sizes[round] > 16 ? 21.0f : 14.0f);
      return true;
    });
}

//===----------------------------------------------------------------------===//
// Profiles and steps
//===----------------------------------------------------------------------===//

static void runProfile(Attempt &attempt) {
  Instance instance;
  Call call;
  Stream stream;
  attempt.step([&] {
    return attempt.makeInstance(instance) &&
           attempt.makeCall(instance, "main", call, XCR_CALL_PROFILE) && attempt.makeStream(stream);
  });
  for (size_t count : {16, 16})
    attempt.step([&] { return runChain(attempt, call.get(), stream.get(), count); });
  attempt.step([&] {
    for (uint32_t i = 0; i < xcr_call_profile_count(call.get()); ++i) {
      xcr_profile_entry_t entry = XCR_PROFILE_ENTRY_INIT;
      if (!attempt.take(xcr_call_get_profile(call.get(), i, &entry)))
        return false;
    }
    return true;
  });
}

static void runSteps(Attempt &attempt) {
  Instance instance;
  Call call;
  Buffer input;
  attempt.step([&] {
    return attempt.makeInstance(instance) && attempt.makeCall(instance, "main", call) &&
           attempt.makeBuffer(iota(16), input) &&
           attempt.take(xcr_call_set_input(call.get(), 0, input.get()));
  });
  attempt.step([&] {
    uint32_t count = 0;
    if (!attempt.take(xcr_call_begin_steps(call.get(), &count)))
      return false;
    for (uint32_t i = 0; i < count; ++i)
      if (!attempt.take(xcr_call_step(call.get())))
        return false;
    std::vector<float> sum(16);
    if (!attempt.take(xcr_call_read_binding(call.get(), 0, 2, 0, sum.data(), 64)))
      return false;
    EXPECT_EQ(sum[15], 16.0f);
    return checkChain(attempt, call.get(), 16);
  });
}

//===----------------------------------------------------------------------===//
// What Hopper has
//===----------------------------------------------------------------------===//

/// ids in clusters of two, a tensor map whose rows are the symbol, and one of as many images of
/// height 10.
static ModuleSpec hopperModule() {
  ModuleSpec module = cudaKernelModule();
  FunctionSpec function;
  function.symbols = {{"n", 0, 0, 1, 64}};
  fb::Value n = function.formulas.add({symbol(0)});
  function.inputs = {{"x", fb::DType::F32, {n}}};
  function.outputs = {{"ids", fb::DType::I64, {literal(8)}},
                      {"map", fb::DType::I64, {literal(16)}},
                      {"image_map", fb::DType::I64, {literal(16)}}};
  PlanSpec plan;
  fb::Value bytes = plan.formulas.add({symbol(0), constant(4), op(fb::FormulaOp::Mul)});
  VariantSpec ids, map, imageMap;
  ids.exportOrdinal = kClusterIds;
  ids.scalars = {literal(8), literal(1)};
  ids.grid[0] = literal(8);
  map.exportOrdinal = kShowMap;
  map.scalars = {plan.formulas.add({symbol(0)})};
  imageMap.exportOrdinal = kShowImageMap;
  imageMap.scalars = {plan.formulas.add({symbol(0)}), literal(10), literal(1)};
  plan.dispatch({ids}, {writes(fb::Space::Output, 0, literal(64))});
  plan.dispatch({map},
                {reads(fb::Space::Input, 0, bytes), writes(fb::Space::Output, 1, literal(128))});
  plan.dispatch({imageMap},
                {reads(fb::Space::Input, 0, bytes), writes(fb::Space::Output, 2, literal(128))});
  function.plans = {plan};
  module.functions = {function};
  return module;
}

static void runHopper(Attempt &attempt) {
  Instance instance;
  Call call;
  Stream stream;
  Buffer inputs[2];
  attempt.step([&] {
    return attempt.makeMain(instance, call, stream) && attempt.makeBuffer(iota(32), inputs[0]) &&
           attempt.makeBuffer(iota(48), inputs[1]);
  });
  for (Buffer &input : inputs)
    attempt.step([&] {
      std::vector<int64_t> ids(8);
      if (!attempt.take(xcr_call_set_input(call.get(), 0, input.get())) ||
          !attempt.run(call.get(), stream.get()) ||
          !attempt.take(xcr_buffer_read(xcr_call_output(call.get(), 0), 0, ids.data(), 64)))
        return false;
      EXPECT_EQ(ids, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
      return true;
    });
}

/// Three kernels that are launched before those in front of them have ended.
static ModuleSpec programmaticChainModule() {
  ModuleSpec module;
  module.targets = {{"cuda", "sm_90"}};
  ExecutableSpec code;
  code.kind = fb::CodeKind::PTX;
  code.arch = "sm_90";
  code.image = readFile(XC_TEST_CUDA_PROGRAMMATIC);
  ExportSpec entry;
  entry.name = "twice_plus_one";
  entry.bindings = 2;
  entry.parameters = {{fb::ParameterKind::BindingPointer, 0},
                      {fb::ParameterKind::BindingPointer, 1}};
  entry.block = {1, 1, 1};
  entry.programmaticLaunch = true;
  code.exports.push_back(entry);
  module.executables.push_back(code);
  FunctionSpec function;
  function.inputs = {{"x", fb::DType::F32, {literal(1)}}};
  PlanSpec plan;
  for (uint32_t i = 0; i < 3; ++i) {
    function.outputs.push_back({"", fb::DType::F32, {literal(1)}});
    fb::Binding from =
        i ? reads(fb::Space::Output, i - 1, literal(4)) : reads(fb::Space::Input, 0, literal(4));
    plan.dispatch({VariantSpec()}, {from, writes(fb::Space::Output, i, literal(4))},
                  i ? std::vector<uint32_t>{i - 1} : std::vector<uint32_t>());
  }
  function.plans = {plan};
  module.functions = {function};
  return module;
}

static void runProgrammatic(Attempt &attempt) {
  Instance instance;
  Call call;
  Stream stream;
  Buffer inputs[2];
  attempt.step([&] {
    return attempt.makeMain(instance, call, stream) && attempt.makeBuffer({0.0f}, inputs[0]) &&
           attempt.makeBuffer({1.0f}, inputs[1]);
  });
  for (Buffer &input : inputs)
    attempt.step([&] {
      std::vector<float> seen(1);
      if (!attempt.take(xcr_call_set_input(call.get(), 0, input.get())) ||
          !attempt.run(call.get(), stream.get()) ||
          !attempt.read(xcr_call_output(call.get(), 2), seen))
        return false;
      EXPECT_EQ(seen[0], &input == inputs ? 7.0f : 15.0f);
      return true;
    });
}

const std::vector<FaultScenario> &xc::test::callScenarios() {
  static const std::vector<FaultScenario> scenarios = {
      {"Calls", [] { return chainModule(); }, runCalls},
      {"Invoke", [] { return chainModule(); }, runInvoke},
      // Granules of virtual memory are 2 MiB.
      {"GrowingArena", [] { return chainModule(65536); }, runGrowingArena},
      {"InFlight", [] { return chainModule(); }, runInFlight},
      {"ManyInFlight", [] { return chainModule(); }, runManyInFlight, "", /*armsItself=*/true},
      {"Patches", patchModule, runPatches},
      {"Branches", branchModule, runBranches},
      {"Control", controlModule, runControl},
      {"Choices", choiceModule, runChoices},
      // A launch is not failed for its times.
      {"Profile", [] { return chainModule(); }, runProfile,
       "cuEventSynchronize cuEventElapsedTime"},
      {"Steps", [] { return chainModule(); }, runSteps},
      {"Hopper", hopperModule, runHopper},
      {"Programmatic", programmaticChainModule, runProgrammatic},
  };
  return scenarios;
}
