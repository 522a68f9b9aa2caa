//===- AnnotateCost.cpp - Say what each kernel moves and computes ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts, as formulas over a kernel's scalars, the bytes that it must move at least and the
// operations of its bodies, while the kernel still is linalg on tensors. Reports, benchmarks and
// debuggers read what it sets; no decision of the compiler depends on it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/Passes.h"
#include "compiler/Dispatch/Places.h"

#include "compiler/Dialect/Kernel/IR/AttentionDecodeOp.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace xc::plan {
#define GEN_PASS_DEF_ANNOTATECOST
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

namespace {

/// Sizes inside one kernel function as formulas over its scalars.
class KernelSizes {
public:
  explicit KernelSizes(MLIRContext *context) : context(context) {}

  /// Null where the size is no formula of the scalars.
  FormulaAttr getIndex(Value value) {
    IntegerAttr constant;
    if (matchPattern(value, m_Constant(&constant)))
      return FormulaAttr::getConstant(context, constant.getInt());
    if (auto scalar = value.getDefiningOp<ScalarOp>())
      return FormulaAttr::getSymbol(context, scalar.getOrdinal());
    // A size that is known to be a multiple.
    if (auto product = value.getDefiningOp<arith::MulIOp>()) {
      FormulaAttr lhs = getIndex(product.getLhs()), rhs = getIndex(product.getRhs());
      return lhs && rhs ? lhs * rhs : FormulaAttr();
    }
    // A part of a size.
    if (auto apply = value.getDefiningOp<affine::AffineApplyOp>()) {
      SmallVector<FormulaAttr> operands =
          llvm::map_to_vector(apply.getMapOperands(), [&](Value v) { return getIndex(v); });
      if (llvm::is_contained(operands, FormulaAttr()))
        return {};
      AffineMap map = apply.getAffineMap();
      ArrayRef<FormulaAttr> all(operands);
      return FormulaAttr::get(map.getResult(0), all.take_front(map.getNumDims()),
                              all.drop_front(map.getNumDims()));
    }
    return {};
  }

  FormulaAttr getDim(Value tensor, int64_t dim) {
    auto type = cast<ShapedType>(tensor.getType());
    if (!type.isDynamicDim(dim))
      return FormulaAttr::getConstant(context, type.getDimSize(dim));
    Operation *op = tensor.getDefiningOp();
    if (auto binding = dyn_cast_or_null<BindingOp>(op))
      return getIndex(binding.getSizes()[cast<MemRefType>(type).getDynamicDimIndex(dim)]);
    if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
      return getIndex(empty.getDynamicSize(dim));
    if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op);
        slice && slice.getDroppedDims().none())
      return getIndex(slice.getDynamicSize(dim));
    if (auto destination = dyn_cast_or_null<DestinationStyleOpInterface>(op))
      return getDim(destination.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim);
    if (op && op->getName().getStringRef() == "bufferization.to_tensor")
      return getDim(op->getOperand(0), dim);
    return {};
  }

private:
  MLIRContext *context;
};

struct AnnotateCost final : impl::AnnotateCostBase<AnnotateCost> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ModuleOp>())
      if (kernel->hasAttr(kKernelAttr))
        annotate(kernel);
  }

  static FormulaAttr countBytes(ModuleOp kernel, KernelSizes &sizes);
  static FormulaAttr countFlops(linalg::LinalgOp op, KernelSizes &sizes);
  static ArrayAttr describeOperands(ModuleOp kernel, unsigned numBindings, KernelSizes &sizes);
  static void annotate(ModuleOp kernel);
};

/// The one slice of `tensor`, or of a reshape of it, that is all that is read of it; null if there
/// is none.
static Value getOnlySlice(Value tensor) {
  if (!tensor.hasOneUse())
    return {};
  Operation *user = *tensor.user_begin();
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(user))
    return getOnlySlice(user->getResult(0));
  auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
  return slice ? slice.getResult() : Value();
}

/// What has as many elements as the kernel touches of `binding`: its memory, a slice of that, or
/// what updates it.
static Value getAccessed(BindingOp binding) {
  if (binding.getAccess() == Access::Read && binding->hasOneUse()) {
    Operation *user = *binding->user_begin();
    Value slice = user->getNumResults() == 1 ? getOnlySlice(user->getResult(0)) : Value();
    return slice ? slice : binding.getMemory();
  }
  for (Operation *user : binding->getUsers())
    if (auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(user))
      if (auto update = store.getSource().getDefiningOp<kernel::UpdateOp>())
        return update.getUpdate();
  if (binding.getAccess() != Access::ReadWrite)
    return binding.getMemory();
  for (Operation *tensor : binding->getUsers())
    for (Operation *user : tensor->getUsers())
      if (auto scatter = dyn_cast<kernel::ScatterOp>(user))
        return scatter.getUpdates();
  return binding.getMemory();
}

