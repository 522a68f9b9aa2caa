//===- TensorInterpreter.cpp - What linalg on constants computes ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TensorInterpreter.h"

#include "compiler/Conversion/ScalarInterpreter.h"
#include "compiler/Dialect/Array/IR/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc {

std::optional<size_t> Elements::position(ArrayRef<int64_t> index) const {
  size_t place = 0;
  for (auto [size, at] : llvm::zip_equal(shape, index)) {
    if (at < 0 || at >= size)
      return std::nullopt;
    place = place * size + at; // in range: within the elements
  }
  return place;
}

/// Moves `index` to the next one within `shape`, the last dim first; false behind the end.
static bool advance(ArrayRef<int64_t> shape, MutableArrayRef<int64_t> index) {
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
    if (++index[dim] < shape[dim])
      return true;
    index[dim] = 0;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

std::optional<uint64_t> TensorInterpreter::scalar(Value value, Frame &frame) {
  if (auto found = frame.scalars.find(value); found != frame.scalars.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0)
    return std::nullopt;
  // Of what surrounds the body, the same at all points.
  if (!step(*op, frame))
    return std::nullopt;
  return frame.scalars.lookup(value);
}

TensorInterpreter::Values TensorInterpreter::scalarsOf(ValueRange values, Frame &frame) {
  SmallVector<uint64_t> results;
  for (Value value : values) {
    std::optional<uint64_t> bits = scalar(value, frame);
    if (!bits)
      return std::nullopt;
    results.push_back(*bits);
  }
  return results;
}

std::optional<SmallVector<int64_t>> TensorInterpreter::indicesOf(ValueRange indices, Frame &frame) {
  Values bits = scalarsOf(indices, frame);
  return bits ? std::optional(SmallVector<int64_t>(bits->begin(), bits->end())) : std::nullopt;
}

void TensorInterpreter::bind(ValueRange values, ArrayRef<uint64_t> bits, Frame &frame) {
  for (auto [value, number] : llvm::zip_equal(values, bits))
    frame.scalars[value] = number;
}

TensorInterpreter::Values TensorInterpreter::run(Block &block, Frame &frame) {
  for (Operation &op : block.without_terminator())
    if (!step(op, frame))
      return std::nullopt;
  return scalarsOf(block.getTerminator()->getOperands(), frame);
}

/// A load or a store; false outside of the memory.
bool TensorInterpreter::access(Operation *op, Value memory, ValueRange indices, Frame &frame) {
  std::optional<SmallVector<int64_t>> index = indicesOf(indices, frame);
  Elements *elements = frame.memory.lookup(memory);
  std::optional<size_t> place = index && elements ? elements->position(*index) : std::nullopt;
  if (!place)
    return false;
  if (op->getNumResults() == 1) {
    frame.scalars[op->getResult(0)] = elements->bits[*place];
    return true;
  }
  std::optional<uint64_t> stored = scalar(op->getOperand(0), frame);
  if (stored)
    elements->bits[*place] = *stored;
  return stored.has_value();
}

bool TensorInterpreter::runFor(Operation *op, Frame &frame) {
  auto loop = cast<scf::ForOp>(op);
  std::optional<SmallVector<int64_t>> bounds =
      indicesOf({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}, frame);
  Values values = scalarsOf(loop.getInits(), frame);
  if (!bounds || !values || (*bounds)[2] <= 0)
    return false;
  for (int64_t i = (*bounds)[0]; i < (*bounds)[1]; i += (*bounds)[2]) {
    frame.scalars[loop.getInductionVar()] = i;
    bind(loop.getRegionIterArgs(), *values, frame);
    values = run(*loop.getBody(), frame);
    if (!values)
      return false;
  }
  bind(loop.getResults(), *values, frame);
  return true;
}

bool TensorInterpreter::runWhile(Operation *op, Frame &frame) {
  auto loop = cast<scf::WhileOp>(op);
  Values values = scalarsOf(loop.getInits(), frame);
  while (values) {
    bind(loop.getBeforeArguments(), *values, frame);
    Values forwarded = run(*loop.getBeforeBody(), frame);
    if (!forwarded)
      return false;
    ArrayRef<uint64_t> results = ArrayRef(*forwarded).drop_front();
    if (!forwarded->front()) {
      bind(loop.getResults(), results, frame);
      return true;
    }
    bind(loop.getAfterArguments(), results, frame);
    values = run(*loop.getAfterBody(), frame);
  }
  return false;
}

bool TensorInterpreter::step(Operation &op, Frame &frame) {
  if (++steps > kMaxSteps || ++allSteps > kMaxAllSteps)
    return false;
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case([&](linalg::IndexOp index) {
        frame.scalars[index] = frame.indices[index.getDim()];
        return true;
      })
      .Case([&](kernel::ElementOp element) {
        std::optional<uint64_t> bits = scalar(element.getValue(), frame);
        if (bits)
          frame.scalars[element] = *bits;
        return bits.has_value();
      })
      .Case([&](tensor::ExtractOp extract) {
        Result tensor = evaluate(extract.getTensor());
        std::optional<SmallVector<int64_t>> index = indicesOf(extract.getIndices(), frame);
        std::optional<size_t> place = tensor && index ? tensor->position(*index) : std::nullopt;
        if (place)
          frame.scalars[extract] = tensor->bits[*place];
        return place.has_value();
      })
      .Case<memref::LoadOp, memref::StoreOp>([&](auto memory) {
        return access(memory, memory.getMemRef(), memory.getIndices(), frame);
      })
      .Case([&](scf::ForOp loop) { return runFor(loop, frame); })
      .Case([&](scf::WhileOp loop) { return runWhile(loop, frame); })
      .Case([&](scf::IfOp choice) {
        std::optional<uint64_t> condition = scalar(choice.getCondition(), frame);
        if (!condition)
          return false;
        Region &region = *condition ? choice.getThenRegion() : choice.getElseRegion();
        if (region.empty())
          return true;
        Values values = run(region.front(), frame);
        if (values)
          bind(choice.getResults(), *values, frame);
        return values.has_value();
      })
      .Default([&](Operation *other) {
        SmallVector<uint64_t> operands;
        for (Value operand : other->getOperands()) {
          std::optional<uint64_t> bits = scalar(operand, frame);
          if (!bits)
            return false;
          operands.push_back(*bits);
        }
        std::optional<uint64_t> result = evaluateScalarOp(other, operands);
        if (result)
          frame.scalars[other->getResult(0)] = *result;
        return result.has_value();
      });
}

//===----------------------------------------------------------------------===//
// Ops on tensors
//===----------------------------------------------------------------------===//

/// Whether the points of `op` follow one another with rounded sums, whose order is the kernel's.
static bool sumsFloats(linalg::LinalgOp op, ArrayRef<int64_t> ranges) {
  SmallVector<int64_t> summands;
  for (auto [kind, size] : llvm::zip_equal(op.getIteratorTypesArray(), ranges))
    if (kind == utils::IteratorType::reduction)
      summands.push_back(size);
  return array::multiplyKnown(summands) > 1 &&
         llvm::any_of(*op.getBlock(), [](Operation &o) { return roundsFloats(&o); });
}

bool TensorInterpreter::evaluatePoint(linalg::LinalgOp op, ArrayRef<int64_t> point,
                                      ArrayRef<std::shared_ptr<Elements>> tensors) {
  Frame frame;
  frame.indices = point;
  SmallVector<std::pair<Elements *, size_t>> places;
  for (BlockArgument argument : op.getBlock()->getArguments()) {
    OpOperand *operand = op.getMatchingOpOperand(argument);
    Elements *elements = tensors[operand->getOperandNumber()].get();
    if (!elements) {
      std::optional<uint64_t> bits = scalar(operand->get(), frame);
      if (!bits)
        return false;
      frame.scalars[argument] = *bits;
      continue;
    }
    std::optional<size_t> at =
        elements->position(op.getMatchingIndexingMap(operand).compose(point));
    if (!at)
      return false;
    frame.scalars[argument] = elements->bits[*at];
    if (op.isDpsInit(operand))
      places.emplace_back(elements, *at);
  }
  Values results = run(*op.getBlock(), frame);
  if (!results)
    return false;
  for (auto [place, bits] : llvm::zip_equal(places, *results))
    place.first->bits[place.second] = bits;
  return true;
}

TensorInterpreter::Result TensorInterpreter::evaluateLinalg(linalg::LinalgOp op, unsigned number) {
  if (op.hasDynamicShape())
    return {};
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (sumsFloats(op, ranges))
    return {};
  // Destinations are copies; null stands for a scalar.
  SmallVector<std::shared_ptr<Elements>> tensors;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isTensor = isa<ShapedType>(operand.get().getType());
    Result elements = isTensor ? evaluate(operand.get()) : nullptr;
    if (isTensor && !elements)
      return {};
    tensors.push_back(isTensor ? std::make_shared<Elements>(*elements) : nullptr);
  }
  SmallVector<int64_t> point(ranges.size(), 0);
  if (array::multiplyKnown(ranges) != 0) {
    do {
      if (!evaluatePoint(op, point, tensors))
        return {};
    } while (advance(ranges, point));
  }
  for (OpOperand &init : op.getDpsInitsMutable())
    known[op.getTiedOpResult(&init)] = tensors[init.getOperandNumber()];
  return known.lookup(op->getResult(number));
}

