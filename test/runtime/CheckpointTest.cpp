//===- CheckpointTest.cpp - Variables in files ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/XcrTest.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace xc;
using namespace xc::test;

namespace {
/// step(x): total += x. Variables of several types, one with a name that JSON escapes.
class CheckpointTest : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/xcr-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
    path = folder + "/checkpoint.safetensors";
    ModuleSpec spec = kernelModule();
    spec.constants = {{fb::DType::F32, {4}, bytesOf(iota(4, 100))}};
    spec.variables = {{"flags", fb::DType::I1, {3}},
                      {"total", fb::DType::F32, {4}, 0},
                      {"a \"quoted\" \\ name", fb::DType::F16, {2, 3}},
                      {"empty", fb::DType::BF16, {0, 7}},
                      {"count", fb::DType::I64, {}}};
    FunctionSpec step;
    step.name = "step";
    step.inputs = {{"x", fb::DType::F32, {literal(4)}}};
    PlanSpec add;
    VariantSpec variant;
    variant.exportOrdinal = kAccumulate;
    variant.scalars = {literal(4)};
    add.dispatch({variant}, {binding(fb::Space::Variable, 1, literal(16), fb::Access::ReadWrite),
                             reads(fb::Space::Input, 0, literal(16))});
    step.plans = {add};
    spec.functions = {step};
    bytes = spec.finish();
    device = makeDevice();
    module = loadModule(bytes);
    instance = makeInstance(device, module);
  }
  void TearDown() override {
    for (const std::string &file : files())
      unlink((folder + "/" + file).c_str());
    rmdir(folder.c_str());
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    DIR *listing = opendir(folder.c_str());
    while (dirent *entry = readdir(listing))
      if (entry->d_name[0] != '.')
        names.push_back(entry->d_name);
    closedir(listing);
    std::sort(names.begin(), names.end());
    return names;
  }
  xcr_buffer_t *variable(const Instance &of, const char *name) {
    xcr_buffer_t *buffer = nullptr;
    XCR_EXPECT_OK(xcr_instance_get_variable(of.get(), xcr_string(name), &buffer));
    return buffer;
  }
  template <typename T> void set(const char *name, const std::vector<T> &values) {
    XCR_EXPECT_OK(
        xcr_buffer_write(variable(instance, name), 0, values.data(), values.size() * sizeof(T)));
  }
  xcr_status_t save() {
    return xcr_instance_save_variables(instance.get(), xcr_string(path.c_str()));
  }
  xcr_status_t restore(const Instance &to, uint32_t flags = 0) {
    return xcr_instance_restore_variables(to.get(), xcr_string(path.c_str()), flags);
  }
  /// Writes a .safetensors file with this header.
  void write(const std::string &header, size_t dataBytes) {
    FILE *file = fopen(path.c_str(), "wb");
    uint64_t size = header.size();
    fwrite(&size, sizeof(size), 1, file);
    fwrite(header.data(), 1, header.size(), file);
    for (size_t i = 0; i < dataBytes; ++i)
      fputc(1, file);
    fclose(file);
  }

  std::string folder, path;
  std::vector<uint8_t> bytes;
  Device device;
  Module module;
  Instance instance;
};
} // namespace

