//===- CommandOrderTest.cpp - The commands that sizes have chosen --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/command_order.h"

#include "schemas/module_header.h"
#include "test/runtime/XcrTest.h"

using namespace xc;
using namespace xc::test;

namespace {
/// What a plan becomes for some choices.
struct Listed {
  std::vector<uint32_t> commands;
  std::vector<std::pair<uint32_t, uint32_t>> regions; ///< begin and count
  std::vector<std::vector<uint32_t>> edges;
};

class CommandOrderTest : public ::testing::Test {
protected:
  /// A fill; its ordinal in the plan.
  uint32_t add(const std::vector<uint32_t> &after = {}) {
    return plan.fill(writes(fb::Space::Output, 0, literal(4)), 0, 4, after);
  }
  void addChoice(uint32_t first, uint32_t second, const std::vector<uint32_t> &after = {}) {
    addNested(fb::CommandKind::Choice, plan.choices.size(), first, second, after);
    plan.choices.emplace_back(literal(0), fb::Range(nextOrdinal() - 2, 2));
  }
  void addLoop(uint32_t first, uint32_t second) {
    addNested(fb::CommandKind::Control, plan.controls.size(), first, second, {});
    plan.controls.emplace_back(true, reads(fb::Space::Input, 0, literal(1)),
                               fb::Range(nextOrdinal() - 2, 2));
  }
  void setRegions(const std::vector<uint32_t> &counts) {
    uint32_t begin = 0;
    for (uint32_t count : counts) {
      plan.regions.emplace_back(fb::Range(begin, count));
      begin += count;
    }
  }

  Status build(CommandOrder &order, const std::vector<uint8_t> &chosen) {
    ModuleSpec spec = addModule();
    spec.functions[0].plans = {plan};
    std::vector<uint8_t> bytes = spec.finish();
    const fb::Module *module = fb::GetSizePrefixedModule(bytes.data() + sizeof(ModuleHeader));
    return order.build(*module->functions()->Get(0)->plans()->Get(0),
                       {chosen.data(), chosen.size()});
  }

  Listed list(const std::vector<uint8_t> &chosen) {
    HostAllocator allocator;
    CommandOrder order(allocator);
    Listed result;
    EXPECT_TRUE(build(order, chosen).succeeded());
    for (const hal::Range &range : order.regions())
      result.regions.push_back({range.begin, range.count});
    for (uint32_t i = 0; i < order.size(); ++i) {
      result.commands.push_back(order.planOrdinal(i));
      hal::Range range = order.edgesOf(i);
      const uint32_t *first = order.edges().data + range.begin;
      result.edges.emplace_back(first, first + range.count);
    }
    return result;
  }

  PlanSpec plan;

private:
  uint32_t nextOrdinal() const { return static_cast<uint32_t>(plan.regionOrdinals.size()); }
  void addNested(fb::CommandKind kind, size_t ordinal, uint32_t first, uint32_t second,
                 const std::vector<uint32_t> &after) {
    fb::Range range(static_cast<uint32_t>(plan.edges.size()), static_cast<uint32_t>(after.size()));
    plan.edges.insert(plan.edges.end(), after.begin(), after.end());
    plan.commands.emplace_back(kind, static_cast<uint32_t>(ordinal), range);
    plan.regionOrdinals.insert(plan.regionOrdinals.end(), {first, second});
  }
};

using Edges = std::vector<std::vector<uint32_t>>;
using Numbers = std::vector<uint32_t>;
} // namespace

