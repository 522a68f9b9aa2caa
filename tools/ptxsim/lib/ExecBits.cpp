//===- ExecBits.cpp - Logic, shifts, bit fields, dot products -------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exec.h"
#include "ExecFloat.h"

using namespace xc::ptxsim;

namespace {

template <typename T> struct And {
  static T apply(T a, T b) { return a & b; }
};
template <typename T> struct Or {
  static T apply(T a, T b) { return a | b; }
};
template <typename T> struct Xor {
  static T apply(T a, T b) { return a ^ b; }
};
template <typename T> struct Not {
  static T apply(T a) { return static_cast<T>(~a); }
};
template <typename T> struct Cnot {
  static T apply(T a) { return a == 0; }
};

// Shift amounts are 32 bits wide and clamp at the width.
template <typename T> struct Shl {
  static T apply(T a, uint32_t b) {
    constexpr unsigned kBits = sizeof(T) * 8;
    return b >= kBits ? 0 : static_cast<T>(a << b);
  }
};
template <typename T> struct Shr {
  static T apply(T a, uint32_t b) {
    constexpr unsigned kBits = sizeof(T) * 8;
    if (b >= kBits)
      return a < 0 ? static_cast<T>(-1) : 0;
    return static_cast<T>(a >> b);
  }
};

template <bool Left, bool Wrap> struct FunnelShift {
  static uint32_t apply(uint32_t low, uint32_t high, uint32_t amount) {
    uint32_t n = Wrap ? amount & 31 : (amount > 32 ? 32 : amount);
    uint64_t both = static_cast<uint64_t>(high) << 32 | low;
    return static_cast<uint32_t>(Left ? both << n >> 32 : both >> n);
  }
};

template <typename T> struct Popc {
  static uint32_t apply(T a) { return static_cast<uint32_t>(__builtin_popcountll(a)); }
};
template <typename T> struct Clz {
  static uint32_t apply(T a) {
    constexpr uint32_t kBits = sizeof(T) * 8;
    return a ? static_cast<uint32_t>(__builtin_clzll(a)) - (64 - kBits) : kBits;
  }
};
template <typename T> struct Brev {
  static T apply(T a) {
    T r = 0;
    for (unsigned i = 0; i < sizeof(T) * 8; ++i, a >>= 1)
      r = static_cast<T>(r << 1 | (a & 1));
    return r;
  }
};

/// Position of the highest bit that is no sign bit.
template <typename T, bool ShiftAmount> struct Bfind {
  static uint32_t apply(T a) {
    auto bits = static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a));
    if (bits == 0)
      return 0xffffffffu;
    auto position = 63 - static_cast<uint32_t>(__builtin_clzll(bits));
    return ShiftAmount ? static_cast<uint32_t>(sizeof(T) * 8 - 1) - position : position;
  }
};

/// A position or length of bfe and bfi. Hardware reads the low byte in the 32-bit
/// forms, but all 32 bits in the 64-bit forms; 255 is beyond every field already.
template <typename T> uint32_t fieldAmount(uint32_t amount) {
  return sizeof(T) == 4 ? amount & 0xff : amount < 0xff ? amount : 0xff;
}

template <typename T> struct Bfe {
  static T apply(T a, uint32_t start, uint32_t length) {
    constexpr uint32_t kBits = sizeof(T) * 8;
    uint32_t pos = fieldAmount<T>(start), len = fieldAmount<T>(length);
    if (len == 0)
      return 0;
    using U = std::make_unsigned_t<T>;
    uint32_t top = pos + len - 1 < kBits - 1 ? pos + len - 1 : kBits - 1;
    bool topBit = (static_cast<U>(a) >> top) & 1;
    U fill = (T(-1) < 0 && topBit) ? static_cast<U>(~U(0)) : 0;
    if (pos >= kBits)
      return static_cast<T>(fill);
    U field = static_cast<U>(a) >> pos;
    uint32_t have = kBits - pos < len ? kBits - pos : len;
    if (have >= kBits)
      return static_cast<T>(field);
    U mask = static_cast<U>((U(1) << have) - 1);
    return static_cast<T>((field & mask) | (fill & static_cast<U>(~mask)));
  }
};

