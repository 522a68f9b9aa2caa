//===- LoaderTest.cpp - Modules that are damaged, inconsistent or for others ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "schemas/module_header.h"
#include "test/runtime/XcrTest.h"

#include <cstdio>
#include <cstring>
#include <functional>
#include <unistd.h>

using namespace xc;
using namespace xc::test;

static xcr_status_t load(const std::vector<uint8_t> &bytes, uint32_t flags = 0) {
  xcr_module_options_t options = XCR_MODULE_OPTIONS_INIT;
  options.flags = flags;
  xcr_module_t *module = nullptr;
  xcr_status_t status =
      xcr_module_load_memory(bytes.data(), bytes.size(), &options, nullptr, nullptr, &module);
  EXPECT_EQ(module == nullptr, status != nullptr);
  xcr_module_release(module);
  return status;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// A file that goes with the test.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::vector<uint8_t> &bytes) {
    char name[] = "/tmp/xcr-test-XXXXXX";
    int fd = mkstemp(name);
    path = name;
    EXPECT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    close(fd);
  }
  ~TemporaryFile() { unlink(path.c_str()); }
  std::string path;
};

static xcr_status_t loadPath(const char *path) {
  xcr_module_t *module = nullptr;
  xcr_status_t status = xcr_module_load_file(xcr_string(path), nullptr, &module);
  xcr_module_release(module);
  return status;
}

TEST(LoaderTest, MissingFileIsNotFound) {
  XCR_EXPECT_FAILS(loadPath("/nowhere/model.vmfb"), XCR_STATUS_NOT_FOUND,
                   "cannot open '/nowhere/model.vmfb'");
}

TEST(LoaderTest, DirectoryIsRefused) {
  XCR_EXPECT_FAILS(loadPath("/tmp"), XCR_STATUS_IO, "not a regular file");
}

TEST(LoaderTest, FileErrorsNameTheFile) {
  TemporaryFile file({'h', 'e', 'l', 'l', 'o'});
  XCR_EXPECT_FAILS(loadPath(file.path.c_str()), XCR_STATUS_INCOMPATIBLE, file.path.c_str());
}

TEST(LoaderTest, AFileRunsAsMemoryDoes) {
  TemporaryFile file(addModule().finish());
  xcr_module_t *loaded = nullptr;
  XCR_ASSERT_OK(xcr_module_load_file(xcr_string(file.path.c_str()), nullptr, &loaded));
  Module module(loaded);
  Device device = makeDevice();
  Instance instance = makeInstance(device, module);
  Buffer x = makeBuffer(device, iota(10));
  xcr_buffer_t *inputs[] = {x.get(), x.get()}, *output = nullptr;
  XCR_ASSERT_OK(xcr_invoke(instance.get(), xcr_string("main"), 2, inputs, 1, &output));
  Buffer z(output);
  EXPECT_EQ(read<float>(z.get())[9], 18.0f);
}

TEST(LoaderTest, MetadataNeedsNoBlobs) {
  TemporaryFile file(addModule().finish());
  xcr_module_options_t options = XCR_MODULE_OPTIONS_INIT;
  options.flags = XCR_MODULE_METADATA_ONLY;
  xcr_module_t *loaded = nullptr;
  XCR_ASSERT_OK(xcr_module_load_file(xcr_string(file.path.c_str()), &options, &loaded));
  Module module(loaded);
  Device device = makeDevice();
  uint32_t target = 7;
  XCR_EXPECT_OK(xcr_module_check_device(module.get(), device.get(), &target));
  EXPECT_EQ(target, 0u);
  xcr_instance_t *instance = nullptr;
  XCR_EXPECT_FAILS(xcr_instance_create(device.get(), module.get(), nullptr, &instance),
                   XCR_STATUS_FAILED_PRECONDITION, "METADATA_ONLY");
}

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

TEST(LoaderTest, WrongMagicIsNoModule) {
  std::vector<uint8_t> bytes = addModule().finish();
  bytes[0] ^= 1;
  XCR_EXPECT_FAILS(load(bytes), XCR_STATUS_INCOMPATIBLE, "not an xcompile module");
  XCR_EXPECT_FAILS(load({}), XCR_STATUS_INCOMPATIBLE, "not an xcompile module");
}

TEST(LoaderTest, WrongVersionNamesBoth) {
  std::vector<uint8_t> bytes = addModule().finish();
  bytes[offsetof(ModuleHeader, major)] = 9;
  fixChecksums(bytes);
  XCR_EXPECT_FAILS(load(bytes), XCR_STATUS_INCOMPATIBLE,
                   "format version 9.0, this library reads 1.x");
}

TEST(LoaderTest, NewerMinorVersionIsReadUnlessAFeatureIsNeeded) {
  std::vector<uint8_t> bytes = addModule().finish();
  bytes[offsetof(ModuleHeader, minor)] = 5;
  fixChecksums(bytes);
  XCR_EXPECT_OK(load(bytes));
  ModuleSpec spec = addModule();
  spec.requiredFeatures = {"time-travel"};
  XCR_EXPECT_FAILS(load(spec.finish()), XCR_STATUS_INCOMPATIBLE, "time-travel");
}

