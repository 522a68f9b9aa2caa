//===- ChooseLayouts.cpp - Hold images with their channels last -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rebuilds the ops around convolutions on tensors in the orders that Layouts.cpp chooses, in
// program order. A tensor that is made or used by anything else is transposed there, once for each
// order in which it is needed.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/Copies.h"
#include "compiler/Dispatch/Layouts.h"
#include "compiler/Dispatch/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"

namespace xc::plan {
#define GEN_PASS_DEF_CHOOSELAYOUTS
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

namespace {

class LayoutRewriter {
public:
  LayoutRewriter(func::FuncOp func, const LayoutChoice &choice)
      : func(func), choice(choice), builder(func.getContext()) {}

  void run();
  unsigned getNumTransposes() const { return numTransposes; }

private:
  DimOrder orderOf(Value value) const;
  bool isMoved(Value value) const { return !choice.lookup(value).empty(); }
  RankedTensorType typeIn(Value value, ArrayRef<int64_t> order) const;
  Value transpose(Value from, ArrayRef<int64_t> order);
  Value get(Value value, ArrayRef<int64_t> order);
  Value getInitial(Value value, ArrayRef<int64_t> order);
  Value makeEmpty(tensor::EmptyOp op, ArrayRef<int64_t> order);
  Value makeFill(linalg::FillOp op, ArrayRef<int64_t> order);

  void visit(Operation *op);
  Operation *rebuild(Operation *op);
  Operation *rebuildGeneric(linalg::GenericOp op);
  Operation *rebuildReshape(Operation *op, Value source,
                            ArrayRef<ReassociationIndices> reassociation, bool splits);
  Operation *rebuildMovement(Operation *op, ArrayRef<int64_t> order);
  void finish();

  func::FuncOp func;
  const LayoutChoice &choice;
  OpBuilder builder;
  /// Tensors in their chosen order.
  DenseMap<Value, Value> held;
  DenseMap<Value, SmallVector<std::pair<DimOrder, Value>>> transposed;
  SmallVector<Operation *> replaced;
  llvm::SmallPtrSet<Operation *, 16> isReplaced;
  unsigned numTransposes = 0;
};

} // namespace

DimOrder LayoutRewriter::orderOf(Value value) const {
  DimOrder order = choice.lookup(value);
  if (!order.empty())
    return order;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return llvm::to_vector(llvm::seq<int64_t>(0, type ? type.getRank() : 0));
}

RankedTensorType LayoutRewriter::typeIn(Value value, ArrayRef<int64_t> order) const {
  auto type = cast<RankedTensorType>(value.getType());
  return type.clone(applyPermutation(type.getShape(), order));
}

/// `from` with dim `order[i]` as dim i.
Value LayoutRewriter::transpose(Value from, ArrayRef<int64_t> order) {
  for (const auto &[known, value] : transposed[from])
    if (ArrayRef(known) == order)
      return value;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(from);
  Location loc = from.getLoc();
  RankedTensorType type = typeIn(from, order);
  DenseElementsAttr constant;
  Value result;
  if (matchPattern(from, m_Constant(&constant)) && constant.isSplat()) {
    result = arith::ConstantOp::create(builder, loc, constant.resizeSplat(type));
  } else {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, from);
    Value init = tensor::EmptyOp::create(builder, loc, applyPermutation(sizes, order),
                                         type.getElementType());
    SmallVector<AffineExpr> exprs(order.size());
    for (auto [dim, source] : llvm::enumerate(order))
      exprs[source] = builder.getAffineDimExpr(dim);
    AffineMap map = AffineMap::get(order.size(), 0, exprs, builder.getContext());
    result = createCopy(builder, loc, from, init, map);
    numTransposes += constant ? 0 : 1;
  }
  transposed[from].emplace_back(llvm::to_vector(order), result);
  return result;
}

/// `value` with its dims in the order `order`.
Value LayoutRewriter::get(Value value, ArrayRef<int64_t> order) {
  DimOrder own = orderOf(value);
  Value current = isMoved(value) ? held.lookup(value) : value;
  if (ArrayRef(own) == order)
    return current;
  return transpose(current, llvm::map_to_vector(order, [&](int64_t dim) -> int64_t {
                     return llvm::find(own, dim) - own.begin();
                   }));
}

Value LayoutRewriter::makeEmpty(tensor::EmptyOp op, ArrayRef<int64_t> order) {
  return tensor::EmptyOp::create(builder, op.getLoc(), applyPermutation(op.getMixedSizes(), order),
                                 op.getType().getElementType());
}

Value LayoutRewriter::makeFill(linalg::FillOp op, ArrayRef<int64_t> order) {
  Value init = getInitial(op.getDpsInits().front(), order);
  return linalg::FillOp::create(builder, op.getLoc(), op.getInputs(), init).getResult(0);
}

