//===- ArrayDialect.cpp - The array dialect, its attributes and interfaces ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/IR/Requirements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xc::array;

#include "compiler/Dialect/Array/IR/ArrayInterfaces.cpp.inc"
#include "compiler/Dialect/Array/IR/ArrayOpsDialect.cpp.inc"
#include "compiler/Dialect/Array/IR/ArrayOpsEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/Array/IR/ArrayOpsAttrs.cpp.inc"

namespace xc::array {

namespace {

/// Every op may move into another function.
struct ArrayInlinerInterface final : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
};

} // namespace

void ArrayDialect::initialize() {
  addInterfaces<ArrayInlinerInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Dialect/Array/IR/ArrayOpsAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/Array/IR/ArrayOps.cpp.inc"
      >();
  addOperations<AttentionGradientOp>();
  attachShapes(getContext());
  attachRequirements(getContext());
}

Operation *ArrayDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                             Location loc) {
  if (auto elements = dyn_cast<ElementsAttr>(value))
    if (elements.getType() == type)
      return ConstantOp::create(builder, loc, elements);
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// #array.parameter
//===----------------------------------------------------------------------===//

LogicalResult ParameterAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef scope,
                                    StringRef key) {
  if (scope.empty())
    return emitError() << "expected the scope of a parameter not to be empty";
  return success();
}

