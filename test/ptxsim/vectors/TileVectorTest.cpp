//===- TileVectorTest.cpp - Tile forms against recorded hardware ----------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs through the driver stand-in, as tensor maps are the driver's.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <gtest/gtest.h>

using namespace xc::vectors;

namespace {

class TileVectors : public testing::Test {
protected:
  void SetUp() override {
    std::string error;
    ASSERT_TRUE(readTileRecords(XC_TILE_RECORD, records, error)) << error;
    // Some forms make a launch fail; their reports are no news.
    setenv("PTXSIM_REPORT", "/dev/null", 1);
    setenv("PTXSIM_ARCH", "sm_90a", 1);
    ASSERT_TRUE(driver.load(PTXSIM_LIBRARY));
  }

  TileRecords records;
  Driver driver;
};

TEST_F(TileVectors, SimulatorMatchesHardware) {
  for (const TileForm &form : allTileForms()) {
    auto it = records.forms.find(form.name);
    ASSERT_NE(it, records.forms.end()) << form.name;
    ASSERT_EQ(it->second.fingerprint, fingerprint(form)) << form.name;
    ASSERT_FALSE(it->second.refused) << form.name;
    std::vector<uint8_t> output;
    RunStatus status = runTileForm(driver, form, output);
    ASSERT_NE(status, RunStatus::Refused) << form.name;
    EXPECT_EQ(status == RunStatus::Failed, it->second.failed) << form.name;
    if ((status == RunStatus::Failed) == it->second.failed) {
      EXPECT_EQ(compareTile(it->second, output), "") << form.name;
    }
    if (status == RunStatus::Failed) {
      ASSERT_TRUE(driver.renew());
    }
  }
  EXPECT_GT(allTileForms().size(), 400u);
}

} // namespace
