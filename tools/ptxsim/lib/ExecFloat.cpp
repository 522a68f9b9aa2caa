//===- ExecFloat.cpp - Arithmetic on f32 and f64 --------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// add sub mul fma mad div rcp sqrt rsqrt min max abs neg copysign testp, and
// the approximations ex2 lg2 sin cos tanh. f16, bf16 and their pairs are in
// ExecHalf.cpp.
//
// The host's IEEE arithmetic is used as it is; rounding other than to nearest
// sets the host's rounding mode around the lane loop (this file is compiled
// with -frounding-math and without contraction). Approximations are computed in
// double precision: closer than hardware, within the error that PTX states.
//
//===----------------------------------------------------------------------===//

#include "ExecFloat.h"
#include "Exec.h"

#include <cfenv>
#include <cmath>

using namespace xc::ptxsim;

namespace {

constexpr uint32_t kNanBits = 0x7fffffffu;

template <bool Ftz> float flush(float a) {
  if (!Ftz)
    return a;
  uint32_t bits = bitCast<uint32_t>(a);
  return (bits & 0x7f800000u) == 0 ? bitCast<float>(bits & 0x80000000u) : a;
}
template <bool Ftz> double flush(double a) { return a; }

/// What hardware does to every result of f32: one NaN, saturation, flushing. (NaNs
/// of f64 have a payload: nanOr.)
template <bool Ftz, bool Sat> float finish(float r) {
  if (Sat) {
    r = r > 0.0f ? r : 0.0f; // also NaN
    return r < 1.0f ? flush<Ftz>(r) : 1.0f;
  }
  r = flush<Ftz>(r);
  return r != r ? bitCast<float>(kNanBits) : r;
}
/// The same with the operands that the result came from, of which the last NaN wins.
template <bool Ftz, bool Sat, typename... Operands> float finish(float r, Operands...) {
  return finish<Ftz, Sat>(r);
}
template <bool Ftz, bool Sat, typename... Operands> double finish(double r, Operands... operands) {
  return nanOr(r, operands...);
}

template <typename T, bool Ftz, bool Sat> struct Add {
  static T apply(T a, T b) { return finish<Ftz, Sat>(flush<Ftz>(a) + flush<Ftz>(b), a, b); }
};
template <typename T, bool Ftz, bool Sat> struct Sub {
  static T apply(T a, T b) { return finish<Ftz, Sat>(flush<Ftz>(a) - flush<Ftz>(b), a, b); }
};
template <typename T, bool Ftz, bool Sat> struct Mul {
  static T apply(T a, T b) { return finish<Ftz, Sat>(flush<Ftz>(a) * flush<Ftz>(b), a, b); }
};
/// Of several NaNs b wins over c, and c over a.
template <typename T, bool Ftz, bool Sat> struct Fma {
  static T apply(T a, T b, T c) {
    return finish<Ftz, Sat>(std::fma(flush<Ftz>(a), flush<Ftz>(b), flush<Ftz>(c)), a, c, b);
  }
};
/// A program on hardware, which looks at the dividend first.
template <typename T, bool Ftz, bool Sat> struct Div {
  static T apply(T a, T b) { return finish<Ftz, Sat>(flush<Ftz>(a) / flush<Ftz>(b), b, a); }
};
template <typename T, bool Ftz, bool Sat> struct Rcp {
  static T apply(T a) { return finish<Ftz, Sat>(T(1) / flush<Ftz>(a), a); }
};
template <typename T, bool Ftz, bool Sat> struct Sqrt {
  static T apply(T a) { return finish<Ftz, Sat>(std::sqrt(flush<Ftz>(a)), a); }
};

/// Divisors beyond 2^126 underflow the reciprocal that hardware multiplies
/// with.
template <bool Ftz> struct DivApprox {
  static float apply(float a, float b) {
    a = flush<Ftz>(a);
    b = flush<Ftz>(b);
    float magnitude = std::fabs(b);
    if (magnitude > 0x1p126f && magnitude <= 0x1.fffffep127f)
      b = std::copysign(INFINITY, b);
    return finish<Ftz, false>(a / b);
  }
};

template <bool Ftz> struct Ex2 {
  static float apply(float a) {
    return finish<Ftz, false>(static_cast<float>(std::exp2(static_cast<double>(flush<Ftz>(a)))));
  }
};
template <bool Ftz> struct Lg2 {
  static float apply(float a) {
    return finish<Ftz, false>(static_cast<float>(std::log2(static_cast<double>(flush<Ftz>(a)))));
  }
};
template <bool Ftz> struct Sin {
  static float apply(float a) {
    return finish<Ftz, false>(static_cast<float>(std::sin(static_cast<double>(flush<Ftz>(a)))));
  }
};
template <bool Ftz> struct Cos {
  static float apply(float a) {
    return finish<Ftz, false>(static_cast<float>(std::cos(static_cast<double>(flush<Ftz>(a)))));
  }
};
template <bool Ftz> struct Rsqrt {
  static float apply(float a) {
    return finish<Ftz, false>(
        static_cast<float>(1.0 / std::sqrt(static_cast<double>(flush<Ftz>(a)))));
  }
};
template <bool Ftz> struct Tanh {
  static float apply(float a) {
    return finish<Ftz, false>(static_cast<float>(std::tanh(static_cast<double>(flush<Ftz>(a)))));
  }
};

/// The f64 approximations read and write the upper word only; subnormals are
/// zero, and NaN is that of f32.
double upperWord(double a) {
  uint64_t bits = a != a ? uint64_t(kNanBits) << 32 : bitCast<uint64_t>(a);
  if ((bits & 0x7ff0000000000000ull) == 0)
    bits &= 0x8000000000000000ull;
  return bitCast<double>(bits & 0xffffffff00000000ull);
}
struct RcpApproxF64 {
  static double apply(double a) { return upperWord(1.0 / upperWord(a)); }
};
struct RsqrtApproxF64 {
  static double apply(double a) { return upperWord(1.0 / std::sqrt(upperWord(a))); }
};
struct RsqrtF64 {
  static double apply(double a) { return nanOr(1.0 / std::sqrt(a), a); }
};

template <typename T> struct Bits;
template <> struct Bits<float> {
  using type = uint32_t;
};
template <> struct Bits<double> {
  using type = uint64_t;
};
template <typename T>
constexpr typename Bits<T>::type kSign = typename Bits<T>::type(1) << (sizeof(T) * 8 - 1);

/// min or max of two NaNs, or of one with .NaN.
float nanOf(float, float) { return bitCast<float>(kNanBits); }
double nanOf(double a, double b) { return nanOr(a + b, a, b); }

template <typename T, bool Ftz, bool Nan, bool IsMin> struct MinMax {
  static T apply(T a, T b) {
    a = flush<Ftz>(a);
    b = flush<Ftz>(b);
    if (a != a || b != b)
      return Nan || (a != a && b != b) ? nanOf(a, b) : (a != a ? b : a);
    using U = typename Bits<T>::type;
    bool less = a < b || (a == b && (bitCast<U>(a) & kSign<T>));
    return less == IsMin ? a : b;
  }
};
/// The sign is the product of the signs, the magnitude that of the winner.
template <bool Ftz, bool Nan, bool IsMin> struct MinMaxXorSign {
  static float apply(float a, float b) {
    uint32_t sign = (bitCast<uint32_t>(a) ^ bitCast<uint32_t>(b)) & 0x80000000u;
    float r = MinMax<float, Ftz, Nan, IsMin>::apply(std::fabs(a), std::fabs(b));
    return r != r ? r : bitCast<float>(bitCast<uint32_t>(r) | sign);
  }
};

/// abs and neg are sums with zero on hardware: NaN is treated as any sum does.
template <typename T, bool Ftz> struct Abs {
  static T apply(T a) {
    using U = typename Bits<T>::type;
    return finish<Ftz, false>(bitCast<T>(static_cast<U>(bitCast<U>(a) & ~kSign<T>)), a);
  }
};
template <typename T, bool Ftz> struct Neg {
  static T apply(T a) {
    using U = typename Bits<T>::type;
    return finish<Ftz, false>(bitCast<T>(static_cast<U>(bitCast<U>(a) ^ kSign<T>)), a);
  }
};
template <typename T> struct CopySign {
  static T apply(T a, T b) { return std::copysign(b, a); }
};

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

template <ExecFn Fn, int Mode> void rounded(Warp &warp, const Inst &inst, uint32_t mask) {
  std::fesetround(Mode);
  Fn(warp, inst, mask);
  std::fesetround(FE_TONEAREST);
}

template <ExecFn Fn> ExecFn pickRounding(Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return rounded<Fn, FE_TOWARDZERO>;
  case Rounding::Down:
    return rounded<Fn, FE_DOWNWARD>;
  case Rounding::Up:
    return rounded<Fn, FE_UPWARD>;
  default:
    return Fn;
  }
}