/// Whether the loops of `op` combine floats in an order that another strategy may not have.
static bool sumsFloats(Operation *op) {
  if (auto scan = dyn_cast<kernel::ScanOp>(op))
    return isa<FloatType>(scan.getComputeType()) && scan.getKind() != kernel::ScanKind::Max &&
           scan.getKind() != kernel::ScanKind::Min;
  auto scatter = dyn_cast<kernel::ScatterOp>(op);
  return scatter && isa<FloatType>(getElementTypeOrSelf(scatter.getUpdates().getType())) &&
         (scatter.getKind() == kernel::ScatterKind::Add ||
          scatter.getKind() == kernel::ScatterKind::Mul);
}

TensorInterpreter::Result TensorInterpreter::evaluateKernel(Operation *op, unsigned number) {
  if (sumsFloats(op))
    return {};
  // The loops are on memory: arguments of a block of their own stand for it.
  auto destinations = cast<DestinationStyleOpInterface>(op);
  OwningOpRef<func::FuncOp> loops =
      func::FuncOp::create(op->getLoc(), "loops", FunctionType::get(op->getContext(), {}, {}));
  Block *block = loops->addEntryBlock();
  Frame frame;
  SmallVector<Value> buffers;
  SmallVector<std::shared_ptr<Elements>> memory;
  for (Value operand : op->getOperands()) {
    Result elements = evaluate(operand);
    if (!elements)
      return {};
    auto type = cast<RankedTensorType>(operand.getType());
    buffers.push_back(
        block->addArgument(MemRefType::get(type.getShape(), type.getElementType()), op->getLoc()));
    memory.push_back(std::make_shared<Elements>(*elements));
    frame.memory[buffers.back()] = memory.back().get();
  }
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  Operation *onBuffers = mlir::clone(builder, op, TypeRange(), buffers);
  cast<kernel::LoopNestOpInterface>(onBuffers).buildLoopNest(builder);
  onBuffers->erase();
  func::ReturnOp::create(builder, op->getLoc());
  if (!run(*block, frame))
    return {};
  for (OpOperand &operand : op->getOpOperands())
    if (destinations.isDpsInit(&operand))
      known[destinations.getTiedOpResult(&operand)] = memory[operand.getOperandNumber()];
  return known.lookup(op->getResult(number));
}

