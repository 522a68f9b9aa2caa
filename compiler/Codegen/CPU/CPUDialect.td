//===- CPUDialect.td - Strategies of CPU code generation --*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_CPUDIALECT_TD
#define XC_CODEGEN_CPU_CPUDIALECT_TD

include "compiler/Dialect/Plan/IR/PlanAttrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def CPU_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::xc::cpu";
  let summary = "What a strategy decided about a CPU kernel";
  let description = [{
    One attribute for each strategy of CPU code generation (`lowering_config` of a kernel function), and
    `cpu.scratch`, the private memory of a workgroup. docs/architecture.md, phase `codegen`, says how they are used.
  }];
  let useDefaultAttributePrinterParser = 1;
}

class CPU_Config<string name, string configMnemonic, string strategy>
    : AttrDef<CPU_Dialect, name, [Plan_LoweringConfigInterface]> {
  let mnemonic = configMnemonic;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kVersion = 1;
    ::llvm::StringRef getStrategyName() const { return "}] # strategy # [{"; }
    int64_t getConfigVersion() const { return getVersion(); }
  }];
}

def CPU_ElementwiseAttr : CPU_Config<"Elementwise", "elementwise", "elementwise"> {
  let summary = "One fused loop nest, vectorised along one dim";
  let description = [{
    The results are computed element by element, producers inlined. A workgroup computes about `tile` elements: some
    rows of at most `chunk` elements each; `lanes` of them at a time. `lanes = 1` asks for scalar code. Example:
    `#cpu.elementwise<version = 1, lanes = 32, chunk = 16384, tile = 32768>`.
  }];
  let parameters = (ins "int64_t":$version, "int64_t":$lanes, "int64_t":$chunk, "int64_t":$tile);
  let assemblyFormat = [{
    `<` `version` `=` $version `,` `lanes` `=` $lanes `,` `chunk` `=` $chunk `,` `tile` `=` $tile `>`
  }];
}

def CPU_ReductionAttr : CPU_Config<"Reduction", "reduction", "reduction"> {
  let summary = "Reductions over the same points, with what feeds and follows them";
  let description = [{
    For each point that the reductions keep, all ops of the kernel run one after another, so that what one reads
    again is still in the cache. `direction = "rows"` vectorises along the reduced dims (the accumulators' lanes are
    combined at the end); `"columns"` along a kept dim (every lane is a point of its own); `"panels"` too, with the
    accumulators of `chunk` points next to each other in memory, so that each row of them is read in one run. By columns, windows of
    `strip` neighbouring rows are reduced at a time, where they lie inside of the image. `"images"` does so, too: there windows
    slide along the lanes, and what a band of `band` rows by `chunk` points reads is first copied to private memory, its
    padding included. A workgroup computes the points that make about `tile` elements of input. Example:
    `#cpu.reduction<version = 1, direction = "rows", lanes = 32, chunk = 128, tile = 32768>`.
  }];
  let parameters = (ins "int64_t":$version, StringRefParameter<"rows, columns, panels or images">:$direction,
                        "int64_t":$lanes, "int64_t":$chunk, "int64_t":$tile,
                        DefaultValuedParameter<"int64_t", "1">:$strip, DefaultValuedParameter<"int64_t", "1">:$band);
  let assemblyFormat = [{
    `<` `version` `=` $version `,` `direction` `=` $direction `,` `lanes` `=` $lanes `,` `chunk` `=` $chunk `,`
        `tile` `=` $tile (`,` `strip` `=` $strip^)? (`,` `band` `=` $band^)? `>`
  }];
}