/// Operations that have several roundings must say which.
bool hasRounding(const InstDecoder &d) {
  for (std::string_view modifier : d.syntax().modifiers)
    if (modifier == "rn" || modifier == "rz" || modifier == "rm" || modifier == "rp")
      return true;
  return false;
}

bool requireRounding(InstDecoder &d) {
  return hasRounding(d) || d.fail("expected a rounding mode");
}

struct FloatFlags {
  Rounding rounding = Rounding::NearestEven;
  bool ftz = false, sat = false;
};

FloatFlags takeFlags(InstDecoder &d, bool mayClamp = true) {
  FloatFlags flags;
  flags.rounding = takeRounding(d);
  flags.ftz = d.flag("ftz");
  flags.sat = mayClamp && d.flag("sat");
  return flags;
}

/// The function of `Op` for |type| and |flags|; Exec wraps the lane loop.
#define PTXSIM_PICK(OP, EXEC)                                                                      \
  ([](Type type, FloatFlags f) -> ExecFn {                                                         \
    if (type == Type::F64)                                                                         \
      return f.ftz || f.sat                                                                        \
                 ? nullptr                                                                         \
                 : pickRounding<EXEC<OP<double, false, false>, double, double>>(f.rounding);       \
    if (type != Type::F32)                                                                         \
      return nullptr;                                                                              \
    if (f.ftz)                                                                                     \
      return f.sat ? pickRounding<EXEC<OP<float, true, true>, float, float>>(f.rounding)           \
                   : pickRounding<EXEC<OP<float, true, false>, float, float>>(f.rounding);         \
    return f.sat ? pickRounding<EXEC<OP<float, false, true>, float, float>>(f.rounding)            \
                 : pickRounding<EXEC<OP<float, false, false>, float, float>>(f.rounding);          \
  })

