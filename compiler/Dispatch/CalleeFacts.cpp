//===- CalleeFacts.cpp - What functions are told of their arguments -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are made function by function. What is known around an if or a loop, such as that two
// sizes are equal or how a view is aligned, is told to the functions of its regions as attributes
// of their arguments before that.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/CalleeFacts.h"

#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dispatch/Alignment.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace xc::plan {

/// Tells the functions that are regions of `op` how their captures are aligned; values of loops
/// have buffers of their own.
static void recordAlignments(Operation *op, SymbolicDims &dims, const SymbolTable &symbols) {
  auto record = [&](FlatSymbolRefAttr callee, ValueRange captures, unsigned first) {
    auto func = symbols.lookup<func::FuncOp>(callee.getAttr());
    for (auto [index, capture] : llvm::enumerate(captures))
      if (int64_t alignment = getAlignment(capture, dims); alignment < kBufferAlignment)
        func.setArgAttr(first + index, kAlignmentAttr,
                        IntegerAttr::get(IntegerType::get(op->getContext(), 64), alignment));
  };
  if (auto branch = dyn_cast<BranchOp>(op)) {
    record(branch.getThenAttr(), branch.getCaptures(), 0);
    record(branch.getOtherwiseAttr(), branch.getCaptures(), 0);
  } else if (auto loop = dyn_cast<LoopOp>(op)) {
    unsigned values = loop.getInits().size();
    record(loop.getConditionAttr(), loop.getCaptures(), values);
    record(loop.getBodyAttr(), loop.getCaptures(), values);
  }
}

/// Sets a value for dim `dim` of argument `index` in `array.dims`.
static void nameDim(func::FuncOp func, unsigned index, unsigned dim, StringRef name) {
  Builder builder(func.getContext());
  auto type = cast<RankedTensorType>(func.getArgument(index).getType());
  SmallVector<Attribute> names(type.getRank(), builder.getStringAttr(""));
  if (auto known = func.getArgAttrOfType<ArrayAttr>(index, array::kDimsAttr))
    names = llvm::to_vector(known.getValue());
  names[dim] = builder.getStringAttr(name);
  func.setArgAttr(index, array::kDimsAttr, builder.getArrayAttr(names));
}

/// Tells the functions that are regions of `op` what the sizes of their arguments are around it:
/// equal formulas get one name, and what is known of a formula is known of its name.
static void recordSizes(Operation *op, SymbolicDims &dims, const SymbolTable &symbols) {
  Builder builder(op->getContext());
  auto record = [&](FlatSymbolRefAttr callee, OperandRange arguments) {
    auto func = symbols.lookup<func::FuncOp>(callee.getAttr());
    NamedAttrList ranges;
    for (auto [index, argument] : llvm::enumerate(arguments)) {
      auto type = cast<RankedTensorType>(func.getArgument(index).getType());
      for (int64_t dim = 0; dim < type.getRank(); ++dim) {
        FailureOr<FormulaAttr> size = dims.getDim(argument, dim);
        if (!type.isDynamicDim(dim) || failed(size))
          continue;
        std::string name;
        llvm::raw_string_ostream stream(name);
        std::optional<unsigned> symbol = size->asSymbol();
        if (symbol && *symbol < dims.getSymbols().size()) {
          stream << dims.getSymbols()[*symbol].name;
        } else {
          stream << "= ";
          size->printText(stream);
        }
        nameDim(func, index, dim, name);
        if (SizeRange range = dims.getRange(*size); !range.isTrivial())
          ranges.set(name, builder.getI64ArrayAttr({range.min, range.max, range.divisor}));
      }
    }
    if (!ranges.empty())
      func->setAttr(array::kDimRangeAttr, ranges.getDictionary(op->getContext()));
  };
  if (auto branch = dyn_cast<BranchOp>(op)) {
    record(branch.getThenAttr(), branch.getCaptures());
    record(branch.getOtherwiseAttr(), branch.getCaptures());
  } else if (auto loop = dyn_cast<LoopOp>(op)) {
    // Values, then captures, as the functions take them.
    record(loop.getConditionAttr(), loop->getOperands());
    record(loop.getBodyAttr(), loop->getOperands());
  }
}

void recordCalleeFacts(Operation *op, SymbolicDims &dims, const SymbolTable &symbols) {
  recordAlignments(op, dims, symbols);
  recordSizes(op, dims, symbols);
}

void recordSymbols(func::FuncOp func, SymbolicDims &dims) {
  Builder builder(func.getContext());
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.hasStaticShape())
      continue;
    SmallVector<Attribute> names;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      std::optional<unsigned> symbol = dims.getDim(argument, dim)->asSymbol();
      names.push_back(builder.getStringAttr(symbol ? dims.getSymbols()[*symbol].name : ""));
    }
    func.setArgAttr(argument.getArgNumber(), array::kDimsAttr, builder.getArrayAttr(names));
  }
  // Names that are gone have none.
  func->removeAttr(array::kDimRangeAttr);
  if (DictionaryAttr ranges = dims.getRanges())
    func->setAttr(array::kDimRangeAttr, ranges);
}

} // namespace xc::plan