TEST(LoaderTest, EveryTruncationIsRefused) {
  const std::vector<uint8_t> whole = addModule().finish();
  XCR_ASSERT_OK(load(whole, XCR_MODULE_VERIFY_BLOBS));
  for (size_t size = 0; size < whole.size(); ++size) {
    std::vector<uint8_t> bytes(whole.begin(), whole.begin() + static_cast<long>(size));
    bytes.shrink_to_fit();
    xcr_status_t status = load(bytes);
    ASSERT_FALSE(xcr_is_ok(status)) << size << " bytes";
    xcr_status_release(status);
  }
}

TEST(LoaderTest, EveryBitFlipIsRefused) {
  std::vector<uint8_t> bytes = addModule().finish();
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] ^= static_cast<uint8_t>(1 << bit);
      xcr_status_t status = load(bytes, XCR_MODULE_VERIFY_BLOBS);
      ASSERT_FALSE(xcr_is_ok(status)) << "bit " << bit << " of byte " << i;
      xcr_status_release(status);
      bytes[i] ^= static_cast<uint8_t>(1 << bit);
    }
}

/// Without VERIFY_BLOBS, too: code and data are checked before their first use, all else at once.
TEST(LoaderTest, EveryByteFlipIsRefusedUpToItsUse) {
  std::vector<uint8_t> bytes = addModule().finish();
  Device device = makeDevice();
  size_t before = 0, later = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<uint8_t> damaged = bytes;
    damaged[i] ^= 0xff;
    xcr_module_t *loaded = nullptr;
    xcr_status_t status =
        xcr_module_load_memory(damaged.data(), damaged.size(), nullptr, nullptr, nullptr, &loaded);
    Module owner(loaded);
    if (!xcr_is_ok(status)) {
      ++before;
    } else {
      xcr_instance_t *instance = nullptr;
      status = xcr_instance_create(device.get(), loaded, nullptr, &instance);
      ASSERT_FALSE(xcr_is_ok(status)) << "byte " << i;
      EXPECT_EQ(xcr_status_code(status), XCR_STATUS_CORRUPT) << "byte " << i;
      ++later;
    }
    xcr_status_release(status);
  }
  EXPECT_GT(before, sizeof(ModuleHeader));
  EXPECT_GT(later, 1000u);
}

TEST(LoaderTest, PaddingIsZero) {
  ModuleSpec spec = addModule();
  const uint8_t data[] = {1, 2, 3};
  spec.constants.push_back({fb::DType::I8, {3}, {1, 2, 3}});
  spec.constants.push_back({fb::DType::I8, {3}, {4, 5, 6}});
  std::vector<uint8_t> bytes = spec.finish();
  XCR_ASSERT_OK(load(bytes));
  auto first = std::search(bytes.begin() + sizeof(ModuleHeader), bytes.end(), std::begin(data),
                           std::end(data));
  ASSERT_NE(first, bytes.end());
  first[sizeof(data)] = 1;
  XCR_EXPECT_FAILS(load(bytes), XCR_STATUS_CORRUPT, "bytes between its parts are not zero");
  TemporaryFile file(bytes);
  XCR_EXPECT_FAILS(loadPath(file.path.c_str()), XCR_STATUS_CORRUPT,
                   "bytes between its parts are not zero");
}

/// What the checksums hide: damage that somebody has signed again.
TEST(LoaderTest, BitFlipsWithGoodChecksumsDoNoHarm) {
  std::vector<uint8_t> bytes = addModule().finish();
  ModuleHeader header;
  memcpy(&header, bytes.data(), sizeof(header));
  size_t refused = 0;
  for (size_t i = 0; i < header.tablesOffset + header.tablesSize; ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> damaged = bytes;
      damaged[i] ^= static_cast<uint8_t>(1 << bit);
      fixChecksums(damaged);
      xcr_status_t status = load(damaged);
      refused += !xcr_is_ok(status);
      xcr_status_release(status);
    }
  EXPECT_GT(refused, 1000u);
}

TEST(LoaderTest, DamagedBlobsAreFoundBeforeTheirUse) {
  ModuleSpec spec = addModule();
  std::vector<uint8_t> bytes = spec.finish();
  bytes.back() ^= 1;
  // The tables are good, the code is not.
  Module module = loadModule(bytes);
  Device device = makeDevice();
  xcr_instance_t *instance = nullptr;
  XCR_EXPECT_FAILS(xcr_instance_create(device.get(), module.get(), nullptr, &instance),
                   XCR_STATUS_CORRUPT, "checksum of executable 0");
  xcr_string_view_t image;
  XCR_EXPECT_FAILS(xcr_module_get_image(module.get(), 0, &image), XCR_STATUS_CORRUPT,
                   "checksum of executable 0");
  XCR_EXPECT_FAILS(load(bytes, XCR_MODULE_VERIFY_BLOBS), XCR_STATUS_CORRUPT,
                   "checksum of executable 0");
}

