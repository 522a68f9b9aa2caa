//===- ArrayStateOps.td - Variables ------------------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYSTATEOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYSTATEOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

def Array_VariableOp : Array_Op<"variable", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "A tensor that lives as long as an instance";
  let description = [{
    Device memory that functions read and assign by name: weights in training,
    optimiser state, KV caches. It starts as its initial value: dense elements, an
    external parameter, or zero where none is given. Each instance of a module has
    its own.

    Example:
    ```mlir
    array.variable @w : tensor<4x2xf32> = dense<0.5>
    array.variable @scale : tensor<768xf32> = #array.parameter<"weights"::"ln.scale">
    array.variable @cache : tensor<1x12x1024x64xf16>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility,
                       TypeAttrOf<StaticShapeTensorOf<[Array_Element]>>:$type,
                       OptionalAttr<AnyAttr>:$initial_value);
  let assemblyFormat = [{
    ($sym_visibility^)? $sym_name custom<VariableType>($type, $initial_value)
    attr-dict-with-keyword
  }];
  let hasVerifier = 1;
}

def Array_VariableReadOp : Array_Op<"variable.read", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The present value of a variable";
  let description = [{
    The value as of this place in the program; a later assignment does not change
    it. Costs nothing where no assignment follows while the value is in use.

    Example:
    ```mlir
    %w = array.variable.read @w : tensor<4x2xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs StaticShapeTensorOf<[Array_Element]>:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}

def Array_VariableAssignOp : Array_Op<"variable.assign", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Gives a variable a new value";
  let description = [{
    Visible to later reads of this call and of later calls on the same instance.
    Computed straight into the variable's memory where the old value is not used
    any more.

    Example:
    ```mlir
    array.variable.assign @w, %next : tensor<4x2xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, Array_Tensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYSTATEOPS_TD