TEST_F(CheckpointTest, WhatIsSavedIsRestored) {
  const char *quoted = "a \"quoted\" \\ name";
  set<uint8_t>("flags", {1, 0, 1});
  set<float>("total", {1, 2, 3, 4});
  set<uint16_t>(quoted, {1, 2, 3, 4, 5, 6});
  set<int64_t>("count", {-7});
  XCR_ASSERT_OK(save());
  EXPECT_EQ(files(), std::vector<std::string>{"checkpoint.safetensors"});

  Instance second = makeInstance(device, module);
  EXPECT_EQ(read<float>(variable(second, "total")), iota(4, 100));
  XCR_ASSERT_OK(restore(second));
  EXPECT_EQ(read<uint8_t>(variable(second, "flags")), (std::vector<uint8_t>{1, 0, 1}));
  EXPECT_EQ(read<float>(variable(second, "total")), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(read<uint16_t>(variable(second, quoted)), (std::vector<uint16_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read<int64_t>(variable(second, "count")), (std::vector<int64_t>{-7}));
}

TEST_F(CheckpointTest, TheFileIsAsTheFormatWantsIt) {
  XCR_ASSERT_OK(save());
  std::vector<uint8_t> file = readFile(path.c_str());
  uint64_t length;
  memcpy(&length, file.data(), sizeof(length));
  ASSERT_LE(8 + length, file.size());
  EXPECT_EQ(length % 8, 0u);
  std::string header(file.begin() + 8, file.begin() + 8 + static_cast<long>(length));
  header.erase(header.find_last_not_of(' ') + 1);
  // Wide elements first; offsets without gaps from 0 to the end.
  EXPECT_EQ(header,
            R"({"__metadata__":{"format":"pt"},)"
            R"("count":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
            R"("total":{"dtype":"F32","shape":[4],"data_offsets":[8,24]},)"
            R"("a \"quoted\" \\ name":{"dtype":"F16","shape":[2,3],"data_offsets":[24,36]},)"
            R"("empty":{"dtype":"BF16","shape":[0,7],"data_offsets":[36,36]},)"
            R"("flags":{"dtype":"BOOL","shape":[3],"data_offsets":[36,39]}})");
  EXPECT_EQ(file.size(), 8 + length + 39);
}

TEST_F(CheckpointTest, SavingWaitsForLaunches) {
  Stream stream = makeStream(device);
  Call call = makeCall(instance, "step");
  Buffer one = makeBuffer(device, std::vector<float>(4, 1.0f));
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, one.get()));
  for (int i = 0; i < 50; ++i)
    XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  XCR_ASSERT_OK(save());
  Instance second = makeInstance(device, module);
  XCR_ASSERT_OK(restore(second));
  EXPECT_EQ(read<float>(variable(second, "total")), iota(4, 150));
}

TEST_F(CheckpointTest, SavingReplacesAFileOrLeavesIt) {
  XCR_ASSERT_OK(save());
  set<float>("total", {5, 6, 7, 8});
  XCR_ASSERT_OK(save());
  XCR_ASSERT_OK(restore(instance));
  EXPECT_EQ(read<float>(variable(instance, "total")), (std::vector<float>{5, 6, 7, 8}));
  path = folder + "/none/checkpoint.safetensors";
  XCR_EXPECT_FAILS(save(), XCR_STATUS_NOT_FOUND, "cannot create '");
  path = folder;
  XCR_EXPECT_FAILS(save(), XCR_STATUS_IO, "not a regular file");
  path = "";
  XCR_EXPECT_FAILS(save(), XCR_STATUS_NOT_FOUND, "cannot create ''");
  EXPECT_EQ(files(), std::vector<std::string>{"checkpoint.safetensors"});
}

