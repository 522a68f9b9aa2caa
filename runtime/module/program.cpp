//===- program.cpp - A module's code and data on a device ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/program.h"

#include "runtime/base/nearest_names.h"
#include "runtime/module/chunk_reader.h"
#include "runtime/module/data_uses.h"
#include "runtime/module/plan_resolver.h"
#include "runtime/module/shapes.h"
#include "runtime/module/verifier.h"

using namespace xc;

//===----------------------------------------------------------------------===//
// Choosing a target
//===----------------------------------------------------------------------===//

/// Whether one can stand in for the other: machine code and PTX of the same kernels, say.
static bool areAlternatives(const fb::Executable &a, const fb::Executable &b) {
  if (a.target() != b.target() || count(a.exports()) != count(b.exports()))
    return false;
  for (uint32_t i = 0; i < count(a.exports()); ++i) {
    const fb::Export &x = *a.exports()->Get(i), &y = *b.exports()->Get(i);
    if (!equal(text(x.name()), text(y.name())) || x.binding_count() != y.binding_count() ||
        x.scalar_count() != y.scalar_count())
      return false;
  }
  return true;
}

/// The end of the executables from \p begin on that are alternatives; they follow one another.
static uint32_t endOfAlternatives(const fb::Module &tables, uint32_t begin) {
  const auto &table = *tables.executables();
  uint32_t end = begin + 1;
  while (end < table.size() && areAlternatives(*table.Get(begin), *table.Get(end)))
    ++end;
  return end;
}

/// The alternative in [\p begin, \p end) that fits best among those that score below \p bound.
static Status chooseAlternative(const fb::Module &tables, const xcr_device &device, uint32_t begin,
                                uint32_t end, uint32_t bound, uint32_t *chosen, uint32_t *best) {
  Status reason;
  *best = 0;
  for (uint32_t i = begin; i < end; ++i) {
    uint32_t score = 0;
    Status status = device.checkCode(*tables.executables()->Get(i), &score);
    if (status.failed() && reason.succeeded())
      reason = std::move(status);
    else if (status.succeeded() && score > *best && score < bound) {
      *best = score;
      *chosen = i;
    }
  }
  return *best ? Status() : std::move(reason);
}

/// How well the device runs the code of \p target; the worst executable counts.
static Status scoreTarget(const xcr_module &module, const xcr_device &device, uint32_t target,
                          uint32_t *out) {
  const fb::Module &tables = module.tables();
  xcr_string_view_t kind = text(tables.targets()->Get(target)->kind());
  if (!equal(kind, xcr_string(device.info.driver)))
    return makeStatus(module.allocator, XCR_STATUS_INCOMPATIBLE,
                      "needs a device of kind %.*s, this one is of kind %s", printLength(kind),
                      kind.data, device.info.driver);
  *out = 1;
  bool isFirst = true;
  for (uint32_t i = 0, end; i < count(tables.executables()); i = end) {
    end = endOfAlternatives(tables, i);
    if (tables.executables()->Get(i)->target() != target)
      continue;
    uint32_t score = 0, chosen = 0;
    XCR_RETURN_IF_ERROR(chooseAlternative(tables, device, i, end, UINT32_MAX, &chosen, &score));
    *out = isFirst || score < *out ? score : *out;
    isFirst = false;
  }
  return Status();
}

Status xc::chooseTarget(const xcr_module &module, const xcr_device &device, uint32_t *out) {
  const fb::Module &tables = module.tables();
  const HostAllocator &allocator = module.allocator;
  String reasons(allocator);
  uint32_t best = 0;
  for (uint32_t i = 0; i < count(tables.targets()); ++i) {
    uint32_t score = 0;
    Status status = scoreTarget(module, device, i, &score);
    if (status.succeeded()) {
      if (score > best) {
        best = score;
        *out = i;
      }
      continue;
    }
    if (status.code() != XCR_STATUS_INCOMPATIBLE)
      return status;
    const fb::Target &target = *tables.targets()->Get(i);
    for (xcr_string_view_t part : {xcr_string("; target "), text(target.kind()), xcr_string(":"),
                                   text(target.arch()), xcr_string(" "), status.message()})
      XCR_RETURN_IF_ERROR(reasons.append(part));
  }
  if (best)
    return Status();
  return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                    "no target of the module runs on device %s (%s)%s", device.info.uri.c_str(),
                    device.info.description.c_str(), reasons.c_str());
}

