//===- UseModule.cpp - Use a module on a device that checks -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/UseModule.h"

#include "runtime/module/call.h"
#include "runtime/module/verifier.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace xc;

/// A fault of the runtime's, which the fuzzer reports as a crash.
static void require(bool condition) {
  if (!condition)
    abort();
}

//===----------------------------------------------------------------------===//
// A device that checks instead of running
//===----------------------------------------------------------------------===//

namespace {
constexpr uint64_t kMemoryLimit = 16u << 20;
constexpr uint64_t kArenaBytes = 1u << 20;

class CheckedMemory final : public hal::Memory {
public:
  CheckedMemory(hal::Device &device, char *data, uint64_t size, bool isOwned)
      : Memory(reinterpret_cast<uint64_t>(data), size, data), device(device), isOwned(isOwned) {}
  void destroy() override;

private:
  hal::Device &device;
  const bool isOwned;
};

class CheckedExecutable final : public hal::Executable {
public:
  explicit CheckedExecutable(const fb::Executable &code) : code(code) {}
  const fb::Executable &code; ///< of the module, which outlives what is made of it

private:
  void destroy() override { delete this; }
};

class CheckedRecording final : public hal::Recording {
public:
  explicit CheckedRecording(class CheckedDevice &device) : device(device) {}
  Status update(const hal::CommandList &list, Span<const hal::CommandChange>,
                hal::UpdateCost *) override {
    check(list);
    return Status();
  }
  bool hasHostLoop() const override { return false; }
  hal::CommandTimes times(uint32_t) const override { return {}; }
  void check(const hal::CommandList &list);

private:
  void destroy() override { delete this; }
  class CheckedDevice &device;
};

class CheckedEvent final : public hal::Event {
public:
  explicit CheckedEvent(hal::Device &device) : hal::Event(device) {}
  Status synchronize() override { return Status(); }
  Status query(bool *isDone) override {
    *isDone = true;
    return Status();
  }

private:
  void destroy() override { delete this; }
};

class CheckedStream final : public hal::Stream {
public:
  explicit CheckedStream(hal::Device &device) : hal::Stream(device), arena(kArenaBytes) {}
  Status launch(Ref<hal::Recording>, uint64_t arenaBytes, hal::LaunchMode) override {
    require(arenaBytes <= kArenaBytes);
    return Status();
  }
  Status synchronize() override { return Status(); }
  Status query(bool *isDone) override {
    *isDone = true;
    return Status();
  }
  Status record(Ref<hal::Event>) override { return Status(); }
  Status wait(Ref<hal::Event>) override { return Status(); }
  Status addCallback(xcr_host_callback_t, void *) override { return Status(); }
  Status copy(Ref<hal::Memory>, uint64_t, Ref<hal::Memory>, uint64_t, uint64_t) override {
    return Status();
  }
  Status fill(Ref<hal::Memory>, uint64_t, uint64_t, uint64_t, uint32_t) override {
    return Status();
  }
  Status read(Ref<hal::Memory>, uint64_t, void *, uint64_t) override { return Status(); }
  Status write(Ref<hal::Memory>, uint64_t, const void *, uint64_t) override { return Status(); }
  void releaseLater(RefCounted *object) override { object->release(); }
  Status reserveArena(uint64_t size, uint64_t *base, Ref<hal::Memory> *) override {
    if (size > kArenaBytes)
      return makeOutOfMemory(HostAllocator(), {size, kArenaBytes}, "arena");
    *base = reinterpret_cast<uint64_t>(arena.data());
    return Status();
  }

private:
  void destroy() override { delete this; }
  std::vector<char> arena;
  friend class CheckedDevice;
};

class CheckedDevice final : public hal::Device {
public:
  explicit CheckedDevice(const char *driver) : hal::Device(hal::DeviceOptions(), kMemoryLimit) {
    info.driver = driver;
  }
  Status checkCode(const fb::Executable &, uint32_t *score) const override {
    *score = 1;
    return Status();
  }
  Status loadExecutable(const fb::Executable &code, Span<const uint8_t>,
                        Ref<hal::Executable> *out) override {
    *out = Ref<CheckedExecutable>::adopt(new CheckedExecutable(code));
    return Status();
  }
  Status createRecording(const hal::CommandList &list, const hal::RecordingOptions &,
                         Ref<hal::Recording> *out) override {
    CheckedRecording *recording = new CheckedRecording(*this);
    recording->check(list);
    *out = Ref<CheckedRecording>::adopt(recording);
    return Status();
  }
  Status allocate(uint64_t size, Ref<hal::Memory> *out) override {
    uint64_t available;
    if (!counter.charge(size, &available))
      return makeOutOfMemory(allocator, {size, available}, "device");
    // Exactly as long as asked for, so that the sanitizer sees what passes it.
    void *data = nullptr;
    require(posix_memalign(&data, 64, size ? size : 1) == 0);
    return adopt(static_cast<char *>(data), size, true, out);
  }
  Status import(void *data, uint64_t size, Ref<hal::Memory> *out) override {
    return adopt(static_cast<char *>(data), size, false, out);
  }
  bool canImportHostMemory() const override { return true; }
  Status read(hal::Memory &source, uint64_t offset, void *data, uint64_t size) override {
    memcpy(data, static_cast<char *>(source.host()) + offset, size);
    return Status();
  }
  Status write(hal::Memory &target, uint64_t offset, const void *data, uint64_t size) override {
    require(offset <= target.size() && size <= target.size() - offset);
    if (size)
      memcpy(static_cast<char *>(target.host()) + offset, data, size);
    return Status();
  }
  Status write(hal::Memory &target, uint64_t offset, hal::UploadSource &source,
               uint64_t size) override {
    require(offset <= target.size() && size <= target.size() - offset);
    return source.read(static_cast<char *>(target.host()) + offset, size);
  }
  Status trim() override { return Status(); }
  Status createStream(Ref<hal::Stream> *out) override {
    CheckedStream *stream = new CheckedStream(*this);
    pieces.emplace(reinterpret_cast<uint64_t>(stream->arena.data()), kArenaBytes);
    *out = Ref<CheckedStream>::adopt(stream);
    return Status();
  }
  Status createEvent(Ref<hal::Event> *out) override {
    *out = Ref<CheckedEvent>::adopt(new CheckedEvent(*this));
    return Status();
  }
  Status synchronize() override { return Status(); }

