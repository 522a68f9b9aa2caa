//===- LowerRegisters.cpp - Register tiles become single registers --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile in registers is as many values as a thread holds of it, numbers of rows are two, those of
// columns two for each 64, a token is none. Of an accumulator, element i of a thread is in the
// column 8 * (i / 4) + 2 * (lane % 4) + i % 2 and in row 16 * warp + lane / 4, or 8 below it where
// i / 2 is odd (PTX ISA, "wgmma", D fragments); the words of an operand are pairs of the same
// elements in the same order, or single ones of f32, by rows before columns.
//
// So bodies are copied once for each element, as arithmetic on scalars, before anything looks at
// arithmetic. A column is its tile's first one plus the lane's part, plus a constant: only what
// changes with the tile is computed anew, and nothing that is one value for each element outlives
// it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Tile/RegisterLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_LOWERREGISTERS
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

/// Rows of an accumulator of which a thread holds elements.
constexpr int64_t kRowsPerThread = 2;

/// The row of a thread, of its two, that element `i` is in.
int64_t getHalf(int64_t element) { return element / 2 % kRowsPerThread; }

struct RegisterTypeConverter : TypeConverter {
  RegisterTypeConverter() {
    addConversion([](Type type) { return type; });
    addConversion([](tile::RegisterType type, SmallVectorImpl<Type> &parts) {
      Type word = IntegerType::get(type.getContext(), 32);
      parts.append(type.isOperand() ? type.getWords() : type.getElements(),
                   type.isOperand() ? word : type.getElementType());
      return success();
    });
    addConversion([](tile::RowsType type, SmallVectorImpl<Type> &parts) {
      parts.append(kRowsPerThread, type.getElementType());
      return success();
    });
    addConversion([](tile::ColumnsType type, SmallVectorImpl<Type> &parts) {
      parts.append(type.getElements(), type.getElementType());
      return success();
    });
    addConversion([](tile::TokenType, SmallVectorImpl<Type> &) { return success(); });
    addWarpTypeConversions(*this);
  }
};

/// Where the elements of a thread are.
struct ThreadPlace {
  ThreadPlace(OpBuilder &b, Location loc) : b(b), loc(loc) {
    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    Value inGroup = arith::RemUIOp::create(b, loc, thread, constant(tile::kWarpgroupThreads));
    lane = arith::RemUIOp::create(b, loc, inGroup, constant(32));
    Value warp = arith::DivUIOp::create(b, loc, inGroup, constant(32));
    quarter = arith::RemUIOp::create(b, loc, lane, constant(4));
    row = add(arith::MulIOp::create(b, loc, warp, constant(16)),
              arith::DivUIOp::create(b, loc, lane, constant(4)));
  }

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(b, loc, lhs, rhs, arith::IntegerOverflowFlags::nsw);
  }
  /// The row that is `half` times 8 below, of a tile that begins at `first`.
  Value getRow(Value first, int64_t half) {
    Value own = add(first, row);
    return half ? add(own, constant(8)) : own;
  }
  Value getColumn(Value first, int64_t element) {
    if (!column) // that of element 0
      column = add(first, arith::MulIOp::create(b, loc, quarter, constant(2)));
    int64_t distance = element / 4 * 8 + element % 2;
    return distance ? add(column, constant(distance)) : column;
  }

  /// The column that number `i` of a thread is of, of numbers of columns.
  Value getOwnColumn(Value first, int64_t i) {
    Value pair = add(first, arith::MulIOp::create(b, loc, lane, constant(2)));
    int64_t distance = i / 2 * 64 + i % 2;
    return distance ? add(pair, constant(distance)) : pair;
  }
  /// Of numbers of columns, that of the column of element `element`. Elements in both rows have the
  /// same.
  Value getColumnNumber(ValueRange numbers, int64_t element) {
    int64_t group = element / 4;
    Value held = numbers[group / 8 * 2 + element % 2];
    Value holder = add(quarter, constant(group % 8 * 4));
    Value offset = arith::IndexCastOp::create(b, loc, b.getI32Type(), holder);
    Value width = arith::ConstantIntOp::create(b, loc, b.getI32Type(), 32);
    return gpu::ShuffleOp::create(b, loc, held, offset, width, gpu::ShuffleMode::IDX)
        .getShuffleResult();
  }

  OpBuilder &b;
  Location loc;
  Value lane, quarter, row, column;
};

