//===- TileRegisterOps.cpp - Verifiers of ops on tiles in registers -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Tile/IR/TileOps.h"
#include "compiler/Dialect/Tile/IR/TileWaits.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::tile {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static Type getElement(Type type) {
  if (auto rows = dyn_cast<RowsType>(type))
    return rows.getElementType();
  if (auto columns = dyn_cast<ColumnsType>(type))
    return columns.getElementType();
  if (auto ofWarp = dyn_cast<WarpType>(type))
    return ofWarp.getElementType();
  return cast<RegisterType>(type).getElementType();
}

LogicalResult SplatOp::verify() {
  auto ofWarp = dyn_cast<WarpType>(getResult().getType());
  if (ofWarp && !ofWarp.isAccumulator())
    return emitOpError("expected a result of layout 'accumulator', got ") << ofWarp;
  if (getValue().getType() == getElement(getResult().getType()))
    return success();
  return emitOpError("expected a value of the result's element type, got ")
         << getValue().getType() << " for " << getResult().getType();
}

/// The body's arguments and what it yields.
static LogicalResult verifyBody(Operation *op, Region &body, ArrayRef<Type> arguments,
                                ArrayRef<Type> yielded) {
  auto yield = dyn_cast<YieldOp>(body.front().getTerminator());
  if (!yield)
    return op->emitOpError("expected a body that ends with tile.yield");
  if (TypeRange(body.front().getArguments()) != TypeRange(arguments))
    return op->emitOpError("expected a body of arguments ")
           << arguments << ", got " << body.front().getArgumentTypes();
  if (TypeRange(yield.getValues()) != TypeRange(yielded))
    return op->emitOpError("expected a body that yields ")
           << yielded << ", got " << yield.getValues().getTypes();
  return success();
}

/// Of accumulators of warps, which are computed from others of the same type alone.
static LogicalResult verifyMapOfWarp(MapOp op, WarpType result) {
  for (Type input : op.getInputs().getTypes())
    if (input != result)
      return op.emitOpError("expected inputs of the result's layout and columns, got ")
             << input << " for " << result;
  if (!result.isAccumulator() || op.getRow() || op.getColumn() || op.getWidth() != 1)
    return op.emitOpError("expected an accumulator without a place, one by one, got ") << result;
  SmallVector<Type> arguments(op.getInputs().size(), result.getElementType());
  return verifyBody(op, op.getBody(), arguments, result.getElementType());
}

LogicalResult MapOp::verify() {
  if (auto ofWarp = dyn_cast<WarpType>(getResult().getType()))
    return verifyMapOfWarp(*this, ofWarp);
  auto result = dyn_cast<RegisterType>(getResult().getType());
  if (result && result.isOperand())
    return emitOpError("expected a result of layout 'accumulator', got ") << result;
  auto numbers = dyn_cast<ColumnsType>(getResult().getType());
  int64_t columns = result ? result.getColumns() : numbers ? numbers.getColumns() : 0;
  auto width = static_cast<int64_t>(getWidth());
  if (width != 1 && (width != 2 || !result || !getRow() ||
                     llvm::any_of(getInputs().getTypes(), llvm::IsaPred<ColumnsType>)))
    return emitOpError("expected a width of 1, or of 2 for an accumulator with a place and without "
                       "numbers of columns, got ")
           << width;
  auto widen = [&](Type element) -> Type {
    return width == 1 ? element : VectorType::get(width, element);
  };
  SmallVector<Type> arguments;
  for (Type input : getInputs().getTypes()) {
    auto tile = dyn_cast<RegisterType>(input);
    auto ofColumns = dyn_cast<ColumnsType>(input);
    if (isa<WarpType>(input))
      return emitOpError("expected inputs of the result's layout and columns, got ")
             << input << " for " << getResult().getType();
    bool fits = tile        ? result && !tile.isOperand() && tile.getColumns() == columns
                : ofColumns ? ofColumns.getColumns() == columns
                            : !numbers;
    if (!fits)
      return emitOpError("expected inputs of the result's layout and columns, got ")
             << input << " for " << getResult().getType();
    arguments.push_back(tile ? widen(getElement(input)) : getElement(input));
  }
  if (static_cast<bool>(getRow()) != static_cast<bool>(getColumn()))
    return emitOpError("expected both a row and a column, or neither");
  if (getRow())
    arguments.append(2, IndexType::get(getContext()));
  return verifyBody(*this, getBody(), arguments, widen(getElement(getResult().getType())));
}