  /// Whether an address lies in, or right behind, memory of this device.
  bool knows(uint64_t address, uint64_t length) const {
    // The one that begins last in front of it is mostly it; memory of others may hold it as well.
    for (auto piece = pieces.upper_bound(address); piece != pieces.begin();) {
      auto [begin, size] = *--piece;
      if (address - begin <= size && length <= size - (address - begin))
        return true;
    }
    return false;
  }
  void forget(uint64_t address, uint64_t size) {
    auto [first, last] = pieces.equal_range(address);
    auto piece = std::find_if(first, last, [&](auto known) { return known.second == size; });
    if (piece != last)
      pieces.erase(piece);
  }

private:
  Status adopt(char *data, uint64_t size, bool isOwned, Ref<hal::Memory> *out) {
    pieces.emplace(reinterpret_cast<uint64_t>(data), size);
    *out = Ref<CheckedMemory>::adopt(new CheckedMemory(*this, data, size, isOwned));
    return Status();
  }
  void destroy() override {
    releaseOwnStreams();
    delete this;
  }
  std::multimap<uint64_t, uint64_t> pieces; // where memory begins, and its bytes
};

void CheckedMemory::destroy() {
  static_cast<CheckedDevice &>(device).forget(address(), size());
  if (isOwned) {
    free(host());
    device.counter.refund(size());
  }
  delete this;
}

/// Bytes that a command reads where its first address is.
static uint64_t lengthOf(const hal::Command &command) {
  return command.kind == hal::CommandKind::Control ? 1 : command.length;
}

/// What a driver for GPUs looks up for each parameter of a kernel is there.
static void checkParameters(const hal::Command &command) {
  const fb::Executable &code = static_cast<const CheckedExecutable *>(command.executable)->code;
  require(command.exportOrdinal < count(code.exports()));
  const fb::Export &kernel = *code.exports()->Get(command.exportOrdinal);
  uint32_t bindings = command.addresses.count - command.hasWorkspace;
  require(kernel.binding_count() <= bindings && kernel.scalar_count() <= command.scalars.count);
  for (uint32_t i = 0; i < count(kernel.parameters()); ++i) {
    const fb::Parameter &parameter = *kernel.parameters()->Get(i);
    switch (parameter.kind()) {
    case fb::ParameterKind::BindingPointer:
      require(parameter.operand() < bindings);
      break;
    case fb::ParameterKind::ScalarI32:
    case fb::ParameterKind::ScalarI64:
      require(parameter.operand() < command.scalars.count);
      break;
    case fb::ParameterKind::TensorMap:
      require(parameter.operand() < count(kernel.tensor_maps()));
      require(kernel.tensor_maps()->Get(parameter.operand())->binding() < bindings);
      break;
    case fb::ParameterKind::Workspace: // without one it is null
      break;
    }
  }
}

void CheckedRecording::check(const hal::CommandList &list) {
  // Every command is in one region, behind those of its region that it waits for, and in front of
  // the regions that it decides on.
  size_t end = 0;
  for (size_t r = 0; r < list.regions.size; ++r) {
    const hal::Range &range = list.regions[r];
    require(range.begin == end);
    end += range.count;
    require(end <= list.commands.size);
    for (uint32_t i = 0; i < range.count; ++i) {
      const hal::Command &command = list.commands[range.begin + i];
      for (uint32_t e = 0; e < command.edges.count; ++e)
        require(list.edges[command.edges.begin + e] < i);
      for (uint32_t region : command.regions)
        require(command.kind != hal::CommandKind::Control ||
                (region > r && region < list.regions.size));
    }
  }
  require(end == list.commands.size);
  for (size_t i = 0; i < list.commands.size; ++i) {
    const hal::Command &command = list.commands[i];
    if (command.isEmpty)
      continue;
    bool isDispatch = command.kind == hal::CommandKind::Dispatch;
    require(!isDispatch || command.executable);
    if (isDispatch)
      checkParameters(command);
    for (uint32_t a = 0; a < command.addresses.count; ++a) {
      uint64_t address = list.addresses[command.addresses.begin + a];
      require(address == 0 ? isDispatch
                           : device.knows(address, isDispatch ? 0 : lengthOf(command)));
    }
  }
}
} // namespace

