//===- SdyOps.td - Shardings, to be read and dropped -------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_SDYOPS_TD
#define XC_INPUT_STABLEHLO_SDYOPS_TD

include "compiler/Input/StableHLO/StableHLOBase.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::xc::sdy";
  let summary = "How JAX says which devices hold what";
  let description = [{
    Where a program says how its values are spread over devices, JAX prints meshes, attributes and constraints of this dialect
    beside StableHLO. They change no value, so nothing of what stands in their angle brackets is kept.
  }];
  let useDefaultAttributePrinterParser = 0;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute, ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

def Sdy_TextAttr : AttrDef<Sdy_Dialect, "Text"> {
  let summary = "Any attribute of the dialect, as its text";
  let attrName = "sdy.text";
  let parameters = (ins StringRefParameter<>:$text);
}

def Sdy_MeshOp : Read_Op<Sdy_Dialect, "mesh", "sdy.mesh @mesh = <[\"x\"=2]>", []> {
  let arguments = (ins StrAttr:$sym_name);
  let assemblyFormat = "custom<Mesh>($sym_name) attr-dict";
}

def Sdy_ShardingConstraintOp : Read_Op<Sdy_Dialect, "sharding_constraint",
    "%y = sdy.sharding_constraint %x <@mesh, [{\"x\"}]> : tensor<4xf32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$input);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "$input custom<Constraint>(type($input), type($result)) attr-dict";
}

#endif // XC_INPUT_STABLEHLO_SDYOPS_TD
