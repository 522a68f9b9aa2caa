//===- Passes.td - Passes that all code generators share --*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_COMMON_PASSES_TD
#define XC_CODEGEN_COMMON_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandMath : Pass<"xc-expand-math"> {
  let summary = "Replace math functions by arithmetic";
  let description = [{
    Expands every `math` op on scalars and fixed vectors of f16, bf16, f32 and f64 that is not an instruction of
    all targets, and `arith.remf`, into `arith` and a few `math` ops that are (sqrt, floor, ceil, trunc,
    roundeven, absf, copysign, fma). No call of a math library remains. f16 and bf16 are computed in f32. The
    code is free of branches but for huge arguments of sin, cos and tan, remainders, and integer powers. math.log2
    with the flag `afn` may be wrong by 2^-22, absolutely in (0.5, 2) and relatively elsewhere.
    docs/math-accuracy.md has the errors. Example:
    ```mlir
    %y = math.rsqrt %x : vector<8xf32>                // input

    %one = arith.constant dense<1.0> : vector<8xf32>  // output
    %root = math.sqrt %x : vector<8xf32>
    %y = arith.divf %one, %root : vector<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let options = [
    Option<"fastMath", "fast-math", "bool", /*default=*/"false",
           "Be faster where accuracy, denormals or huge arguments would cost much">,
    Option<"hasFma", "has-fma", "bool", /*default=*/"true", "The target has fused multiply-add instructions">,
    Option<"hasExp2", "has-exp2", "bool", /*default=*/"false",
           "The target has an instruction for math.exp2 on f32, which stays and computes exp too">,
    Option<"hasLog2", "has-log2", "bool", /*default=*/"false",
           "The target has an approximate instruction for math.log2 on f32, used where that op has `afn`">,
    Option<"hasTanh", "has-tanh", "bool", /*default=*/"false",
           "The target has an approximate instruction for math.tanh on f32, used with fast-math">,
    Option<"hasReciprocal", "has-reciprocal", "bool", /*default=*/"false",
           "The target has approximate instructions for 1 / x, and math.rsqrt, on f32, used within functions">,
    Option<"hasMinMax", "has-min-max", "bool", /*default=*/"false",
           "arith.minimumf and arith.maximumf are instructions of the target">];
}

def ExpandSmallFloats : Pass<"xc-expand-small-floats"> {
  let summary = "Replace arithmetic on f16 and bf16, and conversions of them, by f32 and integer arithmetic";
  let description = [{
    For targets that lack such instructions. Arithmetic, comparisons and conversions from and to integers are
    widened to f32; conversions between f16 or bf16 and f32 or f64 become integer arithmetic, rounded once to
    nearest even. With `has-f16-conversion` the conversions f16 <-> f32 stay. Example:
    ```mlir
    %y = arith.extf %x : bf16 to f32      // input

    %0 = arith.bitcast %x : bf16 to i16   // output
    %1 = arith.extui %0 : i16 to i32
    %2 = arith.shli %1, %c16 : i32
    %y = arith.bitcast %2 : i32 to f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let options = [Option<"hasF16Conversion", "has-f16-conversion", "bool", /*default=*/"true",
                        "The target converts f16 to f32 and back">];
}

def LowerKernelOpsToLoops : Pass<"xc-lower-kernel-ops-to-loops"> {
  let summary = "Lower ops of the kernel dialect to scalar loops";
  let description = [{
    What every target can fall back on: each op on memrefs becomes the plain loop nest that it describes itself.
    An op that is still on tensors is an error. Example:
    ```mlir
    kernel.scatter set, %i, %u into %m axes = [0] : memref<8x1xi32>, memref<8xf32>, memref<100xf32>   // input

    scf.for %k = %c0 to %c8 step %c1 {                                                                // output
      %stored = memref.load %i[%k, %c0] : memref<8x1xi32>
      %index = arith.index_cast %stored : i32 to index
      %inside = arith.cmpi ult, %index, %c100 : index
      scf.if %inside {
        %value = memref.load %u[%k] : memref<8xf32>
        memref.store %value, %m[%index] : memref<100xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // XC_CODEGEN_COMMON_PASSES_TD
