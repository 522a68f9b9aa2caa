//===- HoistParameters.cpp - Compute once what depends on parameters alone ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each function of a target's module:
// 1. What is *fixed* is found, and its roots, the parameters and constants that it is made of
// (FixedOps.h).
// 2. A fixed value is worth keeping if it is no view and takes no more memory than its roots; rows
// that are padded to a distance that copies want may take more, and filters with zeros between.
// 3. From what is not fixed the pass goes up through fixed ops: at the first value worth keeping it
// stops, and that value becomes a result of the init function. Fixed ops in between stay.
//
// The init function holds one copy of what several functions, or several results, need.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/FixedOps.h"
#include "compiler/Dispatch/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"
#include "compiler/Dialect/Plan/Transforms/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace xc::plan {
#define GEN_PASS_DEF_HOISTPARAMETERS
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

/// What a result that saves a math function may take where that is more than its roots do.
static constexpr int64_t kSmallBytes = 64 << 10;
/// Rows of one element of 16 bits, padded to the 16 bytes that copies of boxes want.
static constexpr int64_t kMostPadding = 8;
/// A filter whose elements have zeros between them (PackGroups.cpp): a convolution's, which is
/// small.
static constexpr int64_t kMostSpreadBytes = 4 << 20;

static int64_t getBytes(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// True for an op whose elements are those of its input, or zeros where its loops say so.
static bool isSpread(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 || !generic.hasIndexSemantics())
    return false;
  Value yielded = generic.getBody()->getTerminator()->getOperand(0);
  auto select = yielded.getDefiningOp<arith::SelectOp>();
  return select && select.getTrueValue() == generic.getBody()->getArgument(0) &&
         (matchPattern(select.getFalseValue(), m_PosZeroFloat()) ||
          matchPattern(select.getFalseValue(), m_Zero()));
}

static bool hasMath(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa_and_present<math::MathDialect>(inner->getDialect()) ? WalkResult::interrupt()
                                                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {

/// The function whose plan runs once.
class InitFunction {
public:
  explicit InitFunction(ModuleOp module);

  bool is(func::FuncOp other) const { return func == other; }
  /// Computes here what `value` is, and returns the number of that result. `isFixed`: where its
  /// operands are known to be so.
  unsigned add(Value value);
  /// Forgets results that no function reads, and says of each what it is made of.
  void finish();

private:
  Value clone(Value value);
  Operation *findEqual(Operation *op);
  std::string describe(Value result);
  func::ReturnOp getReturn() {
    return cast<func::ReturnOp>(func.getBody().front().getTerminator());
  }

  ModuleOp module;
  func::FuncOp func;
  IRMapping mapping;
  llvm::DenseMap<llvm::hash_code, SmallVector<Operation *>> byHash;
};

/// Finds what one function need not compute.
class Hoister {
public:
  Hoister(func::FuncOp func, InitFunction &init)
      : block(func.getBody().front()), init(init), fixed(block) {}

  void run();

private:
  bool isWorthKeeping(Value value);
  SmallVector<Value> findResults();

  Block &block;
  InitFunction &init;
  FixedOps fixed;
};

} // namespace

//===----------------------------------------------------------------------===//
// The init function
//===----------------------------------------------------------------------===//

static llvm::hash_code hashOf(Operation *op) {
  return OperationEquivalence::computeHash(op, OperationEquivalence::directHashValue,
                                           OperationEquivalence::ignoreHashValue,
                                           OperationEquivalence::IgnoreLocations);
}

InitFunction::InitFunction(ModuleOp module) : module(module) {
  for (auto candidate : module.getOps<func::FuncOp>())
    if (candidate->hasAttr(kInitAttr))
      func = candidate;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  if (!func) {
    func = func::FuncOp::create(builder, module.getLoc(), "init", builder.getFunctionType({}, {}));
    func.setPrivate();
    func->setAttr(kInitAttr, builder.getUnitAttr());
    builder.setInsertionPointToEnd(func.addEntryBlock());
    func::ReturnOp::create(builder, module.getLoc());
    // A function of the program may have that name.
    func->remove();
    SymbolTable(module).insert(func, module.getBody()->end());
  }
  for (Operation &op : func.getBody().front().without_terminator())
    byHash[hashOf(&op)].push_back(&op);
}

/// An op that is there already and computes the same.
Operation *InitFunction::findEqual(Operation *op) {
  for (Operation *other : byHash.lookup(hashOf(op)))
    if (OperationEquivalence::isEquivalentTo(op, other, OperationEquivalence::IgnoreLocations))
      return other;
  return nullptr;
}

Value InitFunction::clone(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (auto packed = dyn_cast<PackedOp>(op)) {
    mapping.map(value, getReturn().getOperand(packed.getOrdinal()));
    return mapping.lookup(value);
  }
  for (Value operand : getOperandsAndCaptures(op))
    clone(operand);
  OpBuilder builder(getReturn());
  Operation *copy = builder.clone(*op, mapping);
  if (Operation *equal = findEqual(copy)) {
    copy->erase();
    copy = equal;
  } else {
    byHash[hashOf(copy)].push_back(copy);
  }
  mapping.map(op->getResults(), copy->getResults());
  return mapping.lookup(value);
}

unsigned InitFunction::add(Value value) {
  Value result = clone(value);
  func::ReturnOp ret = getReturn();
  auto known = llvm::find(ret.getOperands(), result);
  unsigned number = std::distance(ret.getOperands().begin(), known);
  if (known == ret.getOperands().end())
    ret->insertOperands(number, result);
  return number;
}

/// The result's type, and the parameters that it is made of.
std::string InitFunction::describe(Value result) {
  constexpr size_t most = 4;
  llvm::SetVector<Operation *> slice;
  SmallVector<Value> worklist = {result};
  llvm::SetVector<Attribute> parameters;
  bool hasConstants = false;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!slice.insert(op))
      continue;
    if (auto parameter = dyn_cast<array::ParameterOp>(op))
      parameters.insert(parameter.getParameterAttr());
    hasConstants |= isConstantTensor(op);
    llvm::append_range(worklist, llvm::reverse(getOperandsAndCaptures(op)));
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << result.getType() << " of ";
  for (auto [index, attr] : llvm::enumerate(parameters.getArrayRef().take_front(most))) {
    auto parameter = cast<array::ParameterAttr>(attr);
    stream << (index ? ", " : "")
           << (parameter.getKey().empty() ? parameter.getScope() : parameter.getKey());
  }
  if (parameters.size() > most)
    stream << " and " << parameters.size() - most << " more";
  if (hasConstants)
    stream << (parameters.empty() ? "constants" : " and constants");
  return text;
}