TEST(LoaderTest, NativeCodeCanBeRefused) {
  std::vector<uint8_t> bytes = addModule().finish();
  XCR_EXPECT_FAILS(load(bytes, XCR_MODULE_REFUSE_NATIVE_CODE), XCR_STATUS_PERMISSION_DENIED,
                   "native CPU code");
}

TEST(LoaderTest, UnknownFlagsAreRefused) {
  XCR_EXPECT_FAILS(load(addModule().finish(), 0x100), XCR_STATUS_INVALID_ARGUMENT, "flags");
}

//===----------------------------------------------------------------------===//
// Tables that contradict themselves
//===----------------------------------------------------------------------===//

struct BadTable {
  const char *name;
  const char *message;
  std::function<void(ModuleSpec &)> change;
};
void PrintTo(const BadTable &table, std::ostream *stream) { *stream << table.name; }

static PlanSpec &plan(ModuleSpec &module) { return module.functions[0].plans[0]; }
/// The constructors of structs make it easier to replace than to change them.
static void setCommand(ModuleSpec &module, fb::CommandKind kind, uint32_t ordinal,
                       fb::Range edges = fb::Range(0, 0)) {
  plan(module).commands[0] = fb::Command(kind, ordinal, edges);
}
static void setVariant(ModuleSpec &module, uint32_t executable, uint32_t exportOrdinal,
                       fb::Range guards, fb::Range scalars, fb::Value grid = literal(1)) {
  plan(module).variants[0] = fb::Variant(executable, exportOrdinal, guards, scalars, grid, grid,
                                         grid, literal(0), literal(0));
}

static const fb::Range kNone(0, 0), kOne(0, 1);

/// Gives the kernel a map of 3 x 3 windows over an image, changed by `change`.
template <typename F> static void addImageMap(ModuleSpec &module, F change) {
  TensorMapSpec map;
  map.dtype = fb::DType::F16;
  map.mode = fb::TensorMapMode::Im2col;
  map.dims = {literal(64), literal(28), literal(28), literal(8)};
  map.strides = {literal(128), literal(3584), literal(100352)};
  map.elementStrides = {1, 1, 1, 1};
  map.lower = {-1, -1};
  map.upper = {-1, -1};
  map.channels = 64;
  map.pixels = 128;
  map.swizzle = 3;
  change(map);
  module.executables[0].exports[0].tensorMaps = {map};
}

TEST(LoaderTest, ImageMapsAreRead) {
  ModuleSpec module = addModule();
  addImageMap(module, [](TensorMapSpec &) {});
  module.requiredFeatures = {"im2col tensor maps", "symbolic corners of tensor maps"};
  XCR_EXPECT_OK(load(module.finish()));
  // As far as corners, steps and columns go.
  addImageMap(module, [](TensorMapSpec &map) {
    map.lower = {-128, 127};
    map.upper = {127, 127};
    map.dims[2] = literal(1);
    map.elementStrides = {1, 8, 8, 1};
    map.channels = 8;
    map.pixels = 1024;
  });
  XCR_EXPECT_OK(load(module.finish()));
}

/// A module whose image map was changed.
#define IMAGE_MAP(change) [](ModuleSpec &m) { addImageMap(m, [](TensorMapSpec &map) { change; }); }

