//===- NpyFileTest.cpp - Reading and writing .npy files -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/NpyFile.h"

#include "test/tools/FolderTest.h"

#include <cstring>
#include <fstream>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace xc::tools;

namespace {
class NpyFileTest : public FolderTest {
protected:
  std::string path(const std::string &name = "x.npy") const { return FolderTest::path(name); }

  /// Writes a version 1 file with this dictionary and these bytes.
  void writeRaw(const std::string &dict, const std::string &data) {
    std::string header("\x93NUMPY\x01\x00", 8);
    header += char(dict.size() & 0xff);
    header += char(dict.size() >> 8);
    std::ofstream(path(), std::ios::binary) << header << dict << data;
  }

  std::string readFailure() {
    Result<HostArray> array = readNpy(path());
    return array ? "" : array.error().message();
  }
};

std::string dict(const char *descr, const char *shape, const char *fortran = "False") {
  return std::string("{'descr': '") + descr + "', 'fortran_order': " + fortran +
         ", 'shape': " + shape + ", }\n";
}

HostArray iota(DType dtype, std::vector<int64_t> dims) {
  Result<HostArray> array = HostArray::create(dtype, std::move(dims));
  for (int64_t i = 0; i < array->elementCount(); ++i)
    if (dtypeClass(dtype) == DTypeClass::Float)
      array->setFloat(i, double(i));
    else
      array->setInteger(i, dtypeClass(dtype) == DTypeClass::Bool ? i & 1 : i);
  return std::move(*array);
}

TEST_F(NpyFileTest, EveryTypeComesBack) {
  for (int code = XCR_DTYPE_I1; code <= XCR_DTYPE_F64; ++code) {
    HostArray written = iota(DType(code), {2, 3});
    Error error = writeNpy(path(), written);
    ASSERT_FALSE(error) << error.message();
    Result<HostArray> read = readNpy(path());
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->shapeString(), written.shapeString());
    EXPECT_EQ(memcmp(read->data(), written.data(), written.sizeInBytes()), 0)
        << written.shapeString();
  }
}

TEST_F(NpyFileTest, ScalarsAndEmptyArraysComeBack) {
  for (std::vector<int64_t> dims : {std::vector<int64_t>{}, {0}, {3, 0, 2}, {1}}) {
    ASSERT_FALSE(writeNpy(path(), iota(XCR_DTYPE_F32, dims)));
    Result<HostArray> read = readNpy(path());
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->dims(), dims);
  }
}

TEST_F(NpyFileTest, DataBeginsAt64Bytes) {
  for (std::vector<int64_t> dims : {std::vector<int64_t>{}, {7}, {1, 2, 3, 4, 5, 6}})
    EXPECT_EQ(npyHeader(iota(XCR_DTYPE_U8, dims)).size() % 64, 0u);
}

TEST_F(NpyFileTest, BFloat16IsTwoByteVoid) {
  EXPECT_NE(npyHeader(iota(XCR_DTYPE_BF16, {2})).find("'|V2'"), std::string::npos);
}

TEST_F(NpyFileTest, FortranOrderIsTransposed) {
  writeRaw(dict("|u1", "(2, 3)", "True"), std::string("\0\3\1\4\2\5", 6));
  Result<HostArray> read = readNpy(path());
  ASSERT_TRUE(read) << read.error().message();
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(read->integerAt(i), i);
}

TEST_F(NpyFileTest, BigEndianIsSwapped) {
  writeRaw(dict(">i4", "(2,)"), std::string("\0\0\0\1\0\0\1\0", 8));
  Result<HostArray> read = readNpy(path());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->integerAt(0), 1);
  EXPECT_EQ(read->integerAt(1), 256);
}

TEST_F(NpyFileTest, TooFewBytesAreRefused) {
  writeRaw(dict("<f4", "(2, 3)"), std::string(20, 'x'));
  EXPECT_EQ(readFailure(), "'" + path() +
                               "' says that it holds 2x3xf32, which takes 24 "
                               "bytes, but 20 bytes follow its header");
}

TEST_F(NpyFileTest, TooManyBytesAreRefused) {
  writeRaw(dict("<f4", "(1,)"), std::string(8, 'x'));
  EXPECT_NE(readFailure().find("takes 4 bytes, but 8 bytes follow"), std::string::npos);
}

TEST_F(NpyFileTest, PromisedTerabytesAreNotAllocated) {
  writeRaw(dict("<f8", "(1000000, 1000000)"), "1234");
  EXPECT_NE(readFailure().find("takes 8000000000000 bytes, but 4 bytes"), std::string::npos);
}

