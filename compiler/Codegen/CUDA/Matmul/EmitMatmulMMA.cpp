//===- EmitMatmulMMA.cpp - Matrix products on mma.sync --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f16, bf16 or f32 operands, f32 accumulators; 8-bit integers and i32; or f64 and f64. Of f32
// operands the tensor cores take sign, exponent and the first 10 bits of the mantissa, which is
// TF32: they are rounded to that before. With S = `stages` buffers of each operand's tile in shared
// memory:
//
//   start the copies of tiles 0 .. S - 2
//   wait until tile 0 has arrived; barrier; ldmatrix its first fragments of A and B
//   for step = 0 .. steps - 1:
//     for each product of k = 16 (TF32 and f64: 8, bytes: 32) in tile `step`:
//       before the last: wait until tile step + 1 has arrived; barrier
//       ldmatrix the fragments of the next one, which may be the first of tile step + 1
//       mma.sync of those loaded before, and between them
//         start some of the copies of tile step + S - 1      // into the buffer of tile step - 1
//   compute and store the outputs
//
// So fragments are always one product ahead: the tensor cores need not wait for shared memory, and
// at the barrier every warp still has products to issue. At that barrier all warps have loaded the
// whole of tile `step`, which is why the next iteration may overwrite it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MMAEmitter.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTiles.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITMATMULMMA
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// m16n8k8, or where the target has m8n8k4 alone four of these.
SmallVector<Value> MMAEmitter::multiplyDoubles(ValueRange a, ValueRange b, ValueRange sums) {
  auto emit = [&](StringRef name, ArrayRef<Value> arguments, unsigned count) {
    auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                                 SmallVector<Type>(count, elementType));
    Value result =
        LLVM::CallIntrinsicOp::create(builder, loc, type, builder.getStringAttr(name), arguments)
            .getResult(0);
    SmallVector<Value> parts;
    for (unsigned part = 0; part < count; ++part)
      parts.push_back(LLVM::ExtractValueOp::create(builder, loc, result, part));
    return parts;
  };
  if (kernel.target->doubleMMA == DoubleMMA::M16N8K8) {
    SmallVector<Value> arguments(a);
    llvm::append_range(arguments, b);
    llvm::append_range(arguments, sums);
    return emit("llvm.nvvm.mma.m16n8k8.row.col.f64", arguments, 4);
  }
  SmallVector<Value> results;
  for (unsigned half = 0; half < 2; ++half) {
    SmallVector<Value> some(sums.slice(half * 2, 2));
    for (unsigned kHalf = 0; kHalf < 2; ++kHalf)
      some = emit("llvm.nvvm.mma.m8n8k4.row.col.f64",
                  {a[kHalf * 2 + half], b[kHalf], some[0], some[1]}, 2);
    llvm::append_range(results, some);
  }
  return results;
}

SmallVector<Value> MMAEmitter::multiplyPiece(ValueRange a, ValueRange b, ValueRange sums) {
  if (isDouble())
    return multiplyDoubles(a, b, sums);
  Type sumType = contraction.accumulatorType;
  auto type =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), {sumType, sumType, sumType, sumType});
  auto getType = [&](const Contraction::Side &side) {
    if (elementBytes == 1)
      return side.isUnsigned() ? NVVM::MMATypes::u8 : NVVM::MMATypes::s8;
    return elementType.isF16()    ? NVVM::MMATypes::f16
           : elementType.isBF16() ? NVVM::MMATypes::bf16
                                  : NVVM::MMATypes::tf32;
  };
  std::array types{getType(contraction.a), getType(contraction.b)};
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (elementBytes == 1)
    overflow = NVVM::MMAIntOverflow::wrapped;
  Value result =
      NVVM::MmaOp::create(builder, loc, type, a, b, sums, {kMmaM, kMmaN, mmaK}, std::nullopt,
                          overflow, types, std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  SmallVector<Value> results;
  for (int64_t part = 0; part < 4; ++part)
    results.push_back(LLVM::ExtractValueOp::create(builder, loc, result, part));
  return results;
}

SmallVector<Value> MMAEmitter::multiply(ArrayRef<Value> fragments, ArrayRef<Value> given,
                                        function_ref<void(int64_t)> beforeRow) {
  SmallVector<Value> sums(given);
  ArrayRef<Value> a = fragments.take_front(rows * 4), b = fragments.drop_front(rows * 4);
  for (int64_t i = 0; i < rows; ++i) {
    beforeRow(i);
    for (int64_t j = 0; j < columns; ++j) {
      MutableArrayRef<Value> sum = MutableArrayRef(sums).slice((i * columns + j) * 4, 4);
      llvm::copy(multiplyPiece(a.slice(i * 4, 4), b.slice(j * 2, 2), ValueRange(sum)), sum.begin());
    }
  }
  return sums;
}

