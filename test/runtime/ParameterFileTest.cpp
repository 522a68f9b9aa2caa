//===- ParameterFileTest.cpp - Reading .npy and .safetensors files -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/parameter_file.h"
#include "test/runtime/XcrTest.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace xc;
using namespace xc::test;

/// A .npy file with this text as its header.
static std::vector<uint8_t> npy(const std::string &header, size_t dataBytes, uint8_t major = 1) {
  std::vector<uint8_t> file = {0x93, 'N', 'U', 'M', 'P', 'Y', major, 0};
  size_t size = header.size();
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    file.push_back(static_cast<uint8_t>(size >> (8 * i)));
  file.insert(file.end(), header.begin(), header.end());
  for (size_t i = 0; i < dataBytes; ++i)
    file.push_back(static_cast<uint8_t>(i));
  return file;
}

static std::vector<uint8_t> safetensors(const std::string &header, size_t dataBytes) {
  std::vector<uint8_t> file;
  uint64_t size = header.size();
  for (int i = 0; i < 8; ++i)
    file.push_back(static_cast<uint8_t>(size >> (8 * i)));
  file.insert(file.end(), header.begin(), header.end());
  for (size_t i = 0; i < dataBytes; ++i)
    file.push_back(static_cast<uint8_t>(i));
  return file;
}

static xcr_status_t parse(const std::vector<uint8_t> &bytes, ParameterFile *file) {
  return ParameterFile::parse(HostAllocator(), {bytes.data(), bytes.size()}, file).release();
}

static xcr_status_t parse(const std::vector<uint8_t> &bytes) {
  ParameterFile file((HostAllocator()));
  return parse(bytes, &file);
}

TEST(NpyTest, ReadsWhatNumPyWrites) {
  for (uint8_t major : {1, 2, 3}) {
    std::vector<uint8_t> bytes =
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }    \n", 24, major);
    ParameterFile file((HostAllocator()));
    XCR_ASSERT_OK(parse(bytes, &file));
    int64_t shape[] = {2, 3};
    ByteRange data;
    XCR_EXPECT_OK(file.find(xcr_string("any"), fb::DType::F32, {shape, 2}, &data).release());
    ASSERT_EQ(data.size, 24u);
    EXPECT_EQ(data.data()[23], 23);
    XCR_EXPECT_FAILS(file.find(xcr_string(""), fb::DType::F64, {shape, 2}, &data).release(),
                     XCR_STATUS_INVALID_ARGUMENT, "expected 2x3xf64, got 2x3xf32");
  }
}

TEST(NpyTest, ScalarsAndVectors) {
  XCR_EXPECT_OK(parse(npy("{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n", 8)));
  XCR_EXPECT_OK(parse(npy("{'descr': '|b1', 'fortran_order': True, 'shape': (5,), }\n", 5)));
}

TEST(NpyTest, AFileThatLiesAboutItsSizeIsRefused) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000,), }\n";
  XCR_EXPECT_FAILS(parse(npy(header, 16)), XCR_STATUS_CORRUPT,
                   "takes 4000000 bytes by its shape, the file has 16");
  header = "{'descr': '<f8', 'fortran_order': False, 'shape': "
           "(4611686018427387904, 4), }\n";
  XCR_EXPECT_FAILS(parse(npy(header, 16)), XCR_STATUS_CORRUPT, "overflows 64 bits");
  header = "{'descr': '<f8', 'fortran_order': False, 'shape': "
           "(99999999999999999999999,), }\n";
  XCR_EXPECT_FAILS(parse(npy(header, 16)), XCR_STATUS_CORRUPT, "its header");
}

TEST(NpyTest, UnsupportedFormsSaySo) {
  XCR_EXPECT_FAILS(parse(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4)),
                   XCR_STATUS_UNSUPPORTED, "'>f4'");
  XCR_EXPECT_FAILS(parse(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,1), }", 4)),
                   XCR_STATUS_UNSUPPORTED, "Fortran order");
  XCR_EXPECT_FAILS(parse(npy("", 0, 9)), XCR_STATUS_UNSUPPORTED, "version 9");
}

TEST(NpyTest, EveryTruncationIsRefused) {
  std::vector<uint8_t> whole =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
  for (size_t size = 0; size < whole.size(); ++size) {
    std::vector<uint8_t> bytes(whole.begin(), whole.begin() + static_cast<long>(size));
    bytes.shrink_to_fit();
    xcr_status_t status = parse(bytes);
    ASSERT_FALSE(xcr_is_ok(status)) << size;
    xcr_status_release(status);
  }
}