static const BadTable kBadTables[] = {
    {"MapMode", "is of mode 2", IMAGE_MAP(map.mode = static_cast<fb::TensorMapMode>(2))},
    {"ImageMapBox", "a box of 4", IMAGE_MAP(map.box.assign(4, 1))},
    {"ImageMapRank", "has rank 2, expected 3 to 5",
     IMAGE_MAP((map.dims.resize(2, literal(0)), map.strides.resize(1, literal(0)),
                map.elementStrides.resize(2)))},
    {"ImageMapCorners", "has corners of 1 and 2 numbers, expected 2", IMAGE_MAP(map.lower = {-1})},
    {"ImageMapLowerCorner", "corners -129 and -1, expected numbers from -128 to 127 with 2 spatial",
     IMAGE_MAP(map.lower[1] = -129)},
    {"ImageMapUpperCorner", "corners -1 and 128, expected numbers from -128 to 127",
     IMAGE_MAP(map.upper[0] = 128)},
    {"ImageMapCornerOf3D", "corners -1 and 16, expected numbers from -16 to 15 with 3 spatial",
     IMAGE_MAP((map.dims.push_back(literal(2)), map.strides.push_back(literal(802816)),
                map.elementStrides.push_back(1), map.lower.push_back(-1),
                map.upper.push_back(16)))},
    {"ImageMapScalars", "has 1 scalars for corners, expected 2",
     IMAGE_MAP(map.upperScalars = {-1})},
    {"ImageMapNoScalar", "names a scalar that does not exist",
     IMAGE_MAP((map.upperScalars = {-1, 1 << 20}))},
    {"ImageMapEmpty", "has no pixels between corners -1 and -29 of 28",
     IMAGE_MAP(map.upper[0] = -29)},
    {"ImageMapNoChannels", "has columns of 0 channels and 128 pixels", IMAGE_MAP(map.channels = 0)},
    {"ImageMapChannels", "has columns of 257 channels", IMAGE_MAP(map.channels = 257)},
    {"ImageMapNoPixels", "and 0 pixels", IMAGE_MAP(map.pixels = 0)},
    {"ImageMapPixels", "and 1025 pixels, expected 1 to 256 and 1 to 1024",
     IMAGE_MAP(map.pixels = 1025)},
    {"ImageMapChannelBytes", "has 24 bytes of channels", IMAGE_MAP(map.channels = 12)},
    {"ImageMapSwizzledLine", "has 128 bytes of channels, interleave 0, swizzle 2",
     IMAGE_MAP(map.swizzle = 2)},
    {"ImageMapSwizzle", "swizzle 4", IMAGE_MAP(map.swizzle = 4)},
    {"ImageMapStep", "goes in steps of 9 elements along dim 1, expected 1 to 8",
     IMAGE_MAP(map.elementStrides[1] = 9)},
    {"ImageMapNoStep", "in steps of 0 elements", IMAGE_MAP(map.elementStrides[2] = 0)},
    {"ImageMapSize", "has 0 elements along dim 3, expected 1 to 2^32",
     IMAGE_MAP(map.dims[3] = literal(0))},
    {"ImageMapHugeSize", "elements along dim 1", IMAGE_MAP(map.dims[1] = literal(INT64_MAX))},
    {"ImageMapStride", "has a stride of 120 bytes, expected a multiple of 16 below 2^40",
     IMAGE_MAP(map.strides[0] = literal(120))},
    {"ImageMapOffset", "begins at byte 8, expected a multiple of 16",
     IMAGE_MAP(map.offset = literal(8))},
    {"ImageMapScalar", "names a scalar that does not exist",
     IMAGE_MAP(map.dims[3] = formula(77))},
    {"TargetWithoutKind", "target 0 has no kind", [](ModuleSpec &m) { m.targets[0].kind = ""; }},
    {"ExecutableOfNoTarget", "is for target 4", [](ModuleSpec &m) { m.executables[0].target = 4; }},
    {"ExecutableKindUnknown", "executable 0 is of kind",
     [](ModuleSpec &m) { m.executables[0].kind = static_cast<fb::CodeKind>(9); }},
    {"ExecutableKindOfOtherTarget", "of kind PTX for target 'cpu'",
     [](ModuleSpec &m) { m.executables[0].kind = fb::CodeKind::PTX; }},
    {"ExecutableWithoutArch", "has no arch", [](ModuleSpec &m) { m.executables[0].arch = ""; }},
    {"ExportWithoutName", "has no name",
     [](ModuleSpec &m) { m.executables[0].exports[0].name = ""; }},
    {"ExportBlockOfTwo", "not three positive numbers",
     [](ModuleSpec &m) { m.executables[0].exports[0].block = {1, 2}; }},
    {"ExportBlockOfZero", "not three positive numbers",
     [](ModuleSpec &m) { m.executables[0].exports[0].block = {1, 0, 1}; }},
    {"ExportScratchHuge", "of scratch",
     [](ModuleSpec &m) { m.executables[0].exports[0].scratch = 1u << 31; }},
    {"ParameterOperand", "is operand 3 of kind 0",
     [](ModuleSpec &m) {
       m.executables[0].exports[0].parameters = {
           fb::Parameter(fb::ParameterKind::BindingPointer, 3)};
     }},
    {"ParameterKind", "of kind 77",
     [](ModuleSpec &m) {
       m.executables[0].exports[0].parameters = {
           fb::Parameter(static_cast<fb::ParameterKind>(77), 0)};
     }},
    {"ExportFormulaMissing", "names formula 9",
     [](ModuleSpec &m) { m.executables[0].exports[0].bytes = formula(9); }},
    {"ExportFormulaSymbol", "names a symbol that does not exist",
     [](ModuleSpec &m) {
       m.executables[0].exports[0].bytes = m.executables[0].formulas.add({symbol(1)});
     }},
    {"OperandsOfOtherCount", "tells about 1 bindings, there are 3",
     [](ModuleSpec &m) {
       m.executables[0].exports[0].operands = {{fb::DType::F32, {literal(4)}}};
     }},
    {"OperandType", "binding 2 of kernel 'add' has element type 99",
     [](ModuleSpec &m) {
       m.executables[0].exports[0].operands.assign(3, {fb::DType::F32, {literal(4)}});
       m.executables[0].exports[0].operands[2].dtype = static_cast<fb::DType>(99);
     }},
    {"OperandFormula", "names formula 9",
     [](ModuleSpec &m) {
       m.executables[0].exports[0].operands.assign(3, {fb::DType::F32, {formula(9)}});
     }},
    {"RequirementFormula", "requirement 0 of 'main' names formula 99",
     [](ModuleSpec &m) { m.functions[0].requirements = {{fb::Comparison::Equal, 0, 99}}; }},
    {"RequirementComparison", "requirement 0 of 'main' compares in way 7",
     [](ModuleSpec &m) { m.functions[0].requirements = {{static_cast<fb::Comparison>(7), 0, 0}}; }},
    {"ConstantType", "constant 0 has element type",
     [](ModuleSpec &m) { m.constants = {{static_cast<fb::DType>(99), {1}, {0, 0, 0, 0}}}; }},
    {"ConstantSize", "has 4 bytes, its shape takes 8",
     [](ModuleSpec &m) { m.constants = {{fb::DType::F32, {2}, {0, 0, 0, 0}}}; }},
    {"ConstantNegative", "negative dimension",
     [](ModuleSpec &m) { m.constants = {{fb::DType::F32, {-1}, {0, 0, 0, 0}}}; }},
    {"ConstantOverflow", "overflows 64 bits",
     [](ModuleSpec &m) { m.constants = {{fb::DType::F32, {INT64_MAX, INT64_MAX}, {0, 0, 0, 0}}}; }},
    {"ConstantAlignment", "alignment 3",
     [](ModuleSpec &m) { m.constants = {{fb::DType::F32, {1}, {0, 0, 0, 0}, 3}}; }},
    {"ParameterWithoutScope", "parameter 0 has no scope",
     [](ModuleSpec &m) { m.parameters = {{"", "w", fb::DType::F32, {1}}}; }},
    {"VariableTwice", "two variables are called 'v'",
     [](ModuleSpec &m) { m.variables = {{"v", fb::DType::F32, {1}}, {"v", fb::DType::F32, {1}}}; }},
    {"VariableInitial", "begins with constant 3",
     [](ModuleSpec &m) { m.variables = {{"v", fb::DType::F32, {1}, 3}}; }},
    {"VariableInitialSize", "takes 4 bytes, its initial value has 8",
     [](ModuleSpec &m) {
       m.constants = {{fb::DType::F32, {2}, std::vector<uint8_t>(8)}};
       m.variables = {{"v", fb::DType::F32, {1}, 0}};
     }},
    {"InitPlanTarget", "init plan is for target 5",
     [](ModuleSpec &m) {
       m.initPlans.resize(1);
       m.initPlans[0].target = 5;
     }},
    {"InitPlanTwice", "two init plans", [](ModuleSpec &m) { m.initPlans.resize(2); }},
    {"InitPlanUsesInput", "does not exist",
     [](ModuleSpec &m) {
       m.initPlans.resize(1);
       m.initPlans[0].packedSizes = {16};
       m.initPlans[0].plan.copy(reads(fb::Space::Input, 0, literal(16)),
                                writes(fb::Space::Packed, 0, literal(16)));
     }},
    {"FunctionWithoutName", "function 0 has no name",
     [](ModuleSpec &m) { m.functions[0].name = ""; }},
    {"FunctionTwice", "two functions are called 'main'",
     [](ModuleSpec &m) { m.functions.push_back(m.functions[0]); }},
    {"InputType", "input 0 of 'main' has element type 0",
     [](ModuleSpec &m) { m.functions[0].inputs[0].dtype = fb::DType::None; }},
    {"InputRank", "17 dimensions",
     [](ModuleSpec &m) { m.functions[0].inputs[0].dims.assign(17, literal(1)); }},
    {"InputDimNegative", "dim 0 of input 0",
     [](ModuleSpec &m) { m.functions[0].inputs[0].dims[0] = literal(-2); }},
    {"OutputDimFormula", "dim 0 of output 0",
     [](ModuleSpec &m) { m.functions[0].outputs[0].dims[0] = formula(8); }},
    {"InputAlignment", "alignment 0",
     [](ModuleSpec &m) { m.functions[0].inputs[0].alignment = 0; }},
    {"AliasOfNoInput", "held by input 6",
     [](ModuleSpec &m) { m.functions[0].outputs[0].alias = 6; }},
    {"AliasOfKeptInput", "not donated", [](ModuleSpec &m) { m.functions[0].outputs[0].alias = 0; }},
    {"AliasTwice", "two outputs of 'main' are held by input 0",
     [](ModuleSpec &m) {
       FunctionSpec &main = m.functions[0];
       main.inputs[0].donated = true;
       main.outputs[0].alias = 0;
       main.outputs.push_back(main.outputs[0]);
     }},
    {"TooManyTargets", "1001 targets", [](ModuleSpec &m) { m.targets.resize(1001, {"cpu", "x"}); }},
    {"SymbolPlace", "symbol 0 of 'main' is dim 1 of input 0",
     [](ModuleSpec &m) { m.functions[0].symbols[0].dim = 1; }},
    {"SymbolBounds", "between 9 and 3",
     [](ModuleSpec &m) {
       m.functions[0].symbols[0].min = 9;
       m.functions[0].symbols[0].max = 3;
     }},
    {"SymbolDivisor", "multiple of 0",
     [](ModuleSpec &m) { m.functions[0].symbols[0].divisor = 0; }},
    {"FormulaOutside", "outside its code",
     [](ModuleSpec &m) { m.functions[0].formulas.ranges[0] = fb::Range(0, 100); }},
    {"FormulaSymbol", "names a symbol",
     [](ModuleSpec &m) { m.functions[0].formulas.code[0] = symbol(3); }},
    {"FormulaOperation", "unknown operation",
     [](ModuleSpec &m) { m.functions[0].formulas.code[0] = op(static_cast<fb::FormulaOp>(50)); }},
    {"FormulaEmptyStack", "empty stack",
     [](ModuleSpec &m) { m.functions[0].formulas.add({op(fb::FormulaOp::Add)}); }},
    {"FormulaTwoValues", "does not leave one value",
     [](ModuleSpec &m) { m.functions[0].formulas.add({constant(1), constant(2)}); }},
    {"FormulaOfItself", "names a formula that does not stand before it",
     [](ModuleSpec &m) { m.functions[0].formulas.code[0] = {fb::FormulaOp::Formula, 0}; }},
    {"FormulaDeep", "too deep",
     [](ModuleSpec &m) { m.functions[0].formulas.add(Code(100, constant(1))); }},
    {"PlanTarget", "is for target 3", [](ModuleSpec &m) { plan(m).target = 3; }},
    {"PlanTwice", "has 2 plans for 1 targets",
     [](ModuleSpec &m) { m.functions[0].plans.push_back(plan(m)); }},
    {"TwoPlansForATarget", "two plans for target 0",
     [](ModuleSpec &m) {
       m.targets.push_back(m.targets[0]);
       m.functions[0].plans.push_back(plan(m));
     }},
    {"PlanArena", "the arena of 'main'", [](ModuleSpec &m) { plan(m).arenaSize = literal(-1); }},
    {"RegionOutside", "region 0 of 'main' is outside",
     [](ModuleSpec &m) { plan(m).regions = {fb::Region(fb::Range(0, 9))}; }},
    {"CommandInTwoRegions", "region 1 of 'main' begins at command 0, the one before it ends at 1",
     [](ModuleSpec &m) { plan(m).regions = {fb::Region(kOne), fb::Region(kOne)}; }},
    {"CommandInNoRegion", "the regions of 'main' end at command 0, there are 1",
     [](ModuleSpec &m) { plan(m).regions = {fb::Region(fb::Range(0, 0))}; }},
    {"RegionsTooDeep", "regions of 'main' are nested more than 32 deep",
     [](ModuleSpec &m) {
       PlanSpec &deep = plan(m);
       deep.commands.clear();
       deep.regions.clear();
       deep.controls.clear();
       constexpr uint32_t kDepth = 34;
       for (uint32_t i = 0; i < kDepth; ++i) {
         // Region 2i - 1 holds the next if, region 2i is empty.
         deep.regions.emplace_back(fb::Range(i, 1));
         if (i)
           deep.regions.emplace_back(fb::Range(i + 1, 0));
         deep.commands.emplace_back(fb::CommandKind::Control, i, fb::Range(0, 0));
         deep.controls.emplace_back(false, reads(fb::Space::Input, 0, literal(1)),
                                    fb::Range(2 * i, 2));
         deep.regionOrdinals.insert(deep.regionOrdinals.end(), {2 * i + 1, 2 * i + 2});
       }
       for (int i = 0; i < 2; ++i)
         deep.regions.emplace_back(fb::Range(kDepth, 0));
     }},
    {"CommandKind", "of kind 44",
     [](ModuleSpec &m) { setCommand(m, static_cast<fb::CommandKind>(44), 0); }},
    {"CommandOrdinal", "is number 8 of kind 0",
     [](ModuleSpec &m) { setCommand(m, fb::CommandKind::Dispatch, 8); }},
    {"EdgesOutside", "the edges of command 0",
     [](ModuleSpec &m) { setCommand(m, fb::CommandKind::Dispatch, 0, kOne); }},
    {"EdgeToItself", "waits for command 0 of its region",
     [](ModuleSpec &m) {
       plan(m).edges = {0};
       setCommand(m, fb::CommandKind::Dispatch, 0, kOne);
     }},
    {"ControlRegion", "holds region 0 of 1",
     [](ModuleSpec &m) {
       plan(m).controls.emplace_back(true, reads(fb::Space::Input, 0, literal(1)), fb::Range(0, 2));
       plan(m).regionOrdinals = {0, 0};
       setCommand(m, fb::CommandKind::Control, 0);
     }},
    {"ChoiceRegion", "holds region 7 of 1",
     [](ModuleSpec &m) {
       plan(m).choices.emplace_back(literal(1), fb::Range(0, 2));
       plan(m).regionOrdinals = {7, 7};
       setCommand(m, fb::CommandKind::Choice, 0);
     }},
    {"ChoiceRegions", "has 1 regions, expected 2",
     [](ModuleSpec &m) {
       plan(m).choices.emplace_back(literal(1), kOne);
       plan(m).regionOrdinals = {1};
       setCommand(m, fb::CommandKind::Choice, 0);
     }},
    {"ChoiceOrdinal", "is number 1 of kind 5, there are 0",
     [](ModuleSpec &m) { setCommand(m, fb::CommandKind::Choice, 1); }},
    {"ChoiceCondition", "choice 0 of 'main'",
     [](ModuleSpec &m) { plan(m).choices.emplace_back(formula(66), fb::Range(0, 2)); }},
    {"RegionOfTwoChoices", "a region of 'main' belongs to two commands",
     [](ModuleSpec &m) {
       PlanSpec &twice = plan(m);
       twice.commands.clear();
       twice.choices.emplace_back(literal(1), fb::Range(0, 2));
       twice.commands.emplace_back(fb::CommandKind::Choice, 0, kNone);
       twice.regions = {fb::Region(kOne), fb::Region(fb::Range(1, 0)), fb::Region(fb::Range(1, 0))};
       twice.regionOrdinals = {1, 1};
     }},
    {"DispatchBindings", "the bindings of dispatch 0",
     [](ModuleSpec &m) { plan(m).dispatches[0] = fb::Dispatch(kOne, fb::Range(1, 3), 0); }},
    {"DispatchWithoutVariants", "has no variants",
     [](ModuleSpec &m) { plan(m).dispatches[0] = fb::Dispatch(kNone, fb::Range(0, 3), 0); }},
    {"DispatchLocation", "is at location 5",
     [](ModuleSpec &m) { plan(m).dispatches[0] = fb::Dispatch(kOne, fb::Range(0, 3), 5); }},
    {"VariantExecutable", "runs executable 2",
     [](ModuleSpec &m) { setVariant(m, 2, 0, kNone, kOne); }},
    {"VariantExport", "runs kernel 99", [](ModuleSpec &m) { setVariant(m, 0, 99, kNone, kOne); }},
    {"VariantBindings", "takes 2 bindings, a dispatch of 'main' brings 3",
     [](ModuleSpec &m) { setVariant(m, 0, kAccumulate, kNone, kOne); }},
    {"VariantScalars", "takes 1 scalars, a dispatch of 'main' brings 0",
     [](ModuleSpec &m) { setVariant(m, 0, kAdd, kNone, kNone); }},
    {"VariantGrid", "a grid or workspace",
     [](ModuleSpec &m) { setVariant(m, 0, kAdd, kNone, kOne, literal(-1)); }},
    {"VariantGridFormula", "a grid or workspace",
     [](ModuleSpec &m) { setVariant(m, 0, kAdd, kNone, kOne, formula(77)); }},
    {"LastVariantGuarded", "has guards",
     [](ModuleSpec &m) {
       plan(m).guards.emplace_back(fb::GuardKind::BindingAligned, 0, 0, 0, 16);
       setVariant(m, 0, kAdd, kOne, kOne);
     }},
    {"GuardOperand", "is about operand 3 of 3",
     [](ModuleSpec &m) {
       plan(m).guards.emplace_back(fb::GuardKind::BindingAligned, 3, 0, 0, 16);
       setVariant(m, 0, kAdd, kOne, kOne);
     }},
    {"ScalarFormula", "names formula 55", [](ModuleSpec &m) { plan(m).scalars[0] = formula(55); }},
    {"BindingOrdinal", "number 9 in space 1",
     [](ModuleSpec &m) { plan(m).bindings[0] = reads(fb::Space::Input, 9, literal(4)); }},
    {"BindingOfNoDispatch", "number 9 in space 3",
     [](ModuleSpec &m) { plan(m).bindings.push_back(reads(fb::Space::Constant, 9, literal(4))); }},
    {"BindingSpace", "in space 66",
     [](ModuleSpec &m) { plan(m).bindings[0] = reads(static_cast<fb::Space>(66), 0, literal(4)); }},
    {"BindingAccess", "has access 9",
     [](ModuleSpec &m) {
       plan(m).bindings[0] = binding(fb::Space::Input, 0, literal(4), static_cast<fb::Access>(9));
     }},
    {"BindingWritesKeptInput", "writes to Input 0, which is read-only",
     [](ModuleSpec &m) { plan(m).bindings[0] = writes(fb::Space::Input, 0, literal(4)); }},
    {"BindingWritesConstant", "writes to Constant 0",
     [](ModuleSpec &m) {
       m.constants = {{fb::DType::F32, {1}, {0, 0, 0, 0}}};
       plan(m).bindings[0] = writes(fb::Space::Constant, 0, literal(4));
     }},
    {"BindingOutsideConstant", "takes 8 bytes at 0 of Constant 0",
     [](ModuleSpec &m) {
       m.constants = {{fb::DType::F32, {1}, {0, 0, 0, 0}}};
       plan(m).bindings[0] = reads(fb::Space::Constant, 0, literal(8));
     }},
    {"BindingOffsetOverflow", "of Constant 0",
     [](ModuleSpec &m) {
       m.constants = {{fb::DType::F32, {1}, {0, 0, 0, 0}}};
       plan(m).bindings[0] = reads(fb::Space::Constant, 0, literal(8), literal(INT64_MAX));
     }},
    {"BindingOutsideArena", "takes 8 bytes at 0 of Arena 0",
     [](ModuleSpec &m) { plan(m).bindings[0] = reads(fb::Space::Arena, 0, literal(8)); }},
    {"FillPattern", "pattern of 3 bytes",
     [](ModuleSpec &m) { plan(m).fill(writes(fb::Space::Output, 0, literal(3)), 0, 3); }},
    {"CollectiveKind", "collective 0",
     [](ModuleSpec &m) {
       plan(m).collectives.emplace_back(static_cast<fb::CollectiveKind>(9), 0, fb::DType::F32, 0,
                                        reads(fb::Space::Input, 0, literal(4)),
                                        writes(fb::Space::Output, 0, literal(4)));
     }},
};