template <typename T> T insertField(T a, T b, uint32_t start, uint32_t length) {
  constexpr uint32_t kBits = sizeof(T) * 8;
  uint32_t pos = fieldAmount<T>(start), len = fieldAmount<T>(length);
  if (len == 0 || pos >= kBits)
    return b;
  T mask = len >= kBits ? static_cast<T>(~T(0)) : static_cast<T>((T(1) << len) - 1);
  mask = static_cast<T>(mask << pos);
  return static_cast<T>((b & ~mask) | (static_cast<T>(a << pos) & mask));
}

template <typename T> void execBfi(Warp &warp, const Inst &inst, uint32_t mask) {
  T *d = warp.row<T>(inst.dst);
  const T *a = warp.row<T>(inst.a), *b = warp.row<T>(inst.b);
  const uint32_t *start = warp.row<uint32_t>(inst.c);
  const uint32_t *length = warp.row<uint32_t>(static_cast<uint32_t>(inst.imm));
  forLanes(mask, [&](unsigned l) { d[l] = insertField<T>(a[l], b[l], start[l], length[l]); });
}

struct BmskClamp {
  static uint32_t apply(uint32_t start, uint32_t length) {
    uint64_t ones = length >= 32 ? 0xffffffffull : (1ull << length) - 1;
    return start >= 32 ? 0 : static_cast<uint32_t>(ones << start);
  }
};
struct BmskWrap {
  static uint32_t apply(uint32_t start, uint32_t length) {
    return BmskClamp::apply(start & 31, length & 31);
  }
};

/// szext: sign- or zero-extends from bit N - 1.
template <typename T, bool Wrap> struct Szext {
  static T apply(T a, uint32_t n) {
    n = Wrap ? n & 31 : n;
    if (n == 0)
      return 0;
    if (n >= 32)
      return a;
    return static_cast<T>(static_cast<T>(static_cast<uint32_t>(a) << (32 - n)) >> (32 - n));
  }
};

void execLop3(Warp &warp, const Inst &inst, uint32_t mask) {
  uint32_t *d = warp.row<uint32_t>(inst.dst);
  const uint32_t *a = warp.row<uint32_t>(inst.a), *b = warp.row<uint32_t>(inst.b),
                 *c = warp.row<uint32_t>(inst.c);
  auto table = static_cast<uint32_t>(inst.imm);
  uint32_t result[kWarpSize] = {};
  for (unsigned term = 0; term < 8; ++term) {
    if (!(table >> term & 1))
      continue;
    uint32_t na = term & 4 ? 0 : ~0u, nb = term & 2 ? 0 : ~0u, nc = term & 1 ? 0 : ~0u;
    for (unsigned l = 0; l < kWarpSize; ++l)
      result[l] |= (a[l] ^ na) & (b[l] ^ nb) & (c[l] ^ nc);
  }
  forLanes(mask, [&](unsigned l) { d[l] = result[l]; });
}

/// fns: the |offset|-th set bit of a mask, counted from |base|.
struct Fns {
  static uint32_t apply(uint32_t mask, uint32_t base, int32_t offset) {
    base &= 31;
    if (offset == 0)
      return mask >> base & 1 ? base : 0xffffffffu;
    int step = offset > 0 ? 1 : -1;
    int left = offset > 0 ? offset : -offset;
    for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step)
      if ((mask >> i & 1) && --left == 0)
        return static_cast<uint32_t>(i);
    return 0xffffffffu;
  }
};

enum class PrmtMode { Default, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };

template <PrmtMode Mode> struct Prmt {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t select = selectByte(i, c);
      auto byte = static_cast<uint32_t>(bytes >> (8 * (select & 7))) & 0xff;
      if (select & 8)
        byte = byte & 0x80 ? 0xff : 0;
      result |= byte << (8 * i);
    }
    return result;
  }
  static uint32_t selectByte(unsigned i, uint32_t c) {
    uint32_t n = c & 3;
    switch (Mode) {
    case PrmtMode::Default:
      return c >> (4 * i) & 15;
    case PrmtMode::F4e:
      return (n + i) & 7;
    case PrmtMode::B4e:
      return (n - i) & 7;
    case PrmtMode::Rc8:
      return n;
    case PrmtMode::Ecl:
      return std::max<uint32_t>(i, n);
    case PrmtMode::Ecr:
      return std::min<uint32_t>(i, n);
    case PrmtMode::Rc16:
      return (n & 1) * 2 + (i & 1);
    }
    return 0;
  }
};