TEST(SafetensorsTest, ReadsArraysByKey) {
  std::vector<uint8_t> bytes = safetensors(
      R"({"__metadata__":{"format":"pt"},
          "w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},
          "b\u0041\"":{"shape":[3],"dtype":"U8","data_offsets":[16,19]},
          "odd":{"dtype":"Q4","shape":[3],"data_offsets":[16,19]}})",
      19);
  ParameterFile file((HostAllocator()));
  XCR_ASSERT_OK(parse(bytes, &file));
  EXPECT_EQ(file.arrays().size(), 2u);
  int64_t square[] = {2, 2}, three[] = {3};
  ByteRange data;
  XCR_EXPECT_OK(file.find(xcr_string("w"), fb::DType::F32, {square, 2}, &data).release());
  EXPECT_EQ(data.size, 16u);
  EXPECT_EQ(data.data()[0], 0);
  XCR_EXPECT_OK(file.find(xcr_string("bA\""), fb::DType::U8, {three, 1}, &data).release());
  ASSERT_EQ(data.size, 3u);
  EXPECT_EQ(data.data()[0], 16);
  XCR_EXPECT_FAILS(file.find(xcr_string("x"), fb::DType::U8, {three, 1}, &data).release(),
                   XCR_STATUS_NOT_FOUND, "no array 'x'; the file has: 'w', 'bA\"'");
}

TEST(SafetensorsTest, ATruncatedFileSaysWhereItEnds) {
  // The header is whole, and 1,000 of 3,072 bytes of data are there.
  std::string header = R"({"w":{"dtype":"F32","shape":[16,48],"data_offsets":[0,3072]}})";
  XCR_EXPECT_FAILS(parse(safetensors(header, 1000)), XCR_STATUS_CORRUPT,
                   ("the file is truncated: array 'w' takes 3072 bytes at byte " +
                    std::to_string(8 + header.size()) + ", the file ends at byte " +
                    std::to_string(8 + header.size() + 1000))
                       .c_str());
  // The same shape where the header itself gives the array too few.
  header = R"({"w":{"dtype":"F32","shape":[16,48],"data_offsets":[0,1000]}})";
  XCR_EXPECT_FAILS(parse(safetensors(header, 1000)), XCR_STATUS_CORRUPT,
                   "array 'w' takes 3072 bytes by its shape, the file has 1000 for it");
}

TEST(SafetensorsTest, LiesAreRefused) {
  XCR_EXPECT_FAILS(
      parse(safetensors(R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", 8)),
      XCR_STATUS_CORRUPT, "array 'w' takes 16 bytes");
  XCR_EXPECT_FAILS(
      parse(safetensors(R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,12]}})", 16)),
      XCR_STATUS_CORRUPT, "array 'w' takes 16 bytes");
  XCR_EXPECT_FAILS(
      parse(safetensors(
          R"({"w":{"dtype":"F32","shape":[],"data_offsets":[18446744073709551614,18446744073709551615]}})",
          16)),
      XCR_STATUS_CORRUPT, "");
  XCR_EXPECT_FAILS(
      parse(safetensors(
          R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
          16)),
      XCR_STATUS_CORRUPT, "two arrays are called 'w'");
  std::vector<uint8_t> longHeader = safetensors("{}", 0);
  longHeader[0] = 0xff;
  XCR_EXPECT_FAILS(parse(longHeader), XCR_STATUS_CORRUPT, "passes its end");
}

TEST(SafetensorsTest, EveryTruncationOfTheHeaderIsRefused) {
  std::string header =
      R"({"__metadata__":{"a":"b"},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})";
  XCR_ASSERT_OK(parse(safetensors(header, 16)));
  for (size_t size = 0; size < header.size(); ++size)
    XCR_EXPECT_FAILS(parse(safetensors(header.substr(0, size), 16)), XCR_STATUS_CORRUPT,
                     ".safetensors");
}

//===----------------------------------------------------------------------===//
// Parameters of a module
//===----------------------------------------------------------------------===//

/// main(x) = x + w, with w from outside.
static ModuleSpec parameterModule(const std::string &scope) {
  ModuleSpec module = kernelModule();
  module.parameters = {{scope, "w", fb::DType::F32, {4}}};
  FunctionSpec function;
  function.inputs = {{"x", fb::DType::F32, {literal(4)}}};
  function.outputs = {{"y", fb::DType::F32, {literal(4)}}};
  PlanSpec plan;
  VariantSpec variant;
  variant.exportOrdinal = kAdd;
  variant.scalars = {literal(4)};
  plan.dispatch({variant}, {reads(fb::Space::Input, 0, literal(16)),
                            reads(fb::Space::Parameter, 0, literal(16)),
                            writes(fb::Space::Output, 0, literal(16))});
  function.plans = {plan};
  module.functions = {function};
  return module;
}