using PickFn = ExecFn (*)(Type, FloatFlags);

bool decodeArithmetic(InstDecoder &d, Type type, unsigned sources, PickFn pick,
                      bool mayClamp = true) {
  d.out.instClass = InstClass::Floating;
  return decodeSame(d, type, sources, pick(type, takeFlags(d, mayClamp)));
}

/// One f32 source, .approx[.ftz]; the pairs of functions are without and with
/// .ftz.
bool decodeApprox(InstDecoder &d, ExecFn plain, ExecFn ftz) {
  if (!d.flag("approx"))
    return d.fail("expected .approx");
  bool flushes = d.flag("ftz");
  Type type = d.takeType();
  d.out.instClass = InstClass::Floating;
  return decodeSame(d, type, 1, type != Type::F32 ? nullptr : flushes ? ftz : plain);
}

bool decodeRcp(InstDecoder &d) {
  bool approx = d.flag("approx");
  if (!approx && !requireRounding(d))
    return false;
  FloatFlags flags = takeFlags(d, /*mayClamp=*/false);
  Type type = d.takeType();
  d.out.instClass = InstClass::Floating;
  if (approx && type == Type::F64)
    return decodeSame(d, type, 1, flags.ftz ? exec1<RcpApproxF64, double, double> : nullptr);
  return decodeSame(d, type, 1, PTXSIM_PICK(Rcp, exec1)(type, flags));
}

bool decodeSqrt(InstDecoder &d) {
  bool approx = d.flag("approx"); // rounded correctly all the same
  if (!approx && !requireRounding(d))
    return false;
  FloatFlags flags = takeFlags(d, /*mayClamp=*/false);
  Type type = d.takeType();
  d.out.instClass = InstClass::Floating;
  return decodeSame(d, type, 1, PTXSIM_PICK(Sqrt, exec1)(type, flags));
}

bool decodeRsqrt(InstDecoder &d) {
  if (!d.flag("approx"))
    return d.fail("expected .approx");
  bool ftz = d.flag("ftz");
  Type type = d.takeType();
  ExecFn fn = nullptr;
  if (type == Type::F32)
    fn = ftz ? exec1<Rsqrt<true>, float, float> : exec1<Rsqrt<false>, float, float>;
  else if (type == Type::F64)
    fn = ftz ? exec1<RsqrtApproxF64, double, double> : exec1<RsqrtF64, double, double>;
  d.out.instClass = InstClass::Floating;
  return decodeSame(d, type, 1, fn);
}

