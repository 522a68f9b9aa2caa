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

// Those that take two operands stand together.
def Plan_FormulaKind : I32EnumAttr<"FormulaKind", "what a formula does with its operands", [
    I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Symbol", 1, "symbol">,
    I32EnumAttrCase<"Add", 2, "add">, I32EnumAttrCase<"Mul", 3, "mul">,
    I32EnumAttrCase<"FloorDiv", 4, "floordiv">, I32EnumAttrCase<"CeilDiv", 5, "ceildiv">,
    I32EnumAttrCase<"Mod", 6, "mod">, I32EnumAttrCase<"Min", 7, "min">,
    I32EnumAttrCase<"Max", 8, "max">, I32EnumAttrCase<"Select", 9, "select">]> {
  let cppNamespace = "::xc::plan";
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

def Plan_FormulaAttr : Plan_Attr<"Formula", "formula"> {
  let summary = "A size as a formula over symbols";
  let description = [{
    A 64-bit number that is known when inputs are bound. It is written as a result of an affine map over symbols is, with three
    functions more:

    - `s0`: a symbol; what it stands for, whoever has the formula says.
    - `+`, `-`, `*`, `floordiv`, `ceildiv`, `mod`: of any two formulas. `mod` is the remainder of `floordiv`.
    - `min(a, b)` and `max(a, b)`.
    - `select(c, a, b)`: `a` where `c` is 1, `b` where it is 0; `c` is nothing else. The one that is not selected need not have a
      value, as a quotient by zero has none.

    Formulas are simplified where they are made, so equal ones are mostly the same attribute. Constants are folded and stand on the
    right. A maximum around one beside which there are only constants becomes one: `max(max(s0 - 2, 0) floordiv 2 - 2, 0)` is
    `max(s0 floordiv 2 - 3, 0)`. Example:
    ```mlir
    #plan.formula<max((s0 - 3) floordiv 2 + 1, 0) * s1>
    ```
  }];
  // `value`: of a constant, or the number of a symbol; else 0.
  let parameters = (ins "::xc::plan::FormulaKind":$kind, "int64_t":$value, ArrayRefParameter<"FormulaAttr">:$operands);
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "::xc::plan::FormulaKind":$kind, "int64_t":$value, "::llvm::ArrayRef<FormulaAttr>":$operands), [{
      return simplify($_ctxt, kind, value, operands);
    }]>
  ];
  let extraClassDeclaration = [{
    static FormulaAttr getConstant(::mlir::MLIRContext *context, int64_t value);
    static FormulaAttr getSymbol(::mlir::MLIRContext *context, unsigned position);
    static FormulaAttr getMin(FormulaAttr a, FormulaAttr b);
    static FormulaAttr getMax(FormulaAttr a, FormulaAttr b);
    static FormulaAttr getSelect(FormulaAttr condition, FormulaAttr ifOne, FormulaAttr ifZero);
    /// What `kind` makes of other operands of this formula.
    FormulaAttr withOperands(::llvm::ArrayRef<FormulaAttr> operands) const;

    /// Of an affine expression, the dims and symbols of which are these formulas.
    static FormulaAttr get(::mlir::AffineExpr expr, ::llvm::ArrayRef<FormulaAttr> dims, ::llvm::ArrayRef<FormulaAttr> symbols);
    /// Of an affine expression over symbols only, as a formula over the same symbols.
    static FormulaAttr get(::mlir::AffineExpr expr);

    /// As an affine expression. `getLeaf` says what stands for a symbol, and for what affine expressions have not: a minimum, a
    /// maximum or a selection.
    ::mlir::AffineExpr toAffine(::llvm::function_ref<::mlir::AffineExpr(FormulaAttr)> getLeaf) const;

    bool isConstant() const { return getKind() == FormulaKind::Constant; }
    bool isSymbol() const { return getKind() == FormulaKind::Symbol; }
    /// The number of a constant; none of another formula.
    std::optional<int64_t> asConstant() const;
    /// The position of a symbol; none of another formula.
    std::optional<unsigned> asSymbol() const;
    /// The operands of what has two.
    FormulaAttr getLHS() const { return getOperands().front(); }
    FormulaAttr getRHS() const { return getOperands().back(); }

    FormulaAttr operator+(FormulaAttr other) const;
    FormulaAttr operator+(int64_t number) const;
    FormulaAttr operator-(FormulaAttr other) const;
    FormulaAttr operator-(int64_t number) const;
    FormulaAttr operator*(FormulaAttr other) const;
    FormulaAttr operator*(int64_t number) const;
    FormulaAttr operator%(FormulaAttr other) const;
    FormulaAttr floorDiv(FormulaAttr other) const;
    FormulaAttr floorDiv(int64_t number) const;
    FormulaAttr ceilDiv(FormulaAttr other) const;
    FormulaAttr ceilDiv(int64_t number) const;

    /// A number that divides it whatever the symbols are; 0 only of that of 0.
    int64_t getLargestKnownDivisor() const;
    bool usesSymbol(unsigned position) const;
    /// Visits all symbols in it, from left to right; one that occurs again, again.
    void forEachSymbol(::llvm::function_ref<void(unsigned)> visit) const;
    /// With symbol i replaced by `formulas[i]`; those behind them stay.
    FormulaAttr replaceSymbols(::llvm::ArrayRef<FormulaAttr> formulas) const;
    /// With each part that is a key of `parts` replaced by its value.
    FormulaAttr replaceParts(const ::llvm::DenseMap<FormulaAttr, FormulaAttr> &parts) const;

    /// Writes what is between the angle brackets.
    void printText(::llvm::raw_ostream &os) const;

  private:
    static FormulaAttr simplify(::mlir::MLIRContext *context, FormulaKind kind, int64_t value,
                                ::llvm::ArrayRef<FormulaAttr> operands);
    static FormulaAttr getRaw(::mlir::MLIRContext *context, FormulaKind kind, int64_t value,
                              ::llvm::ArrayRef<FormulaAttr> operands);

  public:
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Plan_FormulaArrayAttr : TypedArrayAttrBase<Plan_FormulaAttr, "formulas over symbols">;

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
    `grid` has three workgroup counts, formulas over the kernel's scalars (its symbols, in order). `block` and `cluster`
    have three entries each; both are 1 on a CPU. `shared` is dynamic shared memory in bytes (CUDA), `scratch`
    the bytes of private memory of each workgroup (CPU). Codegen sets it on the kernel function. Example:
    `#plan.launch_config<grid = [s0 ceildiv 8, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>`.
  }];
  let parameters = (ins ArrayRefParameter<"FormulaAttr">:$grid,
    ArrayRefParameter<"int64_t">:$block, ArrayRefParameter<"int64_t">:$cluster,
    "int64_t":$shared, "int64_t":$scratch);
  let assemblyFormat = [{
    `<` `grid` `=` custom<Formulas>($grid) `,` `block` `=` `[` $block `]` `,` `cluster` `=` `[` $cluster `]` `,`
        `shared` `=` $shared `,` `scratch` `=` $scratch `>`
  }];
  let genVerifyDecl = 1;
}

