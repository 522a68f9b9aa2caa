//===- ExecWarp.cpp - shfl, vote, match, redux, activemask ----------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scheduler calls these once all members of the mask have come.
//
//===----------------------------------------------------------------------===//

#include "Exec.h"

#include <algorithm>

using namespace xc::ptxsim;

namespace {

enum class ShuffleMode : uint8_t { Up, Down, Butterfly, Index };

} // namespace

unsigned xc::ptxsim::shuffleSource(const Warp &warp, const Inst &inst, unsigned lane,
                                   bool &inRange) {
  uint32_t b = warp.row<uint32_t>(inst.b)[lane], c = warp.row<uint32_t>(inst.c)[lane];
  unsigned delta = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  unsigned minLane = lane & segment;
  auto maxLane = static_cast<int>(minLane | (clamp & ~segment & 31));
  int j = 0;
  switch (static_cast<ShuffleMode>(inst.aux)) {
  case ShuffleMode::Up:
    j = static_cast<int>(lane) - static_cast<int>(delta);
    break;
  case ShuffleMode::Down:
    j = static_cast<int>(lane + delta);
    break;
  case ShuffleMode::Butterfly:
    j = static_cast<int>(lane ^ delta);
    break;
  case ShuffleMode::Index:
    j = static_cast<int>(minLane | (delta & ~segment & 31));
    break;
  }
  inRange = static_cast<ShuffleMode>(inst.aux) == ShuffleMode::Up ? j >= maxLane : j <= maxLane;
  return inRange ? static_cast<unsigned>(j) : lane;
}

namespace {

void execShuffle(Warp &warp, const Inst &inst, uint32_t mask) {
  const uint32_t *a = warp.row<uint32_t>(inst.a);
  uint32_t source[kWarpSize], result[kWarpSize], valid = 0;
  std::copy(a, a + kWarpSize, source);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    bool inRange = false;
    unsigned from = shuffleSource(warp, inst, lane, inRange);
    valid |= static_cast<uint32_t>(inRange) << lane;
    // What a lane that is not there holds is undefined.
    if (!(mask >> from & 1) && warp.block->launch->options.checks.uninitialised) {
      warp.block->raise(FaultKind::UninitialisedRead, warp, lane, inst, 0,
                        "reads from lane " + std::to_string(from) +
                            ", which does not take part in the shuffle");
      return;
    }
    result[lane] = source[from];
  }
  uint32_t *d = warp.row<uint32_t>(inst.dst);
  forLanes(mask, [&](unsigned lane) { d[lane] = result[lane]; });
  if (inst.imm >= 0) {
    uint32_t &p = warp.predicate(static_cast<uint32_t>(inst.imm));
    p = (p & ~mask) | (valid & mask);
  }
}

bool decodeShuffle(InstDecoder &d) {
  if (!d.flag("sync"))
    return d.fail("expected .sync");
  if (d.flag("up"))
    d.out.aux = static_cast<uint32_t>(ShuffleMode::Up);
  else if (d.flag("down"))
    d.out.aux = static_cast<uint32_t>(ShuffleMode::Down);
  else if (d.flag("bfly"))
    d.out.aux = static_cast<uint32_t>(ShuffleMode::Butterfly);
  else if (d.flag("idx"))
    d.out.aux = static_cast<uint32_t>(ShuffleMode::Index);
  else
    return d.fail("expected .up, .down, .bfly or .idx");
  d.takeType();
  if (d.failed() || !d.expectOperands(5))
    return false;
  const Operand *dst = d.operand(0);
  d.out.imm = -1;
  if (dst->kind == Operand::Pair) {
    d.out.dst = d.dst(&dst->children[0], 32);
    d.out.imm = d.dstPredicate(&dst->children[1]);
  } else {
    d.out.dst = d.dst(dst, 32);
  }
  d.out.a = d.src(1, Type::B32);
  d.out.b = d.src(2, Type::B32);
  d.out.c = d.src(3, Type::B32);
  d.out.sync = d.src(4, Type::B32);
  d.out.fn = execShuffle;
  return !d.failed();
}