bool decodeCopySign(InstDecoder &d) {
  Type type = d.takeType();
  ExecFn fn = nullptr;
  if (type == Type::F32)
    fn = exec2<CopySign<float>, float, float>;
  else if (type == Type::F64)
    fn = exec2<CopySign<double>, double, double>;
  return decodeSame(d, type, 2, fn);
}

template <typename T, bool IsMin> ExecFn pickMinMax(bool ftz, bool nan) {
  if (ftz)
    return nan ? exec2<MinMax<T, true, true, IsMin>, T, T>
               : exec2<MinMax<T, true, false, IsMin>, T, T>;
  return nan ? exec2<MinMax<T, false, true, IsMin>, T, T>
             : exec2<MinMax<T, false, false, IsMin>, T, T>;
}
template <bool IsMin> ExecFn pickXorSign(bool ftz, bool nan) {
  using F = float;
  if (ftz)
    return nan ? exec2<MinMaxXorSign<true, true, IsMin>, F, F>
               : exec2<MinMaxXorSign<true, false, IsMin>, F, F>;
  return nan ? exec2<MinMaxXorSign<false, true, IsMin>, F, F>
             : exec2<MinMaxXorSign<false, false, IsMin>, F, F>;
}

//===----------------------------------------------------------------------===//
// testp
//===----------------------------------------------------------------------===//

template <typename T> uint32_t classify(T a) {
  switch (std::fpclassify(a)) {
  case FP_NAN:
    return 1;
  case FP_INFINITE:
    return 2;
  case FP_SUBNORMAL:
    return 4;
  default:
    return 8; // zero counts as normal
  }
}

template <typename T> void execTestp(Warp &warp, const Inst &inst, uint32_t mask) {
  const T *a = warp.row<T>(inst.a);
  uint32_t result = 0;
  for (unsigned l = 0; l < kWarpSize; ++l)
    result |= static_cast<uint32_t>((classify(a[l]) & inst.aux) != 0) << l;
  uint32_t &d = warp.predicate(inst.dst);
  d = (d & ~mask) | (result & mask);
}

bool decodeTestp(InstDecoder &d) {
  std::string_view kind = d.nextModifier();
  if (kind == "finite")
    d.out.aux = 4 | 8;
  else if (kind == "infinite")
    d.out.aux = 2;
  else if (kind == "number")
    d.out.aux = 2 | 4 | 8;
  else if (kind == "notanumber")
    d.out.aux = 1;
  else if (kind == "normal")
    d.out.aux = 8;
  else if (kind == "subnormal")
    d.out.aux = 4;
  else
    return d.fail("unsupported test '." + std::string(kind) + "'");
  Type type = d.takeType();
  if ((type != Type::F32 && type != Type::F64) || !d.expectOperands(2))
    return d.failed() ? false : d.fail("expected type .f32 or .f64");
  d.out.fn = type == Type::F32 ? execTestp<float> : execTestp<double>;
  d.out.instClass = InstClass::Floating;
  d.out.dst = d.dstPredicate(d.operand(0));
  d.out.a = d.src(1, type);
  return !d.failed();
}

} // namespace

Rounding xc::ptxsim::takeRounding(InstDecoder &d, Rounding otherwise) {
  if (d.flag("rn"))
    return Rounding::NearestEven;
  if (d.flag("rz"))
    return Rounding::Zero;
  if (d.flag("rm"))
    return Rounding::Down;
  if (d.flag("rp"))
    return Rounding::Up;
  return otherwise;
}

bool xc::ptxsim::decodeFloatAdd(InstDecoder &d, Type type) {
  if (isHalf(type))
    return decodeHalfArithmetic(d, type, HalfOp::Add);
  return decodeArithmetic(d, type, 2, PTXSIM_PICK(Add, exec2));
}

bool xc::ptxsim::decodeFloatSub(InstDecoder &d, Type type) {
  if (isHalf(type))
    return decodeHalfArithmetic(d, type, HalfOp::Sub);
  return decodeArithmetic(d, type, 2, PTXSIM_PICK(Sub, exec2));
}

bool xc::ptxsim::decodeFloatMul(InstDecoder &d, Type type) {
  if (isHalf(type))
    return decodeHalfArithmetic(d, type, HalfOp::Mul);
  return decodeArithmetic(d, type, 2, PTXSIM_PICK(Mul, exec2));
}