/// The elements that bodies take from `tensor` by index; none where something else reads it, or as
/// often as only the run tells.
static std::optional<int64_t> countTaken(Value tensor) {
  int64_t taken = 0;
  for (Operation *user : tensor.getUsers()) {
    std::optional<int64_t> more;
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(user)) {
      more = countTaken(user->getResult(0));
    } else if (auto loops = user->getParentOfType<linalg::LinalgOp>();
               loops && isa<tensor::ExtractOp>(user)) {
      SmallVector<int64_t> sizes = loops.getStaticLoopRanges();
      if (!ShapedType::isDynamicShape(sizes))
        more = ShapedType::getNumElements(sizes);
    }
    if (!more)
      return std::nullopt;
    taken += *more;
  }
  return taken;
}

/// The elements of what a kernel only takes by index, if that is fewer than its memory has: rows of
/// a table.
static std::optional<int64_t> countTaken(BindingOp binding) {
  auto type = cast<MemRefType>(binding.getMemory().getType());
  if (binding.getAccess() != Access::Read || !binding->hasOneUse() || !type.hasStaticShape())
    return std::nullopt;
  Operation *user = *binding->user_begin();
  std::optional<int64_t> taken =
      user->getNumResults() == 1 ? countTaken(user->getResult(0)) : std::nullopt;
  return taken && *taken < type.getNumElements() ? taken : std::nullopt;
}

FormulaAttr AnnotateCost::countBytes(ModuleOp kernel, KernelSizes &sizes) {
  FormulaAttr total = FormulaAttr::getConstant(kernel.getContext(), 0);
  kernel.walk([&](BindingOp binding) {
    Value accessed = getAccessed(binding);
    auto type = cast<ShapedType>(accessed.getType());
    FormulaAttr bytes = FormulaAttr::getConstant(
        kernel.getContext(), llvm::divideCeil(type.getElementTypeBitWidth(), 8));
    if (std::optional<int64_t> taken = countTaken(binding)) {
      total = total + bytes * *taken;
      return;
    }
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (FormulaAttr size = sizes.getDim(accessed, dim))
        bytes = bytes * size;
    total = total + bytes;
  });
  return total;
}

/// Arithmetic ops of one iteration; moving and converting data counts nothing.
static int64_t countOpsOfBody(linalg::LinalgOp op) {
  if (isa<linalg::ContractOp>(op))
    return 2;
  int64_t count = 0;
  for (Operation &inner : op->getRegion(0).front().without_terminator()) {
    if (!isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()) ||
        inner.hasTrait<OpTrait::ConstantLike>() || isa<CastOpInterface>(inner) ||
        isa<arith::SelectOp>(inner))
      continue;
    count += isa<math::FmaOp>(inner) ? 2 : 1;
  }
  return count;
}

FormulaAttr AnnotateCost::countFlops(linalg::LinalgOp op, KernelSizes &sizes) {
  FormulaAttr flops = FormulaAttr::getConstant(op.getContext(), countOpsOfBody(op));
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    FormulaAttr size;
    for (OpOperand &operand : op->getOpOperands())
      for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (!size && expr == getAffineDimExpr(loop, op.getContext()))
          size = sizes.getDim(operand.get(), dim);
    if (size)
      flops = flops * size;
  }
  return flops;
}

/// Those of both products, of all queries and keys.
template <typename Op>
static FormulaAttr countForwardFlops(Op op, FormulaAttr keys, KernelSizes &sizes) {
  int64_t rank = op.getQueryType().getRank();
  FormulaAttr flops = FormulaAttr::getConstant(op.getContext(), 2);
  auto scale = [&](FormulaAttr size) { flops = size ? flops * size : flops; };
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    scale(sizes.getDim(op.getQuery(), dim));
  scale(keys);
  return flops * (op.getQueryType().getDimSize(rank - 1) + op.getValueType().getDimSize(rank - 1));
}

/// Keys of one sequence: of all of its pages, if they lie in pages.
template <typename Op> static FormulaAttr countKeys(Op op, KernelSizes &sizes) {
  FormulaAttr keys = sizes.getDim(op.getKey(), op.getQueryType().getRank() - 2);
  if (FormulaAttr pages = op.isPaged() ? sizes.getDim(op.getTable(), 1) : FormulaAttr())
    keys = keys ? keys * pages : FormulaAttr();
  return keys;
}

