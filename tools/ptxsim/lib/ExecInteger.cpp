//===- ExecInteger.cpp - Integer arithmetic -------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// add sub mul mad mul24 mad24 div rem sad min max abs neg, add.cc addc sub.cc
// subc mad.cc madc (in ExecBits.cpp). add, sub, mul, min, max, abs and neg
// dispatch to the floating-point files by type.
//
//===----------------------------------------------------------------------===//

#include "Exec.h"
#include "ExecFloat.h"

#include <limits>
#include <type_traits>

using namespace xc::ptxsim;

namespace {

template <typename T> using Unsigned = std::make_unsigned_t<T>;
template <typename T> struct Wider;
template <> struct Wider<int16_t> {
  using type = int32_t;
};
template <> struct Wider<uint16_t> {
  using type = uint32_t;
};
template <> struct Wider<int32_t> {
  using type = int64_t;
};
template <> struct Wider<uint32_t> {
  using type = uint64_t;
};
template <> struct Wider<int64_t> {
  using type = __int128;
};
template <> struct Wider<uint64_t> {
  using type = unsigned __int128;
};

// Sums and products wrap: they are computed unsigned, wide enough that the
// promotion of 16-bit operands to int cannot overflow.
template <typename T> using Work = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T> struct Add {
  static T apply(T a, T b) { return static_cast<T>(Work<T>(a) + Work<T>(b)); }
};
template <typename T> struct Sub {
  static T apply(T a, T b) { return static_cast<T>(Work<T>(a) - Work<T>(b)); }
};
template <typename T> struct AddSat {
  static T apply(T a, T b) {
    T r;
    if (!__builtin_add_overflow(a, b, &r))
      return r;
    return a < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }
};
template <typename T> struct SubSat {
  static T apply(T a, T b) {
    T r;
    if (!__builtin_sub_overflow(a, b, &r))
      return r;
    return a < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }
};
template <typename T> struct MulLo {
  static T apply(T a, T b) { return static_cast<T>(Work<T>(a) * Work<T>(b)); }
};
template <typename T> struct MulHi {
  static T apply(T a, T b) {
    using W = typename Wider<T>::type;
    return static_cast<T>((W(a) * W(b)) >> (sizeof(T) * 8));
  }
};
template <typename T> struct MulWide {
  using W = typename Wider<T>::type;
  static W apply(T a, T b) { return W(a) * W(b); }
};
template <typename T> struct MadLo {
  static T apply(T a, T b, T c) { return Add<T>::apply(MulLo<T>::apply(a, b), c); }
};
template <typename T> struct MadHi {
  static T apply(T a, T b, T c) { return Add<T>::apply(MulHi<T>::apply(a, b), c); }
};
struct MadHiSat {
  static int32_t apply(int32_t a, int32_t b, int32_t c) {
    return AddSat<int32_t>::apply(MulHi<int32_t>::apply(a, b), c);
  }
};
template <typename T> struct MadWide {
  using W = typename Wider<T>::type;
  static W apply(T a, T b, W c) { return Add<W>::apply(W(a) * W(b), c); }
};

template <typename T> T low24(T a) {
  return std::is_signed<T>::value
             ? static_cast<T>(static_cast<int32_t>(static_cast<uint32_t>(a) << 8) >> 8)
             : static_cast<T>(a & 0xffffff);
}
template <typename T> struct Mul24Lo {
  static T apply(T a, T b) { return MulLo<T>::apply(low24(a), low24(b)); }
};
template <typename T> struct Mul24Hi {
  static T apply(T a, T b) {
    using W = typename Wider<T>::type;
    return static_cast<T>((W(low24(a)) * W(low24(b))) >> 16);
  }
};
template <typename T> struct Mad24Lo {
  static T apply(T a, T b, T c) { return Add<T>::apply(Mul24Lo<T>::apply(a, b), c); }
};
template <typename T> struct Mad24Hi {
  static T apply(T a, T b, T c) { return Add<T>::apply(Mul24Hi<T>::apply(a, b), c); }
};

// The PTX manual leaves division by zero open; this is what hardware returns.
template <typename T> struct Div {
  static T apply(T a, T b) {
    if (b == 0)
      return static_cast<T>(-1);
    if (std::is_signed<T>::value && b == static_cast<T>(-1))
      return Sub<T>::apply(0, a);
    return static_cast<T>(a / b);
  }
};
template <typename T> struct Rem {
  static T apply(T a, T b) {
    if (b == 0)
      return static_cast<T>(-1);
    if (std::is_signed<T>::value && b == static_cast<T>(-1))
      return 0;
    return static_cast<T>(a % b);
  }
};
template <typename T> struct Sad {
  static T apply(T a, T b, T c) {
    T difference = a < b ? Sub<T>::apply(b, a) : Sub<T>::apply(a, b);
    return Add<T>::apply(c, difference);
  }
};
template <typename T> struct Min {
  static T apply(T a, T b) { return a < b ? a : b; }
};
template <typename T> struct Max {
  static T apply(T a, T b) { return a < b ? b : a; }
};
template <typename T> struct MinRelu {
  static T apply(T a, T b) { return Max<T>::apply(Min<T>::apply(a, b), 0); }
};
template <typename T> struct MaxRelu {
  static T apply(T a, T b) { return Max<T>::apply(Max<T>::apply(a, b), 0); }
};
template <typename T> struct Abs {
  static T apply(T a) { return a < 0 ? Sub<T>::apply(0, a) : a; }
};
template <typename T> struct Neg {
  static T apply(T a) { return Sub<T>::apply(0, a); }
};

/// Applies a 16-bit operation to both halves.
template <template <typename> class Op, typename Half> struct Pairwise {
  static uint32_t apply(uint32_t a, uint32_t b) {
    auto low = static_cast<uint16_t>(Op<Half>::apply(static_cast<Half>(a), static_cast<Half>(b)));
    auto high = static_cast<uint16_t>(
        Op<Half>::apply(static_cast<Half>(a >> 16), static_cast<Half>(b >> 16)));
    return low | static_cast<uint32_t>(high) << 16;
  }
};

template <template <typename> class Op> ExecFn pickBinary(Type type) {
  switch (type) {
  case Type::U16:
    return exec2<Op<uint16_t>, uint16_t, uint16_t>;
  case Type::U32:
    return exec2<Op<uint32_t>, uint32_t, uint32_t>;
  case Type::U64:
    return exec2<Op<uint64_t>, uint64_t, uint64_t>;
  case Type::S16:
    return exec2<Op<int16_t>, int16_t, int16_t>;
  case Type::S32:
    return exec2<Op<int32_t>, int32_t, int32_t>;
  case Type::S64:
    return exec2<Op<int64_t>, int64_t, int64_t>;
  case Type::U16x2:
    return exec2<Pairwise<Op, uint16_t>, uint32_t, uint32_t>;
  case Type::S16x2:
    return exec2<Pairwise<Op, int16_t>, uint32_t, uint32_t>;
  default:
    return nullptr;
  }
}

template <template <typename> class Op> ExecFn pickTernary(Type type) {
  switch (type) {
  case Type::U16:
    return exec3<Op<uint16_t>, uint16_t, uint16_t>;
  case Type::U32:
    return exec3<Op<uint32_t>, uint32_t, uint32_t>;
  case Type::U64:
    return exec3<Op<uint64_t>, uint64_t, uint64_t>;
  case Type::S16:
    return exec3<Op<int16_t>, int16_t, int16_t>;
  case Type::S32:
    return exec3<Op<int32_t>, int32_t, int32_t>;
  case Type::S64:
    return exec3<Op<int64_t>, int64_t, int64_t>;
  default:
    return nullptr;
  }
}

template <template <typename> class Op> ExecFn pickSignedUnary(Type type) {
  switch (type) {
  case Type::S16:
    return exec1<Op<int16_t>, int16_t, int16_t>;
  case Type::S32:
    return exec1<Op<int32_t>, int32_t, int32_t>;
  case Type::S64:
    return exec1<Op<int64_t>, int64_t, int64_t>;
  default:
    return nullptr;
  }
}

template <template <typename> class Op> ExecFn pick32(Type type) {
  bool isSignedType = type == Type::S32;
  if (type != Type::U32 && type != Type::S32)
    return nullptr;
  return isSignedType ? exec2<Op<int32_t>, int32_t, int32_t>
                      : exec2<Op<uint32_t>, uint32_t, uint32_t>;
}

/// d = a * b, twice as wide.
ExecFn pickMulWide(Type type) {
  switch (type) {
  case Type::U16:
    return exec2<MulWide<uint16_t>, uint32_t, uint16_t>;
  case Type::U32:
    return exec2<MulWide<uint32_t>, uint64_t, uint32_t>;
  case Type::S16:
    return exec2<MulWide<int16_t>, int32_t, int16_t>;
  case Type::S32:
    return exec2<MulWide<int32_t>, int64_t, int32_t>;
  default:
    return nullptr;
  }
}

ExecFn pickMadWide(Type type) {
  switch (type) {
  case Type::U16:
    return exec3<MadWide<uint16_t>, uint32_t, uint16_t, uint16_t, uint32_t>;
  case Type::U32:
    return exec3<MadWide<uint32_t>, uint64_t, uint32_t, uint32_t, uint64_t>;
  case Type::S16:
    return exec3<MadWide<int16_t>, int32_t, int16_t, int16_t, int32_t>;
  case Type::S32:
    return exec3<MadWide<int32_t>, int64_t, int32_t, int32_t, int64_t>;
  default:
    return nullptr;
  }
}

Type widened(Type type) {
  switch (type) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  case Type::S32:
    return Type::S64;
  default:
    return Type::None;
  }
}