TensorInterpreter::Result TensorInterpreter::moveSlice(OffsetSizeAndStrideOpInterface slice,
                                                       Result whole, Result part) {
  std::optional<SmallVector<int64_t>> offsets = getConstantIntValues(slice.getMixedOffsets()),
                                      sizes = getConstantIntValues(slice.getMixedSizes()),
                                      strides = getConstantIntValues(slice.getMixedStrides());
  if (!whole || !offsets || !sizes || !strides)
    return {};
  bool inserts = part != nullptr;
  auto result = std::make_shared<Elements>(cast<RankedTensorType>(slice->getResult(0).getType()));
  if (inserts)
    result->bits = whole->bits;
  SmallVector<int64_t> index(sizes->size(), 0), from(sizes->size());
  int64_t count = array::multiplyKnown(*sizes);
  for (int64_t i = 0; i < count; ++i, advance(*sizes, index)) {
    for (size_t dim = 0; dim < from.size(); ++dim)
      from[dim] = (*offsets)[dim] + index[dim] * (*strides)[dim];
    std::optional<size_t> place = whole->position(from);
    if (!place)
      return {};
    if (inserts)
      result->bits[*place] = part->bits[i];
    else
      result->bits[i] = whole->bits[*place];
  }
  return result;
}

TensorInterpreter::Result TensorInterpreter::concat(tensor::ConcatOp op) {
  SmallVector<Result> parts;
  for (Value input : op.getInputs()) {
    parts.push_back(evaluate(input));
    if (!parts.back())
      return {};
  }
  auto result = std::make_shared<Elements>(op.getResultType());
  ArrayRef<int64_t> shape = result->shape;
  int64_t rows = array::multiplyKnown(shape.take_front(op.getDim()));
  auto to = result->bits.begin();
  // A row of each part after another.
  for (int64_t row = 0; row < rows; ++row)
    for (const Result &part : parts) {
      size_t length = part->bits.size() / rows;
      to = std::copy_n(part->bits.begin() + row * length, length, to);
    }
  return result;
}

