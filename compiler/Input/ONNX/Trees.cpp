//===- Trees.cpp - ONNX's ensembles of decision trees ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All trees go down one level at a time, for all samples at once: [N, trees] node numbers, and what
// a node says is taken from lists. Leaves are nodes whose branches lead to themselves, so trees of
// all depths take as many steps as the deepest one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ONNX/NodeImport.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

namespace {
/// How a node compares an element of the sample with its number; numbered as ONNX does.
enum Mode { LessEqual, Less, GreaterEqual, Greater, Equal, NotEqual, Member, Leaf };

struct TreeNode {
  Mode mode = Leaf;
  int64_t feature = 0;
  double split = 0;
  bool missingIsTrue = false;
  int64_t yes = 0, no = 0;     // nodes
  SmallVector<double> weights; // of a leaf, for each target
};

struct Forest {
  std::vector<TreeNode> nodes;
  SmallVector<int64_t> roots;
  int64_t targets = 1;
  std::string aggregate = "SUM", transform = "NONE";
  SmallVector<double> base; // empty, or one for each target

  int64_t addLeaf() {
    nodes.emplace_back().weights.assign(targets, 0);
    nodes.back().yes = nodes.back().no = nodes.size() - 1;
    return nodes.size() - 1;
  }
};
} // namespace

/// Larger ones are no trees, or would take as many ops as levels.
static constexpr int64_t kMostLevels = 64, kMostTargets = 4096;

//===----------------------------------------------------------------------===//
// What the attributes say
//===----------------------------------------------------------------------===//

template <typename T> static void readAs(StringRef bytes, SmallVector<double> &values) {
  for (size_t place = 0; place + sizeof(T) <= bytes.size(); place += sizeof(T)) {
    T value;
    memcpy(&value, bytes.data() + place, sizeof(T));
    values.push_back(double(value));
  }
}

/// A list of numbers: an attribute of floats, or a tensor.
static SmallVector<double> readNumbers(NodeImport &n, StringRef floats, StringRef tensorName) {
  SmallVector<double> values;
  const Tensor *tensor = tensorName.empty() ? nullptr : n.tensor(tensorName);
  if (!tensor)
    return floats.empty() ? values : n.numberList(floats);
  if (tensor->dataType == kFloat)
    readAs<float>(tensor->bytes, values);
  else if (tensor->dataType == kDouble)
    readAs<double>(tensor->bytes, values);
  else if (tensor->dataType == kUInt8)
    readAs<uint8_t>(tensor->bytes, values);
  else
    n.error("expected attribute '" + tensorName + "' to hold f32 or f64");
  return values;
}

/// A list that may be left out, where all of it is 0.
static SmallVector<int64_t> readFlags(NodeImport &n, StringRef name, size_t count) {
  SmallVector<int64_t> zeros(count, 0), flags = n.integerList(name, zeros);
  if (flags.size() != count)
    n.error("expected " + Twine(count) + " elements in '" + name + "', got " + Twine(flags.size()));
  flags.resize(count, 0);
  return flags;
}

/// A node that asks whether an element is one of several becomes a chain of those that compare it
/// with one.
static bool expandMembers(NodeImport &n, Forest &forest) {
  SmallVector<double> members = readNumbers(n, "", "membership_values");
  const double *next = members.begin();
  for (size_t number = 0, count = forest.nodes.size(); number < count; ++number) {
    if (forest.nodes[number].mode != Member)
      continue;
    size_t current = number;
    TreeNode node = forest.nodes[number];
    if (next == members.end() || std::isnan(*next))
      return n.error("expected members for each node of mode BRANCH_MEMBER"), false;
    for (; next != members.end() && !std::isnan(*next); ++next) {
      bool isLast = next + 1 == members.end() || std::isnan(next[1]);
      forest.nodes[current] = node;
      forest.nodes[current].mode = Equal;
      forest.nodes[current].split = *next;
      if (isLast)
        continue;
      forest.nodes[current].no = forest.nodes.size();
      current = forest.nodes.size();
      forest.nodes.emplace_back();
    }
    next += next != members.end(); // the NaN between two sets
  }
  return true;
}

