//===- MergeProducts.cpp - One product for several of one first operand ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries, keys and values are three products of one tensor. Each launch has too few tiles to fill
// the GPU where rows are few, and ends in a wave that does not; one product of all columns has one
// such wave. With the parameters, or constants, side by side the results are too:
//
//   %r = contract(%x, [%wq %wk %wv]) + [%bq %bk %bv]   %q = %r[:, 0:n]   %k = %r[:, n:2n] ...
//
// An elementwise op behind the products comes along if all have the same one. Results have to be
// read by generics, or by reshapes that split their last dim and are read so: kernels read slices
// in place. A slice of the last dim in whole parts of such a reshape is taken behind the reshape.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/DispatchTarget.h"
#include "compiler/Dispatch/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace xc::plan {
#define GEN_PASS_DEF_MERGEPRODUCTS
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

namespace {

/// A product by a parameter, and what follows it.
struct Branch {
  linalg::ContractOp product;
  linalg::GenericOp epilogue; // null: none
  Value result;
  /// The dim of the parameter that is the columns.
  unsigned columnDim;

  int64_t getColumns() const { return cast<RankedTensorType>(result.getType()).getShape().back(); }
};

} // namespace

/// Whether a tensor is a parameter or a constant, which is how a model's file gives its weights.
static bool isFixed(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  return op && (isa<array::ParameterOp, PackedOp>(op) || op->hasTrait<OpTrait::ConstantLike>());
}

/// The op that all of `product` goes through, element by element; null if there is none.
static linalg::GenericOp findEpilogue(linalg::ContractOp product) {
  if (!product.getResult(0).hasOneUse())
    return nullptr;
  OpOperand &use = *product.getResult(0).use_begin();
  auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!generic || !generic.isDpsInput(&use) || generic.getNumReductionLoops() != 0 ||
      generic.getNumResults() != 1 || !generic.getMatchingIndexingMap(&use).isIdentity() ||
      !generic.getIndexingMapsArray().back().isIdentity() ||
      !generic.getBlock()->getArguments().back().use_empty() ||
      generic.getBlock()
          ->walk([](linalg::IndexOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    return nullptr;
  return generic;
}

/// Whether `expand` splits the last dim in two, and leaves the others.
static bool splitsLastDim(tensor::ExpandShapeOp expand) {
  SmallVector<ReassociationIndices> groups = expand.getReassociationIndices();
  return groups.back().size() == 2 &&
         !ShapedType::isDynamic(expand.getResultType().getShape().back()) &&
         llvm::all_of(ArrayRef(groups).drop_back(),
                      [](const ReassociationIndices &group) { return group.size() == 1; });
}

static bool isReadByGenerics(Value tensor) {
  return llvm::all_of(tensor.getUses(), [](OpOperand &use) {
    auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
    return isa<tensor::DimOp>(use.getOwner()) || (generic && generic.isDpsInput(&use));
  });
}

/// Whether all that reads `tensor` can read a slice in its place.
static bool canBeSlice(Value tensor) {
  return llvm::all_of(tensor.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user))
      return splitsLastDim(expand) && isReadByGenerics(expand.getResult());
    auto generic = dyn_cast<linalg::GenericOp>(user);
    return isa<tensor::DimOp>(user) || (generic && generic.isDpsInput(&use));
  });
}