//===----------------------------------------------------------------------===//
// Finding and making programs
//===----------------------------------------------------------------------===//

Program::Program(Ref<xcr_device> device, Ref<xcr_module> module, uint32_t target)
    : allocator(device->allocator), moduleRef(std::move(module)), deviceRef(std::move(device)),
      targetOrdinal(target), sources(allocator), files(allocator), executables(allocator),
      constants(allocator), parameters(allocator), packed(allocator) {}

Program::~Program() = default;

void Program::destroy() {
  {
    Lock lock(moduleRef->programMutex);
    for (Program **link = &moduleRef->programs; *link; link = &(*link)->next)
      if (*link == this) {
        *link = next;
        break;
      }
  }
  allocator.destroy(this);
}

/// A source for a scope that the module does not have is a misspelt one.
static Status checkScope(const HostAllocator &allocator, const Vector<ParameterSource> &sources,
                         xcr_string_view_t scope) {
  for (const ParameterSource &source : sources)
    if (equal(source.scope.view(), scope))
      return Status();
  NearestNames nearest(scope);
  for (const ParameterSource &source : sources)
    nearest.add(source.scope.view());
  return nearest.notFound(allocator, "scope of external parameters", "the module");
}

static Status checkScopes(const HostAllocator &allocator, const Vector<ParameterSource> &sources,
                          const GivenParameters &given) {
  for (const xcr_parameter_source_t &candidate : given.files)
    XCR_RETURN_IF_ERROR(checkScope(allocator, sources, candidate.scope));
  for (const xcr_parameter_memory_t &candidate : given.memories)
    XCR_RETURN_IF_ERROR(checkScope(allocator, sources, candidate.scope));
  return Status();
}

/// The path of a scope of which the caller has said nothing: the scope itself, beside the module's
/// file.
static Status implyPath(const xcr_module &module, ParameterSource *source) {
  xcr_string_view_t scope = source->scope.view(), folder = module.path.view();
  while (folder.size && folder.data[folder.size - 1] != '/')
    --folder.size;
  if (scope.data[0] == '/')
    folder.size = 0;
  XCR_RETURN_IF_ERROR(source->path.assign(folder));
  return source->path.append(scope);
}

static Status resolveSource(const HostAllocator &allocator, const xcr_module &module,
                            const GivenParameters &given, ParameterSource *source) {
  xcr_string_view_t scope = source->scope.view();
  for (const xcr_parameter_source_t &candidate : given.files)
    if (!source->isGiven && equal(candidate.scope, scope)) {
      XCR_RETURN_IF_ERROR(source->path.assign(candidate.path));
      source->isGiven = true;
    }
  for (const xcr_parameter_memory_t &candidate : given.memories) {
    if (!equal(candidate.scope, scope))
      continue;
    if (source->isGiven)
      return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                        "scope '%.*s' of external parameters is given twice", printLength(scope),
                        scope.data);
    source->memory = {static_cast<const uint8_t *>(candidate.data), candidate.size};
    source->isGiven = true;
  }
  return source->isGiven ? Status() : implyPath(module, source);
}

/// One source for each scope, in the order of the module's parameters.
static Status resolveSources(const HostAllocator &allocator, const xcr_module &module,
                             const GivenParameters &given, Vector<ParameterSource> *out) {
  const auto *table = module.tables().parameters();
  for (uint32_t i = 0; i < count(table); ++i) {
    xcr_string_view_t scope = text(table->Get(i)->scope());
    bool isKnown = false;
    for (const ParameterSource &source : *out)
      isKnown |= equal(source.scope.view(), scope);
    if (isKnown)
      continue;
    ParameterSource source(allocator);
    XCR_RETURN_IF_ERROR(source.scope.assign(scope));
    XCR_RETURN_IF_ERROR(resolveSource(allocator, module, given, &source));
    XCR_RETURN_IF_ERROR(out->push(std::move(source)));
  }
  return Status();
}

static bool haveSamePaths(const Vector<ParameterSource> &a, const Vector<ParameterSource> &b) {
  // Both are in the order of the module's parameters.
  for (size_t i = 0; i < a.size(); ++i)
    if (!equal(a[i].path.view(), b[i].path.view()))
      return false;
  return true;
}