/// dp4a, dp2a: |kind| has bit 0 for a signed, bit 1 for b signed.
template <typename A, typename B> struct Dp4a {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    for (unsigned i = 0; i < 4; ++i)
      c += static_cast<uint32_t>(static_cast<A>(a >> (8 * i)) * static_cast<B>(b >> (8 * i)));
    return c;
  }
};
template <typename A, typename B, unsigned Shift> struct Dp2a {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    for (unsigned i = 0; i < 2; ++i)
      c += static_cast<uint32_t>(static_cast<A>(a >> (16 * i)) *
                                 static_cast<B>(b >> (Shift + 8 * i)));
    return c;
  }
};

//===----------------------------------------------------------------------===//
// Predicates: and, or, xor, not on whole masks
//===----------------------------------------------------------------------===//

template <template <typename> class Op>
void execPredicate2(Warp &warp, const Inst &inst, uint32_t mask) {
  auto flips = static_cast<uint32_t>(inst.imm);
  uint32_t a = warp.predicate(inst.a) ^ (flips & 1 ? kFullMask : 0);
  uint32_t b = warp.predicate(inst.b) ^ (flips & 2 ? kFullMask : 0);
  uint32_t &d = warp.predicate(inst.dst);
  d = (d & ~mask) | (Op<uint32_t>::apply(a, b) & mask);
}