def Plan_ValueGuardAttr : Plan_Attr<"ValueGuard", "value_guard"> {
  let summary = "A variant runs only where a formula is in range and divisible";
  let description = [{
    `value` is a formula over the kernel's scalars; the guard holds where min <= value <= max and the value is a
    multiple of `divisor`. Example: `#plan.value_guard<s0, min = 1, max = 64, divisor = 4>`.
  }];
  let parameters = (ins "FormulaAttr":$value, "int64_t":$min, "int64_t":$max, "int64_t":$divisor);
  let assemblyFormat = "`<` custom<Formula>($value) `,` `min` `=` $min `,` `max` `=` $max `,` `divisor` `=` $divisor `>`";
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
    `offset` and `length` are formulas over the function's symbols, in bytes. Example:
    `#plan.range<read, input 0, offset = 0, length = s0 * 256>`.
  }];
  let parameters = (ins EnumParameter<Plan_Access>:$access, EnumParameter<Plan_Space>:$space,
    "unsigned":$ordinal, "FormulaAttr":$offset, "FormulaAttr":$length);
  let assemblyFormat = [{
    `<` $access `,` $space $ordinal `,` `offset` `=` custom<Formula>($offset) `,` `length` `=` custom<Formula>($length) `>`
  }];
}

def Plan_RangeArrayAttr : TypedArrayAttrBase<Plan_RangeAttr, "ranges of bytes">;

#endif // XC_PLAN_ATTRS_TD