bool decodeAddSub(InstDecoder &decoder, bool isAdd) {
  if (decoder.peekModifier() == "cc")
    return decodeCarry(decoder);
  Type type = decoder.takeType();
  if (isFloat(type))
    return isAdd ? decodeFloatAdd(decoder, type) : decodeFloatSub(decoder, type);
  if (decoder.flag("sat")) {
    if (type != Type::S32)
      return decoder.fail("expected type .s32 with .sat");
    return decodeSame(decoder, type, 2,
                      isAdd ? exec2<AddSat<int32_t>, int32_t, int32_t>
                            : exec2<SubSat<int32_t>, int32_t, int32_t>);
  }
  return decodeSame(decoder, type, 2, isAdd ? pickBinary<Add>(type) : pickBinary<Sub>(type));
}

bool decodeMul(InstDecoder &decoder) {
  bool lo = decoder.flag("lo"), hi = decoder.flag("hi"), wide = decoder.flag("wide");
  Type type = decoder.takeType();
  if (isFloat(type))
    return decodeFloatMul(decoder, type);
  if (lo + hi + wide != 1)
    return decoder.fail("expected one of .lo, .hi, .wide");
  if (!wide)
    return decodeSame(decoder, type, 2, lo ? pickBinary<MulLo>(type) : pickBinary<MulHi>(type));
  decoder.out.fn = pickMulWide(type);
  if (!decoder.out.fn)
    return decoder.fail("unsupported type ." + std::string(typeName(type)));
  if (!decoder.expectOperands(3))
    return false;
  decoder.out.dst = decoder.dst(0, widened(type));
  decoder.out.a = decoder.src(1, type);
  decoder.out.b = decoder.src(2, type);
  return !decoder.failed();
}