Status Program::get(Ref<xcr_device> device, Ref<xcr_module> module, const GivenParameters &given,
                    Ref<Program> *out) {
  uint32_t target = 0;
  XCR_RETURN_IF_ERROR(chooseTarget(*module, *device, &target));
  const HostAllocator &allocator = device->allocator;
  Vector<ParameterSource> sources(allocator);
  XCR_RETURN_IF_ERROR(resolveSources(allocator, *module, given, &sources));
  XCR_RETURN_IF_ERROR(checkScopes(allocator, sources, given));
  const bool isShared = given.memories.size == 0;
  if (isShared) {
    Lock lock(module->programMutex);
    for (Program *program = module->programs; program; program = program->next)
      if (program->deviceRef.get() == device.get() && haveSamePaths(program->sources, sources) &&
          program->tryRetain()) {
        *out = Ref<Program>::adopt(program);
        return Status();
      }
  }
  auto program = Ref<Program>::adopt(allocator.create<Program>(device, module, target));
  if (!program)
    return outOfHostMemory(sizeof(Program));
  program->sources = std::move(sources);
  XCR_RETURN_IF_ERROR(program->initialise());
  if (!isShared) {
    *out = std::move(program);
    return Status();
  }
  // Two threads may both have made one; later instances find either.
  Lock lock(module->programMutex);
  program->next = module->programs;
  module->programs = program.get();
  *out = std::move(program);
  return Status();
}

//===----------------------------------------------------------------------===//
// Code and data
//===----------------------------------------------------------------------===//

Status Program::initialise() {
  DataUses uses(allocator);
  XCR_RETURN_IF_ERROR(uses.find(*moduleRef, targetOrdinal));
  XCR_RETURN_IF_ERROR(loadExecutables());
  XCR_RETURN_IF_ERROR(constants.resize(uses.constants.size()));
  for (uint32_t i = 0; i < constants.size(); ++i)
    if (uses.constants[i])
      XCR_RETURN_IF_ERROR(loadConstant(i, &constants[i]));
  XCR_RETURN_IF_ERROR(parameters.resize(uses.parameters.size()));
  for (uint32_t i = 0; i < parameters.size(); ++i)
    if (uses.parameters[i])
      XCR_RETURN_IF_ERROR(loadParameter(i, &parameters[i]));
  const fb::InitPlan *init = findInitPlan(moduleRef->tables(), targetOrdinal);
  if (!init)
    return Status();
  XCR_RETURN_IF_ERROR(runInitPlan(*init));
  // What it alone has read is not needed again.
  for (uint32_t i = 0; i < constants.size(); ++i)
    if (uses.constants[i] == DataUses::Init)
      constants[i] = Ref<hal::Memory>();
  for (uint32_t i = 0; i < parameters.size(); ++i)
    if (uses.parameters[i] == DataUses::Init)
      parameters[i] = Ref<hal::Memory>();
  return Status();
}

Status Program::loadExecutables() {
  const fb::Module &tables = moduleRef->tables();
  XCR_RETURN_IF_ERROR(executables.resize(count(tables.executables())));
  for (uint32_t i = 0, end; i < executables.size(); i = end) {
    end = endOfAlternatives(tables, i);
    if (tables.executables()->Get(i)->target() == targetOrdinal)
      XCR_RETURN_IF_ERROR(loadAlternative(i, end));
  }
  return Status();
}

/// Loads the best of the executables in [\p begin, \p end) that the driver takes, under the
/// ordinals of all of them.
Status Program::loadAlternative(uint32_t begin, uint32_t end) {
  const fb::Module &tables = moduleRef->tables();
  Status refused;
  uint32_t bound = UINT32_MAX, chosen = 0;
  while (true) {
    Status none = chooseAlternative(tables, *deviceRef, begin, end, bound, &chosen, &bound);
    if (bound == 0)
      return refused.failed() ? std::move(refused) : std::move(none);
    const fb::Executable &code = *tables.executables()->Get(chosen);
    Span<const uint8_t> image;
    XCR_RETURN_IF_ERROR(moduleRef->image(chosen, &image));
    Ref<hal::Executable> loaded;
    Status status = deviceRef->loadExecutable(code, image, &loaded);
    if (status.succeeded()) {
      for (uint32_t i = begin; i < end; ++i)
        executables[i] = loaded;
      return Status();
    }
    // Only what the driver has no use for is worth another try.
    if (status.code() != XCR_STATUS_INCOMPATIBLE)
      return status;
    if (refused.succeeded())
      refused = std::move(status);
  }
}

