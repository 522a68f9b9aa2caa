//===- UnwrittenCheck.cpp - Uses of registers that nobody has written -----===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unwritten.cpp says which instructions have something to do here.
//
//===----------------------------------------------------------------------===//

#include "Exec.h"

#include <algorithm>

using namespace xc::ptxsim;

namespace {

class Check {
public:
  Check(Warp &warp, const Inst &inst, uint32_t lanes, uint32_t mask)
      : warp(warp), inst(inst), program(*warp.program), op(program.unwrittenOps[inst.unwritten]),
        lanes(lanes), mask(mask) {}

  bool run();

private:
  uint32_t *masks(uint32_t number) const { return &warp.unwritten[program.tracked[number].first]; }
  /// The lanes where some byte of a tracked register is unwritten.
  uint32_t any(uint32_t number) const {
    uint32_t result = 0;
    if (number != UnwrittenOp::kNone)
      for (uint32_t i = 0; i < program.tracked[number].bytes; ++i)
        result |= masks(number)[i];
    return result;
  }
  bool refuse(uint32_t number, uint32_t where) const;
  void note(uint32_t to, uint32_t from, uint32_t where);
  void write(uint32_t number, uint32_t unwritten);
  void join();
  void bytes();
  void select();
  void decide(bool isAnd);
  bool shuffle();
  bool product();
  bool refuseReads(uint32_t where) const {
    return std::all_of(op.reads.begin(), op.reads.end(),
                       [&](uint32_t number) { return refuse(number, where); });
  }

  Warp &warp;
  const Inst &inst;
  const Program &program;
  const UnwrittenOp &op;
  uint32_t lanes, mask;
};

/// Reports a register that must have been written by the lanes of |where|; true if it has.
bool Check::refuse(uint32_t number, uint32_t where) const {
  uint32_t bad = any(number) & where;
  if (!bad)
    return true;
  auto lane = static_cast<unsigned>(__builtin_ctz(bad));
  uint32_t origin = warp.unwrittenOrigin[number * kWarpSize + lane];
  const std::string &name = program.tracked[number].name;
  std::string message = "reads " + name;
  if (origin && origin - 1 != number)
    message += ", whose value depends on " + program.tracked[origin - 1].name;
  warp.block->raise(FaultKind::UninitialisedRead, warp, lane, inst, 0,
                    message + ", which the thread has never written");
  return false;
}

/// Where the value that |where| of register |to| now depend on comes from.
void Check::note(uint32_t to, uint32_t from, uint32_t where) {
  if (to == from)
    return;
  forLanes(where & any(from), [&](unsigned l) {
    uint32_t origin = warp.unwrittenOrigin[from * kWarpSize + l];
    warp.unwrittenOrigin[to * kWarpSize + l] = origin ? origin : from + 1;
  });
}

/// The active lanes write a register; in those of |unwritten| what nobody knows.
void Check::write(uint32_t number, uint32_t unwritten) {
  for (uint32_t i = 0; i < program.tracked[number].bytes; ++i)
    masks(number)[i] = (masks(number)[i] & ~mask) | (unwritten & mask);
}

void Check::join() {
  uint32_t unwritten = 0;
  for (uint32_t from : op.reads)
    unwritten |= any(from);
  for (uint32_t to : op.writes) {
    if (unwritten & mask)
      for (uint32_t from : op.reads)
        note(to, from, mask);
    write(to, unwritten);
  }
}

void Check::bytes() {
  uint32_t values[16] = {};
  for (uint32_t to : op.writes)
    for (uint32_t from : op.reads)
      note(to, from, mask);
  // All sources before any result, which may be one of them.
  for (auto [byte, from] : op.moves)
    values[byte % 16] |= warp.unwritten[from];
  for (size_t i = 0; i < std::min<size_t>(op.to.size(), 16); ++i)
    if (op.to[i] != UnwrittenOp::kNone) {
      uint32_t &to = warp.unwritten[op.to[i]];
      to = (to & ~mask) | (values[i] & mask);
    }
}

void Check::select() {
  const UnwrittenOp::Source &a = op.sources[0], &b = op.sources[1], &p = op.sources[2];
  uint32_t taken = p.row == kNoRow ? (p.constant ? kFullMask : 0) : warp.predicate(p.row) ^ p.flip;
  uint32_t unsure = any(p.tracked);
  auto ofByte = [&](const UnwrittenOp::Source &source, uint32_t i) {
    return source.tracked == UnwrittenOp::kNone ? 0 : masks(source.tracked)[i];
  };
  for (uint32_t to : op.writes) {
    for (auto [from, where] : {std::pair(p.tracked, kFullMask), std::pair(a.tracked, taken),
                               std::pair(b.tracked, ~taken)})
      if (from != UnwrittenOp::kNone)
        note(to, from, where & mask);
    for (uint32_t i = 0; i < program.tracked[to].bytes; ++i) {
      uint32_t unwritten = unsure | (ofByte(a, i) & taken) | (ofByte(b, i) & ~taken);
      masks(to)[i] = (masks(to)[i] & ~mask) | (unwritten & mask);
    }
  }
}

/// Byte |i| of |source| in |lane|: of a predicate, all ones or zeros.
uint8_t byteOf(const Warp &warp, const UnwrittenOp::Source &source, uint32_t i, unsigned lane) {
  if (source.row == kNoRow)
    return static_cast<uint8_t>(source.constant >> (8 * std::min(i, 7u)));
  if (source.bytes == 0)
    return (warp.predicate(source.row) ^ source.flip) >> lane & 1 ? 0xff : 0;
  return warp.registers[source.row + lane * source.bytes + i];
}

void Check::decide(bool isAnd) {
  const UnwrittenOp::Source &a = op.sources[0], &b = op.sources[1];
  uint8_t decisive = isAnd ? 0 : 0xff;
  for (uint32_t to : op.writes) {
    uint32_t count = program.tracked[to].bytes, result[8] = {};
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t ofA = a.tracked == UnwrittenOp::kNone ? 0 : masks(a.tracked)[i];
      uint32_t ofB = b.tracked == UnwrittenOp::kNone ? 0 : masks(b.tracked)[i];
      result[i] = ofA & ofB;
      forLanes((ofA ^ ofB) & mask, [&](unsigned l) {
        const UnwrittenOp::Source &known = ofA >> l & 1 ? b : a;
        result[i] |= static_cast<uint32_t>(byteOf(warp, known, i, l) != decisive) << l;
      });
    }
    for (const UnwrittenOp::Source *from : {&a, &b})
      if (from->tracked != UnwrittenOp::kNone)
        note(to, from->tracked, mask);
    for (uint32_t i = 0; i < count; ++i)
      masks(to)[i] = (masks(to)[i] & ~mask) | (result[i] & mask);
  }
}