LogicalResult EachOp::verify() {
  Type index = IndexType::get(getContext()), element = getElement(getTile().getType());
  auto tile = dyn_cast<RegisterType>(getTile().getType());
  if (!tile)
    return verifyBody(*this, getBody(), {element, index}, {});
  if (tile.isOperand())
    return emitOpError("expected a tile of layout 'accumulator', got ") << tile;
  auto width = static_cast<int64_t>(getWidth());
  if (width != 2 && (width != 8 || element.getIntOrFloatBitWidth() != 16))
    return emitOpError("expected vectors of 2 elements, or of 8 of 16 bits, got ")
           << width << " of " << element;
  return verifyBody(*this, getBody(), {VectorType::get(width, element), index, index}, {});
}

LogicalResult ReduceRowsOp::verify() {
  RegisterType tile = getTile().getType();
  RowsType rows = getInit().getType();
  if (tile.isOperand() || !rows.getPartial() || rows.getElementType() != tile.getElementType() ||
      !tile.getElementType().isF32())
    return emitOpError("expected an accumulator of f32 and partial numbers of its rows, got ")
           << tile << " and " << rows;
  return success();
}

LogicalResult CombineRowsOp::verify() {
  RowsType part = getPart().getType(), result = getResult().getType();
  if (!part.getPartial() || result.getPartial() ||
      part.getElementType() != result.getElementType() || !part.getElementType().isF32())
    return emitOpError("expected partial numbers of rows that become whole ones of f32, got ")
           << part << " and " << result;
  return success();
}

