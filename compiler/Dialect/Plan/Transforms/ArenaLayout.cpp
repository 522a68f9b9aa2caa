//===- ArenaLayout.cpp - Places for buffers that live for part of a call ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/ArenaLayout.h"

#include "compiler/Dialect/Plan/Transforms/LinearForm.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <map>
#include <numeric>
#include <vector>

using namespace mlir;

namespace xc::plan {

/// What cudaMalloc aligns to; enough for every vector access and TMA.
static constexpr int64_t kAlignment = 256;

/// What a symbol without bounds is taken for where sizes are ordered, which decides nothing else.
static constexpr int64_t kUsualSize = 1024;

static bool livesWith(const LiveBuffer &a, const LiveBuffer &b) {
  return a.first <= b.last && b.first <= a.last;
}

/// The same buffers, each of them live all the time.
static SmallVector<LiveBuffer> liveForEver(ArrayRef<LiveBuffer> buffers) {
  SmallVector<LiveBuffer> result(buffers);
  for (LiveBuffer &buffer : result) {
    buffer.first = 0;
    buffer.last = std::numeric_limits<unsigned>::max();
  }
  return result;
}

namespace {

/// A size as a number of units that no number divides.
struct Measure {
  Measure(FormulaAttr size) {
    std::optional<LinearForm> found = getLinearForm(size);
    if (size.isConstant()) {
      form = *found;
      count = form.constant;
      unit = FormulaAttr::getConstant(size.getContext(), 1);
      return;
    }
    if (found && found->getContent() > 0) {
      form = std::move(*found);
      count = form.getContent();
    } else {
      form.terms[size] = 1;
    }
    unit = form.getFormula(size.getContext(), count);
  }

  LinearForm form;
  FormulaAttr unit;
  int64_t count = 1;
};

/// Where a buffer lies, in units of its region. `rank` times the alignment come on top, so that
/// what lies below it at the same time ends before it though it begins rounded up.
struct Placed {
  unsigned buffer;
  int64_t begin, end;
  int64_t rank = 0;
};

/// Which buffer has each unit at the moment.
class Owners {
public:
  /// Gives the units of `place` to its buffer; returns the buffers that had some of them.
  SmallVector<unsigned> take(const Placed &place);

private:
  struct Piece {
    int64_t end;
    unsigned buffer;
  };
  /// By where they begin; none overlap.
  std::map<int64_t, Piece> pieces;
};

/// A part of the arena that is measured in `unit`.
class Region {
public:
  Region(FormulaAttr unit, const SymbolicDims &dims, ArrayRef<LiveBuffer> buffers)
      : unit(unit), dims(dims), buffers(buffers), form(getLinearForm(unit).value_or(LinearForm())),
        granule(kAlignment / std::gcd(kAlignment, dims.getRange(unit).divisor)) {}

  FormulaAttr getUnit() const { return unit; }
  ArrayRef<Placed> getPlaces() const { return places; }

  /// How many units surely hold a buffer; none where that cannot be said.
  std::optional<int64_t> count(const Measure &measure, FormulaAttr size) const;
  /// Puts a buffer of `count` units at the lowest free offset; false where there is none below the
  /// end and the region may not grow.
  bool place(unsigned buffer, int64_t count, bool mayGrow);
  /// Ranks the places. Nothing may be placed after that.
  void rank();
  /// The pairs of buffers, the earlier one first, of which the later one may have bytes that were
  /// the earlier one's right before it. Buffers of which one had them before that are in pairs with
  /// what was in between.
  SmallVector<std::pair<unsigned, unsigned>> getSuccessions() const;
  FormulaAttr getOffset(const Placed &place) const { return getBytes(place.begin, place.rank); }
  FormulaAttr getSize() const { return getBytes(end, endRank); }

private:
  /// 1 where a place may begin rounded up, else 0.
  int64_t getSlack(const Placed &place) const { return place.begin % granule == 0 ? 0 : 1; }
  FormulaAttr getBytes(int64_t count, int64_t rank) const {
    FormulaAttr bytes = unit * count;
    if (count % granule != 0)
      bytes = bytes.ceilDiv(kAlignment) * kAlignment;
    return bytes + rank * kAlignment;
  }

