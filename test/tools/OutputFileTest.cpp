//===- OutputFileTest.cpp - Where files are written -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/OutputFile.h"

#include "test/tools/FolderTest.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace xc::tools;
namespace fs = std::filesystem;

namespace {
class OutputFileTest : public FolderTest {
protected:
  std::string read(const char *name) {
    std::ifstream stream(path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }
  std::string writeFailure(const std::string &to) { return writeFile(to, "new").message(); }
  static mode_t modeOf(const std::string &file) {
    struct stat info = {};
    EXPECT_EQ(lstat(file.c_str(), &info), 0);
    return info.st_mode;
  }
};

TEST_F(OutputFileTest, AFileTakesItsNameWhenItIsWhole) {
  ASSERT_EQ(writeFailure(path("file")), "");
  {
    Result<OutputFile> file = OutputFile::open(path("file"));
    ASSERT_TRUE(file);
    ASSERT_FALSE(file->write("newer", 5));
    EXPECT_EQ(read("file"), "new");
  }
  EXPECT_EQ(read("file"), "new") << "a file that was not committed replaced one";
  EXPECT_EQ(entries(), std::set<std::string>{"file"});
  EXPECT_FALSE(OutputFile::check(path("file")));
  EXPECT_FALSE(OutputFile::check(path("other")));
  EXPECT_EQ(entries(), std::set<std::string>{"file"});
}

TEST_F(OutputFileTest, AFileStaysForWhomItWas) {
  ASSERT_EQ(writeFailure(path("file")), "");
  ASSERT_EQ(chmod(path("file").c_str(), 0640), 0);
  ASSERT_EQ(writeFailure(path("file")), "");
  EXPECT_EQ(modeOf(path("file")) & 0777, 0640u);
}

TEST_F(OutputFileTest, LinksAreFollowed) {
  fs::create_directory(path("folder"));
  fs::create_symlink("folder/target", path("relative"));
  fs::create_symlink(path("relative"), path("absolute"));
  for (const char *name : {"absolute", "relative"}) { // first where they lead nowhere yet
    ASSERT_FALSE(writeFile(path(name), name));
    EXPECT_EQ(read("folder/target"), name);
    EXPECT_TRUE(S_ISLNK(modeOf(path("relative"))) && S_ISLNK(modeOf(path("absolute"))));
  }
  EXPECT_EQ(entries(), (std::set<std::string>{"absolute", "folder", "relative"}));
  fs::create_symlink("round", path("round"));
  EXPECT_EQ(writeFailure(path("round")),
            "cannot write '" + path("round") + "': Too many levels of symbolic links");
}

TEST_F(OutputFileTest, PipesAndDevicesAreWrittenInPlace) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", path("link"));
  for (const char *name : {"pipe", "link"}) {
    EXPECT_TRUE(OutputFile::isInPlace(path(name)));
    EXPECT_FALSE(OutputFile::check(path(name))); // without a reader
    std::string text;
    std::thread reader([&] { text = read("pipe"); });
    EXPECT_EQ(writeFailure(path(name)), "");
    reader.join();
    EXPECT_EQ(text, "new");
  }
  EXPECT_TRUE(S_ISFIFO(modeOf(path("pipe"))) && S_ISLNK(modeOf(path("link"))));
  EXPECT_EQ(writeFailure("/dev/null"), "");
  EXPECT_TRUE(S_ISCHR(modeOf("/dev/null")));
  EXPECT_EQ(writeFailure("/dev/full"), "cannot write '/dev/full': No space left on device");
  EXPECT_TRUE(S_ISCHR(modeOf("/dev/full")));
}

TEST_F(OutputFileTest, DescriptorsGoOnWhereTheyAre) {
  int descriptor = open(path("file").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(write(descriptor, "before ", 7), 7);
  for (const char *folder : {"/dev/fd/", "/proc/self/fd/"}) {
    const std::string name = folder + std::to_string(descriptor);
    EXPECT_TRUE(OutputFile::isInPlace(name));
    EXPECT_FALSE(OutputFile::check(name));
    EXPECT_EQ(writeFailure(name), "");
  }
  ASSERT_EQ(write(descriptor, " after", 6), 6) << "the descriptor was closed";
  close(descriptor);
  EXPECT_EQ(read("file"), "before newnew after");
}

TEST_F(OutputFileTest, WhatCannotBeWrittenIsNamed) {
  EXPECT_EQ(writeFailure(directory), "cannot write '" + directory + "': Is a directory");
  EXPECT_EQ(OutputFile::check(directory).message(),
            "cannot write '" + directory + "': Is a directory");
  EXPECT_EQ(writeFailure(path("absent/file")),
            "cannot write '" + path("absent/file") + "': No such file or directory");
  EXPECT_EQ(OutputFile::check("").message(), "cannot write '': No such file or directory");
  EXPECT_TRUE(entries().empty());
}
} // namespace