/// ptxas would multiply all that has been loaded in front of a barrier, and wait for what is loaded
/// behind it. So the barrier gives a number, which is zero, that the rows' elements of A depend on.
void MMAEmitter::awaitTileBefore(SmallVector<Value> &fragments) {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, static_cast<uint32_t>(config.getStages() - 2));
  auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  Value none =
      LLVM::InlineAsmOp::create(builder, loc, builder.getI32Type(), ValueRange(),
                                "{ .reg .pred p; setp.ne.u32 p, 0, 0; bar.red.popc.u32 $0, 0, p; }",
                                "=r,~{memory}", /*has_side_effects=*/true, /*is_align_stack=*/false,
                                LLVM::TailCallKind::None, dialect, /*operand_attrs=*/ArrayAttr())
          .getResult(0);
  Type words = VectorType::get(2, builder.getI32Type());
  for (int64_t row = 0; row < rows; ++row) {
    Value pair = LLVM::BitcastOp::create(builder, loc, words, fragments[row * 4]);
    Value low = arith::OrIOp::create(builder, loc, getLane(builder, loc, pair, 0), none);
    pair = fromLanes(builder, loc, {low, getLane(builder, loc, pair, 1)});
    fragments[row * 4] = LLVM::BitcastOp::create(builder, loc, elementType, pair);
  }
}

SmallVector<Value> MMAEmitter::emitIteration(Value step, Value steps, ArrayRef<Value> carried) {
  int64_t sumCount = rows * columns * 4;
  Value slot = carried.front();
  carried = carried.drop_front();
  SmallVector<Value> sums(carried.take_front(sumCount)), fragments(carried.drop_front(sumCount));
  Value nextSlot = getSlotAfter(slot), copiedSlot = getSlotBefore(slot);
  Value copied = index.add(step, config.getStages() - 1);
  SmallVector<Value> loaded = startLoads(copied, steps);
  // Copies start between the products, evenly: the memory system takes a burst of them no faster,
  // and warps would wait for it instead of multiplying.
  SmallVector<Share> copies = getCopies();
  int64_t products = config.getTileK() / mmaK;
  int64_t perRow = llvm::divideCeil(copies.size(), rows * std::max<int64_t>(products - 1, 1));
  auto startSome = [&](size_t count) {
    for (; count > 0 && !copies.empty(); --count)
      startCopy(copies.pop_back_val(), copied, steps, copiedSlot);
  };
  for (int64_t product = 0; product < products; ++product) {
    bool isLast = product == products - 1;
    if (isLast) {
      startSome(copies.size());
      NVVM::CpAsyncCommitGroupOp::create(builder, loc);
      finishLoads(loaded, copiedSlot);
      if (isDouble())
        awaitTileBefore(fragments);
      else
        awaitTile();
    }
    Value from = isLast ? nextSlot : slot;
    int64_t k = isLast ? 0 : (product + 1) * mmaK;
    SmallVector<Value> next;
    if (!isDouble())
      next = loadFragments(from, k);
    // A row of f64 is loaded when the one before it has been multiplied, and takes its registers.
    SmallVector<Value> nextColumns;
    sums = multiply(fragments, sums, [&](int64_t row) {
      startSome(perRow);
      if (!isDouble())
        return;
      if (row > 0)
        return llvm::append_range(next, loadDoubleRows(from, (row - 1) * kMmaM, k));
      for (int64_t column = 0; column < columns; ++column)
        llvm::append_range(nextColumns, loadDoubleColumns(from, column * kMmaN, k));
    });
    if (isDouble()) {
      llvm::append_range(next, loadDoubleRows(from, (rows - 1) * kMmaM, k));
      llvm::append_range(next, nextColumns);
    }
    fragments = next;
  }
  if (isDouble())
    keepLoads();
  SmallVector<Value> values{nextSlot};
  llvm::append_range(values, sums);
  llvm::append_range(values, fragments);
  return values;
}

static void keepRolled(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll =
      LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  loop->setAttr(kLoopAnnotationAttr,
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}));
}

