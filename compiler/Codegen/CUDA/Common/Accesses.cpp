//===- Accesses.cpp - Which elements of its inputs a result needs ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Accesses.h"

#include "compiler/Codegen/Common/ViewIndices.h"
#include "compiler/Dialect/Plan/IR/Copies.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace xc::cuda {

using Exprs = SmallVector<AffineExpr>;

template <typename View>
static std::optional<Exprs> findSourceCoords(View view, ArrayRef<AffineExpr> coords) {
  codegen::IndexExpressions expressions{view.getContext()};
  Exprs source = codegen::getSourceIndices(expressions, view, coords);
  return llvm::is_contained(source, AffineExpr()) ? std::nullopt : std::optional(source);
}

std::optional<Exprs> getSourceCoords(tensor::ExtractSliceOp slice, ArrayRef<AffineExpr> coords) {
  return findSourceCoords(slice, coords);
}

std::optional<Exprs> getSourceCoords(tensor::ExpandShapeOp expand, ArrayRef<AffineExpr> coords) {
  return findSourceCoords(expand, coords);
}

/// Adds `factor` times `expr`; false if it is no sum of multiples.
static bool addTerms(AffineExpr expr, int64_t factor, LoopSum &sum) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    sum.constant += factor * constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    sum.loops.push_back({dim.getPosition(), factor});
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return addTerms(binary.getLHS(), factor, sum) && addTerms(binary.getRHS(), factor, sum);
  auto multiple = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && multiple &&
         addTerms(binary.getLHS(), factor * multiple.getValue(), sum);
}

std::optional<LoopSum> matchLoopSum(AffineExpr expr) {
  LoopSum sum;
  return addTerms(expr, 1, sum) ? std::optional(sum) : std::nullopt;
}

/// For each dim of the result of `collapse` the one of its source that is not of size 1, or the
/// first if all are; nothing where there are several.
static std::optional<SmallVector<unsigned>> getLongDims(tensor::CollapseShapeOp collapse) {
  SmallVector<unsigned> result;
  for (ArrayRef<int64_t> dims : collapse.getReassociationIndices()) {
    auto isLong = [&](int64_t dim) { return collapse.getSrcType().getDimSize(dim) != 1; };
    if (llvm::count_if(dims, isLong) > 1)
      return std::nullopt;
    const int64_t *own = llvm::find_if(dims, isLong);
    result.push_back(own == dims.end() ? dims.front() : *own);
  }
  return result;
}

Value getPermuted(Value tensor, SmallVector<unsigned> &order) {
  order = llvm::to_vector(llvm::seq<unsigned>(0, cast<ShapedType>(tensor.getType()).getRank()));
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  AffineMap map = generic ? plan::getPermutationMap(generic) : AffineMap();
  if (!map)
    return tensor;
  Value source = generic.getDpsInputs().front();
  for (auto [dim, own] : llvm::enumerate(map.getResults()))
    order[cast<AffineDimExpr>(own).getPosition()] = dim;
  auto collapse = source.getDefiningOp<tensor::CollapseShapeOp>();
  std::optional<SmallVector<unsigned>> kept = collapse ? getLongDims(collapse) : std::nullopt;
  if (!kept)
    return source;
  for (unsigned &dim : order)
    dim = (*kept)[dim];
  return collapse.getSrc();
}

std::optional<unsigned> Access::getContiguousDim() const {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  for (auto [coord, size] : llvm::zip_equal(llvm::reverse(coords), llvm::reverse(shape))) {
    if (size == 1)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(coord);
    return dim ? std::optional(dim.getPosition()) : std::nullopt;
  }
  return std::nullopt;
}

namespace {

class AccessCollector {
public:
  /// Null `coords` stand for places that are not known.
  void visit(Value tensor, std::optional<Exprs> coords);

  llvm::MapVector<Value, std::optional<Exprs>> accesses;

private:
  void visitLinalg(linalg::LinalgOp op, Value result, const std::optional<Exprs> &coords);
};

} // namespace

