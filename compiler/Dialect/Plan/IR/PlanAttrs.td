//===- PlanAttrs.td - Attributes of the plan dialect ------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_PLAN_ATTRS_TD
#define XC_PLAN_ATTRS_TD

include "compiler/Dialect/Plan/IR/PlanDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Plan_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Plan_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def Plan_Access : I32EnumAttr<"Access", "how a kernel uses a binding", [
    I32EnumAttrCase<"Read", 1, "read">, I32EnumAttrCase<"Write", 2, "write">,
    I32EnumAttrCase<"ReadWrite", 3, "read_write">]> {
  let cppNamespace = "::xc::plan";
}

def Plan_Axis : I32EnumAttr<"Axis", "axis of the grid of workgroups", [
    I32EnumAttrCase<"X", 0, "x">, I32EnumAttrCase<"Y", 1, "y">, I32EnumAttrCase<"Z", 2, "z">]> {
  let cppNamespace = "::xc::plan";
}

// The values are those of xc.fb.Space in schemas/module.fbs.
def Plan_Space : I32EnumAttr<"Space", "where a buffer lives", [
    I32EnumAttrCase<"Arena", 0, "arena">, I32EnumAttrCase<"Input", 1, "input">,
    I32EnumAttrCase<"Output", 2, "output">, I32EnumAttrCase<"Constant", 3, "constant">,
    I32EnumAttrCase<"Variable", 4, "variable">, I32EnumAttrCase<"Parameter", 5, "parameter">,
    I32EnumAttrCase<"Packed", 6, "packed">]> {
  let cppNamespace = "::xc::plan";
}

// The values are those of xc.fb.Comparison in schemas/module.fbs.
def Plan_Comparison : I32EnumAttr<"Comparison", "how two sizes must compare", [
    I32EnumAttrCase<"Equal", 0, "equal">, I32EnumAttrCase<"AtMost", 1, "at_most">,
    I32EnumAttrCase<"OneOrEqual", 2, "one_or_equal">, I32EnumAttrCase<"AtLeast", 3, "at_least">]> {
  let cppNamespace = "::xc::plan";
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

def Plan_TargetAttr : Plan_Attr<"Target", "target"> {
  let summary = "What code is generated for";
  let description = [{
    `kind` is "cpu" or "cuda"; `arch` is one of that kind's table ("x86-64-v3", "sm_90a"). Example:
    `#plan.target<"cuda", "sm_90a">`.
  }];
  let parameters = (ins "::mlir::StringAttr":$kind, "::mlir::StringAttr":$arch);
  let assemblyFormat = "`<` $kind `,` $arch `>`";
  let extraClassDeclaration = [{
    bool isCPU() const { return getKind() == "cpu"; }
    bool isCUDA() const { return getKind() == "cuda"; }
  }];
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

def Plan_LaunchAttr : Plan_Attr<"Launch", "launch_config"> {
  let summary = "How one kernel function is launched";
  let description = [{
    `grid` maps the kernel's scalars (its symbols, in order) to three workgroup counts. `block` and `cluster`
    have three entries each; both are 1 on a CPU. `shared` is dynamic shared memory in bytes (CUDA), `scratch`
    the bytes of private memory of each workgroup (CPU). Codegen sets it on the kernel function. Example:
    `#plan.launch_config<grid = affine_map<()[s0] -> (s0 ceildiv 8, 1, 1)>, block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>`.
  }];
  let parameters = (ins "::mlir::AffineMapAttr":$grid,
    ArrayRefParameter<"int64_t">:$block, ArrayRefParameter<"int64_t">:$cluster,
    "int64_t":$shared, "int64_t":$scratch);
  let assemblyFormat = [{
    `<` `grid` `=` $grid `,` `block` `=` `[` $block `]` `,` `cluster` `=` `[` $cluster `]` `,`
        `shared` `=` $shared `,` `scratch` `=` $scratch `>`
  }];
  let genVerifyDecl = 1;
}

def Plan_ValueGuardAttr : Plan_Attr<"ValueGuard", "value_guard"> {
  let summary = "A variant runs only where a formula is in range and divisible";
  let description = [{
    `value` maps the kernel's scalars to one number v; the guard holds where min <= v <= max and v is a
    multiple of `divisor`. Example: `#plan.value_guard<affine_map<()[s0] -> (s0)>, min = 1, max = 64, divisor = 4>`.
  }];
  let parameters = (ins "::mlir::AffineMapAttr":$value, "int64_t":$min, "int64_t":$max, "int64_t":$divisor);
  let assemblyFormat = "`<` $value `,` `min` `=` $min `,` `max` `=` $max `,` `divisor` `=` $divisor `>`";
}

def Plan_AlignmentGuardAttr : Plan_Attr<"AlignmentGuard", "alignment_guard"> {
  let summary = "A variant runs only where a binding's address is a multiple of some bytes";
  let description = "Example: `#plan.alignment_guard<binding = 0, bytes = 16>`.";
  let parameters = (ins "unsigned":$binding, "int64_t":$bytes);
  let assemblyFormat = "`<` `binding` `=` $binding `,` `bytes` `=` $bytes `>`";
}

//===----------------------------------------------------------------------===//
// Lowering configurations
//===----------------------------------------------------------------------===//

def Plan_LoweringConfigInterface : AttrInterface<"LoweringConfigInterface"> {
  let cppNamespace = "::xc::plan";
  let description = [{
    What a strategy decided about one kernel. One pass (`-xc-cpu-select-strategy`, `-xc-cuda-select-strategy`)
    or the tuning database sets it on the kernel function as `lowering_config`; the passes after it only obey.
    Each attribute has a `version` so that a database of another version is refused rather than misread.
  }];
  let methods = [
    InterfaceMethod<"The strategy's name, as reports print it", "::llvm::StringRef", "getStrategyName">,
    InterfaceMethod<"The version of this attribute's meaning", "int64_t", "getConfigVersion">
  ];
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

def Plan_RangeAttr : Plan_Attr<"Range", "range"> {
  let summary = "A range of bytes of a buffer, and how it is used";
  let description = [{
    `offset` and `length` map the function's symbols to bytes. Example:
    `#plan.range<read, input 0, offset = affine_map<()[] -> (0)>, length = affine_map<()[s0] -> (s0 * 256)>>`.
  }];
  let parameters = (ins EnumParameter<Plan_Access>:$access, EnumParameter<Plan_Space>:$space,
    "unsigned":$ordinal, "::mlir::AffineMapAttr":$offset, "::mlir::AffineMapAttr":$length);
  let assemblyFormat = "`<` $access `,` $space $ordinal `,` `offset` `=` $offset `,` `length` `=` $length `>`";
}

def Plan_RangeArrayAttr : TypedArrayAttrBase<Plan_RangeAttr, "ranges of bytes">;

#endif // XC_PLAN_ATTRS_TD
