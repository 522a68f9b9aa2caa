//===- KernelFrame.cpp - What every emitted kernel begins and ends with ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/KernelFrame.h"

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

static Block &getBody(const KernelInfo &kernel) {
  func::FuncOp function = kernel.function;
  return function.getBody().front();
}

static SmallVector<Operation *> listOps(Block &body) {
  return llvm::map_to_vector(body.without_terminator(), [](Operation &op) { return &op; });
}

KernelFrame::KernelFrame(const KernelInfo &kernel, int64_t threads)
    : kernel(kernel), threads(threads), builder(OpBuilder::atBlockTerminator(&getBody(kernel))),
      loc(builder.getInsertionPoint()->getLoc()), replaced(listOps(getBody(kernel))),
      points(builder, kernel) {}

Value KernelFrame::getBlockId() { return plan::WorkgroupIdOp::create(builder, loc, plan::Axis::X); }

Value KernelFrame::getThreadId() {
  return gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
}

Value KernelFrame::allocateShared(Type elementType, int64_t count) {
  return placeShared(elementType, count, sharedBytes);
}

Value KernelFrame::reuseShared(Value other, Type elementType, int64_t count) {
  auto offset = other.getDefiningOp()->getAttrOfType<IntegerAttr>(kSharedOffsetAttr);
  return placeShared(elementType, count, offset.getInt());
}

Value KernelFrame::placeShared(Type elementType, int64_t count, int64_t offset) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({count}, elementType, MemRefLayoutAttrInterface(), space);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&getBody(kernel));
  auto buffer = memref::AllocOp::create(builder, loc, type);
  buffer->setAttr(kSharedOffsetAttr, builder.getI64IntegerAttr(offset));
  sharedBytes = std::max(sharedBytes, offset + countSharedBytes(elementType, count));
  return buffer;
}

void KernelFrame::barrier() { gpu::BarrierOp::create(builder, loc); }

void KernelFrame::barrier(Value threadGroup, int64_t threads) {
  // Barrier 0 is the block's.
  Value number = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                            points.index.add(threadGroup, 1));
  Value count = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(threads));
  NVVM::BarrierOp::create(builder, loc, TypeRange(), number, count, NVVM::BarrierReductionAttr(),
                          Value());
}

Value KernelFrame::shuffleXor(Value value, int64_t mask) {
  Value offset = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(mask));
  return shuffle(value, offset, gpu::ShuffleMode::XOR);
}

Value KernelFrame::shuffleUp(Value value, int64_t distance) {
  Value offset = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(distance));
  return shuffle(value, offset, gpu::ShuffleMode::UP);
}

Value KernelFrame::shuffleFrom(Value value, Value lane) {
  return shuffle(value, lane, gpu::ShuffleMode::IDX);
}

Value KernelFrame::shuffle(Value value, Value offset, gpu::ShuffleMode mode) {
  Type type = value.getType();
  Type i32 = builder.getI32Type();
  Value width = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(32));
  auto move = [&](Value word) -> Value {
    return gpu::ShuffleOp::create(builder, loc, word, offset, width, mode).getShuffleResult();
  };
  if (type.isIndex()) {
    Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
    return arith::IndexCastOp::create(builder, loc, type, shuffle(wide, offset, mode));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type)) {
    Type integer = builder.getIntegerType(bits);
    Value raw = arith::BitcastOp::create(builder, loc, integer, value);
    return arith::BitcastOp::create(builder, loc, type, shuffle(raw, offset, mode));
  }
  if (bits == 32)
    return move(value);
  if (bits < 32) {
    Value wide = arith::ExtUIOp::create(builder, loc, i32, value);
    return arith::TruncIOp::create(builder, loc, type, move(wide));
  }
  // A double word goes in two halves.
  auto pair = VectorType::get(2, i32), whole = VectorType::get(1, type);
  Value halves = vector::BitCastOp::create(builder, loc, pair,
                                           vector::BroadcastOp::create(builder, loc, whole, value));
  SmallVector<Value> moved;
  for (int64_t half = 0; half < 2; ++half)
    moved.push_back(move(getLane(builder, loc, halves, half)));
  Value joined = vector::BitCastOp::create(builder, loc, whole, fromLanes(builder, loc, moved));
  return vector::ExtractOp::create(builder, loc, joined, ArrayRef<int64_t>{0});
}

