//===- StableHLOBase.td - The dialects that JAX prints -----*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_STABLEHLOBASE_TD
#define XC_INPUT_STABLEHLO_STABLEHLOBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def StableHLO_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::xc::stablehlo";
  let summary = "StableHLO, to be read";
  let description = [{
    Ops and attributes of the StableHLO specification, so that programs which JAX and others print can be parsed. Nothing
    computes on them: `-xc-import-stablehlo` turns them into array ops first of all.
  }];
  let hasConstantMaterializer = 0;
  let useDefaultAttributePrinterParser = 0;
  let useDefaultTypePrinterParser = 0;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute, ::mlir::DialectAsmPrinter &printer) const override;
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type, ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

class StableHLO_Attr<string name, string text> : AttrDef<StableHLO_Dialect, name> {
  let summary = text;
  let attrName = "stablehlo." # name;
}

def StableHLO_WordAttr : StableHLO_Attr<"Word", "A value of an enumeration: `#stablehlo<precision HIGHEST>`"> {
  let parameters = (ins StringRefParameter<>:$kind, StringRefParameter<>:$value);
}

def StableHLO_RecordAttr : StableHLO_Attr<"Record", "Named fields: `#stablehlo.gather<offset_dims = [0], ...>`"> {
  let parameters = (ins StringRefParameter<>:$kind, "::mlir::DictionaryAttr":$fields);
  let extraClassDeclaration = [{
    /// The list that a field holds; empty where there is none.
    ::llvm::ArrayRef<int64_t> getList(::llvm::StringRef name) const;
    int64_t getNumber(::llvm::StringRef name, int64_t otherwise) const;
  }];
}

def StableHLO_ConvAttr : StableHLO_Attr<"Conv", "Dims of a convolution: `#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`"> {
  let description = "Spatial dims by their number; b and o are -1, f and i -2.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$input, ArrayRefParameter<"int64_t">:$filter,
                        ArrayRefParameter<"int64_t">:$output);
}

def StableHLO_TokenType : TypeDef<StableHLO_Dialect, "Token"> {
  let summary = "What orders ops with effects: `!stablehlo.token`";
  let typeName = "stablehlo.token";
}

class StableHLO_List<string predicate, string text>
    : Attr<CPred<"::xc::stablehlo::" # predicate # "($_self)">, text> {
  let storageType = "::mlir::Attribute";
  let returnType = "::mlir::Attribute";
  let convertFromStorage = "$_self";
}
def StableHLO_Numbers : StableHLO_List<"isNumbers", "list of i64">;
def StableHLO_Window : StableHLO_List<"isNumberTable", "table of i64">;
def StableHLO_Flags : StableHLO_List<"isFlags", "list of i1">;
class StableHLO_Word<string kind> : Attr<
    CPred<"::xc::stablehlo::isWord($_self, \"" # kind # "\")">, "#stablehlo<" # kind # " ...>"> {
  let storageType = "::xc::stablehlo::WordAttr";
  let returnType = "::xc::stablehlo::WordAttr";
  let convertFromStorage = "$_self";
}
class StableHLO_Record<string kind> : Attr<
    CPred<"::xc::stablehlo::isRecord($_self, \"" # kind # "\")">, "#stablehlo." # kind # "<...>"> {
  let storageType = "::xc::stablehlo::RecordAttr";
  let returnType = "::xc::stablehlo::RecordAttr";
  let convertFromStorage = "$_self";
}
def StableHLO_Integer : Attr<CPred<"::llvm::isa<::mlir::IntegerAttr>($_self)">, "integer"> {
  let storageType = "::mlir::IntegerAttr";
  let returnType = "::mlir::IntegerAttr";
  let convertFromStorage = "$_self";
}
def StableHLO_ConvDims : Attr<CPred<"::llvm::isa<::xc::stablehlo::ConvAttr>($_self)">, "#stablehlo.conv<...>"> {
  let storageType = "::xc::stablehlo::ConvAttr";
  let returnType = "::xc::stablehlo::ConvAttr";
  let convertFromStorage = "$_self";
}

/// All types are one, but that scales of quantized numbers may differ.
def StableHLO_SameType : NativeOpTrait<"SameTypeButScales"> {
  let cppNamespace = "::xc::stablehlo";
}

/// What ops work on; element types are looked at when they are imported.
def StableHLO_Tensor : AnyTypeOf<[AnyRankedTensor], "ranked tensor">;
/// What they may also be given where they are not imported anyway.
def StableHLO_Any : AnyTypeOf<[AnyType], "value">;

//===----------------------------------------------------------------------===//
// Op classes
//===----------------------------------------------------------------------===//

class Read_Op<Dialect dialect, string mnemonic, string example, list<Trait> traits>
    : Op<dialect, mnemonic, traits> {
  // Parsed, hardly ever built: one builder is enough.
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$types, "::mlir::ValueRange":$values), [{
    $_state.addTypes(types);
    $_state.addOperands(values);
  }]>];
  let summary = "As `" # dialect.name # "." # mnemonic # "` is specified";
  let description = "Read, and imported or refused by `-xc-import-stablehlo`. Example:\n```mlir\n" # example # "\n```\n";
}
class StableHLO_Op<string mnemonic, string example, list<Trait> traits = []>
    : Read_Op<StableHLO_Dialect, mnemonic, example, traits>;

class Read_UnaryOp<Dialect dialect, string mnemonic, list<Trait> traits>
    : Read_Op<dialect, mnemonic, "%y = " # dialect.name # "." # mnemonic # " %x : tensor<4xf32>", traits> {
  let arguments = (ins StableHLO_Tensor:$operand, OptionalAttr<AnyAttr>:$result_accuracy);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<Types>(type($operand), type($result))";
}
class Read_BinaryOp<Dialect dialect, string mnemonic, list<Trait> traits>
    : Read_Op<dialect, mnemonic, "%y = " # dialect.name # "." # mnemonic # " %a, %b : tensor<4xf32>", traits> {
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs, OptionalAttr<AnyAttr>:$broadcast_dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<Types>(type($lhs), type($rhs), type($result))
  }];
}

/// Read in its generic form only.
class Read_GenericOp<Dialect dialect, string mnemonic, dag attributes, list<Trait> traits = []>
    : Read_Op<dialect, mnemonic, "%y = \"" # dialect.name # "." # mnemonic # "\"(%x) : (tensor<4xf32>) -> tensor<4xf32>",
              traits> {
  let arguments = !con((ins Variadic<StableHLO_Any>:$inputs), attributes);
  let results = (outs Variadic<StableHLO_Any>:$outputs);
  let regions = (region VariadicRegion<AnyRegion>:$bodies);
}

#endif // XC_INPUT_STABLEHLO_STABLEHLOBASE_TD
