//===- Registration.cpp - Every dialect and pass of the compiler ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipeline/Registration.h"

#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/Common/Passes.h"
#include "compiler/Codegen/Custom/Passes.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/Transforms/Passes.h"
#include "compiler/Dispatch/Passes.h"
#include "compiler/Input/Passes.h"
#include "compiler/Input/StableHLO/Sdy.h"
#include "compiler/Input/StableHLO/StableHLO.h"
#include "compiler/Input/TMTensor/TMTensor.h"
#include "compiler/Pipeline/VerifyPhase.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/TilingInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/Transforms/SubsetOpInterfaceImpl.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace xc {

void registerAllDialects(DialectRegistry &registry) {
  registry
      .insert<affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect,
              cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
              memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect, quant::QuantDialect,
              tosa::TosaDialect, ub::UBDialect, vector::VectorDialect, plan::PlanDialect>();
  registry.insert<array::ArrayDialect>();
  registry.insert<kernel::KernelDialect>();
  registry.insert<stablehlo::StableHLODialect, chlo::CHLODialect, sdy::SdyDialect,
                  tm_tensor::TMTensorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerValueBoundsOpInterfaceExternalModels(registry);
  affine::registerValueBoundsOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  func::registerInlinerExtension(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerSubsetOpInterfaceExternalModels(registry);
  linalg::registerTilingInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerValueBoundsOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  tensor::registerTilingInterfaceExternalModels(registry);
  tensor::registerValueBoundsOpInterfaceExternalModels(registry);
  vector::registerBufferizableOpInterfaceExternalModels(registry);
  vector::registerSubsetOpInterfaceExternalModels(registry);
  cpu::registerDialectsAndInterfaces(registry);
  cuda::registerDialectsAndInterfaces(registry);
}

/// Those of MLIR that pipelines use, so that a phase can be run again pass by pass.
static void registerUsedPasses() {
  registerTransformsPasses();
  registerPass([]() -> std::unique_ptr<Pass> { return createConvertToLLVMPass(); });
  registerPass([]() -> std::unique_ptr<Pass> { return createConvertVectorToLLVMPass(); });
  registerPass([]() -> std::unique_ptr<Pass> { return createLinalgFoldUnitExtentDimsPass(); });
  registerPass([]() -> std::unique_ptr<Pass> { return createLowerAffinePass(); });
  registerPass([]() -> std::unique_ptr<Pass> { return createReconcileUnrealizedCastsPass(); });
  registerPass([]() -> std::unique_ptr<Pass> { return createSCFToControlFlowPass(); });
  registerPass([]() -> std::unique_ptr<Pass> { return memref::createExpandStridedMetadataPass(); });
  registerPass(
      []() -> std::unique_ptr<Pass> { return memref::createResolveShapedTypeResultDimsPass(); });
}

void registerAllPasses() {
  registerUsedPasses();
  array::registerPasses();
  registerInputPasses();
  registerConversionPasses();
  codegen::registerPasses();
  cpu::registerPasses();
  cuda::registerPasses();
  custom::registerPasses();
  plan::registerDispatchPasses();
  plan::registerPasses();
  registerPipelinePasses();
}

} // namespace xc