struct LowerSplat final : RegisterPattern<tile::SplatOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::SplatOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts(count(op.getResult().getType()), adaptor.getValue().front());
    replace(rewriter, op, {parts});
    return success();
  }
};

/// A copy of the ops of `body`, of these arguments; returns what it yields.
SmallVector<Value> copyBody(ConversionPatternRewriter &rewriter, Block &body,
                            ArrayRef<Value> arguments) {
  IRMapping mapping;
  mapping.map(body.getArguments(), ValueRange(arguments));
  for (Operation &op : body.without_terminator())
    rewriter.clone(op, mapping);
  SmallVector<Value> yielded;
  for (Value value : body.getTerminator()->getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  return yielded;
}

struct LowerMap final : RegisterPattern<tile::MapOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::MapOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type result = op.getResult().getType();
    bool isRows = isa<tile::RowsType>(result), isColumns = isa<tile::ColumnsType>(result);
    bool spreads =
        !isColumns && llvm::any_of(op.getInputs().getTypes(), llvm::IsaPred<tile::ColumnsType>);
    std::optional<ThreadPlace> place;
    if (op.getRow() || spreads)
      place.emplace(rewriter, op.getLoc());
    // Numbers of columns that have come already.
    SmallVector<llvm::DenseMap<int64_t, Value>> spread(op.getInputs().size());
    auto getInput = [&](size_t number, ValueRange values, int64_t i, int64_t half) -> Value {
      Type type = op.getInputs()[number].getType();
      if (isa<tile::RowsType>(type))
        return values[half];
      if (isColumns || isa<tile::RegisterType, tile::WarpType>(type))
        return values[i];
      Value &known = spread[number][i / 4 * 2 + i % 2];
      if (!known)
        known = place->getColumnNumber(values, i);
      return known;
    };
    if (op.getWidth() > 1)
      return rewritePairs(op, adaptor, *place, rewriter);
    SmallVector<Value> parts;
    auto elements = static_cast<int64_t>(count(op.getResult().getType()));
    for (int64_t i = 0; i < elements; ++i) {
      int64_t half = isRows ? i : getHalf(i);
      SmallVector<Value> arguments;
      for (auto [number, values] : llvm::enumerate(adaptor.getInputs()))
        arguments.push_back(getInput(number, values, i, half));
      if (op.getRow()) {
        Value row = adaptor.getRow().front(), column = adaptor.getColumn().front();
        arguments.push_back(isColumns ? row : place->getRow(row, half));
        arguments.push_back(isRows      ? column
                            : isColumns ? place->getOwnColumn(column, i)
                                        : place->getColumn(column, i));
      }
      parts.push_back(copyBody(rewriter, op.getBody().front(), arguments).front());
    }
    replace(rewriter, op, {parts});
    return success();
  }

private:
  /// The same, two neighbours of a row at a time.
  LogicalResult rewritePairs(tile::MapOp op, Adaptor adaptor, ThreadPlace &place,
                             ConversionPatternRewriter &rewriter) const {
    Location loc = op.getLoc();
    Value row = adaptor.getRow().front(), column = adaptor.getColumn().front();
    SmallVector<Value> parts;
    auto elements = static_cast<int64_t>(count(op.getResult().getType()));
    for (int64_t i = 0; i < elements; i += 2) {
      SmallVector<Value> arguments;
      for (auto [input, values] : llvm::zip_equal(op.getInputs(), adaptor.getInputs())) {
        if (isa<tile::RowsType>(input.getType())) {
          arguments.push_back(values[getHalf(i)]);
          continue;
        }
        auto pair = VectorType::get(2, values[i].getType());
        arguments.push_back(vector::FromElementsOp::create(rewriter, loc, pair,
                                                           ValueRange{values[i], values[i + 1]}));
      }
      arguments.push_back(place.getRow(row, getHalf(i)));
      arguments.push_back(place.getColumn(column, i));
      Value yielded = copyBody(rewriter, op.getBody().front(), arguments).front();
      for (int64_t lane : {0, 1})
        parts.push_back(vector::ExtractOp::create(rewriter, loc, yielded, ArrayRef{lane}));
    }
    replace(rewriter, op, {parts});
    return success();
  }
};

