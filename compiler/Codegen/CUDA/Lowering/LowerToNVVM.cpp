//===- LowerToNVVM.cpp - Emitted kernels to the LLVM and NVVM dialects ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After emission a kernel knows memory as one-dimensional memrefs only: bindings and buffers in
// shared memory. Here they become bare pointers: a load of element i is a getelementptr and an
// llvm.load, without a descriptor between. Steps for each function: collect the scalars in use,
// make an llvm.func with the kernel's signature, move the body there, convert its ops.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Tile/TileToNVVM.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_LOWERTONVVM
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// On tile.tensor_map while its kernel is lowered: which of the kernel's maps it is.
/// Bytes of a CUtensorMap.
static constexpr unsigned kTensorMapBytes = 128;

namespace {

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// The address of element `index` of a converted one-dimensional memref.
Value getAddress(ConversionPatternRewriter &rewriter, Location loc, Value base, Type elementType,
                 Value index) {
  return LLVM::GEPOp::create(rewriter, loc, base.getType(), elementType, base,
                             ArrayRef<LLVM::GEPArg>{index}, LLVM::GEPNoWrapFlags::inbounds);
}

/// Loads and stores of scalars and vectors.
template <typename Op> struct LowerLoad final : ConvertOpToLLVMPattern<Op> {
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value memory = adaptor.getOperands().front();
    MemRefType memoryType = cast<MemRefType>(op->getOperand(0).getType());
    Type elementType = this->getTypeConverter()->convertType(memoryType.getElementType());
    Type resultType = this->getTypeConverter()->convertType(op->getResult(0).getType());
    Value address =
        getAddress(rewriter, op.getLoc(), memory, elementType, adaptor.getIndices().front());
    unsigned alignment = op.getAlignment().value_or(getElementBytes(memoryType.getElementType()));
    // What no store of the kernel changes may go through the read-only cache (ld.global.nc).
    auto binding = op->getOperand(0).template getDefiningOp<plan::BindingOp>();
    bool invariant = binding && binding.getAccess() == plan::Access::Read && !binding.getMayAlias();
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, resultType, address, alignment,
                                              /*isVolatile=*/false, op.getNontemporal(), invariant);
    return success();
  }
};

template <typename Op> struct LowerStore final : ConvertOpToLLVMPattern<Op> {
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value value = adaptor.getOperands()[0], memory = adaptor.getOperands()[1];
    MemRefType memoryType = cast<MemRefType>(op->getOperand(1).getType());
    Type elementType = this->getTypeConverter()->convertType(memoryType.getElementType());
    Value address =
        getAddress(rewriter, op.getLoc(), memory, elementType, adaptor.getIndices().front());
    unsigned alignment = op.getAlignment().value_or(getElementBytes(memoryType.getElementType()));
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, value, address, alignment, /*isVolatile=*/false,
                                               op.getNontemporal());
    return success();
  }
};

struct LowerBinding final : ConvertOpToLLVMPattern<plan::BindingOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(plan::BindingOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op->getParentOfType<LLVM::LLVMFuncOp>().getArgument(op.getOrdinal()));
    return success();
  }
};

struct LowerScalar final : ConvertOpToLLVMPattern<plan::ScalarOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(plan::ScalarOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
    ArrayRef<int64_t> scalars =
        function->getAttrOfType<DenseI64ArrayAttr>(kScalarsAttr).asArrayRef();
    size_t position = llvm::find(scalars, op.getOrdinal()) - scalars.begin();
    size_t maps = function->getAttrOfType<ArrayAttr>(kTensorMapsAttr).size();
    Value argument =
        function.getArgument(function.getNumArguments() - maps - scalars.size() + position);
    Type type = getTypeConverter()->convertType(op.getType());
    if (type != argument.getType())
      argument = LLVM::TruncOp::create(rewriter, op.getLoc(), type, argument);
    rewriter.replaceOp(op, argument);
    return success();
  }
};