bool Check::shuffle() {
  if (!refuseReads(mask))
    return false;
  uint32_t data = op.sources[0].tracked, unwritten = any(data), result = 0;
  std::vector<uint32_t> origins(kWarpSize);
  if (unwritten)
    forLanes(mask, [&](unsigned l) {
      bool inRange = false;
      unsigned from = shuffleSource(warp, inst, l, inRange);
      result |= (unwritten >> from & 1) << l;
      uint32_t origin = warp.unwrittenOrigin[data * kWarpSize + from];
      origins[l] = origin ? origin : data + 1;
    });
  for (size_t i = 0; i < op.writes.size(); ++i) {
    // The predicate of d|p says whether the lane is in range.
    uint32_t to = op.writes[i];
    write(to, program.tracked[to].bytes == 4 ? result : 0);
    forLanes(result, [&](unsigned l) { warp.unwrittenOrigin[to * kWarpSize + l] = origins[l]; });
  }
  return true;
}

bool Check::product() {
  const ProductOp &product = program.productOps[inst.aux];
  bool accumulates = (warp.predicate(product.scaleD) ^ product.scaleDFlip) & mask;
  for (uint32_t number : op.reads) {
    bool isAccumulator = std::find(op.writes.begin(), op.writes.end(), number) != op.writes.end();
    if ((accumulates || !isAccumulator) && !refuse(number, mask))
      return false;
  }
  for (uint32_t number : op.writes)
    write(number, 0);
  return true;
}

bool Check::run() {
  if (op.guard != UnwrittenOp::kNone && !refuse(op.guard, lanes))
    return false;
  if (!mask)
    return true;
  switch (op.rule) {
  case UnwrittenOp::Refuse:
    if (!refuseReads(mask))
      return false;
    for (uint32_t number : op.writes)
      write(number, 0);
    return true;
  case UnwrittenOp::Join:
    join();
    return true;
  case UnwrittenOp::Bytes:
    bytes();
    return true;
  case UnwrittenOp::Select:
    select();
    return true;
  case UnwrittenOp::And:
  case UnwrittenOp::Or:
    decide(op.rule == UnwrittenOp::And);
    return true;
  case UnwrittenOp::Shuffle:
    return shuffle();
  case UnwrittenOp::Product:
    return product();
  }
  return true;
}

} // namespace

void xc::ptxsim::resetUnwritten(Warp &warp, uint32_t begin, uint32_t end, uint32_t lanes) {
  const Program &program = *warp.program;
  warp.unwritten.resize(program.trackedBytes);
  warp.unwrittenOrigin.resize(program.tracked.size() * kWarpSize);
  for (uint32_t number = begin; number < end; ++number) {
    const TrackedRegister &tracked = program.tracked[number];
    for (uint32_t i = 0; i < tracked.bytes; ++i)
      warp.unwritten[tracked.first + i] |= lanes;
    forLanes(lanes, [&](unsigned l) { warp.unwrittenOrigin[number * kWarpSize + l] = 0; });
  }
}

bool xc::ptxsim::checkUnwritten(Warp &warp, const Inst &inst, uint32_t lanes, uint32_t mask) {
  return !warp.block->launch->options.checks.uninitialised || Check(warp, inst, lanes, mask).run();
}
