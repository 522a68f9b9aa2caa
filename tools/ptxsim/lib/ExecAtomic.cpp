//===- ExecAtomic.cpp - atom and red --------------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every operation is a loop of compare-and-swap on the host, lane by lane.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Narrow.h"

#include <algorithm>

using namespace xc::ptxsim;

namespace {

struct Add {
  template <typename T> static T apply(T old, T b, T) { return static_cast<T>(old + b); }
};
struct Min {
  template <typename T> static T apply(T old, T b, T) { return std::min(old, b); }
};
struct Max {
  template <typename T> static T apply(T old, T b, T) { return std::max(old, b); }
};
struct And {
  template <typename T> static T apply(T old, T b, T) { return old & b; }
};
struct Or {
  template <typename T> static T apply(T old, T b, T) { return old | b; }
};
struct Xor {
  template <typename T> static T apply(T old, T b, T) { return old ^ b; }
};
struct Exch {
  template <typename T> static T apply(T, T b, T) { return b; }
};
struct Cas {
  template <typename T> static T apply(T old, T b, T c) { return old == b ? c : old; }
};
struct Inc {
  template <typename T> static T apply(T old, T b, T) { return old >= b ? 0 : old + 1; }
};
struct Dec {
  template <typename T> static T apply(T old, T b, T) { return old == 0 || old > b ? b : old - 1; }
};

float flushed(float a) {
  uint32_t bits = bitCast<uint32_t>(a);
  return (bits & 0x7f800000u) == 0 ? bitCast<float>(bits & 0x80000000u) : a;
}

struct AddF32 {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    float r = bitCast<float>(old) + bitCast<float>(b);
    return r != r ? 0x7fffffffu : bitCast<uint32_t>(r);
  }
};
/// In global memory subnormal operands and results are flushed.
struct AddF32Global {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    float r = flushed(flushed(bitCast<float>(old)) + flushed(bitCast<float>(b)));
    return r != r ? 0x7fffffffu : bitCast<uint32_t>(r);
  }
};
/// A sum of f64 on the way to memory. Of two NaNs the shared memory's wins, which a
/// loop of compare-and-swap makes quiet; in global memory the operand wins, and
/// either stays as it is.
template <bool IsShared> struct AddF64 {
  static uint64_t apply(uint64_t old, uint64_t b, uint64_t) {
    double x = bitCast<double>(old), y = bitCast<double>(b);
    if (IsShared)
      return bitCast<uint64_t>(nanOr(x + y, y, x));
    return y != y ? b : x != x ? old : bitCast<uint64_t>(nanOr(x + y, x, y));
  }
};

template <typename F> uint16_t encode(double value) {
  return static_cast<uint16_t>(encodeFloat(value, F::kFormat, Rounding::NearestEven));
}
template <typename F> struct HalfAdd {
  static uint16_t one(uint16_t a, uint16_t b) {
    return encode<F>(addToOdd(F::decode(a), F::decode(b)));
  }
};
template <typename F, bool IsMin> struct HalfMinMax {
  static uint16_t one(uint16_t a, uint16_t b) {
    float x = F::decode(a), y = F::decode(b);
    if (x != x || y != y)
      return x != x && y != y ? static_cast<uint16_t>(F::kFormat.nan()) : x != x ? b : a;
    bool less = x < y || (x == y && (a & 0x8000));
    return less == IsMin ? a : b;
  }
};
template <typename H> struct Scalar {
  static uint16_t apply(uint16_t old, uint16_t b, uint16_t) { return H::one(old, b); }
};
template <typename H> struct Paired {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    uint32_t low = H::one(static_cast<uint16_t>(old), static_cast<uint16_t>(b));
    uint32_t high = H::one(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16));
    return low | high << 16;
  }
};

