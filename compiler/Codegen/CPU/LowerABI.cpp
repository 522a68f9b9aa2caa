//===- LowerABI.cpp - Kernel functions to the CPU kernel ABI --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits each kernel function into an entry with the signature of schemas/cpu_kernel_abi.h and a
// body with one argument for each binding. LLVM has no way to say that pointers read from a table
// do not alias; it has one for arguments.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Codegen/CPU/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_LOWERABI
#include "compiler/Codegen/CPU/Passes.h.inc"

namespace {

/// What one kernel function takes from outside.
struct Signature {
  SmallVector<plan::BindingOp> bindings; // sorted by ordinal; those that nothing uses are gone
  int64_t numScalars = 0;

  unsigned getBindingIndex(plan::BindingOp binding) const {
    return std::distance(bindings.begin(), llvm::find(bindings, binding));
  }
  unsigned getScalarIndex(int64_t ordinal) const { return bindings.size() + ordinal; }
  unsigned getScratchIndex() const { return bindings.size() + numScalars; }
  unsigned getWorkgroupIndex(plan::Axis axis) const {
    return getScratchIndex() + 1 + static_cast<unsigned>(axis);
  }
};

} // namespace

static FailureOr<Signature> collectSignature(func::FuncOp function) {
  if (failed(verifyKernelFunction(function)))
    return failure();
  if (!function->hasAttr(plan::kLaunchAttr))
    return function.emitOpError("expected a kernel that a strategy has lowered, got one without '")
           << plan::kLaunchAttr << "'";
  Signature signature;
  signature.bindings = llvm::to_vector(function.getOps<plan::BindingOp>());
  llvm::sort(signature.bindings, [](plan::BindingOp lhs, plan::BindingOp rhs) {
    return lhs.getOrdinal() < rhs.getOrdinal();
  });
  for (size_t i = 1; i < signature.bindings.size(); ++i)
    if (signature.bindings[i].getOrdinal() == signature.bindings[i - 1].getOrdinal())
      return signature.bindings[i].emitOpError("expected binding ")
             << signature.bindings[i].getOrdinal() << " only once in a kernel";
  function.walk([&](plan::ScalarOp scalar) {
    signature.numScalars = std::max<int64_t>(signature.numScalars, scalar.getOrdinal() + 1);
  });
  return signature;
}

/// Adds the body's arguments, with what LLVM may know about them.
static void addArguments(func::FuncOp body, Signature &signature) {
  MLIRContext *context = body.getContext();
  Builder builder(context);
  Type pointer = LLVM::LLVMPointerType::get(context);
  Block &block = body.getBody().front();
  SmallVector<DictionaryAttr> attributes;
  auto addArgument = [&](Type type, ArrayRef<NamedAttribute> attrs, Location loc) {
    block.addArgument(type, loc);
    attributes.push_back(builder.getDictionaryAttr(attrs));
  };
  auto unit = [&](StringRef name) { return builder.getNamedAttr(name, builder.getUnitAttr()); };
  auto align = [&](int64_t bytes) {
    return builder.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(),
                                builder.getI64IntegerAttr(bytes));
  };
  for (plan::BindingOp binding : signature.bindings) {
    SmallVector<NamedAttribute> attrs = {align(binding.getAlignment())};
    if (!binding.getMayAlias())
      attrs.push_back(unit(LLVM::LLVMDialect::getNoAliasAttrName()));
    if (binding.getAccess() == plan::Access::Read)
      attrs.push_back(unit(LLVM::LLVMDialect::getReadonlyAttrName()));
    addArgument(pointer, attrs, binding.getLoc());
  }
  for (int64_t i = 0; i < signature.numScalars; ++i)
    addArgument(builder.getI64Type(), {}, body.getLoc());
  addArgument(pointer, {align(64), unit(LLVM::LLVMDialect::getNoAliasAttrName())}, body.getLoc());
  for (int axis = 0; axis < 3; ++axis)
    addArgument(builder.getI64Type(), {}, body.getLoc());
  body.setFunctionType(builder.getFunctionType(block.getArgumentTypes(), {}));
  body.setAllArgAttrs(attributes);
}

/// A memref over |pointer|: contiguous, row-major, with the given dynamic sizes.
static Value buildMemRef(OpBuilder &builder, Location loc, const LLVMTypeConverter &converter,
                         MemRefType type, Value pointer, ValueRange sizes) {
  MemRefDescriptor descriptor = MemRefDescriptor::poison(builder, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, pointer);
  descriptor.setAlignedPtr(builder, loc, pointer);
  descriptor.setConstantOffset(builder, loc, 0);
  Type i64 = builder.getI64Type();
  Value stride = LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(1));
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    Value size;
    if (type.isDynamicDim(dim))
      size = arith::IndexCastOp::create(builder, loc, i64, sizes[type.getDynamicDimIndex(dim)]);
    else
      size = LLVM::ConstantOp::create(builder, loc, i64,
                                      builder.getI64IntegerAttr(type.getDimSize(dim)));
    descriptor.setSize(builder, loc, dim, size);
    descriptor.setStride(builder, loc, dim, stride);
    if (dim != 0)
      stride = LLVM::MulOp::create(builder, loc, stride, size);
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, Value(descriptor)).getResult(0);
}