/// `value`, which an op writes over.
Value LayoutRewriter::getInitial(Value value, ArrayRef<int64_t> order) {
  if (isIdentity(order) && !isMoved(value))
    return value;
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    return makeEmpty(empty, order);
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && isRemade(value) ? makeFill(fill, order) : get(value, order);
}

/// Loops of the results in the order in which they have them, then the others as the operands do.
static SmallVector<unsigned> orderLoops(ArrayRef<AffineMap> maps, linalg::GenericOp op) {
  SmallVector<unsigned> loops;
  auto add = [&](AffineMap map, utils::IteratorType kind) {
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    for (AffineExpr expr : map.getResults())
      for (unsigned loop = 0; loop < iterators.size(); ++loop)
        if (iterators[loop] == kind && expr.isFunctionOfDim(loop) &&
            !llvm::is_contained(loops, loop))
          loops.push_back(loop);
  };
  ArrayRef<AffineMap> results = maps.drop_front(op.getNumDpsInputs());
  for (ArrayRef<AffineMap> group : {results, maps})
    for (AffineMap map : group)
      add(map, utils::IteratorType::parallel);
  for (AffineMap map : maps)
    add(map, utils::IteratorType::reduction);
  assert(loops.size() == op.getNumLoops() && "every loop has its size from an operand");
  return loops;
}

Operation *LayoutRewriter::rebuildGeneric(linalg::GenericOp op) {
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  SmallVector<Type> types;
  auto addMap = [&](AffineMap map, ArrayRef<int64_t> order) {
    maps.push_back(AffineMap::get(map.getNumDims(), 0, applyPermutation(map.getResults(), order),
                                  op.getContext()));
  };
  for (OpOperand *input : op.getDpsInputOperands()) {
    DimOrder order = orderOf(input->get());
    operands.push_back(isa<RankedTensorType>(input->get().getType()) ? get(input->get(), order)
                                                                     : input->get());
    addMap(op.getMatchingIndexingMap(input), order);
  }
  for (auto [init, result] : llvm::zip_equal(op.getDpsInits(), op.getResults())) {
    DimOrder order = orderOf(result);
    operands.push_back(getInitial(init, order));
    addMap(op.getIndexingMapMatchingResult(result), order);
    types.push_back(typeIn(result, order));
  }
  SmallVector<unsigned> loops = orderLoops(maps, op);
  SmallVector<AffineExpr> places(loops.size());
  SmallVector<Attribute> iterators;
  for (auto [place, loop] : llvm::enumerate(loops)) {
    places[loop] = builder.getAffineDimExpr(place);
    iterators.push_back(op.getIteratorTypes()[loop]);
  }
  for (AffineMap &map : maps)
    map = map.replaceDimsAndSymbols(places, {}, loops.size(), 0);
  auto rebuilt = cast<linalg::GenericOp>(builder.clone(*op));
  rebuilt->setOperands(operands);
  rebuilt.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  rebuilt.setIteratorTypesAttr(builder.getArrayAttr(iterators));
  for (auto [result, type] : llvm::zip_equal(rebuilt->getResults(), types))
    result.setType(type);
  rebuilt.walk([&](linalg::IndexOp index) {
    index.setDim(cast<AffineDimExpr>(places[index.getDim()]).getPosition());
  });
  return rebuilt;
}

/// Null where the order of the result cannot come from one of the source.
Operation *LayoutRewriter::rebuildReshape(Operation *op, Value source,
                                          ArrayRef<ReassociationIndices> reassociation,
                                          bool splits) {
  Value result = op->getResult(0);
  DimOrder order = orderOf(result);
  std::optional<DimOrder> sourceOrder = orderReshaped(reassociation, order, !splits);
  if (!sourceOrder)
    return nullptr;
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (int64_t dim : splits ? ArrayRef(*sourceOrder) : ArrayRef(order)) {
    groups.emplace_back();
    for (size_t i = 0; i < reassociation[dim].size(); ++i)
      groups.back().push_back(next++);
  }
  Value from = get(source, *sourceOrder);
  RankedTensorType type = typeIn(result, order);
  if (!splits)
    return tensor::CollapseShapeOp::create(builder, op->getLoc(), type, from, groups);
  SmallVector<OpFoldResult> sizes = cast<tensor::ExpandShapeOp>(op).getMixedOutputShape();
  return tensor::ExpandShapeOp::create(builder, op->getLoc(), type, from, groups,
                                       applyPermutation(sizes, order));
}