bool decodeMad(InstDecoder &decoder) {
  bool lo = decoder.flag("lo"), hi = decoder.flag("hi"), wide = decoder.flag("wide");
  if (decoder.peekModifier() == "cc")
    return decodeMadCarry(decoder, hi);
  Type type = decoder.takeType();
  if (isFloat(type))
    return decodeFloatFma(decoder, type);
  if (lo + hi + wide != 1)
    return decoder.fail("expected one of .lo, .hi, .wide");
  if (decoder.flag("sat")) {
    if (!hi || type != Type::S32)
      return decoder.fail("expected .hi and type .s32 with .sat");
    return decodeSame(decoder, type, 3, exec3<MadHiSat, int32_t, int32_t>);
  }
  if (!wide)
    return decodeSame(decoder, type, 3, lo ? pickTernary<MadLo>(type) : pickTernary<MadHi>(type));
  decoder.out.fn = pickMadWide(type);
  if (!decoder.out.fn)
    return decoder.fail("unsupported type ." + std::string(typeName(type)));
  if (!decoder.expectOperands(4))
    return false;
  decoder.out.dst = decoder.dst(0, widened(type));
  decoder.out.a = decoder.src(1, type);
  decoder.out.b = decoder.src(2, type);
  decoder.out.c = decoder.src(3, widened(type));
  return !decoder.failed();
}

