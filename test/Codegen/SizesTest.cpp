//===- SizesTest.cpp - Asking for a size leaves the IR as it is -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every dim of every value of a kernel, or of a function, is asked for: the answers are the
// formulas that are expected, and the text of the module is the same before and after.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/KernelSizes.h"
#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"
#include "compiler/Pipeline/Registration.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace xc;

namespace {

class SizesTest : public ::testing::Test {
protected:
  SizesTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  func::FuncOp parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << "the text of a test parses";
    return *module->getOps<func::FuncOp>().begin();
  }

  std::string print() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }

  /// The sizes of all tensors and memrefs that `func` computes, one line each.
  std::string askAll(func::FuncOp func, plan::SizeFormulas &sizes) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    func.walk([&](Operation *op) {
      for (Value value : op->getResults()) {
        if (!isa<ShapedType>(value.getType()))
          continue;
        FailureOr<SmallVector<plan::FormulaAttr>> shape = sizes.getShape(value);
        stream << op->getName() << ':';
        if (failed(shape))
          stream << " unknown";
        else
          for (plan::FormulaAttr size : *shape)
            size.printText(stream << ' ');
        stream << '\n';
      }
    });
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(SizesTest, KernelsSaySizesOverTheirScalars) {
  func::FuncOp kernel = parse(R"(
    func.func @kernel() {
      %n = plan.scalar 0 max 4096 {cuda.divisor = 8 : i64} : index
      %m = plan.scalar 1 : index
      %c2 = arith.constant 2 : index
      %zero = arith.constant 0.0 : f32
      %in = plan.binding 0 read align 16 sizes(%n) : memref<?x4xf32>
      %x = bufferization.to_tensor %in restrict : memref<?x4xf32> to tensor<?x4xf32>
      %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
      %pairs = arith.muli %n, %c2 : index
      %split = tensor.expand_shape %flat [[0, 1]] output_shape [%pairs, 2]
        : tensor<?xf32> into tensor<?x2xf32>
      %padded = tensor.pad %x low[1, 0] high[%m, 2] {
      ^bb0(%i: index, %j: index):
        tensor.yield %zero : f32
      } : tensor<?x4xf32> to tensor<?x6xf32>
      %part = tensor.extract_slice %padded[0, 0] [%m, 1] [1, 1]
        : tensor<?x6xf32> to tensor<?xf32>
      %empty = tensor.empty(%m) : tensor<?x4xf32>
      %whole = tensor.insert_slice %x into %empty[0, 0] [%n, 4] [1, 1]
        : tensor<?x4xf32> into tensor<?x4xf32>
      %sum = linalg.add ins(%whole, %whole : tensor<?x4xf32>, tensor<?x4xf32>)
        outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
      return
    }
  )");
  std::string before = print();
  codegen::KernelSizes sizes(kernel, StringAttr::get(&context, "cuda.divisor"));
  EXPECT_EQ(askAll(kernel, sizes), R"(plan.binding: s0 4
bufferization.to_tensor: s0 4
tensor.collapse_shape: s0 * 4
tensor.expand_shape: s0 * 2 2
tensor.pad: s0 + s1 + 1 6
tensor.extract_slice: s1
tensor.empty: s1 4
tensor.insert_slice: s1 4
linalg.add: s1 4
)");
  linalg::LinalgOp sum = *kernel.getOps<linalg::LinalgOp>().begin();
  EXPECT_EQ(sizes.getLoopSizes(sum).size(), 2u);
  EXPECT_EQ(print(), before);

  plan::FormulaAttr n = plan::FormulaAttr::getSymbol(&context, 0);
  EXPECT_EQ(sizes.getDivisor(n * 6), 16);
  EXPECT_EQ(sizes.getUpperBound(n * 6), 6 * 4096);
  EXPECT_EQ(sizes.getUpperBound(n + plan::FormulaAttr::getSymbol(&context, 1)), std::nullopt);
}

TEST_F(SizesTest, UnknownSizesAreThemselves) {
  func::FuncOp kernel = parse(R"(
    func.func @kernel() {
      %n = plan.scalar 0 : index
      %id = plan.workgroup_id x : index
      %some = arith.addi %id, %n : index
      %a = tensor.empty(%some) : tensor<?xf32>
      %b = tensor.empty(%some) : tensor<?xf32>
      return
    }
  )");
  codegen::KernelSizes sizes(kernel);
  EXPECT_EQ(askAll(kernel, sizes), "tensor.empty: s0 + s1\ntensor.empty: s0 + s1\n");
  plan::FormulaAttr size =
      sizes.getSizes((*kernel.getOps<tensor::EmptyOp>().begin()).getResult())[0];
  EXPECT_FALSE(sizes.toAffine(size)) << "it is no formula over the scalars";
}

TEST_F(SizesTest, FunctionsSaySizesOverTheirArguments) {
  func::FuncOp func = parse(R"(
    func.func @main(%x: tensor<?x4xf32>, %count: tensor<i1>) -> tensor<?x4xf32> {
      %zero = arith.constant 0.0 : f32
      %padded = tensor.pad %x low[1, 0] high[2, 0] {
      ^bb0(%i: index, %j: index):
        tensor.yield %zero : f32
      } : tensor<?x4xf32> to tensor<?x4xf32>
      %joined = tensor.collapse_shape %padded [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
      return %padded : tensor<?x4xf32>
    }
  )");
  std::string before = print();
  plan::SymbolicDims dims(func);
  EXPECT_EQ(askAll(func, dims), "tensor.pad: s0 + 3 4\ntensor.collapse_shape: (s0 + 3) * 4\n");
  EXPECT_EQ(print(), before);
}

} // namespace