/// The maps are the last arguments, in the order of their ops.
struct LowerTensorMap final : ConvertOpToLLVMPattern<tile::TensorMapOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(tile::TensorMapOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
    size_t maps = function->getAttrOfType<ArrayAttr>(kTensorMapsAttr).size();
    auto ordinal = op->getAttrOfType<IntegerAttr>(kTensorMapOrdinalAttr);
    rewriter.replaceOp(op,
                       function.getArgument(function.getNumArguments() - maps + ordinal.getInt()));
    return success();
  }
};

struct LowerWorkgroupId final : ConvertOpToLLVMPattern<plan::WorkgroupIdOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(plan::WorkgroupIdOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type(), type = getTypeConverter()->convertType(op.getType());
    Value id;
    switch (op.getAxis()) {
    case plan::Axis::X:
      id = NVVM::BlockIdXOp::create(rewriter, loc, i32);
      break;
    case plan::Axis::Y:
      id = NVVM::BlockIdYOp::create(rewriter, loc, i32);
      break;
    case plan::Axis::Z:
      id = NVVM::BlockIdZOp::create(rewriter, loc, i32);
      break;
    }
    if (type != i32)
      id = LLVM::ZExtOp::create(rewriter, loc, type, id);
    rewriter.replaceOp(op, id);
    return success();
  }
};

struct LowerSharedBuffer final : ConvertOpToLLVMPattern<memref::AllocOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(memref::AllocOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto offset = op->getAttrOfType<IntegerAttr>(kSharedOffsetAttr);
    Type pointer = getTypeConverter()->convertType(op.getType());
    if (!offset || !pointer)
      return rewriter.notifyMatchFailure(op, "not a buffer in shared memory");
    Value base = LLVM::AddressOfOp::create(rewriter, op.getLoc(), pointer, kSharedSymbol);
    rewriter.replaceOpWithNewOp<LLVM::GEPOp>(
        op, pointer, rewriter.getI8Type(), base,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset.getInt())});
    return success();
  }
};

/// What `compute` makes of each lane of `x`, of type `element`.
Value mapLanes(ConversionPatternRewriter &rewriter, Location loc, Value x, Type element,
               function_ref<Value(Value)> compute) {
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type)
    return compute(x);
  Value result = LLVM::PoisonOp::create(rewriter, loc, type.clone(element));
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value position = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(i));
    Value lane = LLVM::ExtractElementOp::create(rewriter, loc, x, position);
    result = LLVM::InsertElementOp::create(rewriter, loc, result, compute(lane), position);
  }
  return result;
}

/// The approximate instruction `intrinsic` of one f32, lane by lane.
Value callOnLanes(ConversionPatternRewriter &rewriter, Location loc, StringRef intrinsic, Value x) {
  return mapLanes(rewriter, loc, x, rewriter.getF32Type(), [&](Value lane) {
    return LLVM::CallIntrinsicOp::create(rewriter, loc, lane.getType(),
                                         rewriter.getStringAttr(intrinsic), lane)
        .getResult(0);
  });
}

/// A word times a word that is known is mul.wide, one instruction for both halves of the product.
/// LLVM would ask for each of them apart, or multiply double words.
struct LowerWideProduct final : ConvertOpToLLVMPattern<arith::MulIOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(arith::MulIOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    APInt factor;
    auto wide = adaptor.getLhs().getDefiningOp<LLVM::ZExtOp>();
    if (!wide || !getElementTypeOrSelf(op.getType()).isInteger(64) ||
        !getElementTypeOrSelf(wide.getArg().getType()).isInteger(32) ||
        !matchPattern(op.getRhs(), m_ConstantInt(&factor)) || factor.getActiveBits() > 32)
      return rewriter.notifyMatchFailure(op, "not a product of a word and a known one");
    Location loc = op.getLoc();
    Type word = rewriter.getI32Type(), both = rewriter.getI64Type();
    Value known =
        LLVM::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(word, factor.trunc(32)));
    auto dialect = LLVM::AsmDialectAttr::get(rewriter.getContext(), LLVM::AsmDialect::AD_ATT);
    rewriter.replaceOp(op, mapLanes(rewriter, loc, wide.getArg(), both, [&](Value lane) {
                         return LLVM::InlineAsmOp::create(
                                    rewriter, loc, both, ValueRange{lane, known},
                                    "mul.wide.u32 $0, $1, $2;", "=l,r,r",
                                    /*has_side_effects=*/false, /*is_align_stack=*/false,
                                    LLVM::TailCallKind::None, dialect,
                                    /*operand_attrs=*/ArrayAttr())
                             .getResult(0);
                       }));
    return success();
  }
};

