//===- ExecMove.cpp - mov, packing, address conversions, clocks -----------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exec.h"

#include <chrono>

using namespace xc::ptxsim;

namespace {

struct Wide {
  uint64_t low, high;
};

template <typename T> void execMove(Warp &warp, const Inst &inst, uint32_t mask) {
  T *d = warp.row<T>(inst.dst);
  const T *a = warp.row<T>(inst.a);
  if (mask == kFullMask) {
    std::memmove(d, a, sizeof(T) * kWarpSize);
    return;
  }
  forLanes(mask, [&](unsigned l) { d[l] = a[l]; });
}

void execMovePredicate(Warp &warp, const Inst &inst, uint32_t mask) {
  uint32_t &d = warp.predicate(inst.dst);
  uint32_t a = warp.predicate(inst.a) ^ static_cast<uint32_t>(inst.imm);
  d = (d & ~mask) | (a & mask);
}

/// mov.b64 d, {a, b}: tables[aux] are the rows, imm the bytes of each.
void execPack(Warp &warp, const Inst &inst, uint32_t mask) {
  const std::vector<uint32_t> &rows = warp.program->tables[inst.aux];
  auto bytes = static_cast<size_t>(inst.imm);
  size_t total = bytes * rows.size();
  forLanes(mask, [&](unsigned l) {
    uint8_t value[16];
    for (size_t i = 0; i < rows.size(); ++i)
      std::memcpy(value + i * bytes, warp.registers + rows[i] + l * bytes, bytes);
    std::memcpy(warp.registers + inst.dst + l * total, value, total);
  });
}

void execUnpack(Warp &warp, const Inst &inst, uint32_t mask) {
  const std::vector<uint32_t> &rows = warp.program->tables[inst.aux];
  auto bytes = static_cast<size_t>(inst.imm);
  size_t total = bytes * rows.size();
  forLanes(mask, [&](unsigned l) {
    uint8_t value[16];
    std::memcpy(value, warp.registers + inst.a + l * total, total);
    for (size_t i = 0; i < rows.size(); ++i)
      if (rows[i] != kNoRow)
        std::memcpy(warp.registers + rows[i] + l * bytes, value + i * bytes, bytes);
  });
}

bool decodePack(InstDecoder &d, Type type, bool isPack) {
  const Operand *vector = d.operand(isPack ? 1 : 0);
  size_t count = vector->children.size();
  unsigned bits = count ? typeBits(type) / static_cast<unsigned>(count) : 0;
  if (count < 2 || bits < 8 || bits * count != typeBits(type))
    return d.fail("expected a vector that divides the type");
  if (bits == 8)
    return d.fail("unsupported packing of 8-bit registers");
  Type element = bits == 16 ? Type::B16 : bits == 32 ? Type::B32 : Type::B64;
  std::vector<uint32_t> rows;
  for (const Operand &child : vector->children) {
    if (!isPack && child.kind == Operand::Sink)
      rows.push_back(kNoRow);
    else
      rows.push_back(isPack ? d.src(&child, element) : d.dst(&child, bits));
  }
  if (isPack)
    d.out.dst = d.dst(0u, type);
  else
    d.out.a = d.src(1, type);
  d.out.fn = isPack ? execPack : execUnpack;
  d.out.imm = bits / 8;
  d.out.aux = static_cast<uint32_t>(d.program().tables.size());
  d.program().tables.push_back(std::move(rows));
  return !d.failed();
}

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

uint64_t nanoseconds() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

/// Clocks count the thread-instructions of the block, so that runs repeat
/// exactly.
template <typename T, unsigned Shift, bool Timer>
void execClock(Warp &warp, const Inst &inst, uint32_t mask) {
  uint64_t now = Timer ? nanoseconds() : warp.block->executed;
  T *d = warp.row<T>(inst.dst);
  forLanes(mask, [&](unsigned l) { d[l] = static_cast<T>(now >> Shift); });
}

ExecFn clockFn(std::string_view name, unsigned &bits) {
  bits = 32;
  if (name == "%clock")
    return execClock<uint32_t, 0, false>;
  if (name == "%clock_hi")
    return execClock<uint32_t, 32, false>;
  if (name == "%globaltimer_lo")
    return execClock<uint32_t, 0, true>;
  if (name == "%globaltimer_hi")
    return execClock<uint32_t, 32, true>;
  bits = 64;
  if (name == "%clock64")
    return execClock<uint64_t, 0, false>;
  if (name == "%globaltimer")
    return execClock<uint64_t, 0, true>;
  return nullptr;
}

bool decodeMov(InstDecoder &d) {
  Type type = d.takeType();
  if (d.failed() || !d.expectOperands(2))
    return false;
  const Operand *dst = d.operand(0), *src = d.operand(1);
  if (type == Type::Pred) {
    PredicateRef a = d.predicate(src);
    d.out.fn = execMovePredicate;
    d.out.dst = d.dstPredicate(dst);
    d.out.a = a.row;
    d.out.imm = a.flip;
    return !d.failed();
  }
  if (src->kind == Operand::Vector || dst->kind == Operand::Vector)
    return decodePack(d, type, src->kind == Operand::Vector);
  if (src->kind == Operand::Special) {
    unsigned bits = 0;
    if (ExecFn fn = clockFn(src->text, bits)) {
      d.out.fn = fn;
      d.out.dst = d.dst(dst, bits);
      return !d.failed();
    }
  }
  d.out.dst = d.dst(dst, typeBits(type));
  d.out.a = d.src(src, type);
  switch (typeBits(type)) {
  case 16:
    d.out.fn = execMove<uint16_t>;
    break;
  case 32:
    d.out.fn = execMove<uint32_t>;
    break;
  case 64:
    d.out.fn = execMove<uint64_t>;
    break;
  case 128:
    d.out.fn = execMove<Wide>;
    break;
  default:
    return d.fail("unsupported type ." + std::string(typeName(type)));
  }
  return !d.failed();
}

//===----------------------------------------------------------------------===//
// Address spaces
//===----------------------------------------------------------------------===//

uint64_t windowOf(Space space) {
  switch (space) {
  case Space::Shared:
  case Space::SharedCluster:
    return kSharedWindow;
  case Space::Local:
    return kLocalWindow;
  case Space::Param:
    return kParamWindow;
  default:
    return 0;
  }
}

template <typename T> void execAddWindow(Warp &warp, const Inst &inst, uint32_t mask) {
  T *d = warp.row<T>(inst.dst);
  const T *a = warp.row<T>(inst.a);
  forLanes(mask,
           [&](unsigned l) { d[l] = static_cast<T>(a[l] + static_cast<uint64_t>(inst.imm)); });
}

bool decodeCvta(InstDecoder &d) {
  bool to = d.flag("to");
  Space space = d.takeSpace(Space::None);
  Type type = d.takeType();
  if (d.failed())
    return false;
  if (space == Space::None || typeBits(type) != 64)
    return d.fail("expected a state space and a type of 64 bits");
  // A parameter of a function is in a slot of local memory.
  if (space == Space::Param && !d.owner().function().isEntry)
    space = Space::Local;
  if (!d.expectOperands(2))
    return false;
  uint64_t window = windowOf(space);
  d.out.fn = execAddWindow<uint64_t>;
  d.out.imm = static_cast<int64_t>(to ? 0 - window : window);
  d.out.dst = d.dst(0u, type);
  d.out.a = d.src(1, type);
  return !d.failed();
}

void execIsspacep(Warp &warp, const Inst &inst, uint32_t mask) {
  const uint64_t *a = warp.row<uint64_t>(inst.a);
  auto space = static_cast<Space>(inst.aux);
  // Without .cluster it must be one's own shared memory.
  bool own = space == Space::Shared;
  if (space == Space::SharedCluster)
    space = Space::Shared;
  uint32_t result = 0;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    uint64_t rank = (a[l] & ~kWindowMask) >> kRankShift;
    result |= static_cast<uint32_t>(spaceOfGeneric(a[l]) == space &&
                                    (!own || rank == 0 || rank == warp.block->rank + 1))
              << l;
  }
  uint32_t &d = warp.predicate(inst.dst);
  d = (d & ~mask) | (result & mask);
}

bool decodeIsspacep(InstDecoder &d) {
  Space space = d.takeSpace(Space::None);
  if (d.failed() || !d.expectOperands(2))
    return false;
  if (space != Space::Global && space != Space::Shared && space != Space::Local &&
      space != Space::Param && space != Space::SharedCluster)
    return d.fail("unsupported state space");
  d.out.fn = execIsspacep;
  d.out.aux = static_cast<uint32_t>(space);
  d.out.dst = d.dstPredicate(d.operand(0));
  d.out.a = d.src(1, Type::U64);
  return !d.failed();
}

} // namespace

void xc::ptxsim::addMoveOpcodes(OpcodeTable &table) {
  table["mov"] = decodeMov;
  table["cvta"] = decodeCvta;
  table["isspacep"] = decodeIsspacep;
}