/// Memory of \p size bytes for constant data.
Status Program::allocateData(uint64_t size, uint32_t alignment, Ref<hal::Memory> *out) {
  XCR_RETURN_IF_ERROR(deviceRef->allocate(size, out));
  if ((*out)->address() % alignment == 0)
    return Status();
  return makeStatus(allocator, XCR_STATUS_UNSUPPORTED,
                    "device %s cannot align constant data to %u bytes", deviceRef->info.uri.c_str(),
                    alignment);
}

/// Copies \p range, and says in \p digest, which may be null, what it held.
Status Program::copyTo(hal::Memory &memory, const ByteRange &range, uint64_t *digest) {
  RangeSource source(allocator, range, /*isHashed=*/digest != nullptr);
  // Nothing is read of no bytes, whose digest is one as well.
  if (range.size == 0)
    XCR_RETURN_IF_ERROR(source.read(nullptr, 0));
  XCR_RETURN_IF_ERROR(deviceRef->write(memory, 0, source, range.size));
  if (digest)
    *digest = source.digest();
  return Status();
}

/// Uses bytes in memory where they lie if the device can and they are aligned, and if the caller
/// has said that they stay (\p mayShare). What is in a file is copied, since others may write the
/// file.
Status Program::upload(const ByteRange &range, uint32_t alignment, bool mayShare,
                       Ref<hal::Memory> *out, uint64_t *digest) {
  // What kernels may rely on whatever the file says; see Device::allocate.
  constexpr uint32_t kMinAlignment = 64;
  if (alignment < kMinAlignment)
    alignment = kMinAlignment;
  const uint8_t *data = range.data();
  if (mayShare && data && deviceRef->canImportHostMemory() && range.size &&
      reinterpret_cast<uintptr_t>(data) % alignment == 0) {
    if (digest) {
      ChunkReader reader(allocator, range);
      Span<const uint8_t> chunk;
      XCR_RETURN_IF_ERROR(reader.next(&chunk));
      *digest = reader.digest();
    }
    return deviceRef->import(const_cast<uint8_t *>(data), range.size, out);
  }
  XCR_RETURN_IF_ERROR(allocateData(range.size, alignment, out));
  return copyTo(**out, range, digest);
}

Status Program::loadConstant(uint32_t ordinal, Ref<hal::Memory> *out) {
  uint64_t digest;
  ByteRange bytes;
  XCR_RETURN_IF_ERROR(moduleRef->constantBytes(ordinal, &bytes));
  XCR_RETURN_IF_ERROR(upload(bytes, moduleRef->tables().constants()->Get(ordinal)->alignment(),
                             /*mayShare=*/true, out, &digest));
  return moduleRef->checkConstant(ordinal, digest);
}

size_t Program::parameterSource(uint32_t ordinal) const {
  xcr_string_view_t scope = text(moduleRef->tables().parameters()->Get(ordinal)->scope());
  size_t source = 0;
  while (!equal(sources[source].scope.view(), scope))
    ++source;
  return source;
}

Status Program::openParameters(size_t ordinal) {
  const ParameterSource &source = sources[ordinal];
  xcr_string_view_t scope = source.scope.view();
  Status status = source.isInMemory()
                      ? ParameterFile::openMemory(allocator, source.memory, &files[ordinal])
                      : ParameterFile::open(allocator, source.path.view(), &files[ordinal]);
  if (source.isGiven)
    return addContext(std::move(status), allocator,
                      "external parameters of scope '%.*s': ", printLength(scope), scope.data);
  return addContext(std::move(status), allocator,
                    "external parameters of scope '%.*s', for which no file is given "
                    "(xcr_instance_options_t.sources, --parameters=%.*s=PATH): ",
                    printLength(scope), scope.data, printLength(scope), scope.data);
}

/// The file of the scope of parameter \p ordinal, opened if it was not.
Status Program::parameterFile(uint32_t ordinal, const ParameterFile **out) {
  if (files.empty())
    for (size_t i = 0; i < sources.size(); ++i)
      XCR_RETURN_IF_ERROR(files.push(ParameterFile(allocator)));
  size_t source = parameterSource(ordinal);
  *out = &files[source];
  return files[source].isOpen() ? Status() : openParameters(source);
}

void Program::releaseParameters() {
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i].isInMemory() && i < files.size())
      files[i] = ParameterFile(allocator);
}