LogicalResult ConvertLayoutOp::verify() {
  RegisterType from = getTile().getType(), to = getResult().getType();
  bool isWide = to.getElementType().isF32();
  if (from.isOperand() || !to.isOperand() || from.getColumns() != to.getColumns() ||
      !from.getElementType().isF32() || !isa<FloatType>(to.getElementType()) ||
      isWide != to.isPaired())
    return emitOpError(
               "expected an accumulator of f32 and an operand, paired if it is of f32, of as "
               "many columns, got ")
           << from << " and " << to;
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// What a shared operand has along k, and along its own dim.
static std::pair<int64_t, int64_t> getExtents(SharedType tile, bool transposed) {
  return transposed ? std::pair(tile.getRows(), tile.getColumns())
                    : std::pair(tile.getColumns(), tile.getRows());
}

/// Checks an operand of 16-bit elements, f32 or bytes in shared memory.
static LogicalResult verifyShared(Operation *op, SharedType tile, bool transposed, int64_t k,
                                  int64_t own) {
  auto [alongK, extent] = getExtents(tile, transposed);
  Type element = tile.getElementType();
  bool isTaken = tile.getElementBytes() == 2 || element.isF32() || element.isInteger(8);
  if (isTaken && k <= alongK && own <= extent)
    return success();
  return op->emitOpError("expected an operand of 16-bit elements, f32 or i8, at least ")
         << k << " along k and " << own << " along its own dim, got " << tile;
}

/// What a loop passes on to its next iteration, or returns, as `use`; nothing if no loop does.
static SmallVector<Value, 2> getCarried(OpOperand &use) {
  if (auto loop = dyn_cast<LoopLikeOpInterface>(use.getOwner())) {
    BlockArgument argument = loop.getTiedLoopRegionIterArg(&use);
    OpResult result = loop.getTiedLoopResult(&use);
    return argument && result ? SmallVector<Value, 2>{argument, result} : SmallVector<Value, 2>();
  }
  auto loop = dyn_cast_or_null<LoopLikeOpInterface>(use.getOwner()->getParentOp());
  std::optional<MutableArrayRef<OpOperand>> yielded =
      loop ? loop.getYieldedValuesMutable() : std::nullopt;
  if (!yielded || yielded->empty() || use.getOwner() != yielded->front().getOwner())
    return {};
  size_t number = use.getOperandNumber() - yielded->front().getOperandNumber();
  // What the loop yields has not been verified yet.
  if (number >= loop.getRegionIterArgs().size() || number >= loop->getNumResults())
    return {};
  return {loop.getRegionIterArgs()[number], loop->getResult(number)};
}

/// `value`, and what it is called where loops carry it.
static llvm::SetVector<Value> followLoops(Value value) {
  llvm::SetVector<Value> names;
  names.insert(value);
  for (size_t i = 0; i < names.size(); ++i)
    for (OpOperand &use : names[i].getUses())
      for (Value name : getCarried(use))
        names.insert(name);
  return names;
}

/// Nobody reads a product that may be under way.
static LogicalResult verifyUses(DotOp op) {
  if (op.getSynchronous())
    return success();
  llvm::SetVector<Value> tokens = followLoops(op.getToken());
  for (Value result : followLoops(op.getResult()))
    for (OpOperand &use : result.getUses()) {
      auto dot = dyn_cast<DotOp>(use.getOwner());
      auto await = dyn_cast<AwaitOp>(use.getOwner());
      bool isSum = dot && dot.getAccumulator() == result && dot.getA() != result;
      bool isAwaited = await && llvm::any_of(await.getTokens(),
                                             [&](Value token) { return tokens.contains(token); });
      if (isSum || isAwaited || !getCarried(use).empty())
        continue;
      InFlightDiagnostic diag =
          op.emitOpError("expected its result to be awaited by its token before it is used");
      diag.attachNote(use.getOwner()->getLoc()) << "used here";
      return diag;
    }
  return success();
}

/// Only mma.sync adds up products of f32 as they are, and only lines that run along k are matrices
/// of ldmatrix, whose columns `operand` has. wgmma multiplies what is of TF32, along k.
static LogicalResult verifySingle(DotOp op) {
  auto a = dyn_cast<RegisterType>(op.getA().getType());
  if (!op.getB().getType().getElementType().isF32()) {
    if (op.getTf32())
      return op.emitOpError("expected operands of f32 for tf32, got ") << op.getB().getType();
    return success();
  }
  bool isPaired = a && a.isPaired();
  bool isTaken =
      op.getSynchronous() ? isPaired == op.getTransposedB() : op.getTf32() && !op.getTransposedB();
  if (isTaken && !op.getTransposedA())
    return success();
  return op.emitOpError("expected a synchronous product of f32, whose second operand is transposed "
                        "where the first one is paired, or one of TF32 along k, got ")
         << op.getA().getType() << " and " << op.getB().getType();
}

/// What wgmma alone does.
static LogicalResult verifyAsynchronous(DotOp op) {
  bool isOfBytes = op.getB().getType().getElementBytes() == 1;
  if (op.getCondition() && !op.getAccumulator())
    return op.emitOpError("expected an accumulator for the condition");
  if (op.getSynchronous() && (isOfBytes || op.getCondition() || op.getFrom() != 0))
    return op.emitOpError("expected no bytes, no condition and all of the second operand of a "
                          "synchronous product");
  if (isOfBytes && (op.getTransposedA() || op.getTransposedB()))
    return op.emitOpError("expected bytes that run along k, got ")
           << op.getA().getType() << " and " << op.getB().getType();
  return success();
}

LogicalResult DotOp::verify() {
  RegisterType result = getResult().getType();
  int64_t k = getK(), columns = result.getColumns(), step = getB().getType().getStepColumns(),
          from = getFrom();
  Type element = getB().getType().getElementType();
  bool hasSums = element.isInteger(8) ? result.getElementType().isInteger(32)
                                      : result.getElementType().isF32();
  if (result.isOperand() || !hasSums)
    return emitOpError("expected a result of layout 'accumulator' and f32, or i32 of bytes, got ")
           << result;
  if (k < step || k % step != 0 || from < 0 || from % step != 0)
    return emitOpError("expected a multiple of ")
           << step << " elements along k, got " << k << " from " << from;
  if (getAccumulator() && getAccumulator().getType() != result)
    return emitOpError("expected an accumulator of the result's type, got ")
           << getAccumulator().getType() << " for " << result;
  if (failed(verifyShared(*this, getB().getType(), getTransposedB(), from + k, columns)) ||
      failed(verifyAwaited(*this, getB())) || failed(verifySingle(*this)) ||
      failed(verifyAsynchronous(*this)))
    return failure();
  if (auto a = dyn_cast<RegisterType>(getA().getType())) {
    if (!a.isOperand() || a.getElementType() != element || k > a.getColumns() || getRow() ||
        getTransposedA())
      return emitOpError("expected an operand of layout 'operand' without a row, at least ")
             << k << " columns of " << element << ", got " << a;
    return verifyUses(*this);
  }
  auto a = cast<SharedType>(getA().getType());
  if (!getRow() || a.getElementType() != element)
    return emitOpError("expected a row of a tile of ") << element << ", got " << a;
  bool repeats = !getSynchronous() && !getTransposedA() && a.getRows() == kRepeatedRows;
  if (failed(
          verifyShared(*this, a, getTransposedA(), k, repeats ? kRepeatedRows : kWarpgroupRows)) ||
      failed(verifyAwaited(*this, getA())))
    return failure();
  return verifyUses(*this);
}

void AwaitOp::build(OpBuilder &, OperationState &state, ValueRange values, ValueRange tokens) {
  state.addOperands(values);
  state.addOperands(tokens);
  llvm::copy(ArrayRef<int32_t>{static_cast<int32_t>(values.size()),
                               static_cast<int32_t>(tokens.size()), 0},
             state.getOrAddProperties<Properties>().operandSegmentSizes.begin());
  state.addTypes(values.getTypes());
}

LogicalResult AwaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                        DictionaryAttr, OpaqueProperties properties, RegionRange,
                                        SmallVectorImpl<Type> &types) {
  auto count = static_cast<size_t>(properties.as<Properties *>()->operandSegmentSizes[0]);
  if (count > operands.size())
    return failure();
  llvm::append_range(types, operands.take_front(count).getTypes());
  return success();
}