SmallVector<Value> MMAEmitter::emitIterations(Value first, Value end, Value steps,
                                              ValueRange carried) {
  SmallVector<Value> results =
      points.emitLoop(first, end, index.constant(1), carried, [&](Value step, ValueRange values) {
        return emitIteration(step, steps, SmallVector<Value>(values));
      });
  // Unrolled by ptxas, a step would keep the addresses in windows of the steps before it.
  if (plan::isWindowReduction(contraction.getOp()))
    keepRolled(results.front().getDefiningOp<scf::ForOp>());
  return results;
}

SmallVector<Value> MMAEmitter::emitParts(int64_t partSteps, Value steps, ArrayRef<Value> carried) {
  size_t sumCount = rows * columns * 4;
  SmallVector<Value> zeros(carried.slice(1, sumCount));
  return points.emitLoop(index.constant(0), steps, index.constant(partSteps), carried,
                         [&](Value first, ValueRange values) {
                           SmallVector<Value> begin(values);
                           llvm::copy(zeros, begin.begin() + 1);
                           Value end = index.min(index.add(first, partSteps), steps);
                           SmallVector<Value> results = emitIterations(first, end, steps, begin);
                           for (size_t i = 1; i <= sumCount; ++i)
                             results[i] =
                                 arith::AddFOp::create(builder, loc, values[i], results[i]);
                           return results;
                         });
}

LogicalResult MMAEmitter::run() {
  frame.setFewestBlocks(1);
  tile.placeAtBlock();
  thread = frame.getThreadId();
  lane = index.rem(thread, 32);
  Value warp = index.div(thread, 32);
  warpRow = index.div(warp, config.getWarpsN());
  warpColumn = index.rem(warp, config.getWarpsN());
  operands.push_back(makeOperand(contraction.a, config.getTileM(), tile.startM));
  operands.push_back(makeOperand(contraction.b, config.getTileN(), tile.startN));

  if (isDouble())
    frame.spreadBlocks(tile.countTiles());
  int64_t ahead = config.getStages() - 1;
  Value steps = tile.getSteps(config.getTileK());
  for (int64_t step = 0; step < ahead; ++step) {
    Value number = index.constant(step);
    for (const Share &share : getCopies())
      startCopy(share, number, steps, number);
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
    finishLoads(startLoads(number, steps), number);
  }
  awaitTile();
  int64_t sumCount = rows * columns * 4;
  SmallVector<Value> carried{index.constant(0)};
  carried.append(sumCount, points.zero(contraction.accumulatorType));
  llvm::append_range(carried, loadFragments(index.constant(0), 0));
  if (isDouble())
    keepLoads();
  int64_t partSteps = config.getPartSteps();
  carried = partSteps > 0 ? emitParts(partSteps, steps, carried)
                          : emitIterations(index.constant(0), steps, steps, carried);
  // No copy may be under way when the block ends.
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0u);
  ArrayRef<Value> sums = ArrayRef(carried).slice(1, sumCount);
  int64_t width = 1;
  if (const Operand *room = getStagingRoom(width))
    emitRowOutputs(sums, *room, width);
  else
    emitOutputs(sums);
  return tile.finish();
}

namespace {

struct EmitMatmulMMA final : impl::EmitMatmulMMABase<EmitMatmulMMA> {
  void runOnOperation() override {
    auto config = getOperation()->getAttrOfType<MatmulMMAAttr>(plan::kConfigAttr);
    if (!config)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    FailureOr<Contraction> contraction = requireContraction(*kernel, config);
    if (failed(contraction))
      return signalPassFailure();
    if (!kernel->target->hasMMA16816 ||
        !(contraction->hasMMATypes() || contraction->hasDoubleOperands())) {
      getOperation().emitOpError("expected f16, bf16 or f32 operands with f32 sums, 8-bit integers "
                                 "with i32, or f64, and sm_80 or later for ")
          << config << ", got " << kernel->target->arch;
      return signalPassFailure();
    }
    if (contraction->hasDoubleOperands() && kernel->target->doubleMMA == DoubleMMA::None) {
      getOperation().emitOpError("expected a target whose tensor cores are made for f64 for ")
          << config << ", got " << kernel->target->arch;
      return signalPassFailure();
    }
    if (std::string wrong = checkMMATiles(*contraction, config); !wrong.empty()) {
      getOperation().emitOpError() << wrong << " for " << config;
      return signalPassFailure();
    }
    if (failed(MMAEmitter(*kernel, *contraction, config).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