  FormulaAttr unit;
  const SymbolicDims &dims;
  ArrayRef<LiveBuffer> buffers;
  LinearForm form;
  /// This many units are surely aligned.
  int64_t granule;
  /// Sorted by `begin`, so that one pass over the neighbours in time finds the lowest gap.
  SmallVector<Placed> places;
  int64_t end = 0, endRank = 0;
};

} // namespace

std::optional<int64_t> Region::count(const Measure &measure, FormulaAttr size) const {
  std::optional<int64_t> units;
  if (measure.unit == unit)
    units = measure.count;
  else
    units = countUnits(measure.form, form,
                       [&](unsigned symbol) { return dims.isNeverNegative(symbol); });
  if (!units) {
    int64_t largest = dims.getRange(size).max, smallest = dims.getRange(unit).min;
    if (largest >= 0 && smallest > 0)
      units = llvm::divideCeilSigned(largest, smallest);
  }
  if (!units)
    return std::nullopt;
  // Bytes are all placed aligned.
  int64_t step = unit.isConstant() ? kAlignment : 1;
  return llvm::alignTo(std::max<int64_t>(*units, 1), step);
}

bool Region::place(unsigned buffer, int64_t count, bool mayGrow) {
  int64_t offset = 0;
  for (const Placed &other : places) {
    if (!livesWith(buffers[buffer], buffers[other.buffer]))
      continue;
    if (other.begin - offset >= count)
      break;
    offset = std::max(offset, other.end);
  }
  if (!mayGrow && count > end - offset)
    return false;
  Placed place{buffer, offset, offset + count};
  places.insert(
      llvm::upper_bound(places, place,
                        [](const Placed &a, const Placed &b) { return a.begin < b.begin; }),
      place);
  end = std::max(end, place.end);
  return true;
}

SmallVector<unsigned> Owners::take(const Placed &place) {
  llvm::SetVector<unsigned> before;
  auto piece = pieces.upper_bound(place.begin);
  if (piece != pieces.begin() && std::prev(piece)->second.end > place.begin)
    --piece;
  while (piece != pieces.end() && piece->first < place.end) {
    auto [begin, old] = *piece;
    before.insert(old.buffer);
    piece = pieces.erase(piece);
    if (begin < place.begin)
      pieces.insert({begin, {place.begin, old.buffer}});
    if (old.end > place.end)
      pieces.insert({place.end, {old.end, old.buffer}});
  }
  pieces.insert({place.begin, {place.end, place.buffer}});
  return before.takeVector();
}

void Region::rank() {
  if (llvm::none_of(places, [&](const Placed &place) { return getSlack(place) != 0; }))
    return;
  for (auto [position, place] : llvm::enumerate(places)) {
    for (const Placed &below : ArrayRef(places).take_front(position)) {
      int64_t least = below.rank + getSlack(below);
      if (place.rank < least && livesWith(buffers[place.buffer], buffers[below.buffer]))
        place.rank = least;
    }
    endRank = std::max(endRank, place.rank + getSlack(place));
  }
}

SmallVector<std::pair<unsigned, unsigned>> Region::getSuccessions() const {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  auto add = [&](unsigned a, unsigned b) {
    bool aIsFirst = buffers[a].last < buffers[b].first;
    pairs.emplace_back(aIsFirst ? a : b, aIsFirst ? b : a);
  };
  SmallVector<Placed> inTime(places);
  llvm::sort(inTime, [&](const Placed &a, const Placed &b) {
    return std::pair(buffers[a.buffer].first, a.buffer) <
           std::pair(buffers[b.buffer].first, b.buffer);
  });
  Owners owners;
  for (const Placed &place : inTime)
    for (unsigned before : owners.take(place))
      add(before, place.buffer);
  // Rounding may bring places that are apart in units together.
  if (endRank != 0)
    for (auto [position, a] : llvm::enumerate(places))
      for (const Placed &b : ArrayRef(places).drop_front(position + 1))
        if (b.begin >= a.end && b.rank < a.rank + getSlack(a))
          add(a.buffer, b.buffer);
  return pairs;
}

/// About how large the symbols will be.
static SmallVector<FormulaAttr> estimateSymbols(const SymbolicDims &dims, MLIRContext *context) {
  SmallVector<FormulaAttr> values;
  for (const SymbolDefinition &symbol : dims.getSymbols()) {
    int64_t value = std::max(kUsualSize, symbol.range.min);
    if (symbol.range.max >= 0)
      value = std::min(value, symbol.range.max);
    values.push_back(FormulaAttr::getConstant(context, value));
  }
  while (values.size() < dims.getSymbolCount()) {
    FormulaAttr value = dims.getDefinition(values.size()).replaceSymbols(values);
    // What overflows is large.
    constexpr int64_t large = int64_t(1) << 48;
    values.push_back(value.isConstant() ? value : FormulaAttr::getConstant(context, large));
  }
  return values;
}

/// The buffers in the order in which they are placed: static ones, then others, largest first.
static SmallVector<unsigned> orderBuffers(ArrayRef<LiveBuffer> buffers, const SymbolicDims &dims,
                                          MLIRContext *context) {
  SmallVector<FormulaAttr> symbolValues = estimateSymbols(dims, context);
  auto estimate = [&](FormulaAttr size) {
    return size.replaceSymbols(symbolValues).asConstant().value_or(0);
  };
  SmallVector<std::tuple<bool, int64_t, unsigned>> keys;
  for (auto [index, buffer] : llvm::enumerate(buffers))
    keys.emplace_back(!buffer.size.isConstant(), -estimate(buffer.size), index);
  llvm::sort(keys);
  return llvm::map_to_vector(keys, [](const auto &key) { return std::get<unsigned>(key); });
}

/// Regions with all buffers placed; the first one is that of static buffers.
static std::vector<Region> placeAll(ArrayRef<LiveBuffer> buffers, const SymbolicDims &dims,
                                    MLIRContext *context) {
  std::vector<Region> regions;
  regions.emplace_back(FormulaAttr::getConstant(context, 1), dims, buffers);
  for (unsigned index : orderBuffers(buffers, dims, context)) {
    FormulaAttr size = buffers[index].size;
    Measure measure(size);
    auto fits = [&](Region &region) {
      std::optional<int64_t> count = region.count(measure, size);
      return count && region.place(index, *count, /*mayGrow=*/false);
    };
    auto own = llvm::find_if(
        regions, [&](const Region &region) { return region.getUnit() == measure.unit; });
    if ((own != regions.end() && fits(*own)) || llvm::any_of(regions, fits))
      continue;
    if (own == regions.end()) {
      regions.emplace_back(measure.unit, dims, buffers);
      own = std::prev(regions.end());
    }
    own->place(index, *own->count(measure, size), /*mayGrow=*/true);
  }
  return regions;
}

ArenaPlacement layOutArena(ArrayRef<LiveBuffer> buffers, bool reuse, const SymbolicDims &dims,
                           MLIRContext *context) {
  if (!reuse)
    return layOutArena(liveForEver(buffers), /*reuse=*/true, dims, context);
  ArenaPlacement placement;
  placement.offsets.resize(buffers.size());
  placement.predecessors.resize(buffers.size());
  placement.size = FormulaAttr::getConstant(context, 0);
  for (Region &region : placeAll(buffers, dims, context)) {
    region.rank();
    for (const Placed &place : region.getPlaces())
      placement.offsets[place.buffer] = placement.size + region.getOffset(place);
    for (auto [before, after] : region.getSuccessions())
      placement.predecessors[after].push_back(before);
    placement.size = placement.size + region.getSize();
    if (std::optional<int64_t> bytes = placement.size.asConstant())
      placement.staticSize = *bytes;
  }
  return placement;
}

} // namespace xc::plan