static std::optional<Branch> matchBranch(linalg::ContractOp product) {
  Value lhs = product.getDpsInputs()[0], rhs = product.getDpsInputs()[1];
  auto type = cast<RankedTensorType>(rhs.getType());
  SmallVector<AffineMap> maps = product.getIndexingMapsArray();
  AffineMap a = maps[0], b = maps[1], c = maps[2];
  if (!isFixed(rhs) || isFixed(lhs) || type.getRank() != 2 || c.getNumResults() < 2 ||
      !product.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    return std::nullopt;
  AffineExpr column = c.getResults().back();
  std::optional<unsigned> columnDim = b.getResultPosition(column);
  // All other loops of the result are rows, and the other one of the parameter is summed up.
  bool isLayer = columnDim && !a.getResultPosition(column) &&
                 a.getResultPosition(b.getResult(1 - *columnDim)) &&
                 !c.getResultPosition(b.getResult(1 - *columnDim)) &&
                 llvm::all_of(c.getResults().drop_back(), [&](AffineExpr row) {
                   return a.getResultPosition(row) && !b.getResultPosition(row);
                 });
  if (!isLayer)
    return std::nullopt;
  Branch branch{product, findEpilogue(product), product.getResult(0), *columnDim};
  if (branch.epilogue)
    branch.result = branch.epilogue.getResult(0);
  if (branch.result.use_empty() || !canBeSlice(branch.result))
    return std::nullopt;
  return branch;
}

/// Whether operand `number` of the epilogue is a parameter for each column.
static bool isColumnParameter(linalg::GenericOp epilogue, unsigned number) {
  AffineMap map = epilogue.getIndexingMapsArray()[number];
  return isFixed(epilogue->getOperand(number)) && map.getNumResults() == 1 &&
         map.getResult(0) == epilogue.getIndexingMapsArray().back().getResults().back();
}

static bool haveSameEpilogue(Branch first, Branch other) {
  linalg::GenericOp a = first.epilogue, b = other.epilogue;
  if (!a || !b)
    return !a && !b;
  if (a.getIndexingMaps() != b.getIndexingMaps() || a->getNumOperands() != b->getNumOperands() ||
      getElementTypeOrSelf(first.result) != getElementTypeOrSelf(other.result) ||
      !OperationEquivalence::isRegionEquivalentTo(&a.getRegion(), &b.getRegion(),
                                                  OperationEquivalence::IgnoreLocations))
    return false;
  return llvm::all_of(llvm::seq<unsigned>(0, a.getNumDpsInputs()), [&](unsigned number) {
    Value mine = a->getOperand(number), its = b->getOperand(number);
    if (mine == first.product.getResult(0))
      return its == other.product.getResult(0);
    if (isColumnParameter(a, number) && isColumnParameter(b, number))
      return getElementTypeOrSelf(mine) == getElementTypeOrSelf(its);
    // The same for all columns of both, and there in time.
    Operation *definition = mine.getDefiningOp();
    bool isEarlier = !definition || definition->isBeforeInBlock(first.product);
    AffineMap map = a.getIndexingMapsArray()[number];
    return mine == its && isEarlier &&
           !map.getResultPosition(a.getIndexingMapsArray().back().getResults().back());
  });
}

static bool areAlike(Branch first, Branch other) {
  linalg::ContractOp a = first.product, b = other.product;
  auto getStart = [](linalg::ContractOp op) {
    return op.getDpsInits()[0].getDefiningOp<linalg::FillOp>().getInputs()[0];
  };
  return a.getDpsInputs()[0] == b.getDpsInputs()[0] && a.getIndexingMaps() == b.getIndexingMaps() &&
         a.getCast() == b.getCast() &&
         a->getDiscardableAttrDictionary() == b->getDiscardableAttrDictionary() &&
         getElementTypeOrSelf(a.getDpsInputs()[1]) == getElementTypeOrSelf(b.getDpsInputs()[1]) &&
         getElementTypeOrSelf(a.getResult(0)) == getElementTypeOrSelf(b.getResult(0)) &&
         getStart(a) == getStart(b) && haveSameEpilogue(first, other);
}

namespace {

/// Makes one of the branches of a group.
class Merger {
public:
  Merger(ArrayRef<Branch> branches)
      : branches(branches), first(branches.front()), builder(first.product),
        loc(builder.getFusedLoc(llvm::map_to_vector(
            branches, [](Branch branch) { return Location(branch.product.getLoc()); }))) {
    for (const Branch &branch : branches)
      columns += branch.getColumns();
  }

  void run();

private:
  Value concatenate(ArrayRef<Value> tensors, unsigned dim);
  Value makeEmpty(Value like);
  Value makeProduct();
  Value makeEpilogue(Value product);
  Value takeSlice(Value tensor, int64_t begin, int64_t size, unsigned dim);
  Value splitColumns(tensor::ExpandShapeOp expand, int64_t begin);
  void replaceResult(Branch branch, int64_t begin);

  ArrayRef<Branch> branches;
  Branch first;
  OpBuilder builder;
  Location loc;
  int64_t columns = 0;
  Value merged;
};

} // namespace

Value Merger::concatenate(ArrayRef<Value> tensors, unsigned dim) {
  auto type = cast<RankedTensorType>(tensors.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = columns;
  Value all = tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      ones(type.getRank(), builder.getIndexAttr(1));
  int64_t begin = 0;
  for (Value part : tensors) {
    offsets[dim] = builder.getIndexAttr(begin);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, part);
    all = tensor::InsertSliceOp::create(builder, loc, part, all, offsets, sizes, ones);
    begin += cast<RankedTensorType>(part.getType()).getDimSize(dim);
  }
  return all;
}

/// A tensor of the shape of `like`, with all columns.
Value Merger::makeEmpty(Value like) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, like);
  sizes.back() = builder.getIndexAttr(columns);
  return tensor::EmptyOp::create(builder, loc, sizes, getElementTypeOrSelf(like));
}

Value Merger::makeProduct() {
  linalg::ContractOp op = first.product;
  Value weights = concatenate(
      llvm::map_to_vector(branches,
                          [](Branch branch) -> Value { return branch.product.getDpsInputs()[1]; }),
      first.columnDim);
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  Value empty = makeEmpty(fill.getDpsInits()[0]);
  Value start = linalg::FillOp::create(builder, loc, fill.getInputs()[0], empty).getResult(0);
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getName() != op.getIndexingMapsAttrName())
      attributes.push_back(attribute);
  return linalg::ContractOp::create(builder, loc, start.getType(),
                                    ValueRange{op.getDpsInputs()[0], weights}, start,
                                    op.getIndexingMaps(), attributes)
      .getResult(0);
}