void InitFunction::finish() {
  SmallVector<PackedOp> reads;
  module.walk([&](PackedOp packed) {
    if (packed->use_empty())
      packed.erase();
    else
      reads.push_back(packed);
  });
  func::ReturnOp ret = getReturn();
  // In the order in which they were found.
  SmallVector<int64_t> number(ret.getNumOperands(), -1);
  for (PackedOp packed : reads)
    number[packed.getOrdinal()] = 0;
  SmallVector<Value> results;
  for (auto [index, value] : llvm::enumerate(ret.getOperands())) {
    if (number[index] < 0)
      continue;
    number[index] = results.size();
    results.push_back(value);
  }
  for (PackedOp packed : reads)
    packed.setOrdinal(number[packed.getOrdinal()]);
  if (results.empty()) {
    func.erase();
    return;
  }
  Builder builder(module.getContext());
  ret->setOperands(results);
  eraseDead(func.getBody().front());
  func.setFunctionType(builder.getFunctionType({}, ValueRange(results).getTypes()));
  SmallVector<std::string> texts =
      llvm::map_to_vector(results, [&](Value v) { return describe(v); });
  SmallVector<StringRef> views(texts.begin(), texts.end());
  func->setAttr(kHoistedAttr, builder.getStrArrayAttr(views));
}

//===----------------------------------------------------------------------===//
// What a function need not compute
//===----------------------------------------------------------------------===//

bool Hoister::isWorthKeeping(Value value) {
  Operation *op = value.getDefiningOp();
  const FixedOps::Roots &roots = fixed.getRoots(op);
  if (roots.empty() || FixedOps::isRoot(op) || isView(op) ||
      !isa<RankedTensorType>(value.getType()))
    return false;
  int64_t bytes = getBytes(value), rootBytes = 0;
  for (Value root : roots)
    rootBytes += getBytes(root);
  // Padding is there for the distance of rows: to cut it off again would be to undo it.
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
      slice && slice.getSource().getDefiningOp<tensor::PadOp>())
    return false;
  if (bytes <= (isa<tensor::PadOp>(op) ? kMostPadding : 1) * rootBytes)
    return bytes > 0;
  if (isSpread(op))
    return bytes <= kMostSpreadBytes;
  return bytes <= kSmallBytes && bytes <= 2 * rootBytes && hasMath(op);
}

SmallVector<Value> Hoister::findResults() {
  llvm::SetVector<Value> results;
  llvm::DenseSet<Operation *> stays;
  auto visit = [&](Operation *op) {
    SmallVector<Operation *> worklist = {op};
    while (!worklist.empty())
      for (Value value : getOperandsAndCaptures(worklist.pop_back_val())) {
        Operation *definition = value.getDefiningOp();
        if (!definition || !fixed.contains(definition))
          continue;
        if (isWorthKeeping(value))
          results.insert(value);
        else if (stays.insert(definition).second)
          worklist.push_back(definition);
      }
  };
  for (Operation &op : block)
    if (!fixed.contains(&op))
      visit(&op);
  return results.takeVector();
}

void Hoister::run() {
  SmallVector<std::pair<Value, unsigned>> kept;
  for (Value value : findResults())
    kept.push_back({value, init.add(value)});
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (auto [value, number] : kept)
    value.replaceAllUsesWith(PackedOp::create(builder, value.getLoc(), value.getType(), number));
  eraseDead(block);
}

namespace {

struct HoistParameters final : impl::HoistParametersBase<HoistParameters> {
  void runOnOperation() override {
    InitFunction init(getOperation());
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal() && !init.is(func))
        Hoister(func, init).run();
    init.finish();
  }
};

} // namespace

} // namespace xc::plan
