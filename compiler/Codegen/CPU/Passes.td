//===- Passes.td - Passes of CPU code generation ----------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_PASSES_TD
#define XC_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ArchOption : Option<"arch", "arch", "std::string", /*default=*/[{""}],
                          "CPU to generate code for; empty: that of the module's plan.target">;

def OrderOperands : Pass<"xc-cpu-order-operands", "mlir::func::FuncOp"> {
  let summary = "Put weights into the order in which products read them";
  let description = [{
    In a CPU's function in linalg form: where the operand of a product's columns is a parameter or constant, or a view of
    one, whose last dim is not one of these columns, the product reads a transpose instead. Columns that make whole
    panels are put side by side: panel x reduced dims x column, as the inner loops read them. `-xc-hoist-parameters` moves
    both to the init plan. Products of one row stay. Example:
    ```mlir
    %r = linalg.generic {indexing_maps = [(m, n, k) -> (m, k), (m, n, k) -> (n, k), ...]} ins(%x, %w : ...)   // input
    %t = linalg.transpose ins(%w : tensor<256x64xf32>) outs(%e : tensor<64x256xf32>) permutation = [1, 0]     // output
    %p = linalg.generic {indexing_maps = [(p, k, l) -> (k, p * 16 + l), (p, k, l) -> (p, k, l)]} ins(%t : ...)
    %r = linalg.generic {indexing_maps = [(m, n, k) -> (m, k), (m, n, k) -> (n floordiv 16, k, n mod 16), ...]} ins(%x, %p : ...)
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def MergeGroups : Pass<"xc-cpu-merge-groups", "mlir::ModuleOp"> {
  let summary = "Make one loop of the groups of a convolution and their few features";
  let description = [{
    Where the features of a group are half a vector at most, groups and features become one loop, so that a vector
    has features of several groups. The image is read at `j floordiv F * C + c`: a shuffle of a run of it. Leaves results alone
    that other ops of the kernel read by group, and images that something but padding makes. Example:
    ```mlir
    linalg.generic {indexing_maps = [(p, g, f, c) -> (p, g, c), (p, g, f, c) -> (c, g, f), (p, g, f, c) -> (p, g, f)]} ...   // input
    linalg.generic {indexing_maps = [(p, j, c) -> (p, j floordiv 4 * 4 + c), (p, j, c) -> (c, j), (p, j, c) -> (p, j)]} ...  // output
    ```
  }];
  let options = [ArchOption];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def NormalizeKernel : Pass<"xc-cpu-normalize-kernel", "mlir::ModuleOp"> {
  let summary = "Bring a kernel into the form that the strategies look at";
  let description = [{
    Turns named linalg ops into `linalg.generic` (not `linalg.fill`), makes casts of a product's operands producers of
    the product, and moves reshapes of whole bindings from tensors to
    memory, where they cost nothing. Example:
    ```mlir
    %t = bufferization.to_tensor %x restrict : memref<4x8xf32> to tensor<4x8xf32>
    %c = tensor.collapse_shape %t [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>   // input
    %m = memref.collapse_shape %x [[0, 1]] : memref<4x8xf32> into memref<32xf32>
    %c = bufferization.to_tensor %m restrict : memref<32xf32> to tensor<32xf32>    // output
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::memref::MemRefDialect"];
}

def SelectStrategy : Pass<"xc-cpu-select-strategy", "mlir::ModuleOp"> {
  let summary = "Choose a strategy and a configuration for each kernel function";
  let description = [{
    Sets `lowering_config` and `plan.reason` on each function that has no `lowering_config` yet (one that is there, by
    hand or from a tuning database, is obeyed). Example:
    ```mlir
    func.func @k() attributes {lowering_config = #cpu.elementwise<version = 1, lanes = 32, chunk = 16384, tile = 32768>,
                               plan.reason = "elementwise: ..."}
    ```
  }];
  let options = [ArchOption];
  let dependentDialects = ["xc::cpu::CPUDialect"];
}

def LowerElementwise : Pass<"xc-cpu-lower-elementwise", "mlir::ModuleOp"> {
  let summary = "Turn elementwise kernels into loops over vectors";
  let description = [{
    Obeys `#cpu.elementwise`: one loop nest for each group of results of equal shape, with everything that feeds them
    inlined; neighbouring dims that all accesses agree on are merged into one. The innermost loop runs over vectors, then
    over what is left one by one (no masks). Sets `plan.launch`. Example:
    ```mlir
    scf.for %i = %lo to %hi step %c32 {
      %0 = vector.load %x[%i] : memref<?xf32>, vector<32xf32>
      %1 = math.exp %0 : vector<32xf32>
      vector.store %1, %y[%i] : memref<?xf32>, vector<32xf32>
    }
    ```
  }];
  let options = [ArchOption];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::memref::MemRefDialect",
                           "mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "xc::plan::PlanDialect"];
}

def LowerReduction : Pass<"xc-cpu-lower-reduction", "mlir::ModuleOp"> {
  let summary = "Turn kernels that reduce into loops over vectors";
  let description = [{
    Obeys `#cpu.reduction`: a loop over the kept points, and in it one loop nest for each step (all reductions whose
    inputs are known, then what follows them). Results of reductions are SSA values, not memory. Elementwise values
    that are dear and needed twice are kept in the result's memory or on the stack. Sets `plan.launch`. Example:
    ```mlir
    %max = scf.for %j = %c0 to %n step %c32 iter_args(%acc = %init) -> (vector<32xf32>) {
      %0 = vector.load %x[%i, %j] : memref<?x?xf32>, vector<32xf32>
      %1 = arith.maximumf %acc, %0 : vector<32xf32>
      scf.yield %1 : vector<32xf32>
    }
    ```
  }];
  let options = [ArchOption];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::memref::MemRefDialect",
                           "mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "xc::plan::PlanDialect"];
}

def LowerMatmul : Pass<"xc-cpu-lower-matmul", "mlir::ModuleOp"> {
  let summary = "Turn matrix products into packed, register-tiled loops";
  let description = [{
    Obeys `#cpu.matmul`: packs both operands into panels in scratch memory, padded with zeros so that the inner loops
    have no edges; producers of the operands are computed while packing, consumers of the product while it is copied from
    the accumulators' tile to the results. Sets `plan.launch`. Example of the inner loop:
    ```mlir
    %r:12 = scf.for %k = %c0 to %len step %c1 iter_args(...) -> (vector<8xf32>, ...) {
      %b0 = vector.load %panelB[%k, %c0] : memref<256x16xf32>, vector<8xf32>
      %a0 = memref.load %panelA[%k, %c0] : memref<256x6xf32>
      %s0 = vector.broadcast %a0 : f32 to vector<8xf32>
      %f0 = math.fma %s0, %b0, %acc0 : vector<8xf32>
      ...
    }
    ```
  }];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::memref::MemRefDialect",
                           "mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "xc::plan::PlanDialect"];
}

def LowerAttention : Pass<"xc-cpu-lower-attention", "mlir::ModuleOp"> {
  let summary = "Turn attention into loops over blocks of keys";
  let description = [{
    Obeys `#cpu.attention`: queries are the lanes of vectors, so that maxima and sums over keys need no step across lanes.
    And `#cpu.few_queries`: elements of keys and values are lanes.
    Scores of one block of keys exist at a time; what was summed up before shrinks as the maximum grows. Sets
    `plan.launch`. Example of the first inner loop, which adds up scores:
    ```mlir
    %r:24 = scf.for %d = %c0 to %c64 step %c1 iter_args(...) -> (vector<16xf32>, ...) {
      %q0 = vector.load %queries[%d, %c0] : memref<64x32xf32>, vector<16xf32>
      %k0 = memref.load %keys[%b, %h, %j, %d] : memref<2x12x512x64xf32>
      %s0 = vector.broadcast %k0 : f32 to vector<16xf32>
      %f0 = math.fma %s0, %q0, %acc0 : vector<16xf32>
      ...
    }
    ```
  }];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::memref::MemRefDialect",
                           "mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "xc::plan::PlanDialect"];
}

def LowerLines : Pass<"xc-cpu-lower-lines", "mlir::ModuleOp"> {
  let summary = "Share the rows of sorts and scans among workgroups";
  let description = [{
    Obeys `#cpu.lines`: moves the op of the kernel from tensors to memory and puts it in a loop over the lines that a workgroup has.
    Sets `plan.launch`. Example:
    ```mlir
    %s = kernel.scan sum, %x into %e axis = 1 : tensor<64x9xf32> into tensor<64x9xf32> -> tensor<64x9xf32>      // input

    scf.for %i = %first to %end step %c1 {                                                                     // output
      %a = memref.subview %from[%i, 0] [1, 9] [1, 1] : ...
      %b = memref.subview %to[%i, 0] [1, 9] [1, 1] : ...
      kernel.scan sum, %a into %b axis = 1 : ...
    }
    ```
  }];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::memref::MemRefDialect", "mlir::affine::AffineDialect",
                           "mlir::arith::ArithDialect", "xc::plan::PlanDialect"];
}

def LowerGeneric : Pass<"xc-cpu-lower-generic", "mlir::ModuleOp"> {
  let summary = "Turn every other kernel into plain loops";
  let description = [{
    Obeys `#cpu.generic`: bufferises the function, writes results in place where the analysis allows it, and turns
    linalg ops and copies into scalar loops. The grid is one workgroup. Example:
    ```mlir
    linalg.generic {...} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)   // input, after bufferisation
    scf.for %i = %c0 to %c8 step %c1 { ... memref.store ... }               // output
    ```
  }];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::memref::MemRefDialect", "mlir::bufferization::BufferizationDialect",
                           "mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect",
                           "xc::plan::PlanDialect"];
}

def VerifyLoops : Pass<"xc-cpu-verify-loops", "mlir::ModuleOp"> {
  let summary = "Check that a kernel consists of loops over memory";
  let description = [{
    After the strategies, a kernel function has a `plan.launch` and holds only scf, memref, vector, arith, math, affine and
    plan ops, none of which works on tensors. Anything else is an error at the op that should be gone. Example of what
    is refused:
    ```mlir
    %0 = tensor.empty() : tensor<8xf32>
    ```
  }];
}

def PlaceTemporaries : Pass<"xc-cpu-place-temporaries", "mlir::ModuleOp"> {
  let summary = "Give every temporary buffer a place on the stack or in scratch memory";
  let description = [{
    Replaces `memref.alloc` of static size: up to `stack-bytes` in all become `memref.alloca` at the function's start,
    the rest a 64-byte aligned range of `cpu.scratch`, whose size is written to `plan.launch`. A temporary of dynamic size is
    an error, since scratch memory is reserved before a size is known. Example:
    ```mlir
    %t = memref.alloc() : memref<65536xf32>                                    // input
    %s = cpu.scratch : memref<262144xi8>                                       // output
    %t = memref.view %s[%c0][] : memref<262144xi8> to memref<65536xf32>
    ```
  }];
  let options = [Option<"stackBytes", "stack-bytes", "int64_t", /*default=*/"65536",
                        "Bytes of the stack that temporaries may use; the ABI allows a kernel 128 KiB in all">];
  let dependentDialects = ["mlir::memref::MemRefDialect", "mlir::arith::ArithDialect", "xc::cpu::CPUDialect"];
}

def ExpandArithmetic : Pass<"xc-cpu-expand-arithmetic", "mlir::ModuleOp"> {
  let summary = "Leave only arithmetic that the CPU has instructions for";
  let description = [{
    No library is there at run time. Arithmetic on f16 and bf16 is done in f32; conversions of bf16, and those of f16 where
    the CPU has no instruction for them, become integer arithmetic; math functions become polynomials
    (docs/math-accuracy.md); fused multiply-adds become a product and a sum where the CPU cannot fuse them. Example:
    ```mlir
    %0 = arith.extf %x : bf16 to f32                // input
    %1 = arith.bitcast %x : bf16 to i16             // output
    %2 = arith.extui %1 : i16 to i32
    %3 = arith.shli %2, %c16 : i32
    %0 = arith.bitcast %3 : i32 to f32
    ```
  }];
  let options = [ArchOption, Option<"fastMath", "fast-math", "bool", /*default=*/"false", "Trade accuracy for speed">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

def LowerABI : Pass<"xc-cpu-lower-abi", "mlir::ModuleOp"> {
  let summary = "Give kernel functions the signature of schemas/cpu_kernel_abi.h";
  let description = [{
    Each kernel function becomes two: `NAME.body`, internal, with one pointer for each binding (`llvm.noalias` unless
    it may alias, `llvm.align`), one i64 for each scalar, the scratch pointer and the workgroup's position; and `NAME`, which
    reads those from the tables that the runtime passes and calls the body. Writes `plan.exports`. Example:
    ```mlir
    func.func @k(%bindings: !llvm.ptr, %scalars: !llvm.ptr, %scratch: !llvm.ptr, %x: i64, %y: i64, %z: i64) {
      %0 = llvm.load %bindings : !llvm.ptr -> !llvm.ptr
      call @k.body(%0, %scratch, %x, %y, %z) : (!llvm.ptr, !llvm.ptr, i64, i64, i64) -> ()
      return
    }
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::func::FuncDialect"];
}

def EraseBFloat : Pass<"xc-cpu-erase-bfloat", "mlir::ModuleOp"> {
  let summary = "Move bf16 values as 16-bit integers";
  let description = [{
    Once no arithmetic on bf16 is left, its type becomes i16, in constants too, since LLVM legalises some moves of bf16
    vectors by converting to f32 and back, which calls a library. Example:
    ```mlir
    %0 = llvm.load %p : !llvm.ptr -> vector<8xbf16>   // input
    %0 = llvm.load %p : !llvm.ptr -> vector<8xi16>    // output
    ```
  }];
}

def EmitObject : Pass<"xc-cpu-emit-object", "mlir::ModuleOp"> {
  let summary = "Compile the module with LLVM to an ELF object";
  let description = [{
    Translates to LLVM IR in a context of its own, optimises, generates code, and checks that the object needs no symbol
    from outside. Sets `plan.image` (and `plan.assembly`) and erases the IR. Example:
    ```mlir
    llvm.func @k(...) { ... }                                             // input
    builtin.module @k attributes {plan.image = "\7FELF...", ...} {}       // output
    ```
  }];
  let options = [
    ArchOption,
    Option<"optLevel", "opt-level", "unsigned", /*default=*/"3", "LLVM's optimisation level, 0 to 3">,
    Option<"fastMath", "fast-math", "bool", /*default=*/"false", "Let LLVM reassociate, contract and approximate">,
    Option<"emitAssembly", "emit-assembly", "bool", /*default=*/"false", "Keep the assembly as plan.assembly">,
    Option<"objectFile", "object-file", "std::string", /*default=*/[{""}], "Write the object to this file as well">,
  ];
}

#endif // XC_CODEGEN_CPU_PASSES_TD
