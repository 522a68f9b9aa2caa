//===- GraphImport.h - A model being imported -----------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_ONNX_GRAPHIMPORT_H
#define XC_INPUT_ONNX_GRAPHIMPORT_H

#include "compiler/Input/ONNX/ImportONNX.h"
#include "compiler/Input/ONNX/NodeImport.h"

#include "llvm/ADT/MapVector.h"

namespace xc::onnx {

/// The values of a graph by name; a subgraph sees those of the graphs around it.
struct Scope {
  Scope *outer = nullptr;
  llvm::StringMap<GraphValue> values;

  GraphValue *find(llvm::StringRef name);
};

/// Imports nodes of one model into the block that its builder is in.
class GraphImport {
public:
  GraphImport(std::shared_ptr<Model> model, mlir::OpBuilder &builder, const ImportOptions &options);

  /// Imports the nodes of the model's graph and returns its outputs; failure after errors.
  mlir::FailureOr<Results> importMain(llvm::ArrayRef<mlir::Value> arguments);

  /// The outputs of `graph` with its inputs as given. Failure after an error, which names a node.
  mlir::FailureOr<std::vector<GraphValue>> importSubgraph(const Graph &graph,
                                                          std::vector<GraphValue> inputs);

  /// Whether the last subgraph that failed did so only since it reads what a node gives that is not
  /// supported, and that has been noted. Asking resets it.
  bool takeIsMissing() { return std::exchange(isMissing, false); }

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::MLIRContext *getContext() { return builder.getContext(); }

  /// The value as a tensor, which is made where it is known as numbers only.
  mlir::Value materialize(GraphValue &value, mlir::Location loc);
  GraphValue *find(llvm::StringRef name) { return scope->find(name); }
  /// Whether a value of this name has been declared, or the error that none has.
  /// A weight of the model, in the module or outside of it, as the options say.
  mlir::Value makeWeight(const Tensor &tensor, llvm::StringRef name, mlir::Location loc,
                         std::string &problem);
  mlir::Value makeConstant(const Tensor &tensor, mlir::Location loc, std::string &problem);
  /// Size `dim` of `value` as one value wherever it is asked for.
  mlir::OpFoldResult getSize(mlir::Value value, int64_t dim, mlir::Location loc);
  /// The name that the model gives a dynamic dim whose size is an input's; empty where it has none.
  std::string getDimName(mlir::Value value, int64_t dim);
  /// Forgets sizes of values within `region`, which is about to go.
  void forgetSizes(mlir::Region &region);
  void bind(llvm::StringRef name, GraphValue value) { scope->values[name] = std::move(value); }

  std::optional<mlir::Type> getElementType(int32_t dataType);
  mlir::InFlightDiagnostic emitError();

private:
  using DimOfInput = std::pair<mlir::Value, int64_t>;
  struct Unsupported {
    std::string op, why;
    std::vector<std::string> nodes;
  };

  mlir::LogicalResult importNodes(llvm::ArrayRef<Node> nodes);
  mlir::LogicalResult importNode(const Node &node, size_t position);
  mlir::LogicalResult importCall(const Function &function, NodeImport &n, Results &results);
  mlir::LogicalResult bindInitializers(const Graph &graph);
  void noteNames(mlir::Value argument, const ValueInfo &input, llvm::StringMap<DimOfInput> &first);
  void noteUnsupported(const Node &node, llvm::StringRef name, const llvm::Twine &why);
  bool foldNumbers(NodeImport &n);
  void poison(const Node &node);
  void stub(const Node &node, mlir::Location loc);
  int64_t getVersion(llvm::StringRef domain) const;
  mlir::LogicalResult reportUnsupported();

  std::shared_ptr<Model> model;
  mlir::OpBuilder &builder;
  const ImportOptions &options;
  Scope *scope = nullptr;
  const std::vector<OperatorSet> *operatorSets;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> sizes;
  /// Of inputs' dims that have a name, the first one of that name: equal names are equal sizes.
  llvm::DenseMap<DimOfInput, DimOfInput> namesakes;
  llvm::MapVector<llvm::StringRef, Unsupported> unsupported;
  std::vector<std::unique_ptr<std::string>> unsupportedKeys;
  size_t numNodes = 0;
  llvm::StringMap<unsigned> externalNames; // how many weights have each name
  unsigned depth = 0;
  bool isMissing = false;
};

/// A dim of a value, or, where an op was given it, the size of that dim.
struct DimSource {
  mlir::Value value;
  int64_t dim;
  mlir::Value size;
};

/// Where the size of a dynamic dim comes from, followed back through ops that keep it.
DimSource traceSize(mlir::Value value, int64_t dim);

/// Whether `value` is made within `region`. Regions that are being built belong to no op yet.
bool isWithin(mlir::Value value, mlir::Region &region);

/// Shape arithmetic whose numbers are known: sets the outputs of `n` and returns true.
bool foldNumbers(NodeImport &n);

/// The importer of an op in a version of its domain; null where there is none. `since` is then the
/// oldest version that is known, or 0.
Importer findImporter(llvm::StringRef domain, llvm::StringRef op, int64_t version, int64_t &since);
/// Why there is none in any version.
llvm::StringRef whyNoImporter(llvm::StringRef domain, llvm::StringRef op);

} // namespace xc::onnx

#endif // XC_INPUT_ONNX_GRAPHIMPORT_H
