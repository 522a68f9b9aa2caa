//===- FolderTest.h - Tests that write files --------------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_TOOLS_FOLDERTEST_H
#define XC_TEST_TOOLS_FOLDERTEST_H

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

namespace xc::tools {

/// A test with an empty folder of its own, which goes with it.
class FolderTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "xc-tools-test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  std::string path(const std::string &name) const { return directory + "/" + name; }
  std::set<std::string> entries() const {
    std::set<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(directory))
      names.insert(entry.path().filename());
    return names;
  }

  std::string directory;
};

} // namespace xc::tools

#endif // XC_TEST_TOOLS_FOLDERTEST_H
