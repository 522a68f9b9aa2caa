//===- PointEmitter.h - Code that computes tensors point by point ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strategy decides which thread computes which points of which tensor; the emitter builds the
// code that computes them. It follows the ops of a kernel from a result back to the bindings: the
// value of an elementwise op at a point is its body applied to the values of its operands at
// theirs, a view only changes the point, a reduction is a loop, a binding is a load. Values of a
// tensor at a point are built once in a scope, so that what several results share is loaded and
// computed once.
//
// A point has one or several lanes: several stand for neighbouring elements, whose values are a
// vector.
//
// It is one class of many methods since they call each other in a ring: an op's value asks for
// those of its operands at other points, which may be views, bodies, reductions or loads, and all
// share the table of what the scope has built. Its files are by concept: PointEmitter.cpp has
// points, loads and that table, PointBodies.cpp the bodies of ops and reductions, PointViews.cpp
// the views.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_POINTEMITTER_H
#define XC_CODEGEN_CUDA_COMMON_POINTEMITTER_H

#include "compiler/Codegen/CUDA/Common/IndexBuilder.h"
#include "compiler/Codegen/CUDA/Common/KernelInfo.h"
#include "compiler/Codegen/Common/Combiner.h"

#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/RegularPlaces.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <map>

namespace xc::cuda {

using codegen::Combiner;

/// An index of a point along one dim: the same for all lanes, counting up from lane 0, or one for
/// each lane.
struct Coord {
  enum class Kind { Uniform, Consecutive, PerLane };

  static Coord uniform(mlir::Value value) { return {Kind::Uniform, {value}}; }
  static Coord consecutive(mlir::Value first) { return {Kind::Consecutive, {first}}; }

  bool isUniform() const { return kind == Kind::Uniform; }
  bool isConsecutive() const { return kind == Kind::Consecutive; }
  /// The index of all lanes, or of lane 0.
  mlir::Value first() const { return values.front(); }

  Kind kind;
  llvm::SmallVector<mlir::Value, 1> values;
};

/// Where in a tensor: by an index for each dim, or by the row-major position, or both.
struct Point {
  llvm::SmallVector<Coord> coords;
  std::optional<Coord> flat;
  int64_t lanes = 1;
  /// i1: false where the point is outside the tensor: nothing is loaded then, and the value is
  /// arbitrary.
  mlir::Value mask;
};

class PointEmitter {
public:
  PointEmitter(mlir::OpBuilder &builder, const KernelInfo &kernel);

  /// The value of `tensor` at `point`: a scalar if all lanes share it, else a vector. The emitter
  /// has checked (canEmit) that it knows the op.
  mlir::Value emit(mlir::Value tensor, const Point &point);

  /// The values that reduction `combiner` combines at a point of its iteration space.
  llvm::SmallVector<mlir::Value> emitLeaves(const Combiner &combiner, llvm::ArrayRef<Coord> loops,
                                            int64_t lanes, mlir::Value mask);

  /// Makes `value` the value of `tensor` wherever the code to come asks for it, until the scope
  /// ends.
  void provide(mlir::Value tensor, mlir::Value value) { provided[tensor] = value; }
  /// Makes `callback` compute the values of `tensor`.
  using Callback = std::function<mlir::Value(const Point &)>;
  void provide(mlir::Value tensor, Callback callback) { callbacks[tensor] = std::move(callback); }
  void withdraw(mlir::Value tensor) { callbacks.erase(tensor); }

  /// Stores `value` to the point of `binding` whose row-major position is `flat`. A mask is an i1,
  /// or a vector of one for each lane.
  void store(plan::BindingOp binding, const Coord &flat, mlir::Value value, int64_t lanes,
             mlir::Value mask = {});
  /// Loads from there.
  mlir::Value load(plan::BindingOp binding, const Coord &flat, int64_t lanes,
                   mlir::Value mask = {});

  /// `binding` as a one-dimensional memref.
  mlir::Value getMemory(plan::BindingOp binding) { return memory.lookup(binding); }

  /// The sizes of `tensor`.
  llvm::SmallVector<mlir::Value> getSizes(mlir::Value tensor);
  llvm::SmallVector<mlir::Value> getSizes(plan::BindingOp binding);
  /// The sizes of what is stored: of the binding, or of a box of it.
  llvm::SmallVector<mlir::Value> getSizes(const KernelOutput &output);
  /// Where the box of an update begins in its binding, an index for each dim.
  llvm::SmallVector<mlir::Value> getStarts(const KernelOutput &output);
  /// The sizes of the iteration space of `op`.
  llvm::SmallVector<mlir::Value> getLoopSizes(mlir::linalg::LinalgOp op);

  /// Index arithmetic on all lanes.
  Coord add(const Coord &lhs, const Coord &rhs, int64_t lanes);
  Coord mul(const Coord &lhs, mlir::Value rhs, int64_t lanes);
  Coord apply(mlir::AffineExpr expr, llvm::ArrayRef<Coord> dims, int64_t lanes);
  Coord linearize(llvm::ArrayRef<Coord> coords, llvm::ArrayRef<mlir::Value> sizes, int64_t lanes);
  llvm::SmallVector<Coord> delinearize(const Coord &flat, llvm::ArrayRef<mlir::Value> sizes,
                                       int64_t lanes);
  mlir::Value getLaneIndex(const Coord &coord, int64_t lane);
  /// `point` with its indices or its row-major position filled in.
  llvm::ArrayRef<Coord> getCoords(Point &point, mlir::Value tensor);
  Coord getFlat(Point &point, mlir::Value tensor);