class BadTableTest : public ::testing::TestWithParam<BadTable> {};
INSTANTIATE_TEST_SUITE_P(Loader, BadTableTest, ::testing::ValuesIn(kBadTables),
                         [](const ::testing::TestParamInfo<BadTable> &info) {
                           return std::string(info.param.name);
                         });

TEST_P(BadTableTest, IsRefusedWithTheReason) {
  ModuleSpec module = addModule();
  XCR_ASSERT_OK(load(module.finish()));
  GetParam().change(module);
  XCR_EXPECT_FAILS(load(module.finish()), XCR_STATUS_CORRUPT, GetParam().message);
}

//===----------------------------------------------------------------------===//
// Modules for other machines
//===----------------------------------------------------------------------===//

static xcr_status_t instantiate(const ModuleSpec &spec) {
  std::vector<uint8_t> bytes = spec.finish();
  Device device = makeDevice();
  Module module = loadModule(bytes);
  xcr_instance_t *instance = nullptr;
  xcr_status_t status = xcr_instance_create(device.get(), module.get(), nullptr, &instance);
  xcr_instance_release(instance);
  return status;
}

TEST(OtherMachineTest, OtherInstructionSetNamesBoth) {
  ModuleSpec module = addModule();
  const char *other = std::string(kernelArch()) == "aarch64" ? "x86-64-v3" : "aarch64";
  module.executables[0].arch = other;
  module.targets[0].arch = other;
  XCR_EXPECT_FAILS(instantiate(module), XCR_STATUS_INCOMPATIBLE,
                   (std::string("needs a CPU of arch ") + other + ", this machine is ").c_str());
}