//===----------------------------------------------------------------------===//
// Using a module
//===----------------------------------------------------------------------===//

/// Binds buffers that fit function \p function where every symbol is \p value.
static void callWith(xcr_instance &instance, const xcr_function &function, int64_t value) {
  Ref<xcr_call> call;
  if (xcr_call::create(instance, function, 0, true, &call).failed())
    return;
  Ref<xcr_device> device = Ref<xcr_device>::share(&instance.device());
  for (uint32_t i = 0; i < count(function.table->inputs()); ++i) {
    const fb::Argument &argument = *function.table->inputs()->Get(i);
    int64_t shape[XCR_MAX_RANK];
    for (uint32_t d = 0; d < count(argument.dims()); ++d) {
      const fb::Value &dim = *argument.dims()->Get(d);
      shape[d] = dim.formula() < 0 ? dim.literal() : value;
    }
    hal::Layout layout;
    Ref<xcr_buffer> buffer;
    if (hal::Layout::create(HostAllocator(), static_cast<xcr_dtype_t>(argument.dtype()),
                            count(argument.dims()), shape, nullptr, &layout)
            .failed() ||
        xcr_buffer::create(device, layout, &buffer).failed() ||
        call->setInput(i, buffer.get()).failed())
      return;
  }
  call->run().ignore();
}

void xc::test::useModule(const uint8_t *data, size_t size) {
  Ref<xcr_module> module;
  if (xcr_module::loadMemory(HostAllocator(), {data, size}, 0, &module).failed())
    return;
  for (const xcr_function &function : module->functions)
    for (int64_t value : {int64_t(0), int64_t(3), INT64_MAX}) {
      uint32_t symbolCount = count(function.table->symbols());
      std::vector<int64_t> symbols(symbolCount, value);
      xcr_memory_need_t need = XCR_MEMORY_NEED_INIT;
      xcr_status_release(
          xcr_function_get_memory_need(&function, 0, symbols.data(), symbolCount, &need));
    }
  // Parameters of a hostile module name files: a program that loads such a
  // module decides about them, the fuzzer must not open them.
  if (count(module->tables().parameters()))
    return;
  for (const char *driver : {"cpu", "cuda"}) {
    auto device = Ref<xcr_device>::adopt(new CheckedDevice(driver));
    Ref<xcr_instance> instance;
    if (xcr_instance::create(device, module, {}, &instance).failed())
      continue;
    for (const xcr_function &function : module->functions)
      for (int64_t value : {0, 1, 256})
        callWith(*instance, function, value);
  }
}
