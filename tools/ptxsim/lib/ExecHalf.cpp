//===- ExecHalf.cpp - Arithmetic on f16, bf16 and their pairs -------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exec.h"
#include "Narrow.h"

using namespace xc::ptxsim;

namespace {

/// How operands and results are changed around an operation.
enum HalfFlags : unsigned { kPlain = 0, kFtz = 1, kSat = 2, kRelu = 4, kNan = 8, kXorSign = 16 };

template <typename F> uint16_t flushHalf(uint16_t a) {
  return (a & F::kFormat.infinity()) == 0 ? a & 0x8000 : a;
}

template <typename F, unsigned Flags> float load(uint16_t a) {
  return F::decode(Flags & kFtz ? flushHalf<F>(a) : a);
}

template <typename F, unsigned Flags> uint16_t store(double value) {
  auto r = static_cast<uint16_t>(encodeFloat(value, F::kFormat, Rounding::NearestEven));
  constexpr auto kOne = static_cast<uint16_t>(F::kFormat.exponentBits == 5 ? 0x3c00 : 0x3f80);
  if (Flags & kFtz)
    r = flushHalf<F>(r);
  if (Flags & kSat) {
    if (!(value > 0.0))
      return 0;
    return r < kOne ? r : kOne;
  }
  if ((Flags & kRelu) && value == value && (r & 0x8000))
    return 0;
  return r;
}

template <typename F, unsigned Flags> struct HalfAdd {
  static uint16_t apply(uint16_t a, uint16_t b) {
    return store<F, Flags>(addToOdd(load<F, Flags>(a), load<F, Flags>(b)));
  }
};
template <typename F, unsigned Flags> struct HalfSub {
  static uint16_t apply(uint16_t a, uint16_t b) {
    return store<F, Flags>(addToOdd(load<F, Flags>(a), -static_cast<double>(load<F, Flags>(b))));
  }
};
template <typename F, unsigned Flags> struct HalfMul {
  static uint16_t apply(uint16_t a, uint16_t b) {
    return store<F, Flags>(static_cast<double>(load<F, Flags>(a)) * load<F, Flags>(b));
  }
};
template <typename F, unsigned Flags> struct HalfFma {
  static uint16_t apply(uint16_t a, uint16_t b, uint16_t c) {
    double product = static_cast<double>(load<F, Flags>(a)) * load<F, Flags>(b);
    return store<F, Flags>(addToOdd(product, load<F, Flags>(c)));
  }
};

template <typename F, unsigned Flags, bool IsMin> uint16_t halfMinMax(uint16_t a, uint16_t b) {
  uint16_t sign = 0;
  if (Flags & kFtz) {
    a = flushHalf<F>(a);
    b = flushHalf<F>(b);
  }
  if (Flags & kXorSign) {
    sign = (a ^ b) & 0x8000;
    a &= 0x7fff;
    b &= 0x7fff;
  }
  bool aNan = (a & 0x7fff) > F::kFormat.infinity(), bNan = (b & 0x7fff) > F::kFormat.infinity();
  uint16_t r;
  if (aNan || bNan) {
    if ((Flags & kNan) || (aNan && bNan))
      return static_cast<uint16_t>(F::kFormat.nan());
    r = aNan ? b : a;
  } else {
    // Sign and magnitude to two's complement orders the values, -0 below +0.
    auto key = [](uint16_t x) { return x & 0x8000 ? -1 - (x & 0x7fff) : static_cast<int>(x); };
    r = (key(a) < key(b)) == IsMin ? a : b;
  }
  return r | sign;
}
template <typename F, unsigned Flags> struct HalfMin {
  static uint16_t apply(uint16_t a, uint16_t b) { return halfMinMax<F, Flags, true>(a, b); }
};
template <typename F, unsigned Flags> struct HalfMax {
  static uint16_t apply(uint16_t a, uint16_t b) { return halfMinMax<F, Flags, false>(a, b); }
};
/// abs and neg are sums with zero on hardware: NaN becomes the one NaN of the format.
template <typename F> uint16_t canonical(uint16_t a) {
  return (a & 0x7fff) > F::kFormat.infinity() ? static_cast<uint16_t>(F::kFormat.nan()) : a;
}
template <typename F, unsigned Flags> struct HalfAbs {
  static uint16_t apply(uint16_t a) {
    return canonical<F>((Flags & kFtz ? flushHalf<F>(a) : a) & 0x7fff);
  }
};
template <typename F, unsigned Flags> struct HalfNeg {
  static uint16_t apply(uint16_t a) {
    return canonical<F>((Flags & kFtz ? flushHalf<F>(a) : a) ^ 0x8000);
  }
};
template <typename F, unsigned Flags> struct HalfEx2 {
  static uint16_t apply(uint16_t a) {
    return store<F, Flags>(std::exp2(static_cast<double>(load<F, Flags>(a))));
  }
};
template <typename F, unsigned Flags> struct HalfTanh {
  static uint16_t apply(uint16_t a) {
    return store<F, Flags>(std::tanh(static_cast<double>(load<F, Flags>(a))));
  }
};

//===----------------------------------------------------------------------===//
// Scalar and paired forms
//===----------------------------------------------------------------------===//

uint16_t lowHalf(uint32_t a) { return static_cast<uint16_t>(a); }
uint16_t highHalf(uint32_t a) { return static_cast<uint16_t>(a >> 16); }

template <typename Op> struct Pair {
  static uint32_t apply(uint32_t a) {
    return Op::apply(lowHalf(a)) | static_cast<uint32_t>(Op::apply(highHalf(a))) << 16;
  }
  static uint32_t apply(uint32_t a, uint32_t b) {
    return Op::apply(lowHalf(a), lowHalf(b)) |
           static_cast<uint32_t>(Op::apply(highHalf(a), highHalf(b))) << 16;
  }
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    return Op::apply(lowHalf(a), lowHalf(b), lowHalf(c)) |
           static_cast<uint32_t>(Op::apply(highHalf(a), highHalf(b), highHalf(c))) << 16;
  }
};