TEST_F(CommandOrderTest, WithoutChoicesThePlanIsTheList) {
  add();
  addLoop(1, 2);
  add({0, 1});
  add();
  add();
  add({0});
  setRegions({3, 1, 2});
  Listed listed = list({});
  EXPECT_EQ(listed.commands, (Numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(listed.edges, (Edges{{}, {}, {0, 1}, {}, {}, {0}}));
  EXPECT_EQ(listed.regions.size(), 3u);
}

/// 0; a choice after it; 2 after the choice. First region: 3 and 4 apart, 5 after both; second: 6
/// and 7, apart.
TEST_F(CommandOrderTest, EdgesGoToAndFromTheChosenCommands) {
  add();
  addChoice(1, 2, {0});
  add({1});
  add();
  add();
  add({0, 1});
  add();
  add();
  setRegions({3, 3, 2});
  Listed first = list({0});
  EXPECT_EQ(first.commands, (Numbers{0, 3, 4, 5, 2}));
  EXPECT_EQ(first.edges, (Edges{{}, {0}, {0}, {1, 2}, {3}}));
  Listed second = list({1});
  EXPECT_EQ(second.commands, (Numbers{0, 6, 7, 2}));
  EXPECT_EQ(second.edges, (Edges{{}, {0}, {0}, {1, 2}}));
  EXPECT_EQ(second.regions, (std::vector<std::pair<uint32_t, uint32_t>>{{0, 4}}));
}

/// What waits for an empty region waits for what that would have waited for, once.
TEST_F(CommandOrderTest, AnEmptyRegionPassesEdgesOn) {
  add();
  addChoice(1, 2, {0});
  add({0, 1});
  add();
  setRegions({3, 1, 0});
  EXPECT_EQ(list({1}).edges, (Edges{{}, {0}}));
  EXPECT_EQ(list({0}).edges, (Edges{{}, {0}, {0, 1}}));
}

/// A choice in a choice, and a loop in the inner one; what is not chosen leaves no region behind.
TEST_F(CommandOrderTest, ChoicesNest) {
  add();                // 0
  addChoice(1, 2, {0}); // 1
  add({1});             // 2
  addChoice(3, 4);      // 3, in region 1
  add();                // 4, in region 2
  addLoop(5, 6);        // 5, in region 3
  add();                // 6, in region 4
  add();                // 7, in region 5
  add();                // 8, in region 6
  setRegions({3, 1, 1, 1, 1, 1, 1});
  Listed loop = list({0, 0});
  EXPECT_EQ(loop.commands, (Numbers{0, 5, 2, 7, 8}));
  EXPECT_EQ(loop.edges, (Edges{{}, {0}, {1}, {}, {}}));
  EXPECT_EQ(loop.regions, (std::vector<std::pair<uint32_t, uint32_t>>{{0, 3}, {3, 1}, {4, 1}}));
  Listed inner = list({0, 1});
  EXPECT_EQ(inner.commands, (Numbers{0, 6, 2}));
  EXPECT_EQ(inner.regions.size(), 1u);
  EXPECT_EQ(list({1, 0}).commands, (Numbers{0, 4, 2}));
}

/// A choice of \p count commands apart from each other behind another: each waits for each. The
/// compiler refuses what is refused here: test/Target/LimitsTest.cpp.
static PlanSpec adjacentChoices(uint32_t count) {
  PlanSpec plan;
  plan.commands.emplace_back(fb::CommandKind::Choice, 0, fb::Range(0, 0));
  plan.commands.emplace_back(fb::CommandKind::Choice, 1, fb::Range(0, 1));
  plan.edges = {0};
  for (uint32_t i = 0; i < 2 * count; ++i)
    plan.fill(writes(fb::Space::Output, 0, literal(4)), 0, 4);
  plan.regions = {fb::Range(0, 2), fb::Range(2, count), fb::Range(2 + count, count),
                  fb::Range(2 + 2 * count, 0)};
  plan.regionOrdinals = {1, 3, 2, 3};
  plan.choices = {fb::Choice(literal(0), fb::Range(0, 2)), fb::Choice(literal(0), fb::Range(2, 2))};
  return plan;
}

// Each command names the choice a thousand times: its ends are looked at as often.
TEST_F(CommandOrderTest, EdgesThatAreNamedAgainAreBoundedToo) {
  const uint32_t kCount = 1000;
  plan.commands.emplace_back(fb::CommandKind::Choice, 0, fb::Range(0, 0));
  plan.edges.assign(kCount, 0);
  for (uint32_t i = 0; i < kCount; ++i)
    plan.fill(writes(fb::Space::Output, 0, literal(4)), 0, 4);
  for (uint32_t i = 1; i <= kCount; ++i)
    plan.commands[i] = fb::Command(fb::CommandKind::Fill, i - 1, fb::Range(0, kCount));
  for (uint32_t i = 0; i < kCount; ++i)
    plan.fill(writes(fb::Space::Output, 0, literal(4)), 0, 4);
  plan.regions = {fb::Range(0, 1 + kCount), fb::Range(1 + kCount, kCount),
                  fb::Range(1 + 2 * kCount, 0)};
  plan.regionOrdinals = {1, 2};
  plan.choices = {fb::Choice(literal(0), fb::Range(0, 2))};
  HostAllocator allocator;
  CommandOrder order(allocator);
  XCR_EXPECT_FAILS(build(order, {0}).release(), XCR_STATUS_UNSUPPORTED, "wait for each other");
}

TEST_F(CommandOrderTest, EdgesAreBoundedByThePlan) {
  HostAllocator allocator;
  CommandOrder order(allocator);
  plan = adjacentChoices(1056);
  XCR_EXPECT_OK(build(order, {0, 0}).release());
  EXPECT_EQ(order.edges().size, 1056u * 1057);
  plan = adjacentChoices(1057);
  XCR_EXPECT_FAILS(build(order, {0, 0}).release(), XCR_STATUS_UNSUPPORTED,
                   "wait for each other more than 1116320 times");
}