/// Two 16-bit elements in a word.
Value packWord(OpBuilder &b, Location loc, Value low, Value high) {
  auto pair = VectorType::get(2, low.getType()), word = VectorType::get(1, b.getI32Type());
  Value both = vector::FromElementsOp::create(b, loc, pair, ValueRange{low, high});
  Value cast = vector::BitCastOp::create(b, loc, word, both);
  return vector::ExtractOp::create(b, loc, cast, ArrayRef<int64_t>{0});
}

/// Of four threads with four words each, thread q gets word q of each of them, in the order of the
/// threads: each pair of threads exchanges words, then each pair of pairs.
Value transposeQuad(OpBuilder &b, Location loc, SmallVector<Value> words, ThreadPlace &place) {
  for (int64_t bit : {1, 2}) {
    Value own = arith::AndIOp::create(b, loc, place.quarter, place.constant(bit));
    Value isUpper = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, own, place.constant(0));
    auto select = [&](Value upper, Value lower) -> Value {
      return arith::SelectOp::create(b, loc, isUpper, upper, lower);
    };
    for (int64_t low = 0; low < 4; ++low) {
      if (low & bit)
        continue;
      Value &lower = words[low], &upper = words[low | bit];
      Value sent = select(lower, upper), kept = select(upper, lower);
      Value got = gpu::ShuffleOp::create(b, loc, sent, static_cast<int32_t>(bit), /*width=*/32,
                                         gpu::ShuffleMode::XOR)
                      .getShuffleResult();
      lower = select(got, kept);
      upper = select(kept, got);
    }
  }
  return vector::FromElementsOp::create(b, loc, VectorType::get(4, b.getI32Type()), words);
}

struct LowerEach final : RegisterPattern<tile::EachOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::EachOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ThreadPlace place(rewriter, loc);
    Value row = adaptor.getRow().front(), column = adaptor.getColumn().front();
    ValueRange parts = adaptor.getTile();
    Block &body = op.getBody().front();
    if (op.getWidth() > 2) {
      emitVectors(rewriter, op, parts, place, row, column);
    } else if (isa<tile::RowsType>(op.getTile().getType())) {
      Value isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, place.quarter,
                                            place.constant(0));
      auto branch = scf::IfOp::create(rewriter, loc, isFirst, /*withElseRegion=*/false);
      rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
      for (int64_t half = 0; half < kRowsPerThread; ++half)
        copyBody(rewriter, body, {parts[half], place.getRow(row, half)});
    } else {
      for (int64_t i = 0; i < static_cast<int64_t>(parts.size()); i += 2) {
        auto type = VectorType::get(2, parts[i].getType());
        Value pair =
            vector::FromElementsOp::create(rewriter, loc, type, ValueRange{parts[i], parts[i + 1]});
        copyBody(rewriter, body, {pair, place.getRow(row, getHalf(i)), place.getColumn(column, i)});
      }
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void emitVectors(ConversionPatternRewriter &rewriter, tile::EachOp op, ValueRange parts,
                          ThreadPlace &place, Value row, Value column);
};

/// The four threads of a row have two elements of each eight: they exchange words, so that thread q
/// of them gets eight of every 32, the ones from 8 * q on.
void LowerEach::emitVectors(ConversionPatternRewriter &rewriter, tile::EachOp op, ValueRange parts,
                            ThreadPlace &place, Value row, Value column) {
  constexpr int64_t width = 8, threads = 4;
  Location loc = op.getLoc();
  auto elements = static_cast<int64_t>(parts.size());
  int64_t groups = elements / 4;
  auto vector = VectorType::get(width, parts.front().getType());
  Value first =
      place.add(column, arith::MulIOp::create(rewriter, loc, place.quarter, place.constant(width)));
  for (int64_t group = 0; group < groups; group += threads)
    for (int64_t half = 0; half < kRowsPerThread; ++half) {
      SmallVector<Value> words;
      for (int64_t other = group; other < group + threads; ++other) {
        size_t element = std::min(other, groups - 1) * 4 + half * 2;
        words.push_back(packWord(rewriter, loc, parts[element], parts[element + 1]));
      }
      Value own = transposeQuad(rewriter, loc, words, place);
      Value taken = vector::BitCastOp::create(rewriter, loc, vector, own);
      Value at = place.add(first, place.constant(group * width));
      OpBuilder::InsertionGuard guard(rewriter);
      // The last vectors may be fewer than threads.
      if (group + threads > groups) {
        Value isThere = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                              place.quarter, place.constant(groups - group));
        auto branch = scf::IfOp::create(rewriter, loc, isThere, /*withElseRegion=*/false);
        rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
      }
      copyBody(rewriter, op.getBody().front(), {taken, place.getRow(row, half), at});
    }
}

