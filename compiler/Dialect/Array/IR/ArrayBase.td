//===- ArrayBase.td - The array dialect, its types and op classes -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYBASE_TD
#define XC_DIALECT_ARRAY_IR_ARRAYBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "compiler/Dialect/Array/IR/ArrayInterfaces.td"

def Array_Dialect : Dialect {
  let name = "array";
  let cppNamespace = "::xc::array";
  let summary = "What a model is written in: whole-array operations";
  let description = [{
    Operations on whole tensors, close to what users of NumPy, MLX and
    StableHLO know. Where StableHLO has the op its semantics hold, elsewhere
    NumPy's; each op names its source.

    **Types.** Values are ranked tensors of `i1` (truth values), `i8`..`i64`
    (signed), `ui8`..`ui64` (unsigned), `f16`, `bf16`, `f32` and `f64`. There is
    no implicit conversion: the operands of an elementwise op have one element
    type. Integers wrap. Floats follow IEEE 754, denormals included. Reductions
    and products of 16-bit floats accumulate in `f32`.

    **Dims** are static or `?`. A `?` is known when a function's inputs are
    bound, or is a *bounded dynamic dim*: its runtime size, or *extent* for short, is a
    number in device memory, and its *bound* is a size that is static or known
    when inputs are bound. `array.set_extent` and `array.compress` make such
    dims (a filter's result, a cache that grows), and what is computed from them
    has them too: elementwise ops, reductions, products, sorts, views, values of
    `array.if` and `array.while`. What lies behind an extent never counts:
    reductions, products and positions see the elements before it only, and
    `array.dim`, as data, is the extent. Dims that an op wants equal have to
    have the same extent: of one count, or computed in one way. Functions take
    and return arrays: `array.pad_to_bound` makes one, beside `array.extent`. An
    op that knows no meaning for an extent refuses it. A result type may say more or less than what is inferred from the
    operands (`tensor<?xf32>` where `tensor<4xf32>` is inferred, and the other
    way round); it may not contradict it.

    **Broadcasting.** All elementwise ops broadcast as NumPy does: shapes are
    aligned at their last dim, missing leading dims count as 1, and a dim that
    is *statically* 1 is repeated to the size of the other operand's. So for
    each pair of aligned dims:

    | one | other | result | at run time |
    |---|---|---|---|
    | `k` | `k` | `k` | |
    | `1` | anything | the other | |
    | `?` | `k` > 1 or 0 | `k` | `?` must be `k` |
    | `?` | `?` | `?` | both must be equal |
    | `j` | `k`, both not 1 and unequal | an error of the verifier | |

    A `?` that happens to be 1 at run time never broadcasts: that would make a
    kernel's memory accesses depend on data. Use `array.broadcast_in_dim` where
    this is meant. Sizes that disagree at run time are refused before anything
    is computed.

    **Sizes.** Ops that make a shape up (`reshape`, `broadcast_in_dim`, `iota`,
    `dynamic_slice`) take it from their result type; each `?` of it has an
    operand in `sizes(...)`.

    **Entry points.** Public functions are what a module offers. Arguments and
    results carry `array.name`; arguments `array.donated`; results
    `array.alias = N` (the result overwrites argument N). `array.dims` names
    dims (`["batch", ""]`), and equal names are equal sizes. On a function
    `array.dim_range = {batch = [1, 64, 8]}` says that `batch` is at least 1,
    at most 64 (-1: unbounded), and divisible by 8.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasCanonicalizer = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

def Array_Bool : AnyTypeOf<[I1], "truth value (i1)">;
def Array_SInt : AnyTypeOf<[I8, I16, I32, I64], "signed integer (i8..i64)">;
def Array_UInt : AnyTypeOf<[UI8, UI16, UI32, UI64], "unsigned integer (ui8..ui64)">;
def Array_Int : AnyTypeOf<[I8, I16, I32, I64, UI8, UI16, UI32, UI64],
                          "integer (i8..i64, ui8..ui64)">;
def Array_Float : AnyTypeOf<[F16, BF16, F32, F64], "float (f16, bf16, f32, f64)">;
def Array_Number : AnyTypeOf<Array_Int.allowedTypes # Array_Float.allowedTypes,
                             "number (i8..i64, ui8..ui64, f16, bf16, f32, f64)">;
def Array_Logical : AnyTypeOf<Array_Bool.allowedTypes # Array_Int.allowedTypes,
                              "truth value or integer (i1, i8..i64, ui8..ui64)">;
def Array_Element : AnyTypeOf<Array_Bool.allowedTypes # Array_Number.allowedTypes,
                              "element (i1, i8..i64, ui8..ui64, f16, bf16, f32, f64)">;

class Array_TensorOf<Type element> : RankedTensorOf<[element]>;
class Array_ScalarOf<Type element> : RankedTensorOf<[element], [HasAnyRankOfPred<[0]>], "rank-0 tensor">;

def Array_BoolTensor : Array_TensorOf<Array_Bool>;
def Array_IntTensor : Array_TensorOf<Array_Int>;
def Array_FloatTensor : Array_TensorOf<Array_Float>;
def Array_NumberTensor : Array_TensorOf<Array_Number>;
def Array_LogicalTensor : Array_TensorOf<Array_Logical>;
def Array_Tensor : Array_TensorOf<Array_Element>;

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

// Its printer writes a space first, so a format says `` before it.
class Array_EnumAttr<I32EnumAttr info, string mnemonic>
    : EnumAttr<Array_Dialect, info, mnemonic> {
  // The generated parser names C++ types where a word is unknown.
  let assemblyFormat = ?;
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = [{
    ::mlir::Attribute $cppClass::parse(::mlir::AsmParser &parser, ::mlir::Type) {
      auto value = ::mlir::FieldParser<}] # info.cppNamespace # "::" # info.className # [{>::parse(parser);
      return ::mlir::failed(value) ? ::mlir::Attribute() : get(parser.getContext(), *value);
    }
    void $cppClass::print(::mlir::AsmPrinter &printer) const {
      printer << ' ' << stringifyEnum(getValue());
    }
  }];
}
class Array_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::xc::array";
  let genSpecializedAttr = 0;
}

def Array_CompareDirection : Array_Enum<"CompareDirection", "how to compare", [
  I32EnumAttrCase<"Eq", 0, "eq">, I32EnumAttrCase<"Ne", 1, "ne">,
  I32EnumAttrCase<"Lt", 2, "lt">, I32EnumAttrCase<"Le", 3, "le">,
  I32EnumAttrCase<"Gt", 4, "gt">, I32EnumAttrCase<"Ge", 5, "ge">]>;
def Array_CompareDirectionAttr : Array_EnumAttr<Array_CompareDirection, "compare_direction">;

def Array_ReduceKind : Array_Enum<"ReduceKind", "what a reduction combines with", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">,
  I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">]>;
def Array_ReduceKindAttr : Array_EnumAttr<Array_ReduceKind, "reduce_kind">;

def Array_ScatterKind : Array_Enum<"ScatterKind", "how an update meets the old element", [
  I32EnumAttrCase<"Set", 0, "set">, I32EnumAttrCase<"Add", 1, "add">,
  I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"Mul", 4, "mul">]>;
def Array_ScatterKindAttr : Array_EnumAttr<Array_ScatterKind, "scatter_kind">;

def Array_GeluForm : Array_Enum<"GeluForm", "which formula of gelu", [
  I32EnumAttrCase<"Erf", 0, "erf">, I32EnumAttrCase<"Tanh", 1, "tanh">]>;
def Array_GeluFormAttr : Array_EnumAttr<Array_GeluForm, "gelu_form">;

def Array_ConvAlgorithm : Array_Enum<"ConvAlgorithm", "how to compute a convolution", [
  I32EnumAttrCase<"Direct", 0, "direct">, I32EnumAttrCase<"Winograd", 1, "winograd">]>;
def Array_ConvAlgorithmAttr : Array_EnumAttr<Array_ConvAlgorithm, "conv_algorithm">;

def Array_ResizeMode : Array_Enum<"ResizeMode", "how to interpolate", [
  I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"Linear", 1, "linear">,
  I32EnumAttrCase<"Cubic", 2, "cubic">]>;
def Array_ResizeModeAttr : Array_EnumAttr<Array_ResizeMode, "resize_mode">;

//===----------------------------------------------------------------------===//
// Op classes
//===----------------------------------------------------------------------===//

class Array_Op<string mnemonic, list<Trait> traits = []>
    : Op<Array_Dialect, mnemonic, traits>;

defvar Array_Shape = DeclareOpInterfaceMethods<ArrayShapeOpInterface>;
defvar Array_Decomposable = DeclareOpInterfaceMethods<ArrayDecomposableOpInterface>;
defvar Array_Vjp = DeclareOpInterfaceMethods<ArrayVjpOpInterface>;

/// Checks the inferred types before `InferTypeOpInterface` does, which would add a
/// second error to each one that inference reports.
def Array_InferenceVerified : NativeOpTrait<"InferenceVerified"> {
  let cppNamespace = "::xc::array";
}

/// A pure op whose result types follow from its operands and attributes.
class Array_InferredOp<string mnemonic, list<Trait> traits = []>
    : Array_Op<mnemonic, traits # [Pure, Array_InferenceVerified, InferTypeOpAdaptor, Array_Shape]> {
  code compatibleTypes = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs, ::mlir::TypeRange rhs) {
      return ::xc::array::areCompatibleTypes(lhs, rhs);
    }
  }];
  // For ops that leave the result's element type to their verifier.
  code compatibleShapes = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs, ::mlir::TypeRange rhs) {
      return ::xc::array::areCompatibleShapes(lhs, rhs);
    }
  }];
  let extraClassDeclaration = compatibleTypes;
}

/// A pure op whose result shape comes from its result type and `sizes`.
class Array_SizedOp<string mnemonic, list<Trait> traits = []>
    : Array_Op<mnemonic, traits # [Pure, Array_Shape,
          DeclareOpInterfaceMethods<ArraySizedOpInterface, ["checkResultType"]>]> {
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

/// What scores of attention are limited to.
def Array_Softcap : ConfinedAttr<F64Attr, [AttrConstraint<
    CPred<"::llvm::cast<::mlir::FloatAttr>($_self).getValue().isFiniteNonZero() && "
          "!::llvm::cast<::mlir::FloatAttr>($_self).getValue().isNegative()">,
    "whose value is positive and finite">]>;

#endif // XC_DIALECT_ARRAY_IR_ARRAYBASE_TD