TEST_F(NpyFileTest, OverflowingSizeIsRefused) {
  writeRaw(dict("<f8", "(4294967296, 4294967296)"), "1234");
  EXPECT_NE(readFailure().find("does not fit into 63 bits"), std::string::npos);
}

TEST_F(NpyFileTest, NegativeDimensionIsRefused) {
  writeRaw(dict("<f8", "(-1,)"), "");
  EXPECT_NE(readFailure().find("expected a tuple"), std::string::npos);
}

TEST_F(NpyFileTest, UnknownElementTypeListsKnownOnes) {
  writeRaw(dict("<c8", "(1,)"), "12345678");
  EXPECT_NE(readFailure().find("element type '<c8'; known are b1, i1"), std::string::npos);
}

TEST_F(NpyFileTest, ObjectsAreRefused) {
  writeRaw(dict("|O", "(1,)"), "12345678");
  EXPECT_NE(readFailure().find("element type '|O'"), std::string::npos);
}

TEST_F(NpyFileTest, HeaderLongerThanFileIsRefused) {
  std::ofstream(path(), std::ios::binary) << std::string("\x93NUMPY\x01\x00\xff\x7f{", 11);
  EXPECT_NE(readFailure().find("header takes 32767 bytes, but only 1 follow"), std::string::npos);
}

TEST_F(NpyFileTest, OtherFilesAreRefused) {
  std::ofstream(path()) << "1,2,3\n4,5,6\n";
  EXPECT_NE(readFailure().find("is not a .npy file"), std::string::npos);
}

TEST_F(NpyFileTest, EmptyDictionariesAreRefused) {
  for (const char *text : {"", "{", "{}", "'descr'", "{'descr':", "{'shape': ("}) {
    writeRaw(text, "");
    EXPECT_NE(readFailure().find("header without"), std::string::npos) << text;
  }
}

TEST_F(NpyFileTest, MissingFileIsNamed) {
  Result<HostArray> array = readNpy(path("absent.npy"));
  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().message(),
            "cannot open '" + path("absent.npy") + "': No such file or directory");
}

TEST_F(NpyFileTest, FailedWriteLeavesNothing) {
  Error error = writeNpy(path("absent/x.npy"), iota(XCR_DTYPE_F32, {2}));
  ASSERT_TRUE(error);
  EXPECT_NE(error.message().find("cannot write"), std::string::npos);
  EXPECT_TRUE(entries().empty());
}

TEST_F(NpyFileTest, FullDiskLeavesTheOldFileAlone) {
  // A file size limit fails the write after the temporary file was made, as a
  // full disk does. It must not end the process, so its signal is ignored.
  ASSERT_FALSE(writeNpy(path(), iota(XCR_DTYPE_U8, {4})));
  pid_t child = fork();
  if (child == 0) {
    rlimit limit = {1024, 1024};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    Error error = writeNpy(path(), iota(XCR_DTYPE_F32, {100000}));
    _exit(error ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(entries(), std::set<std::string>{"x.npy"});
  Result<HostArray> read = readNpy(path());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->shapeString(), "4xu8");
}

TEST_F(NpyFileTest, DirectoryIsNotReplaced) {
  Error error = writeNpy(directory, iota(XCR_DTYPE_F32, {2}));
  ASSERT_TRUE(error);
  EXPECT_NE(error.message().find("Is a directory"), std::string::npos);
}
} // namespace

TEST_F(NpyFileTest, AnOrderIsTrueOrFalse) {
  writeRaw("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }\n", "abcd");
  EXPECT_NE(readFailure().find("fortran_order is neither True nor False, but Maybe"),
            std::string::npos);
}

TEST_F(NpyFileTest, AHeaderIsOneDictionaryOfThreeKeys) {
  const char *more = "has a header that is more than descr, fortran_order and shape";
  writeRaw(dict("<f4", "(1,)") + "junk\n", "abcd");
  EXPECT_NE(readFailure().find(more), std::string::npos);
  writeRaw("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", "abcd");
  EXPECT_NE(readFailure().find(more), std::string::npos);
  writeRaw("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}\n", "abcd");
  EXPECT_NE(readFailure().find(more), std::string::npos);
  writeRaw(dict("<f4", "(1)"), "abcd");
  EXPECT_NE(readFailure().find("has the shape '(1)', expected a tuple"), std::string::npos);
}

TEST_F(NpyFileTest, APipeIsRefusedAtOnce) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_NE(readFailure().find("not a regular file"), std::string::npos);
}