Attribute ParameterAttr::parse(AsmParser &parser, Type) {
  std::string scope, key;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&scope))
    return {};
  if (succeeded(parser.parseOptionalColon()) && (parser.parseColon() || parser.parseString(&key)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ParameterAttr>(loc, parser.getContext(), StringRef(scope),
                                          StringRef(key));
}

void ParameterAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printString(getScope());
  if (!getKey().empty()) {
    printer << "::";
    printer.printString(getKey());
  }
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Attributes of functions, their arguments and results
//===----------------------------------------------------------------------===//

/// Calls `visit` with the type and the `array.dims` of every argument and result that has them.
static void forEachNamedShape(FunctionOpInterface func,
                              function_ref<void(RankedTensorType type, ArrayAttr names)> visit) {
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      if (auto names = func.getArgAttrOfType<ArrayAttr>(index, kDimsAttr))
        visit(tensor, names);
  for (auto [index, type] : llvm::enumerate(func.getResultTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      if (auto names = func.getResultAttrOfType<ArrayAttr>(index, kDimsAttr))
        visit(tensor, names);
}

/// Checks one `array.dims`: one string per dim, and no name with two static sizes.
static LogicalResult verifyDims(FunctionOpInterface func, Type type, Attribute value) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto names = dyn_cast<ArrayAttr>(value);
  if (!tensor || !names || !llvm::all_of(names, llvm::IsaPred<StringAttr>))
    return func.emitOpError("expected ")
           << kDimsAttr << " to be a list of strings on a ranked tensor, got " << value << " on "
           << type;
  if (static_cast<int64_t>(names.size()) != tensor.getRank())
    return func.emitOpError("expected ") << tensor.getRank() << " names in " << kDimsAttr << " of "
                                         << type << ", got " << names.size();
  LogicalResult result = success();
  for (auto [name, size] : llvm::zip_equal(names, tensor.getShape())) {
    if (cast<StringAttr>(name).empty())
      continue;
    // Structured bindings cannot be captured in C++17.
    Attribute wantedName = name;
    int64_t wantedSize = size;
    forEachNamedShape(func, [&](RankedTensorType otherType, ArrayAttr otherNames) {
      if (static_cast<int64_t>(otherNames.size()) != otherType.getRank())
        return;
      for (auto [otherName, otherSize] : llvm::zip_equal(otherNames, otherType.getShape()))
        if (succeeded(result) && otherName == wantedName &&
            !areCompatibleDims(wantedSize, otherSize))
          result = func.emitOpError("expected dims named ")
                   << wantedName << " to be equal, got " << wantedSize << " and " << otherSize;
    });
  }
  return result;
}

static LogicalResult verifyName(FunctionOpInterface func, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  if (!name || name.empty())
    return func.emitOpError("expected ") << kNameAttr << " to be a string, got " << value;
  return success();
}

/// The size of the dims that are called `name`, where one of them is static.
static std::optional<int64_t> findStaticSize(FunctionOpInterface func, StringRef name) {
  std::optional<int64_t> found;
  forEachNamedShape(func, [&](RankedTensorType type, ArrayAttr names) {
    if (static_cast<int64_t>(names.size()) != type.getRank())
      return;
    for (auto [own, size] : llvm::zip_equal(names, type.getShape()))
      if (auto string = dyn_cast<StringAttr>(own);
          string && string.getValue() == name && !ShapedType::isDynamic(size))
        found = size;
  });
  return found;
}

static LogicalResult verifyDimRange(FunctionOpInterface func, Attribute value) {
  auto ranges = dyn_cast<DictionaryAttr>(value);
  if (!ranges)
    return func.emitOpError("expected ") << kDimRangeAttr << " to be a dictionary, got " << value;
  llvm::SmallDenseSet<StringAttr> named;
  forEachNamedShape(func, [&](RankedTensorType, ArrayAttr names) {
    for (Attribute name : names)
      if (auto string = dyn_cast<StringAttr>(name))
        named.insert(StringAttr::get(string.getContext(), string.getValue()));
  });
  for (NamedAttribute range : ranges) {
    auto bounds = dyn_cast<ArrayAttr>(range.getValue());
    if (!bounds || bounds.size() != 3 || !llvm::all_of(bounds, llvm::IsaPred<IntegerAttr>))
      return func.emitOpError("expected the range of dim ")
             << range.getName() << " to be [minimum, maximum, divisor], got " << range.getValue();
    int64_t minimum = cast<IntegerAttr>(bounds[0]).getInt();
    int64_t maximum = cast<IntegerAttr>(bounds[1]).getInt();
    int64_t divisor = cast<IntegerAttr>(bounds[2]).getInt();
    if (minimum < 0 || (maximum != -1 && maximum < minimum) || divisor < 1)
      return func.emitOpError("expected 0 <= minimum <= maximum (or -1) and divisor >= 1 for dim ")
             << range.getName() << ", got " << range.getValue();
    if (!named.contains(range.getName()))
      return func.emitOpError("expected a dim named ")
             << range.getName() << " in " << kDimsAttr << " of an argument or result";
    auto isWithin = [&](int64_t size) {
      return size >= minimum && (maximum == -1 || size <= maximum) && size % divisor == 0;
    };
    if (std::optional<int64_t> size = findStaticSize(func, range.getName());
        size && !isWithin(*size))
      return func.emitOpError("expected dims named ")
             << range.getName() << " within " << range.getValue() << ", got " << *size;
  }
  return success();
}

static LogicalResult verifyAlias(FunctionOpInterface func, unsigned resultIndex, Attribute value) {
  auto index = dyn_cast<IntegerAttr>(value);
  int64_t argument = index ? index.getInt() : -1;
  if (argument < 0 || argument >= static_cast<int64_t>(func.getNumArguments()))
    return func.emitOpError("expected ") << kAliasAttr << " to be the index of one of "
                                         << func.getNumArguments() << " arguments, got " << value;
  Type argumentType = func.getArgumentTypes()[argument];
  Type resultType = func.getResultTypes()[resultIndex];
  if (argumentType != resultType)
    return func.emitOpError("expected result ")
           << resultIndex << " to have the type of the argument it overwrites, got " << resultType
           << " and " << argumentType;
  if (!func.getArgAttr(argument, kDonatedAttr))
    return func.emitOpError("expected argument ")
           << argument << ", which result " << resultIndex << " overwrites, to be " << kDonatedAttr;
  for (unsigned other = 0; other < resultIndex; ++other)
    if (func.getResultAttr(other, kAliasAttr) == value)
      return func.emitOpError("expected one result to overwrite argument ")
             << argument << ", got results " << other << " and " << resultIndex;
  return success();
}

/// Checks one `array.dtype`: what a type is that the linalg phase stores as `type`, or is about to
/// store as another one.
static LogicalResult verifyDtype(Operation *op, Type type, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  auto element = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  StringRef is = name ? name.getValue() : StringRef();
  unsigned width = element ? element.getWidth() : 0, named = 0;
  bool isUnsigned = is.size() > 1 && is.front() == 'u' && !is.drop_front().getAsInteger(10, named);
  if (element && (is == "i1" ? width == 8 || width == 1 : isUnsigned && named == width))
    return success();
  return op->emitOpError("expected ")
         << kDtypeAttr << " to be \"i1\" of i8, or \"u\" and the width of an integer, got " << value
         << " of " << type;
}

/// True if the attribute called `name` is one that marks `op`.
static bool isMark(Operation *op, StringRef name) {
  return (isa<IotaOp, ReduceOp>(op) && name == kCountedAttr) ||
         (isa<ConvOp>(op) && name == kFirstPlacesAttr) ||
         (isa<AttentionOp, AttentionGradientOp, PagedAttentionOp>(op) && name == kWholeAttr) ||
         (isa<AttentionOp>(op) && name == kOpenEndAttr);
}

LogicalResult ArrayDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (func && attribute.getName() == kDimRangeAttr)
    return verifyDimRange(func, attribute.getValue());
  if (func && attribute.getName() == kDocAttr) {
    if (isa<StringAttr>(attribute.getValue()))
      return success();
    return op->emitOpError("expected ")
           << kDocAttr << " to be a string, got " << attribute.getValue();
  }
  if (isa<VariableOp, ParameterOp>(op) && attribute.getName() == kDtypeAttr)
    return verifyDtype(
        op, isa<VariableOp>(op) ? cast<VariableOp>(op).getType() : cast<ParameterOp>(op).getType(),
        attribute.getValue());
  if (isa<ModuleOp>(op) && attribute.getName() == kRecognizedAttr &&
      isa<DictionaryAttr>(attribute.getValue()))
    return success();
  if (isa<TakeOp, ReshapeOp>(op) && attribute.getName() == kRequirementAttr &&
      isa<StringAttr>(attribute.getValue()))
    return success();
  if (isMark(op, attribute.getName())) {
    if (isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitOpError("expected ")
           << attribute.getName().getValue() << " to be a unit, got " << attribute.getValue();
  }
  if ((isa<AttentionOp, AttentionGradientOp>(op) && attribute.getName() == kMaxScoresAttr) ||
      (isa<SortOp>(op) && attribute.getName() == kLeastSizeAttr)) {
    auto number = dyn_cast<IntegerAttr>(attribute.getValue());
    if (number && number.getType().isSignlessInteger(64) && number.getInt() > 0)
      return success();
    return op->emitOpError("expected ") << attribute.getName().getValue()
                                        << " to be an i64 above 0, got " << attribute.getValue();
  }
  return op->emitOpError("does not take attribute ") << attribute.getName();
}

LogicalResult ArrayDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argIndex,
                                                     NamedAttribute attribute) {
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (!func)
    return op->emitOpError("does not take attribute ") << attribute.getName();
  Type type = func.getArgumentTypes()[argIndex];
  if (attribute.getName() == kNameAttr)
    return verifyName(func, attribute.getValue());
  if (attribute.getName() == kDtypeAttr)
    return verifyDtype(op, type, attribute.getValue());
  if (attribute.getName() == kDimsAttr)
    return verifyDims(func, type, attribute.getValue());
  if (attribute.getName() == kDonatedAttr) {
    if (isa<UnitAttr>(attribute.getValue()) && isa<RankedTensorType>(type))
      return success();
    return op->emitOpError("expected ")
           << kDonatedAttr << " to be a unit attribute of a tensor, got " << attribute.getValue()
           << " on " << type;
  }
  return op->emitOpError("does not take argument attribute ")
         << attribute.getName() << "; known are " << kNameAttr << ", " << kDimsAttr << " and "
         << kDonatedAttr;
}

LogicalResult ArrayDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                        unsigned resultIndex,
                                                        NamedAttribute attribute) {
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (!func)
    return op->emitOpError("does not take attribute ") << attribute.getName();
  if (attribute.getName() == kNameAttr)
    return verifyName(func, attribute.getValue());
  if (attribute.getName() == kDtypeAttr)
    return verifyDtype(op, func.getResultTypes()[resultIndex], attribute.getValue());
  if (attribute.getName() == kDimsAttr)
    return verifyDims(func, func.getResultTypes()[resultIndex], attribute.getValue());
  if (attribute.getName() == kAliasAttr)
    return verifyAlias(func, resultIndex, attribute.getValue());
  return op->emitOpError("does not take result attribute ")
         << attribute.getName() << "; known are " << kNameAttr << ", " << kDimsAttr << " and "
         << kAliasAttr;
}

} // namespace xc::array