/// Calls \p use with the bytes of parameter \p ordinal; what goes wrong names the file.
template <typename F> Status Program::withParameter(uint32_t ordinal, F &&use) {
  const fb::ExternalParameter &parameter = *moduleRef->tables().parameters()->Get(ordinal);
  const ParameterFile *file = nullptr;
  XCR_RETURN_IF_ERROR(parameterFile(ordinal, &file));
  Span<const int64_t> shape = {count(parameter.dims()) ? parameter.dims()->data() : nullptr,
                               count(parameter.dims())};
  ByteRange bytes;
  xcr_string_view_t key = text(parameter.key());
  XCR_RETURN_IF_ERROR(file->find(key, parameter.dtype(), shape, &bytes));
  return addContext(use(bytes), allocator, "%s: array '%.*s': ", file->name(), printLength(key),
                    key.data);
}

Status Program::loadParameter(uint32_t ordinal, Ref<hal::Memory> *out) {
  uint32_t alignment = moduleRef->tables().parameters()->Get(ordinal)->alignment();
  return withParameter(ordinal, [&](const ByteRange &bytes) {
    return upload(bytes, alignment, /*mayShare=*/false, out, /*digest=*/nullptr);
  });
}

Status Program::initialiseVariable(uint32_t ordinal, hal::Memory &memory) {
  const fb::Variable &variable = *moduleRef->tables().variables()->Get(ordinal);
  if (variable.initial_constant() >= 0) {
    uint64_t digest;
    uint32_t constant = static_cast<uint32_t>(variable.initial_constant());
    ByteRange bytes;
    XCR_RETURN_IF_ERROR(moduleRef->constantBytes(constant, &bytes));
    XCR_RETURN_IF_ERROR(copyTo(memory, bytes, &digest));
    return moduleRef->checkConstant(constant, digest);
  }
  if (variable.initial_parameter() < 0)
    return fillZero(memory);
  // Opening the file changes the program, which instances share.
  Lock lock(fileMutex);
  return withParameter(static_cast<uint32_t>(variable.initial_parameter()),
                       [&](const ByteRange &bytes) { return copyTo(memory, bytes, nullptr); });
}

Status Program::fillZero(hal::Memory &memory) {
  hal::Stream *stream = nullptr;
  XCR_RETURN_IF_ERROR(deviceRef->borrowStream(nullptr, &stream));
  memory.retain();
  Status status = stream->fill(Ref<hal::Memory>::adopt(&memory), 0, memory.size(), 0, 1);
  if (status.succeeded())
    status = stream->synchronize();
  deviceRef->returnStream(stream);
  return status;
}

//===----------------------------------------------------------------------===//
// The init plan
//===----------------------------------------------------------------------===//

Status Program::runInitPlan(const fb::InitPlan &init) {
  XCR_RETURN_IF_ERROR(packed.resize(count(init.packed_sizes())));
  for (uint32_t i = 0; i < packed.size(); ++i)
    XCR_RETURN_IF_ERROR(deviceRef->allocate(init.packed_sizes()->Get(i), &packed[i]));
  PlanResolver resolver(allocator);
  Vector<hal::CommandChange> changes(allocator);
  XCR_RETURN_IF_ERROR(resolver.initialise(*this, *init.plan(), xcr_string("the init plan"), 0, 0));
  XCR_RETURN_IF_ERROR(resolver.setSymbols({}));
  hal::Stream *stream = nullptr;
  XCR_RETURN_IF_ERROR(deviceRef->borrowStream(nullptr, &stream));
  auto run = [&]() -> Status {
    uint64_t arena = 0;
    Ref<hal::Memory> arenaHolder;
    XCR_RETURN_IF_ERROR(resolver.renewTemporaries(*deviceRef, nullptr));
    XCR_RETURN_IF_ERROR(stream->reserveArena(resolver.arenaBytes(), &arena, &arenaHolder));
    resolver.setBuffer(fb::Space::Arena, 0, arena, resolver.arenaBytes());
    XCR_RETURN_IF_ERROR(resolver.resolve(&changes));
    Ref<hal::Recording> recording;
    XCR_RETURN_IF_ERROR(
        deviceRef->createRecording(resolver.list(), hal::RecordingOptions(), &recording));
    XCR_RETURN_IF_ERROR(
        stream->launch(std::move(recording), resolver.arenaBytes(), hal::LaunchMode::Awaited));
    return stream->synchronize();
  };
  Status status = run();
  deviceRef->returnStream(stream);
  return status;
}