/// As of version 5 of ai.onnx.ml: inner nodes and leaves are numbered apart.
static Forest readForest(NodeImport &n) {
  Forest forest;
  forest.targets = n.integer("n_targets", 1);
  SmallVector<int64_t> features = n.integerList("nodes_featureids");
  size_t count = features.size();
  SmallVector<double> splits = readNumbers(n, "", "nodes_splits"),
                      modes = readNumbers(n, "", "nodes_modes"),
                      weights = readNumbers(n, "", "leaf_weights");
  SmallVector<int64_t> yes = readFlags(n, "nodes_truenodeids", count),
                       no = readFlags(n, "nodes_falsenodeids", count),
                       yesIsLeaf = readFlags(n, "nodes_trueleafs", count),
                       noIsLeaf = readFlags(n, "nodes_falseleafs", count),
                       missing = readFlags(n, "nodes_missing_value_tracks_true", count),
                       targets = readFlags(n, "leaf_targetids", weights.size());
  forest.roots = n.integerList("tree_roots");
  constexpr const char *kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  constexpr const char *kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  int64_t aggregate = n.integer("aggregate_function", 1),
          transform = n.integer("post_transform", 0);
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4 || forest.targets < 1 ||
      forest.targets > kMostTargets || splits.size() != count || modes.size() != count) {
    n.error("expected a split and a mode for each node, 1 to " + Twine(kMostTargets) +
            " targets, and an aggregate and a transform that are known");
    return forest;
  }
  forest.aggregate = kAggregates[aggregate];
  forest.transform = kTransforms[transform];
  for (size_t i = 0; i < count; ++i) {
    TreeNode &node = forest.nodes.emplace_back();
    node.mode = modes[i] <= Member ? Mode(modes[i]) : Leaf;
    node.feature = features[i];
    node.split = splits[i];
    node.missingIsTrue = missing[i] != 0;
    // Leaves come behind the nodes.
    node.yes = yes[i] + (yesIsLeaf[i] ? int64_t(count) : 0);
    node.no = no[i] + (noIsLeaf[i] ? int64_t(count) : 0);
  }
  for (auto [target, weight] : llvm::zip_equal(targets, weights)) {
    TreeNode &leaf = forest.nodes[forest.addLeaf()];
    if (target < 0 || target >= forest.targets)
      n.error("leaf_targetids holds " + Twine(target) + "; expected 0 to " +
              Twine(forest.targets - 1));
    else
      leaf.weights[target] = weight;
  }
  return forest;
}

static Mode readMode(StringRef name) {
  return llvm::StringSwitch<Mode>(name)
      .Case("BRANCH_LEQ", LessEqual)
      .Case("BRANCH_LT", Less)
      .Case("BRANCH_GTE", GreaterEqual)
      .Case("BRANCH_GT", Greater)
      .Case("BRANCH_EQ", Equal)
      .Case("BRANCH_NEQ", NotEqual)
      .Default(Leaf);
}

