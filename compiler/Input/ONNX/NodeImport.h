//===- NodeImport.h - One node of a model being imported ------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What importers of ops work with. A value that could not be made is null, and spreads: whatever is
// made of a null value is null, and helpers take it for a tensor of rank 0. So an importer is
// written as if nothing failed, and the first error of a node is the one that is reported. Array
// ops are checked before they are made, since their builders end the process on bad operands.
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_ONNX_NODEIMPORT_H
#define XC_INPUT_ONNX_NODEIMPORT_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/ShapeRules.h"
#include "compiler/Input/ONNX/Model.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace xc::onnx {

using Results = llvm::SmallVector<mlir::Value>;
/// Integers, each a constant or an `index`: sizes, positions, steps.
using Numbers = llvm::SmallVector<mlir::OpFoldResult>;

/// A tensor of integers that are known before anything runs, in the order of rows.
struct NumberArray {
  Numbers numbers;
  llvm::SmallVector<int64_t> shape;
  mlir::Type element;
};

/// A value of a graph. A tensor that is known as numbers may have no op yet.
struct GraphValue {
  mlir::Value tensor;
  std::optional<NumberArray> known;
  bool isSequence = false;
  std::vector<GraphValue> sequence;
  /// What a node that is not supported would give.
  bool isMissing = false;
};

class GraphImport;

/// A node, its operands by number, its attributes by name, and a builder of what replaces it.
class NodeImport {
public:
  NodeImport(GraphImport &graph, const Node &node, int64_t version, mlir::Location loc);

  const Node &node;
  GraphImport &graph;
  /// Of the node's operator set.
  const int64_t version;

  //===--- Errors ---===//

  /// Records what is wrong, if it is the first error of the node. Results that are empty.
  Results error(const llvm::Twine &message);
  bool hasFailed() const { return !message.empty(); }
  llvm::StringRef getMessage() const { return message; }

  //===--- Inputs, outputs ---===//

  size_t getNumInputs() const { return node.inputs.size(); }
  bool has(unsigned index) const {
    return index < node.inputs.size() && !node.inputs[index].empty();
  }
  bool wants(unsigned output) const {
    return output < node.outputs.size() && !node.outputs[output].empty();
  }
  /// The tensor; an error where it is left out.
  mlir::Value input(unsigned index);
  /// A value of any kind; null where it is left out.
  GraphValue *value(unsigned index);
  /// Sets an output of any kind.
  void setValue(unsigned output, GraphValue value);
  /// A tensor of few integers, where they are known before anything runs.
  std::optional<NumberArray> numberArray(unsigned index);
  /// Its numbers, of rank 0 or 1.
  std::optional<Numbers> numbers(unsigned index);
  std::optional<llvm::SmallVector<int64_t>> integers(unsigned index);
  std::optional<llvm::SmallVector<double>> floats(unsigned index);
  /// The same, with an error that names the input where they are not known.
  Numbers needNumbers(unsigned index, llvm::StringRef what);
  llvm::SmallVector<int64_t> needIntegers(unsigned index, llvm::StringRef what);
  llvm::SmallVector<double> needFloats(unsigned index, llvm::StringRef what);
  int64_t needInteger(unsigned index, llvm::StringRef what);

  //===--- Attributes ---===//

  bool hasAttribute(llvm::StringRef name) const { return node.find(name); }
  int64_t integer(llvm::StringRef name, int64_t otherwise);
  double number(llvm::StringRef name, double otherwise);
  std::string text(llvm::StringRef name, llvm::StringRef otherwise);
  llvm::SmallVector<int64_t> integerList(llvm::StringRef name,
                                         llvm::ArrayRef<int64_t> otherwise = {});
  llvm::SmallVector<double> numberList(llvm::StringRef name);
  std::vector<std::string> textList(llvm::StringRef name);
  const Tensor *tensor(llvm::StringRef name);
  const Graph *subgraph(llvm::StringRef name);
  /// Attribute `name` as an axis of a tensor of `rank` dims; an error where it is none.
  int64_t axis(llvm::StringRef name, int64_t otherwise, int64_t rank);
  int64_t normalizeAxis(int64_t axis, int64_t rank);
  llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  //===--- Types ---===//