/// Ops that take a tensor, or two, in the order of their result.
Operation *LayoutRewriter::rebuildMovement(Operation *op, ArrayRef<int64_t> order) {
  Location loc = op->getLoc();
  RankedTensorType type = typeIn(op->getResult(0), order);
  auto permute = [&](ArrayRef<OpFoldResult> values) { return applyPermutation(values, order); };
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value constant = pad.getConstantPaddingValue();
    if (constant.getParentRegion() == &pad.getRegion())
      constant = builder.clone(*constant.getDefiningOp())->getResult(0);
    return tensor::PadOp::create(builder, loc, type, get(pad.getSource(), order),
                                 permute(pad.getMixedLowPad()), permute(pad.getMixedHighPad()),
                                 constant, pad.getNofold());
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return tensor::ExtractSliceOp::create(
        builder, loc, type, get(slice.getSource(), order), permute(slice.getMixedOffsets()),
        permute(slice.getMixedSizes()), permute(slice.getMixedStrides()));
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return tensor::CastOp::create(builder, loc, type, get(cast.getSource(), order));
  auto insert = cast<tensor::InsertSliceOp>(op);
  return tensor::InsertSliceOp::create(
      builder, loc, get(insert.getSource(), order), getInitial(insert.getDest(), order),
      permute(insert.getMixedOffsets()), permute(insert.getMixedSizes()),
      permute(insert.getMixedStrides()));
}

Operation *LayoutRewriter::rebuild(Operation *op) {
  bool isResultMoved =
      llvm::any_of(op->getResults(), [&](Value result) { return isMoved(result); });
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    bool isOperandMoved =
        llvm::any_of(op->getOperands(), [&](Value operand) { return isMoved(operand); });
    return isResultMoved || isOperandMoved ? rebuildGeneric(generic) : nullptr;
  }
  // What has the program's order takes its operands in it.
  if (!isResultMoved || !takesAnyOrder(op))
    return nullptr;
  DimOrder order = orderOf(op->getResult(0));
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return makeEmpty(empty, order).getDefiningOp();
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return makeFill(fill, order).getDefiningOp();
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return rebuildReshape(op, expand.getSrc(), expand.getReassociationIndices(), true);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return rebuildReshape(op, collapse.getSrc(), collapse.getReassociationIndices(), false);
  return rebuildMovement(op, order);
}

void LayoutRewriter::visit(Operation *op) {
  builder.setInsertionPoint(op);
  Operation *rebuilt = rebuild(op);
  if (rebuilt) {
    replaced.push_back(op);
    isReplaced.insert(op);
  }
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    if (isMoved(result))
      held[result] = rebuilt ? rebuilt->getResult(index) : transpose(result, choice.lookup(result));
    else if (rebuilt)
      result.replaceAllUsesWith(rebuilt->getResult(index));
  }
}

/// What other ops still use of the tensors that are gone, in the program's order.
void LayoutRewriter::finish() {
  for (Operation *op : replaced)
    for (Value result : op->getResults()) {
      if (!isMoved(result))
        continue;
      DimOrder order = choice.lookup(result);
      for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
        Operation *user = use.getOwner();
        if (isReplaced.contains(user))
          continue;
        auto dim = dyn_cast<tensor::DimOp>(user);
        std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
        if (index) {
          builder.setInsertionPoint(user);
          int64_t place = llvm::find(order, *index) - order.begin();
          dim.replaceAllUsesWith(
              tensor::DimOp::create(builder, user->getLoc(), held.lookup(result), place)
                  .getResult());
          user->erase();
        } else {
          use.set(get(result, llvm::to_vector(llvm::seq<int64_t>(0, order.size()))));
        }
      }
    }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
}

void LayoutRewriter::run() {
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front().without_terminator())
    ops.push_back(&op);
  for (Value argument : func.getArguments())
    if (isMoved(argument))
      held[argument] = transpose(argument, choice.lookup(argument));
  for (Operation *op : ops)
    visit(op);
  finish();
}

namespace {

struct ChooseLayouts final : impl::ChooseLayoutsBase<ChooseLayouts> {
  using ChooseLayoutsBase::ChooseLayoutsBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!getTarget(func)) {
      func.emitOpError("expected to be in a module with `") << kTargetAttr << "`";
      return signalPassFailure();
    }
    if (func.isExternal())
      return;
    LayoutChoice choice(func, getDispatchTarget(func));
    if (choice.empty())
      return;
    LayoutRewriter rewriter(func, choice);
    rewriter.run();
    std::string text =
        "channels last (convolutions: " + std::to_string(choice.getNumConvolutions()) +
        ", transposes: " + std::to_string(rewriter.getNumTransposes()) + ")";
    func->setAttr(kLayoutsAttr, StringAttr::get(&getContext(), text));
  }
};

} // namespace

} // namespace xc::plan