/// Of older versions: nodes have a number within their tree, and leaves are nodes.
static Forest readNumberedForest(NodeImport &n) {
  Forest forest;
  forest.targets = n.integer("n_targets", 1);
  forest.aggregate = n.text("aggregate_function", "SUM");
  forest.transform = n.text("post_transform", "NONE");
  forest.base = readNumbers(n, "base_values", "base_values_as_tensor");
  SmallVector<int64_t> features = n.integerList("nodes_featureids");
  size_t count = features.size();
  std::vector<std::string> modes = n.textList("nodes_modes");
  SmallVector<double> splits = readNumbers(n, "nodes_values", "nodes_values_as_tensor"),
                      weights = readNumbers(n, "target_weights", "target_weights_as_tensor");
  SmallVector<int64_t> trees = readFlags(n, "nodes_treeids", count),
                       numbers = readFlags(n, "nodes_nodeids", count),
                       yes = readFlags(n, "nodes_truenodeids", count),
                       no = readFlags(n, "nodes_falsenodeids", count),
                       missing = readFlags(n, "nodes_missing_value_tracks_true", count),
                       leafTrees = readFlags(n, "target_treeids", weights.size()),
                       leafNumbers = readFlags(n, "target_nodeids", weights.size()),
                       targets = readFlags(n, "target_ids", weights.size());
  if (splits.size() != count || modes.size() != count || forest.targets < 1 ||
      forest.targets > kMostTargets) {
    n.error("expected a value and a mode for each node, and 1 to " + Twine(kMostTargets) +
            " targets");
    return forest;
  }
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
  for (size_t i = 0; i < count; ++i) {
    // The first node of a tree is its root.
    if (i == 0 || trees[i] != trees[i - 1])
      forest.roots.push_back(i);
    places[{trees[i], numbers[i]}] = i;
  }
  auto find = [&](int64_t tree, int64_t number) -> int64_t {
    auto it = places.find({tree, number});
    if (it != places.end())
      return it->second;
    n.error("tree " + Twine(tree) + " has no node " + Twine(number));
    return 0;
  };
  for (size_t i = 0; i < count; ++i) {
    TreeNode &node = forest.nodes[forest.addLeaf()];
    node.mode = readMode(modes[i]);
    if (node.mode == Leaf)
      continue;
    node.feature = features[i];
    node.split = splits[i];
    node.missingIsTrue = missing[i] != 0;
    node.yes = find(trees[i], yes[i]);
    node.no = find(trees[i], no[i]);
  }
  for (auto [tree, number, target, weight] :
       llvm::zip_equal(leafTrees, leafNumbers, targets, weights)) {
    if (target < 0 || target >= forest.targets)
      n.error("target_ids holds " + Twine(target) + "; expected 0 to " + Twine(forest.targets - 1));
    else
      forest.nodes[find(tree, number)].weights[target] += weight;
  }
  return forest;
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

/// How many steps lead from the roots to all leaves; an error where nodes lead nowhere, or in
/// circles.
static int64_t countLevels(NodeImport &n, const Forest &forest, int64_t features) {
  int64_t count = forest.nodes.size();
  auto isNode = [&](int64_t number) { return number >= 0 && number < count; };
  if (forest.roots.empty() || !llvm::all_of(forest.roots, isNode))
    return n.error("expected roots that are nodes"), 0;
  for (const TreeNode &node : forest.nodes)
    if (!isNode(node.yes) || !isNode(node.no) || node.feature < 0 || node.feature >= features)
      return n.error("a node leads to node " + Twine(node.yes) + " or " + Twine(node.no) +
                     " by feature " + Twine(node.feature) + "; expected nodes below " +
                     Twine(count) + " and features below " + Twine(features)),
             0;
  SmallVector<int64_t> level(forest.roots);
  for (int64_t levels = 0; levels <= kMostLevels; ++levels) {
    llvm::BitVector seen(count);
    SmallVector<int64_t> next;
    for (int64_t number : level)
      if (const TreeNode &node = forest.nodes[number]; node.mode != Leaf)
        for (int64_t branch : {node.yes, node.no})
          if (!seen.test(branch)) {
            seen.set(branch);
            next.push_back(branch);
          }
    if (next.empty())
      return levels;
    level = std::move(next);
  }
  return n.error("expected trees of at most " + Twine(kMostLevels) + " levels"), 0;
}

/// What nodes say, as lists.
template <typename T>
static Value listOf(NodeImport &n, const Forest &forest, Type element, T getNumber) {
  SmallVector<double> numbers = llvm::map_to_vector(
      forest.nodes, [&](const TreeNode &node) { return double(getNumber(node)); });
  if (isa<FloatType>(element))
    return n.constantFloats(numbers, element);
  return n.constant(SmallVector<int64_t>(numbers.begin(), numbers.end()), element);
}

/// Whether `x` goes to the first branch, by the modes that nodes have.
static Value compareByMode(NodeImport &n, const Forest &forest, Value x, Value split, Value place) {
  using Dir = CompareDirection;
  constexpr Dir kDirections[] = {Dir::Le, Dir::Lt, Dir::Ge, Dir::Gt, Dir::Eq, Dir::Ne};
  Value result, modes;
  for (Mode mode : {LessEqual, Less, GreaterEqual, Greater, Equal, NotEqual}) {
    if (llvm::none_of(forest.nodes, [&](const TreeNode &node) { return node.mode == mode; }))
      continue;
    Value truth = n.compare(kDirections[mode], x, split);
    if (!result) {
      result = truth;
      continue;
    }
    Type word = n.getBuilder().getI32Type();
    if (!modes)
      modes =
          n.make<TakeOp>(listOf(n, forest, word, [](const TreeNode &node) { return node.mode; }),
                         place, uint64_t(0));
    result = n.select(n.compare(Dir::Eq, modes, n.scalar(mode, modes)), truth, result);
  }
  return result;
}

/// The leaves that samples `x` [N, F] get to: [N, trees].
static Value findLeaves(NodeImport &n, const Forest &forest, Value x, int64_t levels) {
  Type word = n.getBuilder().getI32Type(), element = n.elementOf(x);
  Value features = listOf(n, forest, word, [](const TreeNode &node) { return node.feature; }),
        splits = listOf(n, forest, element, [](const TreeNode &node) { return node.split; }),
        yes = listOf(n, forest, word, [](const TreeNode &node) { return node.yes; }),
        no = listOf(n, forest, word, [](const TreeNode &node) { return node.no; }), missing;
  if (llvm::any_of(forest.nodes, [](const TreeNode &node) { return node.missingIsTrue; }))
    missing = listOf(n, forest, word, [](const TreeNode &node) { return node.missingIsTrue; });
  Value place =
      n.broadcast(n.constant(forest.roots, word), {n.size(x, 0), n.index(forest.roots.size())});
  auto take = [&](Value list) { return n.make<TakeOp>(list, place, uint64_t(0)); };
  for (int64_t level = 0; level < levels && !n.hasFailed(); ++level) {
    Value number = n.make<TakeAlongAxisOp>(x, take(features), uint64_t(1));
    Value truth = compareByMode(n, forest, number, take(splits), place);
    if (missing)
      truth =
          n.make<OrOp>(truth, n.make<AndOp>(n.make<IsNanOp>(number),
                                            n.convert(take(missing), n.getBuilder().getI1Type())));
    place = n.select(truth, take(yes), take(no));
  }
  return place;
}

static Value transformScores(NodeImport &n, Value scores, StringRef transform) {
  if (transform == "NONE")
    return scores;
  if (transform == "LOGISTIC")
    return n.make<SigmoidOp>(scores);
  if (transform == "SOFTMAX")
    return n.make<SoftmaxOp>(scores, uint64_t(1));
  n.error("post_transform " + transform + " is not supported");
  return {};
}

static Results importForest(NodeImport &n, Forest forest) {
  Value x = n.input(0);
  if (n.rankOf(x) == 1)
    x = n.expandDims(x, {0});
  if (n.hasFailed() || !expandMembers(n, forest))
    return {};
  int64_t features = n.dimOf(x, 1);
  if (n.rankOf(x) != 2 || ShapedType::isDynamic(features))
    return n.error("expected samples [N, F] of a static number of features");
  x = n.isFloat(x) ? n.widen(x) : n.convert(x, n.getBuilder().getF32Type());
  int64_t levels = countLevels(n, forest, features);
  bool isSum = forest.aggregate == "SUM" || forest.aggregate == "AVERAGE";
  if (!isSum && (forest.targets != 1 || (forest.aggregate != "MIN" && forest.aggregate != "MAX")))
    return n.error("aggregate_function " + forest.aggregate + " of " + Twine(forest.targets) +
                   " targets is not supported");
  if (!forest.base.empty() && int64_t(forest.base.size()) != forest.targets)
    return n.error("expected a base value for each of " + Twine(forest.targets) + " targets");
  if (mulSizes(forest.nodes.size(), forest.targets).value_or(kMostElements) > (int64_t(1) << 24))
    return n.error("expected at most 2^24 weights");
  if (n.hasFailed())
    return {};
  Type element = n.elementOf(x);
  SmallVector<double> weights;
  for (const TreeNode &node : forest.nodes) {
    llvm::append_range(weights, node.weights);
    weights.append(forest.targets - node.weights.size(), 0); // of an inner node
  }
  Value table = n.constantFloats(weights, element,
                                 ArrayRef<int64_t>{int64_t(forest.nodes.size()), forest.targets});
  Value all = n.make<TakeOp>(table, findLeaves(n, forest, x, levels), uint64_t(0));
  ReduceKind kind = isSum                       ? ReduceKind::Sum
                    : forest.aggregate == "MIN" ? ReduceKind::Min
                                                : ReduceKind::Max;
  Value scores = n.reduce(kind, all, {1}, /*keepdims=*/false);
  if (forest.aggregate == "AVERAGE")
    scores = n.div(scores, n.scalar(double(forest.roots.size()), scores));
  if (!forest.base.empty())
    scores = n.add(scores, n.constantFloats(forest.base, element));
  return {transformScores(n, scores, forest.transform)};
}

static Results importTreeEnsemble(NodeImport &n) {
  Results results = importForest(n, readForest(n));
  return n.hasFailed() ? results : Results{n.convert(results[0], n.elementOf(n.input(0)))};
}

static Results importTreeEnsembleRegressor(NodeImport &n) {
  Results results = importForest(n, readNumberedForest(n));
  return n.hasFailed() ? results : Results{n.convert(results[0], n.getBuilder().getF32Type())};
}

llvm::ArrayRef<OpEntry> getTreeOps() {
  static constexpr OpEntry kOps[] = {
      {"TreeEnsemble", 5, importTreeEnsemble, "ai.onnx.ml"},
      {"TreeEnsembleRegressor", 1, importTreeEnsembleRegressor, "ai.onnx.ml"},
  };
  return kOps;
}

} // namespace xc::onnx