enum class Vote : uint8_t { All, Any, Uniform, Ballot };

void execVote(Warp &warp, const Inst &inst, uint32_t mask) {
  uint32_t p = (warp.predicate(inst.a) ^ static_cast<uint32_t>(inst.imm)) & mask;
  auto kind = static_cast<Vote>(inst.aux);
  if (kind == Vote::Ballot) {
    uint32_t *d = warp.row<uint32_t>(inst.dst);
    forLanes(mask, [&](unsigned l) { d[l] = p; });
    return;
  }
  bool value = kind == Vote::All ? p == mask : kind == Vote::Any ? p != 0 : p == 0 || p == mask;
  uint32_t &d = warp.predicate(inst.dst);
  d = value ? d | mask : d & ~mask;
}

bool decodeVote(InstDecoder &d) {
  if (!d.flag("sync"))
    return d.fail("expected .sync");
  Vote kind;
  if (d.flag("all"))
    kind = Vote::All;
  else if (d.flag("any"))
    kind = Vote::Any;
  else if (d.flag("uni"))
    kind = Vote::Uniform;
  else if (d.flag("ballot"))
    kind = Vote::Ballot;
  else
    return d.fail("expected .all, .any, .uni or .ballot");
  Type type = d.takeType();
  if (d.failed() || !d.expectOperands(3))
    return false;
  if (type != (kind == Vote::Ballot ? Type::B32 : Type::Pred))
    return d.fail("unexpected type ." + std::string(typeName(type)));
  d.out.fn = execVote;
  d.out.aux = static_cast<uint32_t>(kind);
  d.out.dst = kind == Vote::Ballot ? d.dst(0u, type) : d.dstPredicate(d.operand(0));
  PredicateRef p = d.predicate(1);
  d.out.a = p.row;
  d.out.imm = p.flip;
  d.out.sync = d.src(2, Type::B32);
  return !d.failed();
}

template <typename T> void execMatch(Warp &warp, const Inst &inst, uint32_t mask) {
  const T *a = warp.row<T>(inst.a);
  uint32_t *d = warp.row<uint32_t>(inst.dst);
  bool all = inst.aux != 0;
  uint32_t result[kWarpSize] = {};
  bool equal = true;
  forLanes(mask, [&](unsigned l) {
    forLanes(mask, [&](unsigned m) { result[l] |= static_cast<uint32_t>(a[l] == a[m]) << m; });
    equal = equal && result[l] == mask;
  });
  forLanes(mask, [&](unsigned l) { d[l] = all ? (equal ? mask : 0) : result[l]; });
  if (inst.imm >= 0) {
    uint32_t &p = warp.predicate(static_cast<uint32_t>(inst.imm));
    p = equal ? p | mask : p & ~mask;
  }
}

bool decodeMatch(InstDecoder &d) {
  bool any = d.flag("any"), all = d.flag("all");
  if (any == all || !d.flag("sync"))
    return d.fail("expected .any.sync or .all.sync");
  Type type = d.takeType();
  if (d.failed() || !d.expectOperands(3))
    return false;
  d.out.fn = type == Type::B32 ? execMatch<uint32_t> : execMatch<uint64_t>;
  d.out.aux = all;
  const Operand *dst = d.operand(0);
  d.out.imm = -1;
  if (dst->kind == Operand::Pair) {
    d.out.dst = d.dst(&dst->children[0], 32);
    d.out.imm = d.dstPredicate(&dst->children[1]);
  } else {
    d.out.dst = d.dst(dst, 32);
  }
  d.out.a = d.src(1, type);
  d.out.sync = d.src(2, Type::B32);
  return !d.failed();
}

struct RedAdd {
  template <typename T> static T apply(T a, T b) {
    return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  }
};
struct RedMin {
  template <typename T> static T apply(T a, T b) { return std::min(a, b); }
};
struct RedMax {
  template <typename T> static T apply(T a, T b) { return std::max(a, b); }
};
struct RedAnd {
  template <typename T> static T apply(T a, T b) { return a & b; }
};
struct RedOr {
  template <typename T> static T apply(T a, T b) { return a | b; }
};
struct RedXor {
  template <typename T> static T apply(T a, T b) { return a ^ b; }
};