def CPU_MatmulAttr : CPU_Config<"Matmul", "matmul", "matmul"> {
  let summary = "Packed, register-tiled matrix product with prologue and epilogue";
  let description = [{
    A workgroup computes `tile[0]` rows and `tile[1]` columns of one batch entry, `tile[2]` of the reduced dim at
    a time. Both operands are packed into scratch memory (their elementwise producers are computed there), in panels of
    `registers[0]` rows and `registers[1]` columns; the accumulators of one panel pair stay in registers. Example:
    `#cpu.matmul<version = 1, tile = [192, 256, 256], registers = [6, 16], lanes = 8>`.
  }];
  let parameters = (ins "int64_t":$version, ArrayRefParameter<"int64_t">:$tile,
                        ArrayRefParameter<"int64_t">:$registers, "int64_t":$lanes);
  let assemblyFormat = [{
    `<` `version` `=` $version `,` `tile` `=` `[` $tile `]` `,` `registers` `=` `[` $registers `]` `,`
        `lanes` `=` $lanes `>`
  }];
}

def CPU_AttentionAttr : CPU_Config<"Attention", "attention", "attention"> {
  let summary = "Attention, a block of keys at a time";
  let description = [{
    A workgroup computes `tile[0]` queries of one head, which are the lanes of its vectors, and visits `tile[1]` keys at a
    time. No other scores exist. Sums for `registers[0]` keys, and then for `registers[1]` elements of the values, stay in
    registers. Example: `#cpu.attention<version = 1, tile = [32, 96], registers = [12, 8], lanes = 16>`.
  }];
  let parameters = (ins "int64_t":$version, ArrayRefParameter<"int64_t">:$tile,
                        ArrayRefParameter<"int64_t">:$registers, "int64_t":$lanes);
  let assemblyFormat = [{
    `<` `version` `=` $version `,` `tile` `=` `[` $tile `]` `,` `registers` `=` `[` $registers `]` `,`
        `lanes` `=` $lanes `>`
  }];
}

def CPU_FewQueriesAttr : CPU_Config<"FewQueries", "few_queries", "few-queries"> {
  let summary = "Attention of few queries, a block of keys at a time";
  let description = [{
    A workgroup computes `tile[0]` rows, queries of heads that share a head of keys, and visits `tile[1]` keys at a time. Lanes
    are elements of keys and values. Sums of `registers` vectors of a value's elements stay in registers. Example:
    `#cpu.few_queries<version = 1, tile = [4, 32], registers = 8, lanes = 8>`.
  }];
  let parameters = (ins "int64_t":$version, ArrayRefParameter<"int64_t">:$tile, "int64_t":$registers, "int64_t":$lanes);
  let assemblyFormat = [{
    `<` `version` `=` $version `,` `tile` `=` `[` $tile `]` `,` `registers` `=` $registers `,` `lanes` `=` $lanes `>`
  }];
}

def CPU_LinesAttr : CPU_Config<"Lines", "lines", "lines"> {
  let summary = "A sort or a scan, whose lines are shared among workgroups";
  let description = [{
    For kernels of one op that treats each line of its operands on its own. A workgroup takes as many lines as make
    about `tile` elements, one at least. Example: `#cpu.lines<version = 1, tile = 8192>`.
  }];
  let parameters = (ins "int64_t":$version, "int64_t":$tile);
  let assemblyFormat = "`<` `version` `=` $version `,` `tile` `=` $tile `>`";
}

def CPU_GenericAttr : CPU_Config<"Generic", "generic", "generic"> {
  let summary = "Plain loops in one workgroup";
  let description = "For kernels that no other strategy takes. Example: `#cpu.generic<version = 1>`.";
  let parameters = (ins "int64_t":$version);
  let assemblyFormat = "`<` `version` `=` $version `>`";
}

def CPU_ScratchOp : Op<CPU_Dialect, "scratch", [Pure]> {
  let summary = "Private memory of a workgroup";
  let description = [{
    The `scratch` bytes of the function's `plan.launch`, 64-byte aligned; uninitialised. Lowers to the third argument of
    the kernel's ABI. Example:
    ```mlir
    %s = cpu.scratch : memref<65536xi8>
    ```
  }];
  let results = (outs StaticShapeMemRefOf<[I8]>:$memory);
  let assemblyFormat = "attr-dict `:` type($memory)";
}

#endif // XC_CODEGEN_CPU_CPUDIALECT_TD