TensorInterpreter::Result TensorInterpreter::pad(Operation *op) {
  auto padOp = cast<tensor::PadOp>(op);
  std::optional<SmallVector<int64_t>> low = getConstantIntValues(padOp.getMixedLowPad());
  Value value = padOp.getConstantPaddingValue();
  Frame frame;
  std::optional<uint64_t> filler = value ? scalar(value, frame) : std::nullopt;
  Result source = evaluate(padOp.getSource());
  if (!source || !low || !filler)
    return {};
  auto result = std::make_shared<Elements>(padOp.getResultType());
  llvm::fill(result->bits, *filler);
  SmallVector<int64_t> index(source->shape.size(), 0), to(index.size());
  for (uint64_t bits : source->bits) {
    for (auto [dim, at] : llvm::enumerate(index))
      to[dim] = at + (*low)[dim];
    // A negative amount drops elements.
    if (std::optional<size_t> place = result->position(to))
      result->bits[*place] = bits;
    advance(source->shape, index);
  }
  return result;
}

static TensorInterpreter::Result constantElements(arith::ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return {};
  auto result = std::make_shared<Elements>(dense.getType());
  auto fill = [&](auto values) {
    for (auto [place, value] : llvm::zip_equal(result->bits, values))
      place = value.getZExtValue();
  };
  if (isa<FloatType>(dense.getElementType()))
    fill(llvm::map_range(dense.getValues<APFloat>(),
                         [](const APFloat &value) { return value.bitcastToAPInt(); }));
  else
    fill(dense.getValues<APInt>());
  return result;
}

TensorInterpreter::Result TensorInterpreter::evaluateMove(Operation *op) {
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::ConstantOp constant) { return constantElements(constant); })
      .Case([&](tensor::EmptyOp empty) { return std::make_shared<Elements>(empty.getType()); })
      .Case([&](tensor::ExtractSliceOp slice) {
        return moveSlice(slice, evaluate(slice.getSource()), nullptr);
      })
      .Case([&](tensor::InsertSliceOp slice) {
        Result part = evaluate(slice.getSource());
        return part ? moveSlice(slice, evaluate(slice.getDest()), part) : nullptr;
      })
      .Case([&](tensor::ConcatOp concatOp) { return concat(concatOp); })
      .Case([&](tensor::PadOp) { return pad(op); })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(
          [&](Operation *view) -> Result {
            Result source = evaluate(view->getOperand(0));
            if (!source)
              return {};
            auto result = std::make_shared<Elements>(*source);
            result->shape.assign(cast<RankedTensorType>(view->getResult(0).getType()).getShape());
            return result;
          })
      .Case([&](tensor::FromElementsOp elements) -> Result {
        auto result = std::make_shared<Elements>(elements.getType());
        Frame frame;
        std::optional<SmallVector<int64_t>> bits = indicesOf(elements.getElements(), frame);
        if (!bits)
          return {};
        result->bits.assign(bits->begin(), bits->end());
        return result;
      })
      .Default([](Operation *) { return Result(); });
}

TensorInterpreter::Result TensorInterpreter::evaluateOp(OpResult value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() > kMaxElements)
    return {};
  Operation *op = value.getOwner();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return evaluateLinalg(linalgOp, value.getResultNumber());
  if (isa<kernel::LoopNestOpInterface>(op))
    return evaluateKernel(op, value.getResultNumber());
  return evaluateMove(op);
}

TensorInterpreter::Result TensorInterpreter::evaluate(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  auto result = dyn_cast<OpResult>(value);
  int64_t before = std::exchange(steps, 0);
  Result elements = result ? evaluateOp(result) : nullptr;
  steps = before;
  return known[value] = elements;
}

} // namespace xc
