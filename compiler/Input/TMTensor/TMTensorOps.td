//===- TMTensorOps.td - What stands beside linalg in Torch-MLIR ---*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_TMTENSOR_TMTENSOROPS_TD
#define XC_INPUT_TMTENSOR_TMTENSOROPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TMTensor_Dialect : Dialect {
  let name = "tm_tensor";
  let cppNamespace = "::xc::tm_tensor";
  let summary = "Torch-MLIR's ops beside linalg, to be read";
  let description = [{
    What Torch-MLIR's lowering to linalg on tensors leaves of ops that linalg does not have, so that its output can be parsed.
    Nothing computes on them: `-xc-import-tm-tensor` turns them into array ops.
  }];
}

class TMTensor_Op<string mnemonic, string text, string example, list<Trait> traits = []>
    : Op<TMTensor_Dialect, mnemonic, !listconcat(traits, [Pure])> {
  let summary = text;
  let description = "Read, and imported or refused by `-xc-import-tm-tensor`. Example:\n```mlir\n" # example # "\n```\n";
}

/// An op whose results start as its outputs, with a body of scalars.
class TMTensor_BodyOp<string mnemonic, string text, string example>
    : TMTensor_Op<mnemonic, text, example, [AttrSizedOperandSegments, SingleBlock]> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
}

def TMTensor_ScanOp : TMTensor_BodyOp<"scan", "Running totals along a dim, and the last of them",
    "%y, %last = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<4xf32>) outs(%init, %start : tensor<4xf32>, tensor<f32>) {\n"
    # "^bb0(%next: f32, %total: f32):\n  %sum = arith.addf %next, %total : f32\n  tm_tensor.yield %sum : f32\n"
    # "} -> tensor<4xf32>, tensor<f32>"> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs, I64Attr:$dimension,
                       BoolAttr:$inclusive);
  let assemblyFormat = [{
    `dimension` `(` $dimension `)` `inclusive` `(` $inclusive `)` attr-dict `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $outputs `:` type($outputs) `)` $body (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def TMTensor_ScatterOp : TMTensor_BodyOp<"scatter", "Slices that are brought in at rows of indices",
    "%y = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)\n"
    # "    ins(%updates, %rows : tensor<3xf32>, tensor<3x1xi64>) outs(%x : tensor<8xf32>) {\n"
    # "^bb0(%update: f32, %old: f32):\n  tm_tensor.yield %update : f32\n} -> tensor<8xf32>"> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs,
                       DenseI64ArrayAttr:$dimension_map, DefaultValuedAttr<BoolAttr, "true">:$unique_indices);
  let assemblyFormat = [{
    attr-dict `unique_indices` `(` $unique_indices `)` `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $outputs `:` type($outputs) `)` $body (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def TMTensor_SortOp : TMTensor_BodyOp<"sort", "Tensors in the order that a body tells",
    "%y = tm_tensor.sort dimension(0) outs(%x : tensor<8xf32>) {\n^bb0(%a: f32, %b: f32):\n"
    # "  %c = arith.cmpf ole, %a, %b : f32\n  tm_tensor.yield %c : i1\n} -> tensor<8xf32>"> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs, I64Attr:$dimension);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` $body (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def TMTensor_TopKOp : TMTensor_BodyOp<"topk", "The first elements in the order that a body tells",
    "%v, %i = tm_tensor.topk dimension(1) ins(%x : tensor<2x8xf32>) outs(%a, %b : tensor<2x3xf32>, tensor<2x3xi32>) {\n"
    # "^bb0(%next: f32, %kept: f32):\n  %c = arith.cmpf ogt, %next, %kept : f32\n  tm_tensor.yield %c : i1\n"
    # "} -> tensor<2x3xf32>, tensor<2x3xi32>"> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs, I64Attr:$dimension);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $outputs `:` type($outputs) `)` $body (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def TMTensor_AttentionOp : TMTensor_Op<"attention", "Attention of queries, keys, values and a mask",
    "%y = tm_tensor.attention ins(%q, %k, %v : tensor<2x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>)\n"
    # "    outs(%init : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>", [AttrSizedOperandSegments]> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    attr-dict `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)` (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def TMTensor_YieldOp : TMTensor_Op<"yield", "What a body gives", "tm_tensor.yield %x : f32", [ReturnLike, Terminator]> {
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

#endif // XC_INPUT_TMTENSOR_TMTENSOROPS_TD
