//===- PointEvaluator.h - One element, or some lanes, of a tensor -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits the code that computes a tensor of a kernel at one point of a loop nest, or at `lanes`
// points next to each other, with everything that feeds it inlined. What does not differ between
// the lanes stays scalar, an access whose last index steps by one from lane to lane becomes a
// vector load or store, and any other access becomes one scalar access per lane.
//
// CUDA/Common/PointEmitter.h does the same for a thread, and is another class since what a point is
// differs: there lanes are neighbours, and an access that is not of neighbours is a scalar one of
// the thread. Here lanes may lie any stride or period apart, dims may be merged, and values that a
// step keeps in memory take the place of what would compute them. Where elements of views are in
// their sources is common to both: Common/ViewIndices.h.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_POINTEVALUATOR_H
#define XC_CODEGEN_CPU_POINTEVALUATOR_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <optional>

namespace xc::cpu {

/// An index of a point: lane l has the value base + l / period * stride + shift, or element l of
/// `lanes` where that is set.
struct LaneIndex {
  mlir::Value base = {}; // index; null where `lanes` is set or `absorbed`
  int64_t stride = 0;
  mlir::Value lanes = {}; // vector of index
  int64_t period = 1, shift = 0;
  /// The base is known to be a multiple of this.
  int64_t divisor = 1;
  /// This dim is merged into the next one, which counts for both.
  bool absorbed = false;

  bool isUniform() const { return !lanes && stride == 0; }
  bool operator==(const LaneIndex &other) const {
    return base == other.base && stride == other.stride && lanes == other.lanes &&
           period == other.period && shift == other.shift && absorbed == other.absorbed;
  }
  /// How far lane |lane| is from the base.
  int64_t getOffset(int64_t lane) const { return lane / period * stride + shift; }
};

/// Where a tensor is in memory. Index d of the tensor is index |indices[d]| - |origins[d]| of the
/// memref; a null origin is 0.
struct Buffer {
  mlir::Value memref;
  llvm::SmallVector<unsigned> dims = {}; // tensor dims that the memref has, in order; empty: all
  llvm::SmallVector<mlir::Value> origins = {}; // for each tensor dim; empty: all 0
  /// Index i of the last dim is i % step, i / step of the memref, which has one more dim then. The
  /// origin is in steps, too.
  int64_t step = 1;
  /// It has room for all lanes, also for those that do not exist.
  bool hasAllLanes = false;
};

/// What is known about a kernel's tensors at one place of the generated code.
struct Environment {
  llvm::DenseMap<mlir::Value, Buffer> buffers;        // already in memory
  llvm::DenseMap<mlir::Value, mlir::Value> values;    // at the current point: results of reductions
  llvm::DenseMap<mlir::Value, Buffer> keep;           // to be stored there when computed
  llvm::SmallPtrSet<mlir::Operation *, 2> insidePads; // read inside of what they pad alone
  /// Lanes that exist, a vector of i1; null for all. Others are not in memory, and what is computed
  /// of them is not used.
  mlir::Value mask = {};
};

class PointEvaluator {
public:
  /// Code goes to |builder|'s insertion point. A PointEvaluator serves one point: it reuses what it
  /// has computed.
  PointEvaluator(mlir::OpBuilder &builder, const Environment &environment, int64_t lanes)
      : builder(builder), environment(environment), numLanes(lanes) {}

  /// Element of |tensor| at |indices|: a scalar where all lanes agree, else a vector.
  mlir::Value evaluate(mlir::Value tensor, llvm::ArrayRef<LaneIndex> indices);

  /// The indices that |map| gives iteration |loops|.
  llvm::SmallVector<LaneIndex> evaluateMap(mlir::Location loc, mlir::AffineMap map,
                                           llvm::ArrayRef<LaneIndex> loops);

  /// Element of |tensor| where |map| puts iteration |loops|.
  mlir::Value evaluateAt(mlir::Value tensor, mlir::AffineMap map, llvm::ArrayRef<LaneIndex> loops);

