//===- ExecCompare.cpp - setp, set, selp, slct ----------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exec.h"
#include "Narrow.h"

using namespace xc::ptxsim;

namespace {

enum class Cmp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };

template <Cmp C, typename T> bool compare(T a, T b) {
  switch (C) {
  case Cmp::Eq:
    return a == b;
  // Ordered: false with a NaN, unlike the host's !=.
  case Cmp::Ne:
    return a < b || a > b;
  case Cmp::Lt:
    return a < b;
  case Cmp::Le:
    return a <= b;
  case Cmp::Gt:
    return a > b;
  case Cmp::Ge:
    return a >= b;
  case Cmp::Equ:
    return !(a < b || a > b);
  case Cmp::Neu:
    return a != b;
  case Cmp::Ltu:
    return !(a >= b);
  case Cmp::Leu:
    return !(a > b);
  case Cmp::Gtu:
    return !(a <= b);
  case Cmp::Geu:
    return !(a < b);
  case Cmp::Num:
    return a == a && b == b;
  case Cmp::Nan:
    return a != a || b != b;
  }
  return false;
}

/// How a lane of a row becomes a comparable value.
template <typename T> struct Plain {
  using Row = T;
  static T load(T a) { return a; }
};
struct FlushedF32 {
  using Row = float;
  static float load(float a) {
    uint32_t bits = bitCast<uint32_t>(a);
    return (bits & 0x7f800000u) == 0 ? 0.0f : a;
  }
};
template <typename F> struct Narrow {
  using Row = uint16_t;
  static float load(uint16_t a) { return F::decode(a); }
};
/// One half of a pair.
template <typename F, unsigned Shift> struct HalfOfPair {
  using Row = uint32_t;
  static float load(uint32_t a) { return F::decode(static_cast<uint16_t>(a >> Shift)); }
};

using CompareFn = uint32_t (*)(const Warp &warp, const Inst &inst);

template <Cmp C, typename L> uint32_t compareRows(const Warp &warp, const Inst &inst) {
  const auto *a = warp.row<typename L::Row>(inst.a);
  const auto *b = warp.row<typename L::Row>(inst.b);
  uint32_t result = 0;
  for (unsigned l = 0; l < kWarpSize; ++l)
    result |= static_cast<uint32_t>(compare<C>(L::load(a[l]), L::load(b[l]))) << l;
  return result;
}

enum class BoolOp : uint8_t { None, And, Or, Xor };

/// What Inst::imm of setp and set holds.
struct SetpBits {
  uint32_t secondDst; // q of p|q
  uint32_t combine;   // BoolOp | flip << 2
  int64_t pack() const {
    return static_cast<int64_t>(static_cast<uint64_t>(secondDst) << 8 | combine);
  }
  static SetpBits unpack(int64_t imm) {
    auto bits = static_cast<uint64_t>(imm);
    return {static_cast<uint32_t>(bits >> 8), static_cast<uint32_t>(bits & 0xff)};
  }
};

uint32_t combine(const Warp &warp, const Inst &inst, uint32_t bits, uint32_t value) {
  auto op = static_cast<BoolOp>(bits & 3);
  if (op == BoolOp::None)
    return value;
  uint32_t c = warp.predicate(inst.c) ^ (bits & 4 ? kFullMask : 0);
  return op == BoolOp::And ? value & c : op == BoolOp::Or ? value | c : value ^ c;
}

void writePredicate(const Warp &warp, uint32_t row, uint32_t mask, uint32_t value) {
  uint32_t &d = warp.predicate(row);
  d = (d & ~mask) | (value & mask);
}

template <CompareFn Compare> void execSetp(Warp &warp, const Inst &inst, uint32_t mask) {
  SetpBits bits = SetpBits::unpack(inst.imm);
  uint32_t value = Compare(warp, inst);
  uint32_t p = combine(warp, inst, bits.combine, value);
  uint32_t q = combine(warp, inst, bits.combine, ~value);
  writePredicate(warp, inst.dst, mask, p);
  if (bits.secondDst != 0)
    writePredicate(warp, bits.secondDst, mask, q);
}

/// Pairs: p is of the low halves, q of the high ones.
template <CompareFn Low, CompareFn High>
void execSetpPair(Warp &warp, const Inst &inst, uint32_t mask) {
  SetpBits bits = SetpBits::unpack(inst.imm);
  uint32_t p = combine(warp, inst, bits.combine, Low(warp, inst));
  uint32_t q = combine(warp, inst, bits.combine, High(warp, inst));
  writePredicate(warp, inst.dst, mask, p);
  if (bits.secondDst != 0)
    writePredicate(warp, bits.secondDst, mask, q);
}

