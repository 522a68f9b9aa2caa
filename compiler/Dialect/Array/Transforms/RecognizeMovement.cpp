//===- RecognizeMovement.cpp - Chains of ops that only move dims ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters write the way from a product to the heads of attention in six ops or more: reshapes
// that merge the batch with the heads and split them again, transposes there and back, and a take
// of one third. Any such chain is at most a slice, a reshape that splits dims, one transpose of the
// parts, and a reshape that merges them.
//
// The chain is followed with each dim of its source as a product of parts: reshapes split parts,
// and all else only moves them. Sizes that do not divide each other end a chain.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/Recognizers.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace xc::array {

/// Longer chains are looked at from their last ops.
static constexpr size_t kMostMoves = 16;

/// The one element of a constant index.
static std::optional<int64_t> getIndex(TakeOp take) {
  DenseIntElementsAttr indices;
  if (!matchPattern(take.getIndices(), m_Constant(&indices)) || indices.getNumElements() != 1)
    return std::nullopt;
  return (*indices.begin()).trySExtValue();
}

static bool isReshape(Operation *op) { return isa<ReshapeOp, ExpandDimsOp, SqueezeOp>(op); }

static bool isMovement(Operation *op) {
  if (auto take = dyn_cast<TakeOp>(op))
    return getIndex(take).has_value();
  return isReshape(op) || isa<TransposeOp, SliceOp>(op);
}

namespace {

/// A tensor whose dims are made of parts of the dims of `source`.
class MovedParts {
public:
  explicit MovedParts(Value source);

  /// Goes on to the result of `op`; false where that is not made of parts.
  bool follow(Operation *op);
  /// How many ops `build` makes for a result of `type`.
  unsigned countOps(RankedTensorType type) const;
  Value build(RankedTensorType type, ExpressionBuilder &e) const;

private:
  using Parts = SmallVector<unsigned>;

  struct Steps;

  bool isDynamic(unsigned part) const { return ShapedType::isDynamic(sizes[part]); }
  Parts flatten() const;
  unsigned split(unsigned part, int64_t outer);
  bool takeFront(Parts &rest, int64_t size, Parts &group);
  bool takeBack(Parts &rest, int64_t size, Parts &group);
  bool reshape(ArrayRef<int64_t> shape);
  bool slice(unsigned dim, int64_t start, int64_t size);
  bool slice(SliceOp op);
  bool take(TakeOp op);
  SmallVector<Parts> joinNeighbours() const;
  Steps plan(RankedTensorType type) const;

  Value source;
  /// Of each source dim, what is left of it.
  SmallVector<int64_t> starts, lengths;
  /// By part.
  SmallVector<int64_t> sizes;
  /// The parts of each dim of the source and of the tensor, the outermost first; none has size 1.
  SmallVector<Parts> inSource, inResult;
};

/// What `build` makes, one after the other.
struct MovedParts::Steps {
  bool slices = false;
  SmallVector<int64_t> splitShape;  ///< empty where there is nothing to split
  SmallVector<int64_t> permutation; ///< likewise
  bool merges = false;
};

} // namespace

MovedParts::MovedParts(Value source) : source(source) {
  for (int64_t size : typeOf(source).getShape()) {
    starts.push_back(0);
    lengths.push_back(size);
    Parts &parts = inSource.emplace_back();
    if (size != 1) {
      parts.push_back(sizes.size());
      sizes.push_back(size);
    }
  }
  inResult = inSource;
}

/// All parts of the tensor, the outermost first.
MovedParts::Parts MovedParts::flatten() const {
  Parts all;
  for (const Parts &parts : inResult)
    llvm::append_range(all, parts);
  return all;
}

/// Makes two of `part`: the new one has `outer` elements, and `part` what is inside of them.
unsigned MovedParts::split(unsigned part, int64_t outer) {
  unsigned added = sizes.size();
  sizes.push_back(outer);
  sizes[part] /= outer;
  for (Parts &parts : inSource)
    if (auto *place = llvm::find(parts, part); place != parts.end()) {
      parts.insert(place, added);
      break;
    }
  return added;
}

/// Moves parts of together `size` elements from the front of `rest` to `group`.
bool MovedParts::takeFront(Parts &rest, int64_t size, Parts &group) {
  while (size != 1) {
    if (rest.empty() || isDynamic(rest.front()))
      return false;
    unsigned part = rest.front();
    if (size % sizes[part] == 0) {
      size /= sizes[part];
      group.push_back(part);
      rest.erase(rest.begin());
    } else if (sizes[part] % size == 0) {
      group.push_back(split(part, size));
      size = 1;
    } else {
      return false;
    }
  }
  return true;
}