  /// What the body of |op| yields at iteration |loops|. |accumulators| stand for the outputs, if
  /// |op| reduces.
  llvm::SmallVector<mlir::Value> evaluateBody(mlir::linalg::GenericOp op,
                                              llvm::ArrayRef<LaneIndex> loops,
                                              mlir::ValueRange accumulators);

  /// Stores |value| (scalar or vector) at |indices| of |buffer|.
  void store(mlir::Location loc, mlir::Value value, const Buffer &buffer,
             llvm::ArrayRef<LaneIndex> indices);

  mlir::OpBuilder &getBuilder() { return builder; }

  /// |value| as a vector of all lanes (as it is where there is one lane).
  mlir::Value toLanes(mlir::Location loc, mlir::Value value);

private:
  mlir::Value evaluateUncached(mlir::Value tensor, llvm::ArrayRef<LaneIndex> indices);
  mlir::Value evaluateGeneric(mlir::linalg::GenericOp op, unsigned result,
                              llvm::ArrayRef<LaneIndex> indices);
  struct LaneArithmetic;
  /// Of ViewIndices.h.
  mlir::Value evaluateView(mlir::Operation *view, llvm::ArrayRef<LaneIndex> indices);
  mlir::Value evaluatePad(mlir::tensor::PadOp op, llvm::ArrayRef<LaneIndex> indices);
  mlir::Value evaluateInsertSlice(mlir::tensor::InsertSliceOp op,
                                  llvm::ArrayRef<LaneIndex> indices);
  mlir::Value evaluateIf(mlir::Location loc, mlir::Value condition, mlir::Value then,
                         llvm::ArrayRef<LaneIndex> thenIndices, mlir::Value otherwise,
                         llvm::ArrayRef<LaneIndex> otherwiseIndices);
  mlir::Value load(mlir::Location loc, const Buffer &buffer, llvm::ArrayRef<LaneIndex> indices);
  mlir::Value loadRun(mlir::Location loc, mlir::Value memory, llvm::ArrayRef<LaneIndex> indices);
  mlir::Value loadVector(mlir::Location loc, mlir::Value memory, llvm::ArrayRef<LaneIndex> indices,
                         mlir::Value mask);
  llvm::SmallVector<LaneIndex> splitSteps(mlir::Location loc, llvm::SmallVector<LaneIndex> indices,
                                          int64_t step, mlir::Value origin);
  std::optional<LaneIndex> divide(mlir::Location loc, const LaneIndex &index, int64_t divisor);

  void cloneBodyOp(mlir::Operation &op, llvm::ArrayRef<LaneIndex> loops,
                   llvm::DenseMap<mlir::Value, mlir::Value> &mapping,
                   llvm::DenseMap<mlir::Value, LaneIndex> &indexMapping);
  mlir::Value divisorOfLanes(mlir::Location loc, mlir::Value divisor);
  mlir::Value materialize(mlir::Location loc, const LaneIndex &index);
  LaneIndex evaluateExpr(mlir::Location loc, mlir::AffineExpr expr, llvm::ArrayRef<LaneIndex> dims);
  LaneIndex combine(mlir::Location loc, mlir::AffineExprKind kind, const LaneIndex &lhs,
                    const LaneIndex &rhs);
  LaneIndex constantIndex(mlir::Location loc, int64_t value);
  mlir::Value addIndex(mlir::Location loc, mlir::Value lhs, mlir::Value rhs);

  /// The memref and its indices for an access, absorbed dims merged.
  std::pair<mlir::Value, llvm::SmallVector<LaneIndex>>
  resolve(mlir::Location loc, const Buffer &buffer, llvm::ArrayRef<LaneIndex> indices);
  llvm::SmallVector<mlir::Value> indicesOfLane(mlir::Location loc,
                                               llvm::ArrayRef<LaneIndex> indices, int64_t lane);

  mlir::OpBuilder &builder;
  const Environment &environment;
  int64_t numLanes;
  llvm::DenseMap<mlir::Value,
                 llvm::SmallVector<std::pair<llvm::SmallVector<LaneIndex>, mlir::Value>>>
      computed;
};

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_POINTEVALUATOR_H