/// set: aux is the value that means true.
template <CompareFn Compare, typename T> void execSet(Warp &warp, const Inst &inst, uint32_t mask) {
  SetpBits bits = SetpBits::unpack(inst.imm);
  uint32_t value = combine(warp, inst, bits.combine, Compare(warp, inst));
  T *d = warp.row<T>(inst.dst);
  forLanes(mask, [&](unsigned l) { d[l] = value >> l & 1 ? static_cast<T>(inst.aux) : T(0); });
}

template <CompareFn Low, CompareFn High>
void execSetPair(Warp &warp, const Inst &inst, uint32_t mask) {
  SetpBits bits = SetpBits::unpack(inst.imm);
  uint32_t low = combine(warp, inst, bits.combine, Low(warp, inst));
  uint32_t high = combine(warp, inst, bits.combine, High(warp, inst));
  uint32_t *d = warp.row<uint32_t>(inst.dst);
  forLanes(mask, [&](unsigned l) {
    d[l] = (low >> l & 1 ? inst.aux & 0xffffu : 0) | (high >> l & 1 ? inst.aux & 0xffff0000u : 0);
  });
}

struct CompareFns {
  ExecFn setp = nullptr;
  ExecFn set = nullptr;   // result of 32 bits
  ExecFn set16 = nullptr; // result of 16 bits
};

template <typename L, Cmp C> CompareFns fnsOf() {
  constexpr CompareFn kCompare = compareRows<C, L>;
  return {execSetp<kCompare>, execSet<kCompare, uint32_t>, execSet<kCompare, uint16_t>};
}

template <typename L> CompareFns pickFloatCompare(Cmp cmp) {
  switch (cmp) {
  case Cmp::Eq:
    return fnsOf<L, Cmp::Eq>();
  case Cmp::Ne:
    return fnsOf<L, Cmp::Ne>();
  case Cmp::Lt:
    return fnsOf<L, Cmp::Lt>();
  case Cmp::Le:
    return fnsOf<L, Cmp::Le>();
  case Cmp::Gt:
    return fnsOf<L, Cmp::Gt>();
  case Cmp::Ge:
    return fnsOf<L, Cmp::Ge>();
  case Cmp::Equ:
    return fnsOf<L, Cmp::Equ>();
  case Cmp::Neu:
    return fnsOf<L, Cmp::Neu>();
  case Cmp::Ltu:
    return fnsOf<L, Cmp::Ltu>();
  case Cmp::Leu:
    return fnsOf<L, Cmp::Leu>();
  case Cmp::Gtu:
    return fnsOf<L, Cmp::Gtu>();
  case Cmp::Geu:
    return fnsOf<L, Cmp::Geu>();
  case Cmp::Num:
    return fnsOf<L, Cmp::Num>();
  case Cmp::Nan:
    return fnsOf<L, Cmp::Nan>();
  }
  return {};
}

template <typename T> CompareFns pickIntegerCompare(Cmp cmp) {
  switch (cmp) {
  case Cmp::Eq:
    return fnsOf<Plain<T>, Cmp::Eq>();
  case Cmp::Ne:
    return fnsOf<Plain<T>, Cmp::Ne>();
  case Cmp::Lt:
    return fnsOf<Plain<T>, Cmp::Lt>();
  case Cmp::Le:
    return fnsOf<Plain<T>, Cmp::Le>();
  case Cmp::Gt:
    return fnsOf<Plain<T>, Cmp::Gt>();
  case Cmp::Ge:
    return fnsOf<Plain<T>, Cmp::Ge>();
  default:
    return {};
  }
}

template <typename F, Cmp C> CompareFns pairOf() {
  constexpr CompareFn kLow = compareRows<C, HalfOfPair<F, 0>>;
  constexpr CompareFn kHigh = compareRows<C, HalfOfPair<F, 16>>;
  return {execSetpPair<kLow, kHigh>, execSetPair<kLow, kHigh>, nullptr};
}
template <typename F> CompareFns pickPairCompare(Cmp cmp) {
  switch (cmp) {
  case Cmp::Eq:
    return pairOf<F, Cmp::Eq>();
  case Cmp::Ne:
    return pairOf<F, Cmp::Ne>();
  case Cmp::Lt:
    return pairOf<F, Cmp::Lt>();
  case Cmp::Le:
    return pairOf<F, Cmp::Le>();
  case Cmp::Gt:
    return pairOf<F, Cmp::Gt>();
  case Cmp::Ge:
    return pairOf<F, Cmp::Ge>();
  case Cmp::Equ:
    return pairOf<F, Cmp::Equ>();
  case Cmp::Neu:
    return pairOf<F, Cmp::Neu>();
  case Cmp::Ltu:
    return pairOf<F, Cmp::Ltu>();
  case Cmp::Leu:
    return pairOf<F, Cmp::Leu>();
  case Cmp::Gtu:
    return pairOf<F, Cmp::Gtu>();
  case Cmp::Geu:
    return pairOf<F, Cmp::Geu>();
  case Cmp::Num:
    return pairOf<F, Cmp::Num>();
  case Cmp::Nan:
    return pairOf<F, Cmp::Nan>();
  }
  return {};
}