bool xc::ptxsim::decodeFloatFma(InstDecoder &d, Type type) {
  if (isHalf(type))
    return decodeHalfArithmetic(d, type, HalfOp::Fma);
  if (!requireRounding(d))
    return false;
  return decodeArithmetic(d, type, 3, PTXSIM_PICK(Fma, exec3));
}

bool xc::ptxsim::decodeFloatDiv(InstDecoder &d, Type type) {
  bool approx = d.flag("approx");
  bool full = !approx && d.flag("full"); // rounded correctly all the same
  if (!approx && !full && !requireRounding(d))
    return false;
  if (approx && type == Type::F32) {
    bool ftz = d.flag("ftz");
    d.out.instClass = InstClass::Floating;
    return decodeSame(d, type, 2,
                      ftz ? exec2<DivApprox<true>, float, float>
                          : exec2<DivApprox<false>, float, float>);
  }
  return decodeArithmetic(d, type, 2, PTXSIM_PICK(Div, exec2), /*mayClamp=*/false);
}

bool xc::ptxsim::decodeFloatMinMax(InstDecoder &d, Type type, bool isMin) {
  if (isHalf(type))
    return decodeHalfMinMax(d, type, isMin);
  bool ftz = d.flag("ftz"), nan = d.flag("NaN");
  bool xorSign = d.flag("xorsign");
  if (xorSign && (!d.flag("abs") || type != Type::F32))
    return d.fail("expected .xorsign.abs and type .f32");
  d.out.instClass = InstClass::Floating;
  ExecFn fn = nullptr;
  if (xorSign)
    fn = isMin ? pickXorSign<true>(ftz, nan) : pickXorSign<false>(ftz, nan);
  else if (type == Type::F32)
    fn = isMin ? pickMinMax<float, true>(ftz, nan) : pickMinMax<float, false>(ftz, nan);
  else if (type == Type::F64 && !ftz && !nan)
    fn = isMin ? pickMinMax<double, true>(false, false) : pickMinMax<double, false>(false, false);
  return decodeSame(d, type, 2, fn);
}

bool xc::ptxsim::decodeFloatAbsNeg(InstDecoder &d, Type type, bool isAbs) {
  if (isHalf(type))
    return decodeHalfAbsNeg(d, type, isAbs);
  bool ftz = d.flag("ftz");
  ExecFn fn = nullptr;
  if (type == Type::F32 && ftz)
    fn = isAbs ? exec1<Abs<float, true>, float, float> : exec1<Neg<float, true>, float, float>;
  else if (type == Type::F32)
    fn = isAbs ? exec1<Abs<float, false>, float, float> : exec1<Neg<float, false>, float, float>;
  else if (type == Type::F64 && !ftz)
    fn = isAbs ? exec1<Abs<double, false>, double, double>
               : exec1<Neg<double, false>, double, double>;
  d.out.instClass = InstClass::Floating;
  return decodeSame(d, type, 1, fn);
}

void xc::ptxsim::addFloatOpcodes(OpcodeTable &table) {
  table["fma"] = [](InstDecoder &d) { return decodeFloatFma(d, d.takeType()); };
  table["rcp"] = decodeRcp;
  table["sqrt"] = decodeSqrt;
  table["rsqrt"] = decodeRsqrt;
  table["copysign"] = decodeCopySign;
  table["testp"] = decodeTestp;
  table["sin"] = [](InstDecoder &d) {
    return decodeApprox(d, exec1<Sin<false>, float, float>, exec1<Sin<true>, float, float>);
  };
  table["cos"] = [](InstDecoder &d) {
    return decodeApprox(d, exec1<Cos<false>, float, float>, exec1<Cos<true>, float, float>);
  };
  table["lg2"] = [](InstDecoder &d) {
    return decodeApprox(d, exec1<Lg2<false>, float, float>, exec1<Lg2<true>, float, float>);
  };
  // ex2 and tanh also exist for the 16-bit types: ExecHalf.cpp looks at the
  // type.
  table["ex2"] = [](InstDecoder &d) {
    return decodeExponential(d, exec1<Ex2<false>, float, float>, exec1<Ex2<true>, float, float>,
                             /*isTanh=*/false);
  };
  table["tanh"] = [](InstDecoder &d) {
    return decodeExponential(d, exec1<Tanh<false>, float, float>, nullptr, /*isTanh=*/true);
  };
}