template <typename Op, unsigned Sources> ExecFn pickWidth(bool pair) {
  using H = uint16_t;
  using W = uint32_t;
  if constexpr (Sources == 1)
    return pair ? exec1<Pair<Op>, W, W> : exec1<Op, H, H>;
  else if constexpr (Sources == 2)
    return pair ? exec2<Pair<Op>, W, W> : exec2<Op, H, H>;
  else
    return pair ? exec3<Pair<Op>, W, W> : exec3<Op, H, H>;
}

template <template <typename, unsigned> class Op, unsigned Flags, unsigned Sources>
ExecFn pickFormat(Type type) {
  bool pair = type == Type::F16x2 || type == Type::BF16x2;
  if (type == Type::F16 || type == Type::F16x2)
    return pickWidth<Op<HalfFormat, Flags>, Sources>(pair);
  return pickWidth<Op<BfloatFormat, Flags>, Sources>(pair);
}

template <template <typename, unsigned> class Op, unsigned Sources>
ExecFn pickArithmetic(Type type, unsigned flags) {
  switch (flags) {
  case kPlain:
    return pickFormat<Op, kPlain, Sources>(type);
  case kFtz:
    return pickFormat<Op, kFtz, Sources>(type);
  case kSat:
    return pickFormat<Op, kSat, Sources>(type);
  case kFtz | kSat:
    return pickFormat<Op, kFtz | kSat, Sources>(type);
  case kRelu:
    return pickFormat<Op, kRelu, Sources>(type);
  case kFtz | kRelu:
    return pickFormat<Op, kFtz | kRelu, Sources>(type);
  default:
    return nullptr;
  }
}