void execPredicateNot(Warp &warp, const Inst &inst, uint32_t mask) {
  uint32_t &d = warp.predicate(inst.dst);
  d = (d & ~mask) | (~warp.predicate(inst.a) & mask);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <template <typename> class Op> bool decodeLogic(InstDecoder &d) {
  Type type = d.takeType();
  if (type == Type::Pred) {
    if (!d.expectOperands(3))
      return false;
    d.out.fn = execPredicate2<Op>;
    d.out.dst = d.dstPredicate(d.operand(0));
    PredicateRef a = d.predicate(1), b = d.predicate(2);
    d.out.a = a.row;
    d.out.b = b.row;
    d.out.imm = (a.flip ? 1 : 0) | (b.flip ? 2 : 0);
    return !d.failed();
  }
  ExecFn fn = nullptr;
  if (type == Type::B16)
    fn = exec2<Op<uint16_t>, uint16_t, uint16_t>;
  else if (type == Type::B32)
    fn = exec2<Op<uint32_t>, uint32_t, uint32_t>;
  else if (type == Type::B64)
    fn = exec2<Op<uint64_t>, uint64_t, uint64_t>;
  return decodeSame(d, type, 2, fn);
}

bool decodeNot(InstDecoder &d) {
  Type type = d.takeType();
  if (type == Type::Pred) {
    if (!d.expectOperands(2))
      return false;
    d.out.fn = execPredicateNot;
    d.out.dst = d.dstPredicate(d.operand(0));
    PredicateRef a = d.predicate(1);
    d.out.a = a.row;
    return a.flip ? d.fail("unexpected '!'") : !d.failed();
  }
  ExecFn fn = nullptr;
  if (type == Type::B16)
    fn = exec1<Not<uint16_t>, uint16_t, uint16_t>;
  else if (type == Type::B32)
    fn = exec1<Not<uint32_t>, uint32_t, uint32_t>;
  else if (type == Type::B64)
    fn = exec1<Not<uint64_t>, uint64_t, uint64_t>;
  return decodeSame(d, type, 1, fn);
}

bool decodeCnot(InstDecoder &d) {
  Type type = d.takeType();
  ExecFn fn = nullptr;
  if (type == Type::B16)
    fn = exec1<Cnot<uint16_t>, uint16_t, uint16_t>;
  else if (type == Type::B32)
    fn = exec1<Cnot<uint32_t>, uint32_t, uint32_t>;
  else if (type == Type::B64)
    fn = exec1<Cnot<uint64_t>, uint64_t, uint64_t>;
  return decodeSame(d, type, 1, fn);
}

/// dst, a of |type|, then 32-bit operands.
bool decodeWithAmounts(InstDecoder &d, Type type, ExecFn fn, unsigned amounts) {
  if (d.failed())
    return false;
  if (!fn)
    return d.fail("unsupported type ." + std::string(typeName(type)));
  if (!d.expectOperands(2 + amounts))
    return false;
  d.out.fn = fn;
  d.out.dst = d.dst(0, type);
  d.out.a = d.src(1, type);
  d.out.b = d.src(2, Type::U32);
  if (amounts > 1)
    d.out.c = d.src(3, Type::U32);
  return !d.failed();
}

bool decodeShl(InstDecoder &d) {
  Type type = d.takeType();
  ExecFn fn = nullptr;
  switch (typeBits(type)) {
  case 16:
    fn = exec2<Shl<uint16_t>, uint16_t, uint16_t, uint32_t>;
    break;
  case 32:
    fn = exec2<Shl<uint32_t>, uint32_t, uint32_t, uint32_t>;
    break;
  case 64:
    fn = exec2<Shl<uint64_t>, uint64_t, uint64_t, uint32_t>;
    break;
  }
  return decodeWithAmounts(d, type, isFloat(type) ? nullptr : fn, 1);
}

bool decodeShr(InstDecoder &d) {
  Type type = d.takeType();
  ExecFn fn = nullptr;
  switch (type) {
  case Type::B16:
  case Type::U16:
    fn = exec2<Shr<uint16_t>, uint16_t, uint16_t, uint32_t>;
    break;
  case Type::B32:
  case Type::U32:
    fn = exec2<Shr<uint32_t>, uint32_t, uint32_t, uint32_t>;
    break;
  case Type::B64:
  case Type::U64:
    fn = exec2<Shr<uint64_t>, uint64_t, uint64_t, uint32_t>;
    break;
  case Type::S16:
    fn = exec2<Shr<int16_t>, int16_t, int16_t, uint32_t>;
    break;
  case Type::S32:
    fn = exec2<Shr<int32_t>, int32_t, int32_t, uint32_t>;
    break;
  case Type::S64:
    fn = exec2<Shr<int64_t>, int64_t, int64_t, uint32_t>;
    break;
  default:
    break;
  }
  return decodeWithAmounts(d, type, fn, 1);
}

bool decodeShf(InstDecoder &d) {
  bool left = d.flag("l"), right = d.flag("r"), clamp = d.flag("clamp"), wrap = d.flag("wrap");
  Type type = d.takeType();
  if (left == right || clamp == wrap || type != Type::B32)
    return d.fail("expected .l or .r, .clamp or .wrap, and type .b32");
  using F = uint32_t;
  ExecFn fn =
      left
          ? (wrap ? exec3<FunnelShift<true, true>, F, F> : exec3<FunnelShift<true, false>, F, F>)
          : (wrap ? exec3<FunnelShift<false, true>, F, F> : exec3<FunnelShift<false, false>, F, F>);
  return decodeSame(d, type, 3, fn);
}

/// Count-like instructions: the result has 32 bits.
bool decodeCount(InstDecoder &d, Type type, ExecFn fn) {
  if (d.failed())
    return false;
  if (!fn)
    return d.fail("unsupported type ." + std::string(typeName(type)));
  if (!d.expectOperands(2))
    return false;
  d.out.fn = fn;
  d.out.dst = d.dst(0, Type::U32);
  d.out.a = d.src(1, type);
  return !d.failed();
}

bool decodeBfind(InstDecoder &d) {
  bool amount = d.flag("shiftamt");
  Type type = d.takeType();
  ExecFn fn = nullptr;
  switch (type) {
  case Type::U32:
    fn = amount ? exec1<Bfind<uint32_t, true>, uint32_t, uint32_t>
                : exec1<Bfind<uint32_t, false>, uint32_t, uint32_t>;
    break;
  case Type::U64:
    fn = amount ? exec1<Bfind<uint64_t, true>, uint32_t, uint64_t>
                : exec1<Bfind<uint64_t, false>, uint32_t, uint64_t>;
    break;
  case Type::S32:
    fn = amount ? exec1<Bfind<int32_t, true>, uint32_t, int32_t>
                : exec1<Bfind<int32_t, false>, uint32_t, int32_t>;
    break;
  case Type::S64:
    fn = amount ? exec1<Bfind<int64_t, true>, uint32_t, int64_t>
                : exec1<Bfind<int64_t, false>, uint32_t, int64_t>;
    break;
  default:
    break;
  }
  return decodeCount(d, type, fn);
}

bool decodeBfe(InstDecoder &d) {
  Type type = d.takeType();
  ExecFn fn = nullptr;
  switch (type) {
  case Type::U32:
    fn = exec3<Bfe<uint32_t>, uint32_t, uint32_t, uint32_t, uint32_t>;
    break;
  case Type::U64:
    fn = exec3<Bfe<uint64_t>, uint64_t, uint64_t, uint32_t, uint32_t>;
    break;
  case Type::S32:
    fn = exec3<Bfe<int32_t>, int32_t, int32_t, uint32_t, uint32_t>;
    break;
  case Type::S64:
    fn = exec3<Bfe<int64_t>, int64_t, int64_t, uint32_t, uint32_t>;
    break;
  default:
    break;
  }
  return decodeWithAmounts(d, type, fn, 2);
}

bool decodeBfi(InstDecoder &d) {
  Type type = d.takeType();
  if (type != Type::B32 && type != Type::B64)
    return d.fail("expected type .b32 or .b64");
  if (!d.expectOperands(5))
    return false;
  d.out.fn = type == Type::B32 ? execBfi<uint32_t> : execBfi<uint64_t>;
  d.out.dst = d.dst(0, type);
  d.out.a = d.src(1, type);
  d.out.b = d.src(2, type);
  d.out.c = d.src(3, Type::U32);
  d.out.imm = d.src(4, Type::U32);
  return !d.failed();
}

bool decodeLop3(InstDecoder &d) {
  Type type = d.takeType();
  int64_t table = 0;
  if (type != Type::B32 || !d.expectOperands(5) || !d.immediate(4, table))
    return d.failed() ? false : d.fail("expected type .b32");
  d.out.fn = execLop3;
  d.out.dst = d.dst(0, type);
  d.out.a = d.src(1, type);
  d.out.b = d.src(2, type);
  d.out.c = d.src(3, type);
  d.out.imm = table;
  return !d.failed();
}

bool decodePrmt(InstDecoder &d) {
  using U = uint32_t;
  ExecFn fn = exec3<Prmt<PrmtMode::Default>, U, U>;
  if (d.flag("f4e"))
    fn = exec3<Prmt<PrmtMode::F4e>, U, U>;
  else if (d.flag("b4e"))
    fn = exec3<Prmt<PrmtMode::B4e>, U, U>;
  else if (d.flag("rc8"))
    fn = exec3<Prmt<PrmtMode::Rc8>, U, U>;
  else if (d.flag("ecl"))
    fn = exec3<Prmt<PrmtMode::Ecl>, U, U>;
  else if (d.flag("ecr"))
    fn = exec3<Prmt<PrmtMode::Ecr>, U, U>;
  else if (d.flag("rc16"))
    fn = exec3<Prmt<PrmtMode::Rc16>, U, U>;
  Type type = d.takeType();
  return decodeSame(d, type, 3, type == Type::B32 ? fn : nullptr);
}

bool decodeDotProduct(InstDecoder &d, bool four) {
  bool lo = !four && d.flag("lo"), hi = !four && d.flag("hi");
  if (!four && lo == hi)
    return d.fail("expected one of .lo, .hi");
  Type a = d.takeType(), b = d.takeType();
  if (d.failed())
    return false;
  if ((a != Type::U32 && a != Type::S32) || (b != Type::U32 && b != Type::S32))
    return d.fail("expected types .u32 or .s32");
  using U = uint32_t;
  static const ExecFn kFour[] = {
      exec3<Dp4a<uint8_t, uint8_t>, U, U>, exec3<Dp4a<int8_t, uint8_t>, U, U>,
      exec3<Dp4a<uint8_t, int8_t>, U, U>, exec3<Dp4a<int8_t, int8_t>, U, U>};
  static const ExecFn kTwo[2][4] = {
      {exec3<Dp2a<uint16_t, uint8_t, 0>, U, U>, exec3<Dp2a<int16_t, uint8_t, 0>, U, U>,
       exec3<Dp2a<uint16_t, int8_t, 0>, U, U>, exec3<Dp2a<int16_t, int8_t, 0>, U, U>},
      {exec3<Dp2a<uint16_t, uint8_t, 16>, U, U>, exec3<Dp2a<int16_t, uint8_t, 16>, U, U>,
       exec3<Dp2a<uint16_t, int8_t, 16>, U, U>, exec3<Dp2a<int16_t, int8_t, 16>, U, U>}};
  unsigned kind = (a == Type::S32 ? 1 : 0) | (b == Type::S32 ? 2 : 0);
  return decodeSame(d, Type::U32, 3, four ? kFour[kind] : kTwo[hi][kind]);
}

bool decodeSzext(InstDecoder &d) {
  bool wrap = d.flag("wrap");
  if (!wrap && !d.flag("clamp"))
    return d.fail("expected .wrap or .clamp");
  Type type = d.takeType();
  ExecFn fn = nullptr;
  if (type == Type::U32)
    fn = wrap ? exec2<Szext<uint32_t, true>, uint32_t, uint32_t>
              : exec2<Szext<uint32_t, false>, uint32_t, uint32_t>;
  if (type == Type::S32)
    fn = wrap ? exec2<Szext<int32_t, true>, int32_t, int32_t, uint32_t>
              : exec2<Szext<int32_t, false>, int32_t, int32_t, uint32_t>;
  return decodeWithAmounts(d, type, fn, 1);
}

} // namespace