/// 2^x is ex2.approx; under `afn`, its form that takes denormal numbers for zero.
struct LowerExp2 final : ConvertOpToLLVMPattern<math::Exp2Op> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(math::Exp2Op op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    bool flushes = arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
    StringRef intrinsic = flushes ? "llvm.nvvm.ex2.approx.ftz" : "llvm.nvvm.ex2.approx";
    rewriter.replaceOp(op, callOnLanes(rewriter, op.getLoc(), intrinsic, adaptor.getOperand()));
    return success();
  }
};

/// Under `afn`, an op on f32 that has an approximate instruction is that.
template <typename Op> struct LowerApproximate final : ConvertOpToLLVMPattern<Op> {
  LowerApproximate(const LLVMTypeConverter &converter, StringRef intrinsic)
      : ConvertOpToLLVMPattern<Op>(converter, /*benefit=*/10), intrinsic(intrinsic) {}

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        !arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return rewriter.notifyMatchFailure(op, "not f32, or not to be approximated");
    rewriter.replaceOp(op, callOnLanes(rewriter, op.getLoc(), intrinsic, adaptor.getOperand()));
    return success();
  }

  StringRef intrinsic;
};

/// 1 / x under `afn` is rcp.approx.
struct LowerReciprocal final : ConvertOpToLLVMPattern<arith::DivFOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(arith::DivFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        !arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn) ||
        !matchPattern(op.getLhs(), m_OneFloat()))
      return rewriter.notifyMatchFailure(op, "not an approximate reciprocal of f32");
    rewriter.replaceOp(
        op, callOnLanes(rewriter, op.getLoc(), "llvm.nvvm.rcp.approx.ftz.f", adaptor.getRhs()));
    return success();
  }
};

/// LLVM selects tanh.approx for its own tanh under `afn`; upstream's pattern would call a library.
struct LowerTanh final : ConvertOpToLLVMPattern<math::TanhOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(math::TanhOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::TanhOp>(op, adaptor.getOperand().getType(),
                                              adaptor.getOperand(), LLVM::FastmathFlags::afn);
    return success();
  }
};

/// Strategies that use NVVM ops take pointers to memrefs by casts; now memrefs are pointers.
struct LowerPointerCast final : ConvertOpToLLVMPattern<UnrealizedConversionCastOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(UnrealizedConversionCastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getNumOperands() != 1 || op->getResultTypes() != adaptor.getOperands().getTypes())
      return rewriter.notifyMatchFailure(op, "not a pointer to a memref");
    rewriter.replaceOp(op, adaptor.getOperands());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

struct LowerToNVVM final : impl::LowerToNVVMBase<LowerToNVVM> {
  void runOnOperation() override;

private:
  FailureOr<LLVM::LLVMFuncOp> makeKernel(func::FuncOp function);
  LogicalResult lowerBody(LLVM::LLVMFuncOp kernel, unsigned indexBits);
  void declareSharedMemory(unsigned alignment);
};

} // namespace