/// Likewise from the back.
bool MovedParts::takeBack(Parts &rest, int64_t size, Parts &group) {
  while (size != 1) {
    if (rest.empty() || isDynamic(rest.back()))
      return false;
    unsigned part = rest.back();
    if (sizes[part] > size && sizes[part] % size == 0)
      rest.insert(rest.end() - 1, split(part, sizes[part] / size));
    else if (size % sizes[part] != 0)
      return false;
    size /= sizes[part];
    group.insert(group.begin(), part);
    rest.pop_back();
  }
  return true;
}

bool MovedParts::reshape(ArrayRef<int64_t> shape) {
  // A `?` has what the sizes around it leave, if there is only one.
  const int64_t *open = llvm::find_if(shape, ShapedType::isDynamic);
  size_t numFront = open - shape.begin(),
         numBack = shape.size() - std::min(numFront + 1, shape.size());
  if (llvm::count_if(shape, ShapedType::isDynamic) > 1)
    return false;
  Parts rest = flatten();
  SmallVector<Parts> groups(shape.size());
  for (size_t dim = 0; dim < numFront; ++dim)
    if (!takeFront(rest, shape[dim], groups[dim]))
      return false;
  for (size_t dim = shape.size(); dim > shape.size() - numBack; --dim)
    if (!takeBack(rest, shape[dim - 1], groups[dim - 1]))
      return false;
  if (llvm::count_if(rest, [&](unsigned part) { return isDynamic(part); }) !=
      (open == shape.end() ? 0 : 1))
    return false;
  if (open != shape.end())
    groups[numFront] = rest;
  else if (!rest.empty())
    return false;
  inResult = std::move(groups);
  return true;
}

/// Leaves `size` elements of dim `dim` from `start` on.
bool MovedParts::slice(unsigned dim, int64_t start, int64_t size) {
  if (inResult[dim].empty())
    return start == 0 && size == 1;
  unsigned part = inResult[dim].front();
  if (inResult[dim].size() != 1 || isDynamic(part) || size < 1)
    return false;
  // A slice of the source, if all inside of this part is left whole.
  auto *place = llvm::find_if(
      inSource, [&](const Parts &parts) { return !parts.empty() && parts.front() == part; });
  if (place == inSource.end())
    return false;
  unsigned sourceDim = place - inSource.begin();
  int64_t inner = lengths[sourceDim] / sizes[part];
  starts[sourceDim] += start * inner; // in range: an element of the dim
  lengths[sourceDim] = size * inner;  // in range: not above what it was
  sizes[part] = size;
  if (size == 1) {
    place->erase(place->begin());
    inResult[dim].clear();
  }
  return true;
}

bool MovedParts::slice(SliceOp op) {
  ArrayRef<int64_t> operandShape = typeOf(op.getOperand()).getShape(),
                    shape = typeOf(op.getResult()).getShape();
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    bool isWhole =
        op.getStarts()[dim] == 0 && op.getStrides()[dim] == 1 &&
        (ShapedType::isDynamic(op.getLimits()[dim]) || op.getLimits()[dim] == operandShape[dim]);
    if (isWhole)
      continue;
    if (op.getStrides()[dim] != 1 || ShapedType::isDynamic(shape[dim]) ||
        !slice(dim, op.getStarts()[dim], shape[dim]))
      return false;
  }
  return true;
}

bool MovedParts::take(TakeOp op) {
  int64_t size = typeOf(op.getOperand()).getDimSize(op.getAxis());
  std::optional<int64_t> index = getIndex(op);
  if (!index || ShapedType::isDynamic(size) || size < 1)
    return false;
  if (!slice(op.getAxis(), std::clamp<int64_t>(*index, 0, size - 1), 1))
    return false;
  // The dims of the index are there instead.
  auto *place = inResult.begin() + op.getAxis();
  inResult.erase(place);
  inResult.insert(inResult.begin() + op.getAxis(), typeOf(op.getIndices()).getRank(), Parts());
  return true;
}

bool MovedParts::follow(Operation *op) {
  if (isReshape(op))
    return reshape(typeOf(op->getResult(0)).getShape());
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    inResult =
        llvm::map_to_vector(transpose.getPermutation(), [&](int64_t dim) { return inResult[dim]; });
    return true;
  }
  if (auto sliceOp = dyn_cast<SliceOp>(op))
    return slice(sliceOp);
  return take(cast<TakeOp>(op));
}

/// The parts of the source, with those of a dim together that lie side by side in the tensor, too.
SmallVector<MovedParts::Parts> MovedParts::joinNeighbours() const {
  Parts all = flatten();
  SmallVector<unsigned> places(sizes.size());
  for (auto [place, part] : llvm::enumerate(all))
    places[part] = place;
  SmallVector<Parts> joined;
  for (const Parts &parts : inSource)
    for (auto [i, part] : llvm::enumerate(parts)) {
      if (i == 0 || places[part] != places[parts[i - 1]] + 1)
        joined.emplace_back();
      joined.back().push_back(part);
    }
  return joined;
}