  /// `if (condition) then else otherwise`, each building one value.
  mlir::Value emitIf(mlir::Value condition, mlir::Type elementType, int64_t lanes,
                     llvm::function_ref<mlir::Value()> then,
                     llvm::function_ref<mlir::Value()> otherwise);
  /// `if (condition) then else zeros`, of several values.
  llvm::SmallVector<mlir::Value>
  emitIfOrZeros(mlir::Value condition, llvm::function_ref<llvm::SmallVector<mlir::Value>()> then);
  /// `if (condition) then else kept`, of values of the same types.
  llvm::SmallVector<mlir::Value>
  emitIfOrKeep(mlir::Value condition, mlir::ValueRange kept,
               llvm::function_ref<llvm::SmallVector<mlir::Value>()> then);
  /// `if (condition) then`. A null condition stands for true.
  void emitIf(mlir::Value condition, llvm::function_ref<void()> then);
  void emitIf(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);
  /// A loop; `body` gets the induction variable and the carried values and returns the new ones.
  using LoopBody =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> emitLoop(mlir::Value from, mlir::Value to, mlir::Value step,
                                          mlir::ValueRange inits, LoopBody body);

  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value zero(mlir::Type type);

  /// Names the first op of the kernel that `emit` does not know, with the reason; null if there is
  /// none.
  static mlir::Operation *findUnsupported(const KernelInfo &kernel, std::string &reason);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  IndexBuilder index;

  /// Keeps memoised values and indices to the region that they were built in.
  class Scope;

private:
  using MemoKey = std::pair<mlir::Value, unsigned>;
  using Memo = llvm::ScopedHashTable<MemoKey, mlir::Value>;

  mlir::Value compute(mlir::Value tensor, Point &point);
  mlir::Value computeLinalg(mlir::linalg::LinalgOp op, mlir::Value result, Point &point);
  mlir::Value computeReduction(mlir::linalg::LinalgOp op, mlir::Value result,
                               llvm::SmallVector<Coord> loops, Point &point);
  llvm::SmallVector<mlir::Value> emitBody(mlir::linalg::LinalgOp op, llvm::ArrayRef<Coord> loops,
                                          Point *flatPoint, mlir::ValueRange accumulators,
                                          int64_t lanes, mlir::Value mask);
  llvm::SmallVector<mlir::Value> emitBodyOps(mlir::linalg::LinalgOp op, llvm::ArrayRef<Coord> loops,
                                             int64_t lanes, mlir::Value mask,
                                             mlir::IRMapping &mapping);
  void emitOperands(mlir::linalg::LinalgOp op, llvm::ArrayRef<Coord> loops, Point *flatPoint,
                    int64_t lanes, mlir::Value mask, mlir::IRMapping &mapping, bool outputsToo);
  /// The part that a point of `op` is in, which reduces columns in parts (plan::getColumnPart).
  Coord getColumnPart(mlir::linalg::LinalgOp op, llvm::ArrayRef<Coord> loops, int64_t lanes);
  void emitBodyOp(mlir::linalg::LinalgOp op, mlir::Operation *bodyOp, llvm::ArrayRef<Coord> loops,
                  int64_t lanes, mlir::Value mask, mlir::IRMapping &mapping);
  /// What `place` is where its loop is `loop`.
  Coord apply(const plan::RegularPlace &place, const Coord &loop, int64_t lanes);
  /// `count` lanes of `coord`, from lane `first` on.
  Coord sliceLanes(const Coord &coord, int64_t first, int64_t count);
  Coord toCoord(mlir::Value value, int64_t lanes);
  mlir::Value toValue(const Coord &coord, int64_t lanes);

  // Views (PointViews.cpp).
  struct CoordArithmetic;
  /// Of ViewIndices.h.
  mlir::Value computeView(mlir::Operation *view, Point &point);
  mlir::Value computeInsertSlice(mlir::tensor::InsertSliceOp op, Point &point);
  mlir::Value computePad(mlir::tensor::PadOp op, Point &point);
  mlir::Value computeScatter(kernel::ScatterOp op, Point &point); // PointScatter.cpp
  mlir::Value computeLaneByLane(mlir::Value tensor, Point &point);
  /// The condition `low <= coord < low + size` for all lanes at once; nothing if lanes differ.
  std::optional<mlir::Value> getInside(const Coord &coord, mlir::Value low, mlir::Value size,
                                       int64_t lanes);

  unsigned internPoint(const Point &point);

  llvm::DenseMap<mlir::Value, mlir::Value>
      memory; // binding -> the same as a one-dimensional memref
  llvm::DenseMap<mlir::Value, mlir::Value> provided;
  llvm::DenseMap<mlir::Value, Callback> callbacks;
  Memo memo;
  Memo::ScopeTy memoRoot;
  std::map<std::vector<const void *>, unsigned> pointIds;
};

class PointEmitter::Scope {
public:
  explicit Scope(PointEmitter &emitter) : indices(emitter.index.getTable()), memo(emitter.memo) {}

private:
  IndexBuilder::Scope indices;
  Memo::ScopeTy memo;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_POINTEMITTER_H