Value Merger::makeEpilogue(Value product) {
  linalg::GenericOp op = first.epilogue;
  if (!op)
    return product;
  SmallVector<Value> operands(op->getOperands());
  for (auto [number, operand] : llvm::enumerate(MutableArrayRef(operands).drop_back())) {
    if (operand == first.product->getResult(0))
      operand = product;
    else if (isColumnParameter(op, number))
      operand = concatenate(llvm::map_to_vector(branches,
                                                [number = number](Branch branch) -> Value {
                                                  return branch.epilogue->getOperand(number);
                                                }),
                            0);
  }
  operands.back() = makeEmpty(product);
  auto type = cast<RankedTensorType>(operands.back().getType());
  Type element = getElementTypeOrSelf(first.result);
  if (type.getElementType() != element)
    operands.back() = tensor::EmptyOp::create(
        builder, loc, tensor::getMixedSizes(builder, loc, operands.back()), element);
  auto copy = cast<linalg::GenericOp>(builder.clone(*op));
  copy->setOperands(operands);
  copy.getResult(0).setType(cast<RankedTensorType>(operands.back().getType()));
  return copy.getResult(0);
}

Value Merger::takeSlice(Value tensor, int64_t begin, int64_t size, unsigned dim) {
  unsigned rank = cast<RankedTensorType>(tensor.getType()).getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)),
      ones(rank, builder.getIndexAttr(1)), sizes = tensor::getMixedSizes(builder, loc, tensor);
  offsets[dim] = builder.getIndexAttr(begin);
  sizes[dim] = builder.getIndexAttr(size);
  return tensor::ExtractSliceOp::create(builder, loc, tensor, offsets, sizes, ones);
}

/// What `expand` makes of columns from `begin` on; null where they are not whole parts.
Value Merger::splitColumns(tensor::ExpandShapeOp expand, int64_t begin) {
  RankedTensorType type = expand.getResultType();
  int64_t part = type.getShape().back();
  unsigned dim = type.getRank() - 2;
  if (begin % part != 0 || columns % part != 0)
    return nullptr;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, merged);
  sizes.back() = builder.getIndexAttr(columns / part);
  sizes.push_back(builder.getIndexAttr(part));
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = columns / part;
  Value all = tensor::ExpandShapeOp::create(builder, loc,
                                            RankedTensorType::get(shape, type.getElementType()),
                                            merged, expand.getReassociationIndices(), sizes);
  return takeSlice(all, begin / part, type.getDimSize(dim), dim);
}

void Merger::replaceResult(Branch branch, int64_t begin) {
  Value slice;
  for (OpOperand &use : llvm::make_early_inc_range(branch.result.getUses())) {
    auto expand = dyn_cast<tensor::ExpandShapeOp>(use.getOwner());
    if (Value split = expand ? splitColumns(expand, begin) : Value()) {
      expand.getResult().replaceAllUsesWith(split);
      expand.erase();
      continue;
    }
    if (!slice)
      slice = takeSlice(merged, begin, branch.getColumns(),
                        cast<RankedTensorType>(merged.getType()).getRank() - 1);
    use.set(slice);
  }
}

void Merger::run() {
  // Parameters depend on nothing.
  for (Branch branch : branches)
    for (Operation *op : {branch.product.getOperation(), branch.epilogue.getOperation()})
      for (Value operand : op ? op->getOperands() : ValueRange())
        if (isFixed(operand) && !operand.getDefiningOp()->isBeforeInBlock(first.product))
          operand.getDefiningOp()->moveBefore(first.product);
  merged = makeEpilogue(makeProduct());
  int64_t begin = 0;
  for (Branch branch : branches) {
    replaceResult(branch, begin);
    begin += branch.getColumns();
  }
  for (Branch branch : branches) {
    if (branch.epilogue)
      branch.epilogue.erase();
    branch.product.erase();
  }
}

namespace {

struct MergeProducts final : impl::MergeProductsBase<MergeProducts> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || !getDispatchTarget(func).mergesProducts())
      return;
    SmallVector<SmallVector<Branch>> groups;
    for (auto product : func.getOps<linalg::ContractOp>()) {
      std::optional<Branch> branch = matchBranch(product);
      if (!branch)
        continue;
      auto group = llvm::find_if(groups, [&](const SmallVector<Branch> &group) {
        return areAlike(group.front(), *branch);
      });
      if (group == groups.end())
        groups.push_back({*branch});
      else
        group->push_back(*branch);
    }
    for (ArrayRef<Branch> group : groups)
      if (group.size() > 1)
        Merger(group).run();
  }
};

} // namespace

} // namespace xc::plan