Value combine(OpBuilder &b, Location loc, tile::Combine kind, Value lhs, Value rhs) {
  if (kind == tile::Combine::Max)
    return arith::MaxNumFOp::create(b, loc, lhs, rhs);
  return arith::AddFOp::create(b, loc, lhs, rhs);
}

/// Two chains for each row, so that an instruction need not wait for the one before it.
struct LowerReduceRows final : RegisterPattern<tile::ReduceRowsOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::ReduceRowsOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> chains(adaptor.getInit());
    chains.append(kRowsPerThread, Value());
    for (auto [i, part] : llvm::enumerate(adaptor.getTile())) {
      Value &chain = chains[getHalf(i) + kRowsPerThread * (i / 4 % 2)];
      chain = chain ? combine(rewriter, op.getLoc(), op.getKind(), chain, part) : part;
    }
    SmallVector<Value> rows(chains.begin(), chains.begin() + kRowsPerThread);
    for (auto [row, other] : llvm::zip_equal(rows, ArrayRef(chains).drop_front(kRowsPerThread)))
      if (other)
        row = combine(rewriter, op.getLoc(), op.getKind(), row, other);
    replace(rewriter, op, {rows});
    return success();
  }
};

/// The four threads of a row differ in the last two bits of their lanes.
struct LowerCombineRows final : RegisterPattern<tile::CombineRowsOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::CombineRowsOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> rows(adaptor.getPart());
    for (int32_t mask : {1, 2})
      for (Value &row : rows) {
        auto shuffle =
            gpu::ShuffleOp::create(rewriter, loc, row, mask, /*width=*/32, gpu::ShuffleMode::XOR);
        row = combine(rewriter, loc, op.getKind(), row, shuffle.getShuffleResult());
      }
    replace(rewriter, op, {rows});
    return success();
  }
};

struct LowerConvertLayout final : RegisterPattern<tile::ConvertLayoutOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::ConvertLayoutOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto wide = VectorType::get(2, rewriter.getF32Type()),
         narrow = VectorType::get(2, op.getResult().getType().getElementType()),
         word = VectorType::get(1, rewriter.getI32Type());
    SmallVector<Value> words;
    ValueRange parts = adaptor.getTile();
    if (op.getResult().getType().isPaired()) {
      for (size_t i = 0; i < parts.size(); i += 4)
        for (size_t element : {i, i + 2, i + 1, i + 3})
          words.push_back(
              arith::BitcastOp::create(rewriter, loc, rewriter.getI32Type(), parts[element]));
      replace(rewriter, op, {words});
      return success();
    }
    for (size_t i = 0; i < parts.size(); i += 2) {
      Value pair =
          vector::FromElementsOp::create(rewriter, loc, wide, ValueRange{parts[i], parts[i + 1]});
      Value rounded = arith::TruncFOp::create(rewriter, loc, narrow, pair);
      Value cast = vector::BitCastOp::create(rewriter, loc, word, rounded);
      words.push_back(vector::ExtractOp::create(rewriter, loc, cast, ArrayRef<int64_t>{0}));
    }
    replace(rewriter, op, {words});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

struct LowerDot final : RegisterPattern<tile::DotOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::DotOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    bool inRegisters = isa<tile::RegisterType>(op.getA().getType());
    SmallVector<Value> words, sums;
    if (inRegisters)
      llvm::append_range(words, adaptor.getA());
    if (op.getAccumulator())
      llvm::append_range(sums, adaptor.getAccumulator());
    tile::RegisterType type = op.getResult().getType();
    SmallVector<Type> results(type.getElements(), type.getElementType());
    Value condition = op.getCondition() ? adaptor.getCondition().front() : Value();
    auto issue = tile::IssueOp::create(rewriter, op.getLoc(), results, sums, condition,
                                       inRegisters ? Value() : adaptor.getA().front(),
                                       inRegisters ? Value() : adaptor.getRow().front(), words,
                                       adaptor.getB().front(), type.getColumns(), op.getK(),
                                       op.getFrom(), op.getTransposedA(), op.getTransposedB(),
                                       op.getSynchronous(), op.getTf32());
    SmallVector<Value> parts(issue.getResults());
    replace(rewriter, op, {parts, SmallVector<Value>()});
    return success();
  }
};