static void writeFile(const std::string &path, const std::vector<uint8_t> &bytes) {
  FILE *file = fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  fwrite(bytes.data(), 1, bytes.size(), file);
  fclose(file);
}

TEST(ParameterTest, FileBesideTheModuleOrWhereTheCallerSays) {
  char folderName[] = "/tmp/xcr-test-XXXXXX";
  ASSERT_NE(mkdtemp(folderName), nullptr);
  std::string folder = folderName;
  std::vector<float> weights = {10, 20, 30, 40};
  std::string header = R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})";
  std::vector<uint8_t> file = safetensors(header, 0);
  std::vector<uint8_t> data = bytesOf(weights);
  file.insert(file.end(), data.begin(), data.end());
  writeFile(folder + "/weights.safetensors", file);
  writeFile(folder + "/model.vmfb", parameterModule("weights.safetensors").finish());

  Device device = makeDevice();
  xcr_module_t *loaded = nullptr;
  XCR_ASSERT_OK(
      xcr_module_load_file(xcr_string((folder + "/model.vmfb").c_str()), nullptr, &loaded));
  Module module(loaded);
  Instance instance = makeInstance(device, module);
  Buffer x = makeBuffer(device, {1, 2, 3, 4});
  xcr_buffer_t *input = x.get(), *output = nullptr;
  XCR_ASSERT_OK(xcr_invoke(instance.get(), xcr_string("main"), 1, &input, 1, &output));
  Buffer y(output);
  EXPECT_EQ(read<float>(y.get()), (std::vector<float>{11, 22, 33, 44}));

  std::string elsewhere = folder + "/other.npy";
  std::vector<uint8_t> other =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n", 0);
  std::vector<uint8_t> ones = bytesOf(std::vector<float>(4, 1.0f));
  other.insert(other.end(), ones.begin(), ones.end());
  writeFile(elsewhere, other);
  xcr_parameter_source_t source = {xcr_string("weights.safetensors"),
                                   xcr_string(elsewhere.c_str())};
  xcr_instance_options_t options = XCR_INSTANCE_OPTIONS_INIT;
  options.sources = &source;
  options.source_count = 1;
  xcr_instance_t *second = nullptr;
  XCR_ASSERT_OK(xcr_instance_create(device.get(), module.get(), &options, &second));
  Instance other_instance(second);
  output = nullptr;
  XCR_ASSERT_OK(xcr_invoke(second, xcr_string("main"), 1, &input, 1, &output));
  y.reset(output);
  EXPECT_EQ(read<float>(y.get()), (std::vector<float>{2, 3, 4, 5}));

  source.scope = xcr_string("weigths.safetensors");
  xcr_instance_t *misspelt = nullptr;
  XCR_EXPECT_FAILS(xcr_instance_create(device.get(), module.get(), &options, &misspelt),
                   XCR_STATUS_NOT_FOUND,
                   "no scope of external parameters 'weigths.safetensors'; the module has: "
                   "'weights.safetensors'");

  unlink(elsewhere.c_str());
  unlink((folder + "/weights.safetensors").c_str());
  xcr_instance_t *third = nullptr;
  instance.reset();
  XCR_EXPECT_FAILS(xcr_instance_create(device.get(), module.get(), nullptr, &third),
                   XCR_STATUS_NOT_FOUND,
                   "external parameters of scope 'weights.safetensors', for which no file is given "
                   "(xcr_instance_options_t.sources, --parameters=weights.safetensors=PATH): "
                   "cannot open '");
  unlink((folder + "/model.vmfb").c_str());
  rmdir(folderName);
}

/// An instance whose parameters are \p file, in memory that is overwritten behind it.
static xcr_status_t makeFromMemory(const Device &device, const Module &module,
                                   std::vector<uint8_t> file, Instance *out) {
  xcr_parameter_memory_t memory = {xcr_string("w"), file.data(), file.size()};
  xcr_instance_options_t options = XCR_INSTANCE_OPTIONS_INIT;
  options.memories = &memory;
  options.memory_count = 1;
  xcr_instance_t *made = nullptr;
  xcr_status_t status = xcr_instance_create(device.get(), module.get(), &options, &made);
  std::fill(file.begin(), file.end(), 0xff);
  out->reset(made);
  return status;
}