MovedParts::Steps MovedParts::plan(RankedTensorType type) const {
  Steps steps;
  steps.slices = !llvm::equal(lengths, typeOf(source).getShape());
  SmallVector<Parts> joined = joinNeighbours();
  // Parts that stay in order are but another shape.
  Parts order;
  for (const Parts &parts : joined)
    llvm::append_range(order, parts);
  if (order == flatten()) {
    steps.merges = !llvm::equal(lengths, type.getShape());
    return steps;
  }
  SmallVector<int64_t> shape = llvm::map_to_vector(joined, [&](const Parts &parts) {
    int64_t size = 1;
    for (unsigned part : parts)
      size = isDynamic(part) ? ShapedType::kDynamic : size * sizes[part]; // in range: a dim's size
    return size;
  });
  // Where no dim is split, those of size 1 stay, in front.
  auto isWhole = [&](const Parts &parts) {
    return parts.empty() || llvm::is_contained(joined, parts);
  };
  SmallVector<int64_t> permutation;
  SmallVector<unsigned> sourceDims;
  if (llvm::all_of(inSource, isWhole)) {
    for (auto [dim, parts] : llvm::enumerate(inSource))
      if (parts.empty())
        permutation.push_back(dim);
      else
        sourceDims.push_back(dim);
    shape = lengths;
  } else {
    steps.splitShape = shape;
    sourceDims = llvm::to_vector(llvm::seq<unsigned>(0, joined.size()));
  }
  for (unsigned part : flatten())
    for (auto [parts, dim] : llvm::zip_equal(joined, sourceDims))
      if (parts.front() == part)
        permutation.push_back(dim);
  steps.permutation = permutation;
  steps.merges = !llvm::equal(applyPermutation(ArrayRef(shape), permutation), type.getShape());
  return steps;
}

unsigned MovedParts::countOps(RankedTensorType type) const {
  Steps steps = plan(type);
  return steps.slices + !steps.splitShape.empty() + !steps.permutation.empty() + steps.merges;
}

Value MovedParts::build(RankedTensorType type, ExpressionBuilder &e) const {
  Steps steps = plan(type);
  Value value = source;
  if (steps.slices) {
    SmallVector<int64_t> limits;
    for (auto [start, length] : llvm::zip_equal(starts, lengths))
      limits.push_back(ShapedType::isDynamic(length) ? length : start + length);
    value = e.make<SliceOp>(value, starts, limits, SmallVector<int64_t>(starts.size(), 1));
  }
  if (!steps.splitShape.empty())
    value = e.make<ReshapeOp>(typeOf(value).clone(steps.splitShape), value, ValueRange());
  if (!steps.permutation.empty())
    value = e.make<TransposeOp>(value, steps.permutation);
  return steps.merges ? e.make<ReshapeOp>(type, value, ValueRange()) : value;
}

/// The ops that move dims up to `root`, the last first.
static SmallVector<Operation *> findChain(Operation *root) {
  SmallVector<Operation *> chain;
  for (Operation *op = root; op && isMovement(op) && chain.size() < kMostMoves;
       op = op->getOperand(0).getDefiningOp())
    chain.push_back(op);
  return chain;
}

static bool isPlain(Value value) {
  RankedTensorType type = typeOf(value);
  return !type.getEncoding() && type.getNumDynamicDims() < 2 &&
         !llvm::is_contained(type.getShape(), 0);
}

Value recognizeMovement(Operation *root, ExpressionBuilder &e) {
  if (!isMovement(root) || !isPlain(root->getResult(0)) ||
      llvm::all_of(root->getUsers(), [](Operation *user) { return isMovement(user); }))
    return {};
  SmallVector<Operation *> chain = findChain(root);
  RankedTensorType type = typeOf(root->getResult(0));
  for (ArrayRef<Operation *> ops = chain; !ops.empty(); ops = ops.drop_back()) {
    Value source = ops.back()->getOperand(0);
    if (!isPlain(source))
      continue;
    MovedParts moved(source);
    if (!llvm::all_of(llvm::reverse(ops), [&](Operation *op) { return moved.follow(op); }))
      continue;
    // A take of one index is a slice that is not known as such.
    unsigned takes = llvm::count_if(ops, [](Operation *op) { return isa<TakeOp>(op); });
    if (moved.countOps(type) < ops.size() + takes)
      return moved.build(type, e);
  }
  return {};
}

} // namespace xc::array