struct LowerAwait final : RegisterPattern<tile::AwaitOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::AwaitOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getPending())
      return rewriter.notifyMatchFailure(op, "nobody has said how many products may be under way");
    SmallVector<Value> words;
    for (ValueRange kept : adaptor.getKept())
      llvm::append_range(words, kept);
    SmallVector<Value> sums;
    for (ValueRange values : adaptor.getValues())
      llvm::append_range(sums, values);
    auto retire = tile::RetireOp::create(rewriter, op.getLoc(), ValueRange(sums).getTypes(),
                                         *op.getPending(), sums, words);
    SmallVector<SmallVector<Value>> parts;
    ValueRange left = retire.getResults();
    for (ValueRange values : adaptor.getValues()) {
      parts.emplace_back(left.take_front(values.size()));
      left = left.drop_front(values.size());
    }
    replace(rewriter, op, parts);
    return success();
  }
};

struct LowerNothing final : RegisterPattern<tile::NothingOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::NothingOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    replace(rewriter, op, {SmallVector<Value>()});
    return success();
  }
};

struct LowerUndefined final : RegisterPattern<tile::UndefinedOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::UndefinedOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    SmallVector<Value> parts(types.size(),
                             LLVM::UndefOp::create(rewriter, op.getLoc(), types.front()));
    replace(rewriter, op, {parts});
    return success();
  }
};

struct LowerReadFragments final : RegisterPattern<tile::ReadFragmentsOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::ReadFragmentsOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    size_t parts = op.getFragments().size(), each = count(op.getFragments().front().getType());
    SmallVector<Type> types(parts * each, rewriter.getI32Type());
    auto read = tile::ReadFragmentWordsOp::create(
        rewriter, op.getLoc(), types, adaptor.getTile().front(), adaptor.getRow().front(),
        op.getK(), static_cast<int64_t>(parts));
    SmallVector<SmallVector<Value>> words;
    for (size_t part = 0; part < parts; ++part)
      words.emplace_back(read.getWords().slice(part * each, each));
    replace(rewriter, op, words);
    return success();
  }
};

struct LowerReduceBlocks final : RegisterPattern<tile::ReduceBlocksOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::ReduceBlocksOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types(count(op.getResult().getType()),
                            op.getResult().getType().getElementType());
    auto sum = tile::SumBlocksOp::create(
        rewriter, op.getLoc(), types, SmallVector<Value>(adaptor.getAccumulator()),
        adaptor.getScratch().front(), adaptor.getWarpgroup().front(), op.getBlocks());
    replace(rewriter, op, {SmallVector<Value>(sum.getResults())});
    return success();
  }
};

struct LowerRead final : RegisterPattern<tile::ReadOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::ReadOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types(count(op.getResult().getType()), rewriter.getI32Type());
    auto words = tile::ReadWordsOp::create(rewriter, op.getLoc(), types, adaptor.getTile().front(),
                                           adaptor.getRow().front());
    SmallVector<Value> parts(words.getResults());
    replace(rewriter, op, {parts});
    return success();
  }
};

struct LowerRegisters final : impl::LowerRegistersBase<LowerRegisters> {
  void runOnOperation() override {
    lowerThreadOps(getOperation());
    MLIRContext *context = &getContext();
    RegisterTypeConverter converter;
    RewritePatternSet patterns(context);
    ConversionTarget target(*context);
    target.addIllegalOp<tile::SplatOp, tile::MapOp, tile::EachOp, tile::ReduceRowsOp,
                        tile::CombineRowsOp, tile::ConvertLayoutOp, tile::DotOp, tile::AwaitOp,
                        tile::NothingOp, tile::UndefinedOp, tile::ReadFragmentsOp,
                        tile::ReduceBlocksOp, tile::ReadOp>();
    addIllegalCopyOps(target);
    addIllegalWarpOps(target);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);
    patterns.add<LowerSplat, LowerMap, LowerEach, LowerReduceRows, LowerCombineRows,
                 LowerConvertLayout, LowerDot, LowerAwait, LowerNothing, LowerUndefined,
                 LowerReadFragments, LowerReduceBlocks, LowerRead>(converter, context);
    populateRegisterCopyPatterns(converter, patterns);
    populateWarpPatterns(converter, patterns);
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