template <typename Op, typename T> void execRedux(Warp &warp, const Inst &inst, uint32_t mask) {
  const T *a = warp.row<T>(inst.a);
  T value = a[__builtin_ctz(mask)];
  forLanes(mask & (mask - 1), [&](unsigned l) { value = Op::apply(value, a[l]); });
  T *d = warp.row<T>(inst.dst);
  forLanes(mask, [&](unsigned l) { d[l] = value; });
}

bool decodeRedux(InstDecoder &d) {
  if (!d.flag("sync"))
    return d.fail("expected .sync");
  std::string_view name = d.nextModifier();
  Type type = d.takeType();
  if (d.failed() || !d.expectOperands(3))
    return false;
  bool sign = type == Type::S32;
  ExecFn fn = nullptr;
  if (name == "add" && type != Type::B32)
    fn = execRedux<RedAdd, uint32_t>;
  else if (name == "min" && type != Type::B32)
    fn = sign ? execRedux<RedMin, int32_t> : execRedux<RedMin, uint32_t>;
  else if (name == "max" && type != Type::B32)
    fn = sign ? execRedux<RedMax, int32_t> : execRedux<RedMax, uint32_t>;
  else if (name == "and" && type == Type::B32)
    fn = execRedux<RedAnd, uint32_t>;
  else if (name == "or" && type == Type::B32)
    fn = execRedux<RedOr, uint32_t>;
  else if (name == "xor" && type == Type::B32)
    fn = execRedux<RedXor, uint32_t>;
  if (!fn || typeBits(type) != 32 || isFloat(type))
    return d.fail("unsupported operation or type");
  d.out.fn = fn;
  d.out.dst = d.dst(0u, type);
  d.out.a = d.src(1, type);
  d.out.sync = d.src(2, Type::B32);
  return !d.failed();
}

/// elect.sync: the lowest lane of the mask is the leader.
void execElect(Warp &warp, const Inst &inst, uint32_t mask) {
  auto leader = static_cast<unsigned>(__builtin_ctz(mask));
  uint32_t *d = warp.row<uint32_t>(inst.dst);
  forLanes(mask, [&](unsigned l) { d[l] = leader; });
  uint32_t &p = warp.predicate(static_cast<uint32_t>(inst.imm));
  p = (p & ~mask) | 1u << leader;
}

bool decodeElect(InstDecoder &d) {
  if (!d.flag("sync") || !d.expectOperands(2) || d.operand(0)->kind != Operand::Pair)
    return d.failed() ? false : d.fail("expected elect.sync d|p, mask");
  d.out.fn = execElect;
  d.out.dst = d.dst(&d.operand(0)->children[0], 32);
  d.out.imm = d.dstPredicate(&d.operand(0)->children[1]);
  d.out.sync = d.src(1, Type::B32);
  return !d.failed();
}

void execActiveMask(Warp &warp, const Inst &inst, uint32_t mask) {
  uint32_t *d = warp.row<uint32_t>(inst.dst);
  forLanes(mask, [&](unsigned l) { d[l] = mask; });
}

template <bool (*Decode)(InstDecoder &)> bool decodeWarpSync(InstDecoder &d) {
  d.out.control = Control::WarpSync;
  d.out.instClass = InstClass::Sync;
  return Decode(d);
}

} // namespace

void xc::ptxsim::addWarpOpcodes(OpcodeTable &table) {
  table["shfl"] = decodeWarpSync<decodeShuffle>;
  table["vote"] = decodeWarpSync<decodeVote>;
  table["match"] = decodeWarpSync<decodeMatch>;
  table["redux"] = decodeWarpSync<decodeRedux>;
  table["elect"] = decodeWarpSync<decodeElect>;
  table["activemask"] = [](InstDecoder &d) {
    Type type = d.takeType();
    d.out.fn = execActiveMask;
    d.out.instClass = InstClass::Sync;
    d.out.dst = d.dst(0u, type);
    return !d.failed() && d.expectOperands(1);
  };
}