/// Numbers the tensor maps of `function` and says for each what the runtime needs to encode it.
static SmallVector<Attribute> describeTensorMaps(func::FuncOp function) {
  Builder builder(function.getContext());
  SmallVector<Attribute> maps;
  function.walk([&](tile::TensorMapOp op) {
    auto binding = op.getMemory().getDefiningOp<plan::BindingOp>();
    tile::TensorMapType type = op.getMap().getType();
    op->setAttr(kTensorMapOrdinalAttr, builder.getI64IntegerAttr(maps.size()));
    SmallVector<NamedAttribute> entries{
        builder.getNamedAttr("binding", builder.getI64IntegerAttr(binding.getOrdinal())),
        builder.getNamedAttr("type", TypeAttr::get(type.getElementType())),
        builder.getNamedAttr("box", builder.getDenseI64ArrayAttr(type.getBox())),
        builder.getNamedAttr("span", builder.getI64IntegerAttr(type.getSpan())),
        builder.getNamedAttr("sizes", op.getSizesAttr()),
        builder.getNamedAttr("strides", op.getStridesAttr()),
    };
    if (op.getOffset())
      entries.push_back(builder.getNamedAttr("offset", op.getOffsetAttr()));
    if (op.getTf32())
      entries.push_back(builder.getNamedAttr("tf32", builder.getUnitAttr()));
    if (type.isIm2col()) {
      entries.push_back(builder.getNamedAttr("lower", op.getLowerAttr()));
      entries.push_back(builder.getNamedAttr("upper", op.getUpperAttr()));
      entries.push_back(builder.getNamedAttr("steps", op.getStepsAttr()));
    }
    maps.push_back(builder.getDictionaryAttr(entries));
  });
  return maps;
}

FailureOr<LLVM::LLVMFuncOp> LowerToNVVM::makeKernel(func::FuncOp function) {
  OpBuilder builder(function);
  MLIRContext *context = &getContext();
  auto launch = function->getAttrOfType<plan::LaunchAttr>(plan::kLaunchAttr);
  if (!launch)
    return function.emitOpError("expected '")
           << plan::kLaunchAttr << "'; no strategy emitted this kernel";

  // By ordinal; a binding that the code does not touch keeps its place among the arguments.
  SmallVector<plan::BindingOp> bindings;
  SmallVector<int64_t> scalars;
  function.walk([&](plan::BindingOp binding) {
    if (binding.getOrdinal() >= bindings.size())
      bindings.resize(binding.getOrdinal() + 1);
    bindings[binding.getOrdinal()] = binding;
  });
  function.walk([&](plan::ScalarOp scalar) {
    if (!llvm::is_contained(scalars, static_cast<int64_t>(scalar.getOrdinal())))
      scalars.push_back(scalar.getOrdinal());
  });
  llvm::sort(scalars);

  SmallVector<Type> arguments(bindings.size(),
                              LLVM::LLVMPointerType::get(context, /*addressSpace=*/1));
  arguments.append(scalars.size(), builder.getI64Type());
  SmallVector<Attribute> maps = describeTensorMaps(function);
  arguments.append(maps.size(), LLVM::LLVMPointerType::get(context));
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), arguments);
  auto kernel = LLVM::LLVMFuncOp::create(builder, function.getLoc(), function.getName(), type);
  kernel->setDiscardableAttrs(llvm::to_vector(function->getDiscardableAttrs()));
  kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  SmallVector<int32_t> block(launch.getBlock().begin(), launch.getBlock().end());
  kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), builder.getDenseI32ArrayAttr(block));
  kernel->setAttr(kScalarsAttr, builder.getDenseI64ArrayAttr(scalars));
  kernel->setAttr(kTensorMapsAttr, builder.getArrayAttr(maps));
  for (size_t map = arguments.size() - maps.size(); map < arguments.size(); ++map) {
    // The driver's descriptor by value, in the kernel's own parameters.
    kernel.setArgAttr(
        map, LLVM::LLVMDialect::getByValAttrName(),
        TypeAttr::get(LLVM::LLVMArrayType::get(builder.getI8Type(), kTensorMapBytes)));
    kernel.setArgAttr(map, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(64));
    kernel.setArgAttr(map, NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
  }
  for (auto [index, binding] : llvm::enumerate(bindings)) {
    if (!binding)
      continue;
    kernel.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                      builder.getI64IntegerAttr(binding.getAlignment()));
    if (binding.getMayAlias())
      continue;
    kernel.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    if (binding.getAccess() == plan::Access::Read)
      kernel.setArgAttr(index, LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
  }
  kernel.getBody().takeBody(function.getBody());
  for (Type argument : arguments)
    kernel.getBody().front().addArgument(argument, function.getLoc());
  for (Block &block : kernel.getBody())
    if (auto ret = dyn_cast<func::ReturnOp>(block.getTerminator())) {
      builder.setInsertionPoint(ret);
      LLVM::ReturnOp::create(builder, ret.getLoc(), ValueRange());
      ret.erase();
    }
  function.erase();
  return kernel;
}