CompareFns pickCompare(Cmp cmp, Type type, bool ftz) {
  switch (type) {
  case Type::F32:
    return ftz ? pickFloatCompare<FlushedF32>(cmp) : pickFloatCompare<Plain<float>>(cmp);
  case Type::F64:
    return pickFloatCompare<Plain<double>>(cmp);
  case Type::F16:
    return pickFloatCompare<Narrow<HalfFormat>>(cmp);
  case Type::BF16:
    return pickFloatCompare<Narrow<BfloatFormat>>(cmp);
  case Type::F16x2:
    return pickPairCompare<HalfFormat>(cmp);
  case Type::BF16x2:
    return pickPairCompare<BfloatFormat>(cmp);
  case Type::B16:
  case Type::U16:
    return pickIntegerCompare<uint16_t>(cmp);
  case Type::B32:
  case Type::U32:
    return pickIntegerCompare<uint32_t>(cmp);
  case Type::B64:
  case Type::U64:
    return pickIntegerCompare<uint64_t>(cmp);
  case Type::S16:
    return pickIntegerCompare<int16_t>(cmp);
  case Type::S32:
    return pickIntegerCompare<int32_t>(cmp);
  case Type::S64:
    return pickIntegerCompare<int64_t>(cmp);
  default:
    return {};
  }
}

bool takeCompare(InstDecoder &d, Cmp &cmp) {
  static const std::pair<std::string_view, Cmp> kNames[] = {
      {"eq", Cmp::Eq},   {"ne", Cmp::Ne},   {"lt", Cmp::Lt},   {"le", Cmp::Le},   {"gt", Cmp::Gt},
      {"ge", Cmp::Ge},   {"lo", Cmp::Lt},   {"ls", Cmp::Le},   {"hi", Cmp::Gt},   {"hs", Cmp::Ge},
      {"equ", Cmp::Equ}, {"neu", Cmp::Neu}, {"ltu", Cmp::Ltu}, {"leu", Cmp::Leu}, {"gtu", Cmp::Gtu},
      {"geu", Cmp::Geu}, {"num", Cmp::Num}, {"nan", Cmp::Nan}};
  std::string_view name = d.nextModifier();
  for (const auto &entry : kNames) {
    if (name != entry.first)
      continue;
    cmp = entry.second;
    return true;
  }
  return d.fail("unknown comparison '." + std::string(name) + "'");
}

uint32_t takeBoolOp(InstDecoder &d) {
  if (d.flag("and"))
    return static_cast<uint32_t>(BoolOp::And);
  if (d.flag("or"))
    return static_cast<uint32_t>(BoolOp::Or);
  if (d.flag("xor"))
    return static_cast<uint32_t>(BoolOp::Xor);
  return 0;
}

/// What `set` writes for true, or 0 if it cannot write |type|.
uint32_t truthOf(Type type) {
  switch (type) {
  case Type::U32:
  case Type::S32:
    return 0xffffffffu;
  case Type::U16:
  case Type::S16:
    return 0xffffu;
  case Type::F32:
    return 0x3f800000u;
  case Type::F16:
    return 0x3c00u;
  case Type::BF16:
    return 0x3f80u;
  case Type::F16x2:
    return 0x3c003c00u;
  case Type::BF16x2:
    return 0x3f803f80u;
  default:
    return 0;
  }
}