TEST_F(CheckpointTest, SavingFollowsLinks) {
  const std::string target = path;
  path = folder + "/latest";
  ASSERT_EQ(symlink("checkpoint.safetensors", path.c_str()), 0);
  for (int i = 0; i < 2; ++i) { // first where the link leads nowhere yet
    XCR_ASSERT_OK(save());
    EXPECT_EQ(files(), (std::vector<std::string>{"checkpoint.safetensors", "latest"}));
    struct stat info;
    ASSERT_EQ(lstat(path.c_str(), &info), 0);
    EXPECT_TRUE(S_ISLNK(info.st_mode));
    ASSERT_EQ(chmod(target.c_str(), 0600), 0);
  }
  struct stat info;
  XCR_ASSERT_OK(save());
  ASSERT_EQ(stat(target.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u) << "others may read what was for one user";
  XCR_ASSERT_OK(restore(instance));
  path = folder + "/round";
  ASSERT_EQ(symlink("round", path.c_str()), 0);
  XCR_EXPECT_FAILS(save(), XCR_STATUS_IO, "cannot create '");
}

TEST_F(CheckpointTest, ThreadsSaveSideBySide) {
  std::vector<std::thread> threads;
  std::vector<xcr_status_t> statuses(8);
  for (xcr_status_t &status : statuses)
    threads.emplace_back([&] { status = save(); });
  for (std::thread &thread : threads)
    thread.join();
  for (xcr_status_t status : statuses)
    XCR_EXPECT_OK(status);
  EXPECT_EQ(files(), std::vector<std::string>{"checkpoint.safetensors"});
  XCR_EXPECT_OK(restore(instance));
}

TEST_F(CheckpointTest, NothingChangesUnlessAllFits) {
  write(R"({"flags":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})", 3);
  XCR_EXPECT_FAILS(restore(instance), XCR_STATUS_NOT_FOUND,
                   "no array 'total'; the file has: 'flags'");
  EXPECT_EQ(read<uint8_t>(variable(instance, "flags")), (std::vector<uint8_t>{0, 0, 0}));
  write(R"({"flags":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]},)"
        R"("total":{"dtype":"F32","shape":[2,2],"data_offsets":[3,19]}})",
        19);
  for (uint32_t flags : {0u, 1u})
    XCR_EXPECT_FAILS(restore(instance, flags), XCR_STATUS_INVALID_ARGUMENT,
                     "array 'total': expected 4xf32, got 2x2xf32");
  EXPECT_EQ(read<uint8_t>(variable(instance, "flags")), (std::vector<uint8_t>{0, 0, 0}));
}

TEST_F(CheckpointTest, PartialFilesAndOtherArrays) {
  set<float>("total", {1, 2, 3, 4});
  write(R"({"flags":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]},)"
        R"("other":{"dtype":"F32","shape":[1],"data_offsets":[3,7]}})",
        7);
  XCR_ASSERT_OK(restore(instance, XCR_RESTORE_PARTIAL));
  EXPECT_EQ(read<uint8_t>(variable(instance, "flags")), (std::vector<uint8_t>{1, 1, 1}));
  EXPECT_EQ(read<float>(variable(instance, "total")), (std::vector<float>{1, 2, 3, 4}));
  write(R"({"other":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4);
  XCR_EXPECT_FAILS(restore(instance, XCR_RESTORE_PARTIAL), XCR_STATUS_NOT_FOUND,
                   "none of its 1 arrays is called as a variable of the module");
  XCR_EXPECT_FAILS(restore(instance, 2), XCR_STATUS_INVALID_ARGUMENT,
                   "flags: 0x2 holds a flag that is not known");
}

TEST_F(CheckpointTest, BadFilesAreRefused) {
  XCR_EXPECT_FAILS(restore(instance), XCR_STATUS_NOT_FOUND, "cannot open '");
  XCR_ASSERT_OK(save());
  std::vector<uint8_t> file = readFile(path.c_str());
  for (size_t size = 0; size < file.size(); size += 7) {
    ASSERT_EQ(truncate(path.c_str(), 0), 0);
    FILE *out = fopen(path.c_str(), "wb");
    fwrite(file.data(), 1, size, out);
    fclose(out);
    XCR_EXPECT_FAILS(restore(instance), XCR_STATUS_CORRUPT, "checkpoint.safetensors");
  }
  const char npy[] = "\x93NUMPY\1\0\x3e\0{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
                     "    \n0123456789abcdef";
  FILE *out = fopen(path.c_str(), "wb");
  fwrite(npy, 1, sizeof(npy) - 1, out);
  fclose(out);
  XCR_EXPECT_FAILS(restore(instance, XCR_RESTORE_PARTIAL), XCR_STATUS_INVALID_ARGUMENT,
                   "expected a .safetensors file, got a .npy file");
}