template <template <typename, unsigned> class Op> ExecFn pickMinMax(Type type, unsigned flags) {
  switch (flags) {
  case kPlain:
    return pickFormat<Op, kPlain, 2>(type);
  case kFtz:
    return pickFormat<Op, kFtz, 2>(type);
  case kNan:
    return pickFormat<Op, kNan, 2>(type);
  case kFtz | kNan:
    return pickFormat<Op, kFtz | kNan, 2>(type);
  case kXorSign:
    return pickFormat<Op, kXorSign, 2>(type);
  case kXorSign | kNan:
    return pickFormat<Op, kXorSign | kNan, 2>(type);
  case kXorSign | kFtz:
    return pickFormat<Op, kXorSign | kFtz, 2>(type);
  case kXorSign | kFtz | kNan:
    return pickFormat<Op, kXorSign | kFtz | kNan, 2>(type);
  default:
    return nullptr;
  }
}

} // namespace

bool xc::ptxsim::decodeHalfArithmetic(InstDecoder &d, Type type, HalfOp op) {
  d.flag("rn");
  unsigned flags = (d.flag("ftz") ? kFtz : 0u) | (d.flag("sat") ? kSat : 0u) |
                   (op == HalfOp::Fma && d.flag("relu") ? kRelu : 0u);
  switch (op) {
  case HalfOp::Add:
    return decodeSame(d, type, 2, pickArithmetic<HalfAdd, 2>(type, flags));
  case HalfOp::Sub:
    return decodeSame(d, type, 2, pickArithmetic<HalfSub, 2>(type, flags));
  case HalfOp::Mul:
    return decodeSame(d, type, 2, pickArithmetic<HalfMul, 2>(type, flags));
  case HalfOp::Fma:
    return decodeSame(d, type, 3, pickArithmetic<HalfFma, 3>(type, flags));
  }
  return false;
}

bool xc::ptxsim::decodeHalfMinMax(InstDecoder &d, Type type, bool isMin) {
  unsigned flags = (d.flag("ftz") ? kFtz : 0u) | (d.flag("NaN") ? kNan : 0u);
  if (d.flag("xorsign")) {
    if (!d.flag("abs"))
      return d.fail("expected .xorsign.abs");
    flags |= kXorSign;
  }
  return decodeSame(d, type, 2,
                    isMin ? pickMinMax<HalfMin>(type, flags) : pickMinMax<HalfMax>(type, flags));
}

bool xc::ptxsim::decodeHalfAbsNeg(InstDecoder &d, Type type, bool isAbs) {
  bool ftz = d.flag("ftz");
  ExecFn fn =
      isAbs ? (ftz ? pickFormat<HalfAbs, kFtz, 1>(type) : pickFormat<HalfAbs, kPlain, 1>(type))
            : (ftz ? pickFormat<HalfNeg, kFtz, 1>(type) : pickFormat<HalfNeg, kPlain, 1>(type));
  return decodeSame(d, type, 1, fn);
}

bool xc::ptxsim::decodeExponential(InstDecoder &d, ExecFn plain, ExecFn ftz, bool isTanh) {
  if (!d.flag("approx"))
    return d.fail("expected .approx");
  bool flushes = !isTanh && d.flag("ftz");
  Type type = d.takeType();
  if (flushes && (type == Type::F16 || type == Type::F16x2))
    return d.fail("unexpected modifier '.ftz'");
  d.out.instClass = InstClass::Floating;
  if (type == Type::F32)
    return decodeSame(d, type, 1, flushes ? ftz : plain);
  if (!isHalf(type))
    return d.fail("unsupported type ." + std::string(typeName(type)));
  if (isTanh)
    return decodeSame(d, type, 1, pickFormat<HalfTanh, kPlain, 1>(type));
  return decodeSame(d, type, 1,
                    flushes ? pickFormat<HalfEx2, kFtz, 1>(type)
                            : pickFormat<HalfEx2, kPlain, 1>(type));
}