static FormulaAttr countAttentionFlops(kernel::AttentionOp op, KernelSizes &sizes) {
  return countForwardFlops(op, countKeys(op, sizes), sizes);
}

static FormulaAttr countAttentionFlops(kernel::AttentionDecodeOp op, KernelSizes &sizes) {
  return countForwardFlops(op, countKeys(op, sizes), sizes);
}

/// Those of its products.
static FormulaAttr countAttentionFlops(kernel::AttentionGradientOp op, KernelSizes &sizes) {
  int64_t rank = op.getQueryType().getRank();
  FormulaAttr flops = FormulaAttr::getConstant(op.getContext(), 2);
  auto scale = [&](FormulaAttr size) { flops = size ? flops * size : flops; };
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    scale(sizes.getDim(op.getQuery(), dim));
  scale(sizes.getDim(op.getKey(), rank - 2));
  return flops * op.countProductElements();
}

/// Element type and dims of each binding; -1 where a dim is no formula of the scalars.
ArrayAttr AnnotateCost::describeOperands(ModuleOp kernel, unsigned numBindings,
                                         KernelSizes &sizes) {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> operands(numBindings);
  kernel.walk([&](BindingOp binding) {
    auto type = cast<MemRefType>(binding.getMemory().getType());
    SmallVector<Attribute> dims;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      FormulaAttr size = sizes.getDim(binding.getMemory(), dim);
      dims.push_back(size ? size : FormulaAttr::getConstant(kernel.getContext(), -1));
    }
    operands[binding.getOrdinal()] = builder.getDictionaryAttr(
        {builder.getNamedAttr("dims", builder.getArrayAttr(dims)),
         builder.getNamedAttr("element", TypeAttr::get(type.getElementType()))});
  });
  // Nobody may look at a kernel whose bindings have gaps as if it told about all of them.
  if (llvm::is_contained(operands, Attribute()))
    operands.clear();
  return builder.getArrayAttr(operands);
}

/// Collects places of files.
class LocationCollector {
public:
  LocationCollector() {
    walker.addWalk([this](LocationAttr loc) {
      if (auto file = dyn_cast<FileLineColLoc>(loc))
        found.insert(printPlace(file));
    });
  }

  void collect(Location loc) { walker.walk<WalkOrder::PreOrder>(LocationAttr(loc)); }
  ArrayRef<StringAttr> getFound() const { return found.getArrayRef(); }

private:
  /// It remembers where it has been: ops share callers.
  AttrTypeWalker walker;
  llvm::SetVector<StringAttr> found;
};

void AnnotateCost::annotate(ModuleOp kernel) {
  MLIRContext *context = kernel.getContext();
  KernelSizes sizes(context);
  unsigned numScalars = 0;
  kernel.walk([&](ScalarOp scalar) {
    numScalars = std::max<unsigned>(numScalars, scalar.getOrdinal() + 1);
  });
  unsigned numBindings = 0;
  kernel.walk([&](BindingOp binding) {
    numBindings = std::max<unsigned>(numBindings, binding.getOrdinal() + 1);
  });
  Builder builder(context);
  kernel->setAttr(kCountsAttr,
                  builder.getDictionaryAttr(
                      {builder.getNamedAttr("bindings", builder.getI64IntegerAttr(numBindings)),
                       builder.getNamedAttr("scalars", builder.getI64IntegerAttr(numScalars))}));
  kernel->setAttr(kOperandsAttr, describeOperands(kernel, numBindings, sizes));
  FormulaAttr flops = FormulaAttr::getConstant(context, 0);
  LocationCollector locations;
  kernel.walk([&](linalg::LinalgOp op) {
    if (isa<linalg::FillOp>(op))
      return;
    flops = flops + countFlops(op, sizes);
    // A fused op is where its last one was; those before it are in its body. The walk comes to the
    // op itself last.
    op->walk([&](Operation *inner) { locations.collect(inner->getLoc()); });
  });
  kernel.walk([&](kernel::AttentionOp op) { flops = flops + countAttentionFlops(op, sizes); });
  kernel.walk(
      [&](kernel::AttentionDecodeOp op) { flops = flops + countAttentionFlops(op, sizes); });
  kernel.walk(
      [&](kernel::AttentionGradientOp op) { flops = flops + countAttentionFlops(op, sizes); });
  if (locations.getFound().empty())
    locations.collect(kernel.getLoc());
  kernel->setAttr(kBytesAttr, countBytes(kernel, sizes));
  kernel->setAttr(kFlopsAttr, flops);
  kernel->setAttr(kLocationsAttr,
                  ArrayAttr::get(context, SmallVector<Attribute>(locations.getFound())));
}

} // namespace

} // namespace xc::plan