TEST(OtherMachineTest, MissingFeaturesAreListed) {
  ModuleSpec module = addModule();
  module.executables[0].features = {"no-such-feature"};
  XCR_EXPECT_FAILS(instantiate(module), XCR_STATUS_INCOMPATIBLE,
                   "lacks: no-such-feature (unknown to this library)");
}

TEST(OtherMachineTest, CudaModuleOnTheCpu) {
  ModuleSpec module = addModule();
  module.targets[0] = {"cuda", "sm_90a"};
  module.executables[0].kind = fb::CodeKind::PTX;
  module.executables[0].arch = "sm_90a";
  XCR_EXPECT_FAILS(instantiate(module), XCR_STATUS_INCOMPATIBLE,
                   "target cuda:sm_90a needs a device of kind cuda");
}

TEST(OtherMachineTest, CodeOfAnotherMachineUnderAGoodName) {
  ModuleSpec module = addModule();
  // e_machine of the ELF header: 243 is RISC-V.
  module.executables[0].image[18] = 243;
  XCR_EXPECT_FAILS(instantiate(module), XCR_STATUS_INCOMPATIBLE, "ELF machine 243");
}

TEST(OtherMachineTest, CodeThatIsNoCode) {
  ModuleSpec module = addModule();
  module.executables[0].image = {1, 2, 3};
  XCR_EXPECT_FAILS(instantiate(module), XCR_STATUS_CORRUPT, "no shared object");
  module.executables[0].image.assign(1000, 0x7f);
  XCR_EXPECT_FAILS(instantiate(module), XCR_STATUS_CORRUPT, "no 64-bit ELF shared object");
}

TEST(OtherMachineTest, CodeWithoutItsKernel) {
  ModuleSpec module = addModule();
  module.executables[0].exports[0].name = "missing_kernel";
  XCR_EXPECT_FAILS(instantiate(module), XCR_STATUS_CORRUPT, "lacks its kernel 'missing_kernel'");
}

TEST(OtherMachineTest, TheBestTargetIsChosen) {
  ModuleSpec module = addModule();
  // A second target that no machine has, before the one that runs.
  module.targets.insert(module.targets.begin(), {"cuda", "sm_90a"});
  module.executables[0].target = 1;
  module.functions[0].plans[0].target = 1;
  std::vector<uint8_t> bytes = module.finish();
  Device device = makeDevice();
  Module loaded = loadModule(bytes);
  Instance instance = makeInstance(device, loaded);
  EXPECT_EQ(xcr_instance_target(instance.get()), 1u);
}