static std::vector<uint8_t> weightFile(float value) {
  std::vector<uint8_t> file =
      safetensors(R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", 0);
  std::vector<uint8_t> data = bytesOf(std::vector<float>(4, value));
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

TEST(ParameterTest, MemoryIsCopiedAndBelongsToItsInstance) {
  std::vector<uint8_t> bytes = parameterModule("w").finish();
  Device device = makeDevice();
  Module module = loadModule(bytes);
  Instance tens, twenties;
  XCR_ASSERT_OK(makeFromMemory(device, module, weightFile(10), &tens));
  XCR_ASSERT_OK(makeFromMemory(device, module, weightFile(20), &twenties));
  Buffer x = makeBuffer(device, {1, 2, 3, 4});
  xcr_buffer_t *input = x.get(), *output = nullptr;
  XCR_ASSERT_OK(xcr_invoke(tens.get(), xcr_string("main"), 1, &input, 1, &output));
  EXPECT_EQ(read<float>(output), (std::vector<float>{11, 12, 13, 14}));
  XCR_ASSERT_OK(xcr_invoke(twenties.get(), xcr_string("main"), 1, &input, 1, &output));
  EXPECT_EQ(read<float>(output), (std::vector<float>{21, 22, 23, 24}));
  xcr_buffer_release(output);
}

TEST(ParameterTest, MemoryIsCheckedAsFilesAre) {
  std::vector<uint8_t> bytes = parameterModule("w").finish();
  Device device = makeDevice();
  Module module = loadModule(bytes);
  Instance instance;
  std::vector<uint8_t> file = weightFile(10);
  for (size_t size = 0; size < file.size(); ++size) {
    xcr_status_t status = makeFromMemory(
        device, module, std::vector<uint8_t>(file.begin(), file.begin() + static_cast<long>(size)),
        &instance);
    XCR_EXPECT_FAILS(status, size ? XCR_STATUS_CORRUPT : XCR_STATUS_INVALID_ARGUMENT,
                     size ? "external parameters of scope 'w': (in memory): "
                          : "options.memories.data: expected a value, got NULL");
  }
  XCR_EXPECT_FAILS(
      makeFromMemory(device, module,
                     safetensors(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8),
                     &instance),
      XCR_STATUS_INVALID_ARGUMENT, "(in memory): array 'w': expected 4xf32, got 2xf32");
}

TEST(ParameterTest, AScopeIsGivenOnce) {
  std::vector<uint8_t> bytes = parameterModule("w").finish(), file = weightFile(1);
  Device device = makeDevice();
  Module module = loadModule(bytes);
  xcr_parameter_memory_t memory = {xcr_string("w"), file.data(), file.size()};
  xcr_parameter_source_t source = {xcr_string("w"), xcr_string("w.npy")};
  xcr_instance_options_t options = XCR_INSTANCE_OPTIONS_INIT;
  options.sources = &source;
  options.source_count = 1;
  options.memories = &memory;
  options.memory_count = 1;
  xcr_instance_t *instance = nullptr;
  XCR_EXPECT_FAILS(xcr_instance_create(device.get(), module.get(), &options, &instance),
                   XCR_STATUS_INVALID_ARGUMENT, "scope 'w' of external parameters is given twice");
  options.source_count = 0;
  memory.scope = xcr_string("v");
  XCR_EXPECT_FAILS(xcr_instance_create(device.get(), module.get(), &options, &instance),
                   XCR_STATUS_NOT_FOUND,
                   "no scope of external parameters 'v'; the module has: 'w'");
}

//===----------------------------------------------------------------------===//
// Files that others write
//===----------------------------------------------------------------------===//

namespace {

/// A folder with main(x) = x + w and the file that w is in.
class ChangedFileTest : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/xcr-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
    weights = folder + "/w.npy";
    path = folder + "/model.vmfb";
    writeWeights(10);
    ModuleSpec spec = parameterModule("w.npy");
    // One more function adds a constant, of which there is more than one page.
    spec.constants = {
        {fb::DType::F32, {1 << 16}, bytesOf(std::vector<float>(1 << 16, 3.0f)), /*alignment=*/64}};
    spec.functions.push_back(constantFunction());
    bytes = spec.finish();
    writeFile(path, bytes);
  }
  void TearDown() override {
    unlink(weights.c_str());
    unlink(path.c_str());
    rmdir(folder.c_str());
  }

  static FunctionSpec constantFunction() {
    FunctionSpec function;
    function.name = "constant";
    function.inputs = {{"x", fb::DType::F32, {literal(4)}}};
    function.outputs = {{"y", fb::DType::F32, {literal(4)}}};
    PlanSpec plan;
    VariantSpec variant;
    variant.exportOrdinal = kAdd;
    variant.scalars = {literal(4)};
    plan.dispatch({variant}, {reads(fb::Space::Input, 0, literal(16)),
                              reads(fb::Space::Constant, 0, literal(16)),
                              writes(fb::Space::Output, 0, literal(16))});
    function.plans = {plan};
    return function;
  }
  void writeWeights(float value) {
    std::vector<uint8_t> file =
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n", 0);
    std::vector<uint8_t> data = bytesOf(std::vector<float>(4, value));
    file.insert(file.end(), data.begin(), data.end());
    writeFile(weights, file);
  }
  Module load() {
    xcr_module_t *loaded = nullptr;
    XCR_EXPECT_OK(xcr_module_load_file(xcr_string(path.c_str()), nullptr, &loaded));
    return Module(loaded);
  }
  std::vector<float> call(const Instance &instance, const char *function) {
    Buffer x = makeBuffer(device, {1, 2, 3, 4});
    xcr_buffer_t *input = x.get(), *output = nullptr;
    XCR_EXPECT_OK(xcr_invoke(instance.get(), xcr_string(function), 1, &input, 1, &output));
    Buffer y(output);
    return read<float>(y.get());
  }

  std::string folder, weights, path;
  std::vector<uint8_t> bytes;
  Device device = makeDevice();
};

} // namespace