template <typename Op, typename T> T exchange(uint8_t *at, T b, T c) {
  auto *word = reinterpret_cast<T *>(at);
  T old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(word, &old, Op::apply(old, b, c),
                                      /*weak=*/true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

/// MemOp::regs: the destinations in 0..3 (kNoRow for red), the operands b in
/// 4..7; Inst::c is the operand c of cas.
template <typename Op, typename T> void execAtomic(Warp &warp, const Inst &inst, uint32_t mask) {
  const MemOp &op = warp.program->memOps[inst.aux];
  LaneAccess lanes;
  laneAddresses(warp, inst.a, op.wideAddress, inst.imm, lanes.address);
  Access access{op.space, static_cast<unsigned>(sizeof(T)) * op.count, AccessKind::Atomic,
                strengthOf(op.order, op.scope)};
  if (!resolveAccess(warp, inst, mask, access, lanes))
    return;
  const T *c = inst.c == kNoRow ? nullptr : warp.row<T>(inst.c);
  LineLock lock(*warp.block);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto l = static_cast<unsigned>(__builtin_ctz(rest));
    lock.take(lanes, l);
    if (!noteAtomic(warp, inst, access, lanes, l))
      return;
    releaseAt(warp, lanes, l, op.order, op.scope);
    for (unsigned i = 0; i < op.count; ++i) {
      T b = warp.row<T>(op.regs[4 + i])[l];
      T old = exchange<Op, T>(lanes.host[l] + i * sizeof(T), b, c ? c[l] : T());
      if (op.regs[i] != kNoRow)
        warp.row<T>(op.regs[i])[l] = old;
    }
    acquireAt(warp, lanes, l, op.order, op.scope);
  }
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <typename Op> ExecFn pickBits(Type type) {
  switch (typeBits(type)) {
  case 16:
    return execAtomic<Op, uint16_t>;
  case 32:
    return execAtomic<Op, uint32_t>;
  case 64:
    return execAtomic<Op, uint64_t>;
  default:
    return nullptr;
  }
}

template <typename Op> ExecFn pickInteger(Type type) {
  switch (type) {
  case Type::U32:
    return execAtomic<Op, uint32_t>;
  case Type::S32:
    return execAtomic<Op, int32_t>;
  case Type::U64:
    return execAtomic<Op, uint64_t>;
  case Type::S64:
    return execAtomic<Op, int64_t>;
  default:
    return nullptr;
  }
}

template <template <typename> class Half> ExecFn pickHalf(Type type) {
  switch (type) {
  case Type::F16:
    return execAtomic<Scalar<Half<HalfFormat>>, uint16_t>;
  case Type::F16x2:
    return execAtomic<Paired<Half<HalfFormat>>, uint32_t>;
  case Type::BF16:
    return execAtomic<Scalar<Half<BfloatFormat>>, uint16_t>;
  case Type::BF16x2:
    return execAtomic<Paired<Half<BfloatFormat>>, uint32_t>;
  default:
    return nullptr;
  }
}
template <typename F> using HalfMin = HalfMinMax<F, true>;
template <typename F> using HalfMax = HalfMinMax<F, false>;

ExecFn pickAtomic(std::string_view name, Type type, Space space) {
  bool isBits = typeKind(type) == TypeKind::Bits;
  if (name == "add") {
    if (type == Type::F32)
      return space == Space::Shared ? execAtomic<AddF32, uint32_t>
                                    : execAtomic<AddF32Global, uint32_t>;
    if (type == Type::F64)
      return space == Space::Shared ? execAtomic<AddF64<true>, uint64_t>
                                    : execAtomic<AddF64<false>, uint64_t>;
    // Wrapping: signed sums are computed unsigned.
    if (type == Type::S32)
      return execAtomic<Add, uint32_t>;
    return isFloat(type) ? pickHalf<HalfAdd>(type) : pickInteger<Add>(type);
  }
  if (name == "min")
    return isFloat(type) ? pickHalf<HalfMin>(type) : pickInteger<Min>(type);
  if (name == "max")
    return isFloat(type) ? pickHalf<HalfMax>(type) : pickInteger<Max>(type);
  if (name == "and" && isBits && typeBits(type) >= 32)
    return pickBits<And>(type);
  if (name == "or" && isBits && typeBits(type) >= 32)
    return pickBits<Or>(type);
  if (name == "xor" && isBits && typeBits(type) >= 32)
    return pickBits<Xor>(type);
  if (name == "exch" && isBits)
    return pickBits<Exch>(type);
  if (name == "cas" && isBits)
    return pickBits<Cas>(type);
  if (name == "inc" && type == Type::U32)
    return execAtomic<Inc, uint32_t>;
  if (name == "dec" && type == Type::U32)
    return execAtomic<Dec, uint32_t>;
  return nullptr;
}

/// What returns nothing acquires nothing.
void takeAtomicOrder(InstDecoder &d, bool isRed, MemOp &op) {
  op.order = Order::Relaxed;
  if (!isRed && d.flag("acquire"))
    op.order = Order::Acquire;
  else if (d.flag("release"))
    op.order = Order::Release;
  else if (!isRed && d.flag("acq_rel"))
    op.order = Order::AcqRel;
  else
    d.flag("relaxed");
  op.scope = d.takeScope();
  if (op.scope == MemScope::None)
    op.scope = MemScope::Gpu;
}

bool takeRows(InstDecoder &d, const Operand *operand, Type type, bool isDst, MemOp &op) {
  bool isVector = operand->kind == Operand::Vector;
  size_t count = isVector ? operand->children.size() : 1;
  if (count != op.count)
    return d.fail("expected " + std::to_string(op.count) + " values, got " + std::to_string(count));
  for (size_t i = 0; i < count; ++i) {
    const Operand *value = isVector ? &operand->children[i] : operand;
    if (isDst)
      op.regs[i] = value->kind == Operand::Sink ? kNoRow : d.dst(value, typeBits(type));
    else
      op.regs[4 + i] = d.src(value, type);
  }
  return !d.failed();
}

bool decodeAtomic(InstDecoder &d, bool isRed) {
  MemOp op;
  takeAtomicOrder(d, isRed, op);
  op.space = d.takeSpace(Space::Generic);
  bool hasPolicy = d.flag("L2::cache_hint");
  d.flag("noftz"); // required on the 16-bit types, which never flush
  std::string_view name = d.nextModifier();
  if (d.flag("v2"))
    op.count = 2;
  else if (d.flag("v4"))
    op.count = 4;
  Type type = d.takeType();
  if (d.failed())
    return false;
  if (op.space != Space::Generic && op.space != Space::Global && op.space != Space::Shared &&
      op.space != Space::SharedCluster)
    return d.fail("expected global, shared or generic memory");
  bool isHalf =
      isFloat(type) && (typeBits(type) == 16 || type == Type::F16x2 || type == Type::BF16x2);
  if (isHalf && op.count == 1 && (name == "min" || name == "max"))
    return d.fail("expected .v2 or .v4: there is no ." + std::string(name) + " of one value");
  d.out.fn = pickAtomic(name, type, op.space);
  if (!d.out.fn)
    return d.fail("unsupported operation ." + std::string(name) + " on type ." + typeName(type));
  bool isCas = name == "cas";
  unsigned first = isRed ? 0 : 1;
  unsigned count = first + 2 + (isCas ? 1 : 0);
  if ((isRed && (isCas || name == "exch")) || !d.expectOperands(count, count + (hasPolicy ? 1 : 0)))
    return d.failed() ? false : d.fail("has no result");
  AddressRef address = d.address(first, op.space);
  if (d.failed() || (!isRed && !takeRows(d, d.operand(0), type, true, op)) ||
      !takeRows(d, d.operand(first + 1), type, false, op))
    return false;
  if (isCas)
    d.out.c = d.src(first + 2, type);
  op.wideAddress = address.wide;
  d.out.a = address.row;
  d.out.imm = address.offset;
  d.out.mayFault = true;
  d.out.instClass = InstClass::Memory;
  d.out.aux = static_cast<uint32_t>(d.program().memOps.size());
  d.program().memOps.push_back(op);
  return !d.failed();
}

} // namespace

void xc::ptxsim::addAtomicOpcodes(OpcodeTable &table) {
  table["atom"] = [](InstDecoder &d) { return decodeAtomic(d, false); };
  table["red"] = [](InstDecoder &d) { return decodeAtomic(d, true); };
}