  static mlir::RankedTensorType typeOf(mlir::Value value);
  static int64_t rankOf(mlir::Value value) { return value ? typeOf(value).getRank() : 0; }
  static llvm::SmallVector<int64_t> shapeOf(mlir::Value value);
  /// Size `dim`, which may be dynamic; 1 where there is no such dim.
  static int64_t dimOf(mlir::Value value, int64_t dim);
  static bool isStatic(mlir::Value value) { return !value || typeOf(value).hasStaticShape(); }
  mlir::Type elementOf(mlir::Value value) const;
  bool isFloat(mlir::Value value) const { return llvm::isa<mlir::FloatType>(elementOf(value)); }
  bool isUnsigned(mlir::Value value) const {
    return elementOf(value).isUnsignedInteger() || elementOf(value).isInteger(1);
  }
  /// The array type of `dataType`; an error and f32 where there is none.
  mlir::Type elementType(int32_t dataType);

  //===--- Building ---===//

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return loc; }
  mlir::MLIRContext *getContext() const { return builder.getContext(); }

  /// The op with inferred types, folded where its operands are constants. An operand that is null
  /// makes the result null.
  template <typename OpTy, typename... Args> mlir::Value make(Args &&...args) {
    if ((isNull(args) || ...))
      return {};
    return first(build<OpTy>({}, args...));
  }
  /// The same; operands may be left out as null values.
  template <typename OpTy, typename... Args> mlir::Value makeOptional(Args &&...args) {
    return first(build<OpTy>({}, args...));
  }
  /// The same with another element type than the inferred one.
  template <typename OpTy, typename... Args>
  mlir::Value makeAs(mlir::Type element, Args &&...args) {
    if ((isNull(args) || ...))
      return {};
    return first(build<OpTy>({element}, args...));
  }
  /// An op with several results, one element type for each.
  template <typename OpTy, typename... Args>
  Results makeAll(llvm::ArrayRef<mlir::Type> elements, Args &&...args) {
    if ((isNull(args) || ...))
      return Results(elements.size());
    return build<OpTy>(elements, args...);
  }
  /// An op that takes its result type as it is.
  template <typename OpTy, typename... Args>
  mlir::Value makeTyped(mlir::RankedTensorType type, Args &&...args) {
    if (hasFailed() || (isNull(args) || ...))
      return {};
    mlir::OperationState state(loc, OpTy::getOperationName());
    OpTy::build(builder, state, type, std::forward<Args>(args)...);
    return first(finish(state));
  }

  /// A rank-0 constant of the element type of `like`.
  mlir::Value scalar(double value, mlir::Value like) { return scalar(value, elementOf(like)); }
  mlir::Value scalar(double value, mlir::Type element);
  /// A constant of integers, of rank 1 unless a shape is given.
  mlir::Value constant(llvm::ArrayRef<int64_t> values, mlir::Type element,
                       std::optional<llvm::ArrayRef<int64_t>> shape = std::nullopt);
  mlir::Value constantFloats(llvm::ArrayRef<double> values, mlir::Type element,
                             std::optional<llvm::ArrayRef<int64_t>> shape = std::nullopt);
  mlir::Value convert(mlir::Value value, mlir::Type element);
  /// In f32 where it holds 16-bit floats.
  mlir::Value widen(mlir::Value value);
  mlir::Value add(mlir::Value a, mlir::Value b) { return make<array::AddOp>(a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return make<array::SubOp>(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return make<array::MulOp>(a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return make<array::DivOp>(a, b); }
  mlir::Value compare(array::CompareDirection direction, mlir::Value a, mlir::Value b) {
    return make<array::CompareOp>(direction, a, b);
  }
  mlir::Value select(mlir::Value predicate, mlir::Value onTrue, mlir::Value onFalse) {
    return make<array::SelectOp>(predicate, onTrue, onFalse);
  }
  mlir::Value reduce(array::ReduceKind kind, mlir::Value value, llvm::ArrayRef<int64_t> axes,
                     bool keepdims);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  mlir::Value expandDims(mlir::Value value, llvm::ArrayRef<int64_t> axes);
  mlir::Value squeeze(mlir::Value value, llvm::ArrayRef<int64_t> axes);
  mlir::Value concatenate(llvm::ArrayRef<mlir::Value> values, int64_t axis);
  /// `[start : limit : step]` of dim `axis`; no limit is the end.
  mlir::Value slice(mlir::Value value, int64_t axis, int64_t start, std::optional<int64_t> limit,
                    int64_t step = 1);
  /// Of all dims; negative amounts cut.
  mlir::Value pad(mlir::Value value, mlir::Value with, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high);
  mlir::Value reverse(mlir::Value value, llvm::ArrayRef<int64_t> axes);

  //===--- Sizes ---===//

  array::SizeBuilder sizes() { return array::SizeBuilder(builder, loc); }
  mlir::OpFoldResult index(int64_t value) { return builder.getIndexAttr(value); }
  mlir::OpFoldResult size(mlir::Value value, int64_t dim);
  Numbers sizesOf(mlir::Value value);
  /// The same elements under the shape `sizes`.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<mlir::OpFoldResult> sizes);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> sizes);
  /// Broadcast to `sizes`, aligned at the last dim.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<mlir::OpFoldResult> sizes);
  /// Broadcast along chosen dims.
  mlir::Value broadcastAlong(mlir::Value value, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                             llvm::ArrayRef<int64_t> axes);
  mlir::Value iota(llvm::ArrayRef<mlir::OpFoldResult> sizes, int64_t axis, mlir::Type element);
  /// A box at `starts` of `sizes`; the starts may be data.
  mlir::Value dynamicSlice(mlir::Value value, llvm::ArrayRef<mlir::Value> starts,
                           llvm::ArrayRef<mlir::OpFoldResult> sizes);
  mlir::RankedTensorType typeFor(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element,
                                 llvm::SmallVectorImpl<mlir::Value> &dynamic);
  /// A number as a rank-0 tensor.
  mlir::Value scalarOf(mlir::OpFoldResult number, mlir::Type element);

  /// Forgets the sizes of values within a region that is given up.
  void forgetSizes(mlir::Region &region);

  /// Sets an output that is known as numbers.
  void setNumbers(unsigned output, NumberArray known);
  void setNumber(unsigned output, int64_t number, mlir::Type element);

private:
  static bool isNull(mlir::Value value) { return !value; }
  static bool isNull(llvm::ArrayRef<mlir::Value> values) {
    return !llvm::all_of(values, [](mlir::Value v) { return bool(v); });
  }
  static bool isNull(const llvm::SmallVectorImpl<mlir::Value> &values) {
    return isNull(llvm::ArrayRef<mlir::Value>(values));
  }
  static bool isNull(mlir::ValueRange values) {
    return !llvm::all_of(values, [](mlir::Value v) { return bool(v); });
  }
  template <typename T> static bool isNull(const T &) { return false; }
  static mlir::Value first(const Results &results) {
    return results.empty() ? mlir::Value() : results.front();
  }

  template <typename OpTy, typename... Args>
  Results build(llvm::ArrayRef<mlir::Type> elements, Args &&...args) {
    if (hasFailed())
      return {};
    // The types are placeholders until they have been inferred.
    llvm::SmallVector<mlir::Type> types(std::max<size_t>(elements.size(), 1),
                                        mlir::RankedTensorType::get({}, builder.getF32Type()));
    mlir::OperationState state(loc, OpTy::getOperationName());
    OpTy::build(builder, state, mlir::TypeRange(types), args...);
    return infer(state, elements);
  }
  Results infer(mlir::OperationState &state, llvm::ArrayRef<mlir::Type> elements);
  Results finish(mlir::OperationState &state);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  std::string message;
};

/// What an importer gives: one value for each output that is wanted, or none after an error.
using Importer = Results (*)(NodeImport &n);

/// The importer of an op as of version `since` of its domain.
struct OpEntry {
  llvm::StringLiteral op;
  int64_t since;
  Importer importer;
  llvm::StringLiteral domain = "";
};

llvm::ArrayRef<OpEntry> getElementwiseOps();
llvm::ArrayRef<OpEntry> getShapeOps();
llvm::ArrayRef<OpEntry> getMovementOps();
llvm::ArrayRef<OpEntry> getReductionOps();
llvm::ArrayRef<OpEntry> getContractionOps();
llvm::ArrayRef<OpEntry> getWindowOps();
llvm::ArrayRef<OpEntry> getResizeOps();
llvm::ArrayRef<OpEntry> getNormOps();
llvm::ArrayRef<OpEntry> getIndexOps();
llvm::ArrayRef<OpEntry> getControlOps();
llvm::ArrayRef<OpEntry> getRecurrentOps();
llvm::ArrayRef<OpEntry> getLinearAttentionOps();
llvm::ArrayRef<OpEntry> getQuantizedOps();
llvm::ArrayRef<OpEntry> getMicrosoftOps();
llvm::ArrayRef<OpEntry> getRandomOps();
llvm::ArrayRef<OpEntry> getSignalOps();
llvm::ArrayRef<OpEntry> getSamplingOps();
llvm::ArrayRef<OpEntry> getLossOps();
llvm::ArrayRef<OpEntry> getTrainingOps();
llvm::ArrayRef<OpEntry> getLinearAlgebraOps();
llvm::ArrayRef<OpEntry> getRegionOps();
llvm::ArrayRef<OpEntry> getFlexAttentionOps();
llvm::ArrayRef<OpEntry> getTreeOps();

} // namespace xc::onnx

#endif // XC_INPUT_ONNX_NODEIMPORT_H