void AccessCollector::visitLinalg(linalg::LinalgOp op, Value result,
                                  const std::optional<Exprs> &coords) {
  std::optional<Exprs> loops;
  AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(result));
  if (coords && op.getNumReductionLoops() == 0 &&
      map.isProjectedPermutation(/*allowZeroInResults=*/true)) {
    loops.emplace(op.getNumLoops(), getAffineConstantExpr(0, op.getContext()));
    for (auto [coord, expr] : llvm::zip_equal(*coords, map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        (*loops)[dim.getPosition()] = coord;
  }
  for (OpOperand &operand : op->getOpOperands()) {
    if (!op.payloadUsesValueFromOperand(&operand) ||
        !isa<RankedTensorType>(operand.get().getType()))
      continue;
    std::optional<Exprs> place;
    if (loops)
      place = llvm::map_to_vector(
          op.getMatchingIndexingMap(&operand).getResults(), [&](AffineExpr expr) {
            return simplifyAffineExpr(expr.replaceDims(*loops), op.getNumLoops() + 8, 0);
          });
    visit(operand.get(), place);
  }
  op.getBlock()->walk([&](tensor::ExtractOp extract) { visit(extract.getTensor(), std::nullopt); });
}

void AccessCollector::visit(Value tensor, std::optional<Exprs> coords) {
  if (getSourceBinding(tensor)) {
    auto [found, isNew] = accesses.insert({tensor, coords});
    if (!isNew && found->second != coords)
      found->second = std::nullopt;
    return;
  }
  Operation *op = tensor.getDefiningOp();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return visitLinalg(linalgOp, tensor, coords);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return visit(slice.getSource(), coords ? getSourceCoords(slice, *coords) : std::nullopt);
  if (auto castOp = dyn_cast<tensor::CastOp>(op))
    return visit(castOp.getSource(), coords);
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      visit(operand, std::nullopt);
}

SmallVector<Access> collectAccesses(Value result) {
  MLIRContext *context = result.getContext();
  Exprs dims;
  for (int64_t dim = 0; dim < cast<RankedTensorType>(result.getType()).getRank(); ++dim)
    dims.push_back(getAffineDimExpr(dim, context));
  AccessCollector collector;
  collector.visit(result, dims);
  SmallVector<Access> known;
  for (auto &[tensor, coords] : collector.accesses)
    if (coords)
      known.push_back({tensor, *coords});
  return known;
}

static bool dependsOn(Value value, Value tensor) {
  SmallVector<Value> open = {value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (next == tensor)
      return true;
    if (Operation *op = next.getDefiningOp(); op && seen.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return false;
}

/// True if every output that needs the tensor reads it as `access` does, and in no other way.
static bool isReadAlike(const KernelInfo &kernel, const Access &access) {
  return llvm::all_of(kernel.outputs, [&](const KernelOutput &output) {
    return !dependsOn(output.tensor, access.tensor) ||
           llvm::any_of(collectAccesses(output.tensor), [&](const Access &other) {
             return other.tensor == access.tensor && other.coords == access.coords;
           });
  });
}

/// The dims of `shape` up to `last` that are one dim, as far as `inputs` know: they follow one
/// another in each of those, whole.
static SmallVector<unsigned, 2> findMergedDims(ArrayRef<int64_t> shape, ArrayRef<Access> inputs,
                                               unsigned last) {
  SmallVector<unsigned, 2> dims{last};
  auto follow = [&](const Access &access, unsigned first) {
    ArrayRef<int64_t> from = cast<RankedTensorType>(access.tensor.getType()).getShape();
    MLIRContext *context = access.tensor.getContext();
    auto *at = llvm::find(access.coords, getAffineDimExpr(first, context));
    if (at == access.coords.end() || std::next(at) == access.coords.end() ||
        *std::next(at) != getAffineDimExpr(first + 1, context))
      return false;
    size_t position = std::next(at) - access.coords.begin();
    return from[position] == shape[first + 1] && !ShapedType::isDynamic(shape[first + 1]);
  };
  auto isAlone = [&](const Access &access, unsigned dim) {
    return llvm::count_if(access.coords,
                          [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); }) == 1;
  };
  for (unsigned dim = last; dim > 0; --dim) {
    if (!llvm::all_of(inputs, [&](const Access &access) {
          return follow(access, dim - 1) && isAlone(access, dim - 1) && isAlone(access, dim);
        }))
      break;
    dims.insert(dims.begin(), dim - 1);
  }
  return dims;
}

std::optional<TransposedInputs> findTransposedInputs(const KernelInfo &kernel) {
  if (kernel.outputs.empty() || !kernel.storesWholes() || !kernel.getReductions().empty())
    return std::nullopt;
  auto getType = [](const KernelOutput &output) {
    return cast<RankedTensorType>(output.tensor.getType());
  };
  ArrayRef<int64_t> shape = getType(kernel.outputs.front()).getShape();
  for (const KernelOutput &output : kernel.outputs)
    if (getType(output).getShape() != shape)
      return std::nullopt;
  std::optional<unsigned> inner;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size != 1)
      inner = dim;
  if (!inner)
    return std::nullopt;
  std::optional<TransposedInputs> result;
  for (const KernelOutput &output : kernel.outputs)
    for (const Access &access : collectAccesses(output.tensor)) {
      std::optional<unsigned> dim = access.getContiguousDim();
      // Only what runs along both dims gains: else each row is a broadcast or a gather.
      bool alongInner = llvm::any_of(access.coords,
                                     [&](AffineExpr expr) { return expr.isFunctionOfDim(*inner); });
      if (!dim || *dim == *inner || !alongInner || (result && result->outer != *dim) ||
          !isReadAlike(kernel, access))
        continue;
      if (!result)
        result = TransposedInputs{*dim, *inner, {}, {}, {}};
      if (llvm::none_of(result->inputs,
                        [&](const Access &other) { return other.tensor == access.tensor; }))
        result->inputs.push_back(access);
    }
  if (result) {
    result->outerDims = findMergedDims(shape, result->inputs, result->outer);
    result->innerDims = findMergedDims(shape, result->inputs, result->inner);
  }
  return result;
}

int64_t fitVector(const KernelInfo &kernel, int64_t widest, int64_t size) {
  for (plan::BindingOp binding : kernel.bindings) {
    int64_t bytes =
        getElementBytes(cast<MemRefType>(binding.getMemory().getType()).getElementType());
    if (binding.getAlignment() < kVectorBytes)
      widest = std::min<int64_t>(widest, std::max<int64_t>(1, binding.getAlignment() / bytes));
  }
  while (size % widest != 0)
    widest /= 2;
  return widest;
}

} // namespace xc::cuda