LogicalResult LowerToNVVM::lowerBody(LLVM::LLVMFuncOp kernel, unsigned indexBits) {
  MLIRContext *context = &getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(indexBits);
  LLVMTypeConverter converter(context, options);
  configureGpuToNVVMTypeConverter(converter);
  converter.addConversion([](MemRefType type) -> std::optional<Type> {
    if (type.getRank() != 1)
      return std::nullopt;
    unsigned space = isa_and_nonnull<gpu::AddressSpaceAttr>(type.getMemorySpace()) ? 3 : 1;
    return LLVM::LLVMPointerType::get(type.getContext(), space);
  });

  addTileTypeConversions(converter);

  RewritePatternSet patterns(context);
  populateTileToNVVMPatterns(converter, patterns);
  patterns.add<LowerLoad<memref::LoadOp>, LowerLoad<vector::LoadOp>, LowerStore<memref::StoreOp>,
               LowerStore<vector::StoreOp>>(converter, /*benefit=*/10);
  patterns.add<LowerExp2, LowerTanh, LowerReciprocal, LowerWideProduct>(converter, /*benefit=*/10);
  patterns.add<LowerApproximate<math::Log2Op>>(converter, "llvm.nvvm.lg2.approx.ftz.f");
  patterns.add<LowerApproximate<math::RsqrtOp>>(converter, "llvm.nvvm.rsqrt.approx.ftz.f");
  patterns.add<LowerApproximate<math::SqrtOp>>(converter, "llvm.nvvm.sqrt.approx.ftz.f");
  patterns.add<LowerBinding, LowerScalar, LowerTensorMap, LowerWorkgroupId, LowerSharedBuffer,
               LowerPointerCast>(converter);
  populateGpuToNVVMConversionPatterns(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);

  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  target.addIllegalDialect<tile::TileDialect>();
  target.addDynamicallyLegalOp<UnrealizedConversionCastOp>([](UnrealizedConversionCastOp op) {
    return llvm::none_of(op.getOperandTypes(), llvm::IsaPred<MemRefType>);
  });
  return applyPartialConversion(kernel.getOperation(), target, std::move(patterns));
}

void LowerToNVVM::declareSharedMemory(unsigned alignment) {
  OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  LLVM::GlobalOp::create(builder, getOperation().getLoc(), type, /*isConstant=*/false,
                         LLVM::Linkage::External, kSharedSymbol, /*value=*/Attribute(), alignment,
                         /*addrSpace=*/3);
}

void LowerToNVVM::runOnOperation() {
  bool usesShared = false, usesTiles = false;
  getOperation().walk([&](memref::AllocOp) { usesShared = true; });
  getOperation().walk([&](Operation *op) { usesTiles |= isa<tile::RingOp, tile::AllocOp>(op); });
  if (usesShared || usesTiles)
    declareSharedMemory(usesTiles ? tile::kTileAlignment : 128);
  for (func::FuncOp function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
    auto bits = function->getAttrOfType<IntegerAttr>(kIndexBitsAttr);
    FailureOr<LLVM::LLVMFuncOp> kernel = makeKernel(function);
    if (failed(kernel) || failed(lowerBody(*kernel, bits ? bits.getInt() : 64)))
      return signalPassFailure();
  }
}

} // namespace xc::cuda