void xc::ptxsim::addBitOpcodes(OpcodeTable &table) {
  table["and"] = decodeLogic<And>;
  table["or"] = decodeLogic<Or>;
  table["xor"] = decodeLogic<Xor>;
  table["not"] = decodeNot;
  table["cnot"] = decodeCnot;
  table["shl"] = decodeShl;
  table["shr"] = decodeShr;
  table["shf"] = decodeShf;
  table["popc"] = [](InstDecoder &d) {
    Type type = d.takeType();
    return decodeCount(d, type,
                       type == Type::B32   ? exec1<Popc<uint32_t>, uint32_t, uint32_t>
                       : type == Type::B64 ? exec1<Popc<uint64_t>, uint32_t, uint64_t>
                                           : nullptr);
  };
  table["clz"] = [](InstDecoder &d) {
    Type type = d.takeType();
    return decodeCount(d, type,
                       type == Type::B32   ? exec1<Clz<uint32_t>, uint32_t, uint32_t>
                       : type == Type::B64 ? exec1<Clz<uint64_t>, uint32_t, uint64_t>
                                           : nullptr);
  };
  table["brev"] = [](InstDecoder &d) {
    Type type = d.takeType();
    return decodeSame(d, type, 1,
                      type == Type::B32   ? exec1<Brev<uint32_t>, uint32_t, uint32_t>
                      : type == Type::B64 ? exec1<Brev<uint64_t>, uint64_t, uint64_t>
                                          : nullptr);
  };
  table["bfind"] = decodeBfind;
  table["bfe"] = decodeBfe;
  table["bfi"] = decodeBfi;
  table["lop3"] = decodeLop3;
  table["prmt"] = decodePrmt;
  table["bmsk"] = [](InstDecoder &d) {
    bool wrap = d.flag("wrap");
    if (!wrap && !d.flag("clamp"))
      return d.fail("expected .wrap or .clamp");
    return decodeSame(d, d.takeType(), 2,
                      wrap ? exec2<BmskWrap, uint32_t, uint32_t>
                           : exec2<BmskClamp, uint32_t, uint32_t>);
  };
  table["szext"] = decodeSzext;
  table["fns"] = [](InstDecoder &d) {
    return decodeSame(d, d.takeType(), 3, exec3<Fns, uint32_t, uint32_t, uint32_t, int32_t>);
  };
  table["dp4a"] = [](InstDecoder &d) { return decodeDotProduct(d, true); };
  table["dp2a"] = [](InstDecoder &d) { return decodeDotProduct(d, false); };
}