bool decodeCompare(InstDecoder &d, bool isSet) {
  Cmp cmp = Cmp::Eq;
  if (!takeCompare(d, cmp))
    return false;
  SetpBits bits{0, takeBoolOp(d)};
  bool ftz = d.flag("ftz");
  Type result = isSet ? d.takeType() : Type::Pred;
  Type type = d.takeType();
  if (d.failed())
    return false;
  CompareFns fns = pickCompare(cmp, type, ftz);
  d.out.fn = !isSet ? fns.setp : typeBits(result) == 16 ? fns.set16 : fns.set;
  bool isPair = type == Type::F16x2 || type == Type::BF16x2;
  bool isHalf = type == Type::F16 || type == Type::BF16;
  if (isSet &&
      (truthOf(result) == 0 || (isPair && result != type) || (isHalf && result == Type::F32)))
    return d.fail("unsupported result type ." + std::string(typeName(result)));
  if (!d.out.fn)
    return d.fail("unsupported type ." + std::string(typeName(type)));
  if (!d.expectOperands(bits.combine ? 4 : 3))
    return false;
  const Operand *dst = d.operand(0);
  if (isSet) {
    d.out.dst = d.dst(dst, typeBits(result));
    d.out.aux = truthOf(result);
  } else if (dst->kind == Operand::Pair) {
    d.out.dst = d.dstPredicate(&dst->children[0]);
    bits.secondDst = d.dstPredicate(&dst->children[1]);
  } else {
    d.out.dst = d.dstPredicate(dst);
  }
  d.out.a = d.src(1, type);
  d.out.b = d.src(2, type);
  if (bits.combine) {
    PredicateRef c = d.predicate(3);
    d.out.c = c.row;
    bits.combine |= c.flip ? 4 : 0;
  }
  d.out.imm = bits.pack();
  d.out.instClass = isFloat(type) ? InstClass::Floating : InstClass::Integer;
  return !d.failed();
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

template <typename T> void execSelp(Warp &warp, const Inst &inst, uint32_t mask) {
  T *d = warp.row<T>(inst.dst);
  const T *a = warp.row<T>(inst.a), *b = warp.row<T>(inst.b);
  uint32_t c = warp.predicate(inst.c) ^ static_cast<uint32_t>(inst.imm);
  if (mask == kFullMask) {
    PTXSIM_LANES
    for (unsigned l = 0; l < kWarpSize; ++l)
      d[l] = c >> l & 1 ? a[l] : b[l];
    return;
  }
  forLanes(mask, [&](unsigned l) { d[l] = c >> l & 1 ? a[l] : b[l]; });
}

bool decodeSelp(InstDecoder &d) {
  Type type = d.takeType();
  if (d.failed() || !d.expectOperands(4))
    return false;
  switch (typeBits(type)) {
  case 16:
    d.out.fn = execSelp<uint16_t>;
    break;
  case 32:
    d.out.fn = execSelp<uint32_t>;
    break;
  case 64:
    d.out.fn = execSelp<uint64_t>;
    break;
  default:
    return d.fail("unsupported type ." + std::string(typeName(type)));
  }
  d.out.dst = d.dst(0, type);
  d.out.a = d.src(1, type);
  d.out.b = d.src(2, type);
  PredicateRef c = d.predicate(3);
  d.out.c = c.row;
  d.out.imm = c.flip;
  return !d.failed();
}

/// a if c >= 0 else b; -0.0 counts as >= 0, NaN does not.
template <typename T, typename C, bool Ftz> struct Slct {
  static T apply(T a, T b, C c) {
    // A subnormal below zero is flushed to -0.0, which is >= 0.
    if (Ftz && c > C(-0x1p-126f))
      return a;
    return c >= 0 ? a : b;
  }
};

template <typename T> ExecFn pickSlct(bool isFloatCondition, bool ftz) {
  if (!isFloatCondition)
    return exec3<Slct<T, int32_t, false>, T, T, T, int32_t>;
  return ftz ? exec3<Slct<T, float, true>, T, T, T, float>
             : exec3<Slct<T, float, false>, T, T, T, float>;
}

bool decodeSlct(InstDecoder &d) {
  bool ftz = d.flag("ftz");
  Type type = d.takeType(), condition = d.takeType();
  if (d.failed() || !d.expectOperands(4))
    return false;
  bool isFloatCondition = condition == Type::F32;
  if (!isFloatCondition && condition != Type::S32)
    return d.fail("expected a condition of type .s32 or .f32");
  switch (typeBits(type)) {
  case 16:
    d.out.fn = pickSlct<uint16_t>(isFloatCondition, ftz);
    break;
  case 32:
    d.out.fn = pickSlct<uint32_t>(isFloatCondition, ftz);
    break;
  case 64:
    d.out.fn = pickSlct<uint64_t>(isFloatCondition, ftz);
    break;
  default:
    return d.fail("unsupported type ." + std::string(typeName(type)));
  }
  d.out.dst = d.dst(0, type);
  d.out.a = d.src(1, type);
  d.out.b = d.src(2, type);
  d.out.c = d.src(3, condition);
  return !d.failed();
}

} // namespace

void xc::ptxsim::addCompareOpcodes(OpcodeTable &table) {
  table["setp"] = [](InstDecoder &d) { return decodeCompare(d, false); };
  table["set"] = [](InstDecoder &d) { return decodeCompare(d, true); };
  table["selp"] = decodeSelp;
  table["slct"] = decodeSlct;
}