TEST_F(ChangedFileTest, InstancesKeepWhatTheyHaveRead) {
  Module module = load();
  Instance instance = makeInstance(device, module);
  writeWeights(50);
  std::vector<uint8_t> zeros(bytes.size());
  writeFile(path, zeros);
  EXPECT_EQ(call(instance, "main"), (std::vector<float>{11, 12, 13, 14}));
  EXPECT_EQ(call(instance, "constant"), (std::vector<float>{4, 5, 6, 7}));
  ASSERT_EQ(truncate(weights.c_str(), 0), 0);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(call(instance, "main"), (std::vector<float>{11, 12, 13, 14}));
  EXPECT_EQ(call(instance, "constant"), (std::vector<float>{4, 5, 6, 7}));
}

TEST_F(ChangedFileTest, AModuleTruncatedAfterLoadingIsRefused) {
  Module module = load();
  ASSERT_EQ(truncate(path.c_str(), 4096), 0);
  xcr_instance_t *instance = nullptr;
  XCR_EXPECT_FAILS(xcr_instance_create(device.get(), module.get(), nullptr, &instance),
                   XCR_STATUS_CORRUPT, "truncated after it had been opened");
}

TEST_F(ChangedFileTest, AModuleOverwrittenAfterLoadingIsRefused) {
  Module module = load();
  // As others write it: not within the same tick of the file system's clock.
  writeFile(path, std::vector<uint8_t>(bytes.size()));
  timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  xcr_instance_t *instance = nullptr;
  XCR_EXPECT_FAILS(xcr_instance_create(device.get(), module.get(), nullptr, &instance),
                   XCR_STATUS_CORRUPT, "written after it had been opened");
}

TEST_F(ChangedFileTest, AReplacedModuleGoesOnWithTheOldFile) {
  Module module = load();
  ASSERT_EQ(unlink(path.c_str()), 0);
  writeFile(path, std::vector<uint8_t>(16));
  Instance instance = makeInstance(device, module);
  EXPECT_EQ(call(instance, "constant"), (std::vector<float>{4, 5, 6, 7}));
}

TEST_F(ChangedFileTest, TheHeaderOfAShortFileSaysWhereItEnds) {
  ASSERT_EQ(truncate(weights.c_str(), 70), 0);
  Module module = load();
  xcr_instance_t *instance = nullptr;
  XCR_EXPECT_FAILS(xcr_instance_create(device.get(), module.get(), nullptr, &instance),
                   XCR_STATUS_CORRUPT, "takes 16 bytes by its shape, the file has");
}

TEST(SafetensorsTest, NamesTheNearestArrays) {
  ParameterFile file((HostAllocator()));
  std::vector<uint8_t> bytes =
      safetensors(R"({"enc.scales":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                  R"("dec.bias":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
                  R"("enc.scal":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
                  R"("another one":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})",
                  16);
  XCR_ASSERT_OK(parse(bytes, &file));
  int64_t shape[] = {1};
  ByteRange data;
  XCR_EXPECT_FAILS(
      file.find(xcr_string("enc.scale"), fb::DType::F32, {shape, 1}, &data).release(),
      XCR_STATUS_NOT_FOUND,
      "no array 'enc.scale' among the 4 of the file; nearest are 'enc.scal', 'enc.scales', "
      "'dec.bias'");
}