/// True if `value` is of a product, a loop carries it, or there never was a product.
static bool isOfProduct(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  return argument ? isa_and_nonnull<LoopLikeOpInterface>(op)
                  : isa<LoopLikeOpInterface, DotOp, NothingOp, UndefinedOp>(op);
}

LogicalResult AwaitOp::verify() {
  if (getTokens().empty() || !llvm::all_of(getTokens(), isOfProduct))
    return emitOpError("expected tokens of tile.dot");
  // What becomes of a product's result is for the product to verify.
  if (!llvm::all_of(getValues(), isOfProduct))
    return emitOpError("expected results of tile.dot");
  return success();
}

LogicalResult IssueOp::verify() {
  auto count = static_cast<size_t>(getColumns()) / 2;
  if (getResults().size() != count || (!getSums().empty() && getSums().size() != count))
    return emitOpError("expected ") << count << " results and as many sums or none, got "
                                    << getResults().size() << " and " << getSums().size();
  auto words =
      static_cast<size_t>(static_cast<int64_t>(getK()) * 4 / getB().getType().getStepColumns());
  if (static_cast<bool>(getA()) == !getWords().empty() ||
      (!getWords().empty() && getWords().size() < words))
    return emitOpError("expected a tile or at least ")
           << words << " words as the first operand, got " << getWords().size();
  return success();
}

LogicalResult RetireOp::verify() {
  if (getResults().size() == getSums().size())
    return success();
  return emitOpError("expected as many results as sums, got ")
         << getResults().size() << " and " << getSums().size();
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

/// A block has 1,024 threads.
static constexpr int64_t kMostWarpgroups = 1024 / kWarpgroupThreads;

LogicalResult RolesOp::verify() {
  size_t roles = getRoles().size();
  ArrayRef<int64_t> given = getRegisters().value_or(ArrayRef<int64_t>());
  if (roles < 1 || getCounts().size() != roles || (getRegisters() && given.size() != roles))
    return emitOpError("expected a count and registers for each of ")
           << roles << " roles, got " << getCounts().size() << " and " << given.size();
  for (Region &role : getRoles())
    if (failed(verifyBody(*this, role, IndexType::get(getContext()), {})))
      return failure();
  // Without any, threads have at least the fewest.
  constexpr int64_t fewest = 24;
  SmallVector<int64_t> all(roles, fewest);
  if (getRegisters())
    all.assign(given.begin(), given.end());
  for (auto [count, registers] : llvm::zip_equal(getCounts(), all))
    if (count < 1 || count > kMostWarpgroups || registers < fewest || registers > 256 ||
        registers % 8 != 0)
      return emitOpError("expected roles of 1 to ")
             << kMostWarpgroups << " warpgroups and 24 to 256 registers, a multiple of 8, got "
             << count << " of " << registers;
  // A thread that asks for more than is left waits until others give some back.
  constexpr int64_t available = 65536, step = 8;
  int64_t warpgroups = 0, wanted = 0;
  for (auto [count, registers] : llvm::zip_equal(getCounts(), all)) {
    warpgroups += count;
    wanted += count * registers; // in range: both are small
  }
  int64_t starting = available / kWarpgroupThreads / warpgroups / step * step;
  int64_t held = warpgroups * starting; // in range: at most `available`
  if (wanted > held)
    return emitOpError("expected at most ")
           << held << " registers of a thread of each of " << warpgroups
           << " warpgroups together, which the block starts with, got " << wanted;
  return success();
}

} // namespace xc::tile
