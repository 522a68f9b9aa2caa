//===- PlaceTemporaries.cpp - Buffers to the stack or to scratch memory ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel allocates nothing. Every memref.alloc of a kernel function gets a fixed place, in order
// of appearance: the stack as long as its budget lasts, else a range of the workgroup's scratch
// memory. A buffer allocated in a loop gets one place for all iterations, since its contents do not
// outlive one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_PLACETEMPORARIES
#include "compiler/Codegen/CPU/Passes.h.inc"

static constexpr int64_t kAlignment = 64;

static int64_t getByteSize(MemRefType type) {
  unsigned bits = isa<IndexType>(type.getElementType()) ? 64 : type.getElementTypeBitWidth();
  return llvm::alignTo(type.getNumElements() * llvm::divideCeil(bits, 8), kAlignment);
}

static void replaceAlloc(memref::AllocOp alloc, Value place) {
  for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
    if (isa<memref::DeallocOp>(user))
      user->erase();
  alloc.replaceAllUsesWith(place);
  alloc.erase();
}

namespace {

struct PlaceTemporaries final : impl::PlaceTemporariesBase<PlaceTemporaries> {
  using PlaceTemporariesBase::PlaceTemporariesBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(placeTemporaries(function)))
        return signalPassFailure();
  }

  LogicalResult placeTemporaries(func::FuncOp function) {
    SmallVector<memref::AllocOp> inScratch;
    int64_t stackUsed = 0, scratchUsed = 0;
    SmallVector<memref::AllocOp> allocs;
    function.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    for (memref::AllocOp alloc : allocs) {
      MemRefType type = alloc.getType();
      if (!type.hasStaticShape() || !type.getLayout().isIdentity())
        return alloc.emitOpError("expected a temporary of static size, got ")
               << type << "; kernel '" << function.getName()
               << "' needs memory that cannot be reserved for it";
      if (stackUsed + getByteSize(type) > stackBytes) {
        inScratch.push_back(alloc);
        scratchUsed += getByteSize(type);
        continue;
      }
      stackUsed += getByteSize(type);
      replaceAlloc(alloc, memref::AllocaOp::create(builder, alloc.getLoc(), type,
                                                   builder.getI64IntegerAttr(kAlignment)));
    }
    if (!inScratch.empty())
      placeInScratch(function, inScratch, scratchUsed);
    return success();
  }

  static void placeInScratch(func::FuncOp function, ArrayRef<memref::AllocOp> allocs,
                             int64_t bytes) {
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    auto scratchType = MemRefType::get({bytes}, builder.getI8Type());
    Value scratch = ScratchOp::create(builder, function.getLoc(), scratchType);
    int64_t offset = 0;
    for (memref::AllocOp alloc : allocs) {
      Value start = arith::ConstantIndexOp::create(builder, alloc.getLoc(), offset);
      offset += getByteSize(alloc.getType());
      replaceAlloc(alloc, memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), scratch,
                                                 start, ValueRange{}));
    }
    auto launch = function->getAttrOfType<plan::LaunchAttr>(plan::kLaunchAttr);
    assert(launch && "strategies set plan.launch");
    function->setAttr(plan::kLaunchAttr,
                      plan::LaunchAttr::get(function.getContext(), launch.getGrid(),
                                            launch.getBlock(), launch.getCluster(),
                                            launch.getShared(), bytes));
  }
};

} // namespace
} // namespace xc::cpu