void KernelFrame::setFewestBlocks(int64_t blocks) {
  kernel.getFunction()->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                                builder.getI32IntegerAttr(blocks));
}

void KernelFrame::spreadBlocks(Value blocks, int64_t tileBytes) {
  std::optional<int64_t> count = getConstantIntValue(blocks);
  if (!count || *count == 0)
    return;
  const Target &target = *kernel.target;
  int64_t together = llvm::divideCeil(*count, int64_t(target.multiprocessors));
  int64_t least = target.sharedPerMultiprocessor / (together + 1) - target.sharedReserved + 1;
  int64_t missing = least - sharedBytes - tileBytes;
  if (missing <= 0 || least > int64_t(target.sharedPerBlock))
    return;
  if (tileBytes == 0) {
    allocateShared(builder.getI8Type(), missing);
    return;
  }
  constexpr int64_t kLine = 32, kLines = 8;
  auto unused =
      tile::SharedType::get(builder.getContext(), llvm::alignTo(missing, kLine * kLines) / kLine,
                            kLine, builder.getI8Type(), tile::Swizzle::Lines);
  tile::AllocOp::create(builder, loc, unused, IntegerAttr());
}

LogicalResult KernelFrame::finishThreads(Value total, llvm::function_ref<void(Value)> emitThread) {
  IndexBuilder &index = points.index;
  Value number = index.add(index.mul(getBlockId(), threads), getThreadId());
  std::optional<int64_t> known = getConstantIntValue(total);
  Value inside = known && *known % threads == 0 ? Value() : index.isLess(number, total);
  points.emitIf(inside, [&] { emitThread(number); });
  return finish(index.ceilDiv(total, index.constant(threads)));
}

LogicalResult KernelFrame::finish(Value blocks, int64_t cluster) {
  MLIRContext *context = builder.getContext();
  AffineExpr count = getScalarFormula(blocks, context);
  if (!count)
    return kernel.getFunction().emitOpError(
        "expected a number of blocks that is a formula over the kernel's scalars");
  if (sharedBytes > kernel.target->sharedPerBlock)
    return kernel.getFunction().emitOpError("expected at most ")
           << kernel.target->sharedPerBlock << " bytes of shared memory, got " << sharedBytes;
  auto one = plan::FormulaAttr::getConstant(context, 1);
  func::FuncOp function = kernel.function;
  function->setAttr(plan::kLaunchAttr,
                    plan::LaunchAttr::get(context, {plan::FormulaAttr::get(count), one, one},
                                          {threads, 1, 1}, {cluster, 1, 1}, sharedBytes,
                                          /*scratch=*/0));
  // Where no multiprocessor gets a second of the largest blocks, the assembler had better not save
  // registers for one.
  constexpr int64_t largestBlock = 1024;
  auto number = dyn_cast<AffineConstantExpr>(count);
  if (number && number.getValue() <= kernel.target->multiprocessors && threads == largestBlock)
    setFewestBlocks(1);
  // Nor do wide indices: what they take is better than what would be spilled for one more block.
  auto bits = kernel.getFunction()->getAttrOfType<IntegerAttr>(kIndexBitsAttr);
  if (bits && bits.getInt() == 64)
    setFewestBlocks(1);
  // Users before operands. Scalars and arithmetic on sizes stay where the new code uses them.
  for (Operation *op : llvm::reverse(replaced))
    if (op->use_empty())
      op->erase();
  return success();
}

} // namespace xc::cuda