/// Replaces the ops that stand for the outside by the body's arguments. Erases them only at the
/// end: the signature refers to them.
static void replaceEnvironment(func::FuncOp body, const Signature &signature,
                               const LLVMTypeConverter &converter) {
  auto castArgument = [&](OpBuilder &builder, Operation *op, unsigned index) {
    Value value = arith::IndexCastOp::create(builder, op->getLoc(), builder.getIndexType(),
                                             body.getArgument(index));
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  };
  body.walk([&](Operation *op) {
    OpBuilder builder(op);
    if (auto scalar = dyn_cast<plan::ScalarOp>(op)) {
      castArgument(builder, op, signature.getScalarIndex(scalar.getOrdinal()));
    } else if (auto id = dyn_cast<plan::WorkgroupIdOp>(op)) {
      castArgument(builder, op, signature.getWorkgroupIndex(id.getAxis()));
    } else if (auto binding = dyn_cast<plan::BindingOp>(op)) {
      Value memory = buildMemRef(
          builder, op->getLoc(), converter, cast<MemRefType>(binding.getMemory().getType()),
          body.getArgument(signature.getBindingIndex(binding)), binding.getSizes());
      binding.getMemory().replaceAllUsesWith(memory);
    } else if (auto scratch = dyn_cast<ScratchOp>(op)) {
      Value memory = buildMemRef(builder, op->getLoc(), converter,
                                 cast<MemRefType>(scratch.getMemory().getType()),
                                 body.getArgument(signature.getScratchIndex()), {});
      scratch.getMemory().replaceAllUsesWith(memory);
      op->erase();
    }
  });
  for (plan::BindingOp binding : signature.bindings)
    binding.erase();
}

/// The function that the runtime calls: reads the tables, then runs |body|.
static void buildEntry(func::FuncOp body, StringRef name, const Signature &signature) {
  OpBuilder builder(body);
  Location loc = body.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  auto entry = func::FuncOp::create(
      builder, loc, name, builder.getFunctionType({pointer, pointer, pointer, i64, i64, i64}, {}));
  builder.setInsertionPointToStart(entry.addEntryBlock());
  auto loadEntry = [&](unsigned table, Type type, int64_t index) -> Value {
    Value address = LLVM::GEPOp::create(builder, loc, pointer, type, entry.getArgument(table),
                                        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    return LLVM::LoadOp::create(builder, loc, type, address);
  };
  SmallVector<Value> arguments;
  for (plan::BindingOp binding : signature.bindings)
    arguments.push_back(loadEntry(0, pointer, binding.getOrdinal()));
  for (int64_t i = 0; i < signature.numScalars; ++i)
    arguments.push_back(loadEntry(1, i64, i));
  llvm::append_range(arguments, entry.getArguments().drop_front(2));
  func::CallOp::create(builder, loc, body, arguments);
  func::ReturnOp::create(builder, loc);
}

/// What the module will say about one kernel function.
static DictionaryAttr buildExport(func::FuncOp function) {
  Builder builder(function.getContext());
  NamedAttrList attributes;
  attributes.set("name", builder.getStringAttr(function.getName()));
  attributes.set("launch", function->getAttr(plan::kLaunchAttr));
  Attribute guards = function->getAttr(plan::kGuardsAttr);
  attributes.set("guards", guards ? guards : builder.getArrayAttr({}));
  if (Attribute config = function->getAttr(plan::kConfigAttr))
    attributes.set("config", config);
  if (Attribute reason = function->getAttr(plan::kReasonAttr))
    attributes.set("reason", reason);
  return attributes.getDictionary(function.getContext());
}

namespace {

struct LowerABI final : impl::LowerABIBase<LowerABI> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    LLVMTypeConverter converter(&getContext());
    SmallVector<Attribute> exports;
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      FailureOr<Signature> signature = collectSignature(function);
      if (failed(signature))
        return signalPassFailure();
      exports.push_back(buildExport(function));
      std::string name = function.getName().str();
      function->setDiscardableAttrs(ArrayRef<NamedAttribute>{});
      function.setName((name + ".body"));
      function.setPrivate();
      function->setAttr("llvm.linkage",
                        LLVM::LinkageAttr::get(&getContext(), LLVM::Linkage::Internal));
      buildEntryAndBody(function, name, *signature, converter);
    }
    module->setAttr(plan::kExportsAttr, ArrayAttr::get(&getContext(), exports));
  }

  static void buildEntryAndBody(func::FuncOp body, StringRef name, Signature &signature,
                                const LLVMTypeConverter &converter) {
    addArguments(body, signature);
    buildEntry(body, name, signature);
    replaceEnvironment(body, signature, converter);
  }
};

} // namespace
} // namespace xc::cpu