bool decode24(InstDecoder &decoder, bool isMad) {
  bool lo = decoder.flag("lo"), hi = decoder.flag("hi");
  if (lo == hi)
    return decoder.fail("expected one of .lo, .hi");
  Type type = decoder.takeType();
  if (type != Type::U32 && type != Type::S32)
    return decoder.fail("expected type .u32 or .s32");
  bool isSignedType = type == Type::S32;
  ExecFn fn;
  if (isMad)
    fn = lo ? (isSignedType ? exec3<Mad24Lo<int32_t>, int32_t, int32_t>
                            : exec3<Mad24Lo<uint32_t>, uint32_t, uint32_t>)
            : (isSignedType ? exec3<Mad24Hi<int32_t>, int32_t, int32_t>
                            : exec3<Mad24Hi<uint32_t>, uint32_t, uint32_t>);
  else
    fn = lo ? pick32<Mul24Lo>(type) : pick32<Mul24Hi>(type);
  return decodeSame(decoder, type, isMad ? 3 : 2, fn);
}

bool decodeMinMax(InstDecoder &decoder, bool isMin) {
  bool relu = decoder.flag("relu");
  Type type = decoder.takeType();
  if (isFloat(type))
    return decodeFloatMinMax(decoder, type, isMin);
  if (relu) {
    if (type == Type::S32)
      return decodeSame(decoder, type, 2,
                        isMin ? exec2<MinRelu<int32_t>, int32_t, int32_t>
                              : exec2<MaxRelu<int32_t>, int32_t, int32_t>);
    if (type == Type::S16x2)
      return decodeSame(decoder, type, 2,
                        isMin ? exec2<Pairwise<MinRelu, int16_t>, uint32_t, uint32_t>
                              : exec2<Pairwise<MaxRelu, int16_t>, uint32_t, uint32_t>);
    return decoder.fail("expected type .s32 or .s16x2 with .relu");
  }
  return decodeSame(decoder, type, 2, isMin ? pickBinary<Min>(type) : pickBinary<Max>(type));
}

bool decodeAbsNeg(InstDecoder &decoder, bool isAbs) {
  Type type = decoder.takeType();
  if (isFloat(type))
    return decodeFloatAbsNeg(decoder, type, isAbs);
  return decodeSame(decoder, type, 1,
                    isAbs ? pickSignedUnary<Abs>(type) : pickSignedUnary<Neg>(type));
}

bool decodeDiv(InstDecoder &decoder) {
  Type type = decoder.takeType();
  if (isFloat(type))
    return decodeFloatDiv(decoder, type);
  return decodeSame(decoder, type, 2, pickBinary<Div>(type));
}

} // namespace

bool xc::ptxsim::decodeSame(InstDecoder &decoder, Type type, unsigned sources, ExecFn fn) {
  if (decoder.failed())
    return false;
  if (!fn)
    return decoder.fail("unsupported type ." + std::string(typeName(type)));
  if (!decoder.expectOperands(sources + 1))
    return false;
  decoder.out.fn = fn;
  if (isFloat(type))
    decoder.out.instClass = InstClass::Floating;
  decoder.out.dst = decoder.dst(0, type);
  decoder.out.a = decoder.src(1, type);
  if (sources > 1)
    decoder.out.b = decoder.src(2, type);
  if (sources > 2)
    decoder.out.c = decoder.src(3, type);
  return !decoder.failed();
}

void xc::ptxsim::addIntegerOpcodes(OpcodeTable &table) {
  table["add"] = [](InstDecoder &d) { return decodeAddSub(d, true); };
  table["sub"] = [](InstDecoder &d) { return decodeAddSub(d, false); };
  table["mul"] = decodeMul;
  table["mad"] = decodeMad;
  table["mul24"] = [](InstDecoder &d) { return decode24(d, false); };
  table["mad24"] = [](InstDecoder &d) { return decode24(d, true); };
  table["div"] = decodeDiv;
  table["rem"] = [](InstDecoder &d) {
    Type type = d.takeType();
    return decodeSame(d, type, 2, pickBinary<Rem>(type));
  };
  table["sad"] = [](InstDecoder &d) {
    Type type = d.takeType();
    return decodeSame(d, type, 3, pickTernary<Sad>(type));
  };
  table["min"] = [](InstDecoder &d) { return decodeMinMax(d, true); };
  table["max"] = [](InstDecoder &d) { return decodeMinMax(d, false); };
  table["abs"] = [](InstDecoder &d) { return decodeAbsNeg(d, true); };
  table["neg"] = [](InstDecoder &d) { return decodeAbsNeg(d, false); };
  table["addc"] = decodeCarry;
  table["subc"] = decodeCarry;
  table["madc"] = [](InstDecoder &d) {
    bool hi = d.flag("hi");
    if (!hi && !d.flag("lo"))
      return d.fail("expected one of .lo, .hi");
    return decodeMadCarry(d, hi);
  };
}
