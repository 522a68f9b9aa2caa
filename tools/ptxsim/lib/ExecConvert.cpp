//===- ExecConvert.cpp - cvt and cvt.pack ---------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A source is read as an integer (exact in 128 bits) or as a double (exact for
// all formats), then written as the destination type with one rounding. Source
// and destination registers may be wider than their types.
//
//===----------------------------------------------------------------------===//

#include "Exec.h"
#include "Narrow.h"

#include <cfenv>

using namespace xc::ptxsim;

namespace {

using Integer = __int128;

/// What Inst::imm of a cvt holds.
struct CvtFlags {
  Type from, to;
  Rounding rounding;
  bool toIntegral; // .rni and the like
  bool ftz, sat, relu, satfinite;

  int64_t pack() const {
    return static_cast<int64_t>(from) | static_cast<int64_t>(to) << 8 |
           static_cast<int64_t>(rounding) << 16 | int64_t(toIntegral) << 24 | int64_t(ftz) << 25 |
           int64_t(sat) << 26 | int64_t(relu) << 27 | int64_t(satfinite) << 28;
  }
  static CvtFlags unpack(int64_t bits) {
    return {static_cast<Type>(bits & 0xff),
            static_cast<Type>(bits >> 8 & 0xff),
            static_cast<Rounding>(bits >> 16 & 0xff),
            (bits >> 24 & 1) != 0,
            (bits >> 25 & 1) != 0,
            (bits >> 26 & 1) != 0,
            (bits >> 27 & 1) != 0,
            (bits >> 28 & 1) != 0};
  }
};

FloatFormat formatOf(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
    return kF16Format;
  case Type::BF16:
  case Type::BF16x2:
    return kBf16Format;
  case Type::TF32:
    return kTf32Format;
  case Type::E4M3:
  case Type::E4M3x2:
    return kE4m3Format;
  case Type::E5M2:
  case Type::E5M2x2:
    return kE5m2Format;
  default:
    return kF32Format;
  }
}

uint64_t loadBits(const uint8_t *row, unsigned lane, unsigned registerBytes, unsigned bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, row + static_cast<size_t>(lane) * registerBytes, bytes);
  return bits;
}

void storeBits(uint8_t *row, unsigned lane, unsigned registerBytes, uint64_t bits) {
  std::memcpy(row + static_cast<size_t>(lane) * registerBytes, &bits, registerBytes);
}

Integer loadInteger(uint64_t bits, Type type) {
  unsigned shift = 64 - typeBits(type);
  if (isSigned(type))
    return static_cast<int64_t>(bits << shift) >> shift;
  return static_cast<Integer>(bits << shift >> shift);
}

double loadFloat(uint64_t bits, Type type, bool ftz) {
  switch (type) {
  case Type::F64:
    return bitCast<double>(bits);
  case Type::F32: {
    auto word = static_cast<uint32_t>(bits);
    if (ftz && (word & 0x7f800000u) == 0)
      word &= 0x80000000u;
    return bitCast<float>(word);
  }
  case Type::F16:
    return halfToFloat(static_cast<uint16_t>(bits));
  case Type::BF16:
    return bfloatToFloat(static_cast<uint16_t>(bits));
  default:
    return decodeFloat(static_cast<uint32_t>(bits), formatOf(type));
  }
}

/// The range of an integer type.
Integer lowest(Type type) {
  return isSigned(type) ? -(Integer(1) << (typeBits(type) - 1)) : Integer(0);
}
Integer highest(Type type) {
  return (Integer(1) << (typeBits(type) - (isSigned(type) ? 1 : 0))) - 1;
}

Integer clampTo(Integer value, Type type) {
  Integer low = lowest(type), high = highest(type);
  return value < low ? low : value > high ? high : value;
}

double roundIntegral(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}

/// What hardware makes of NaN: zero; but the top bit if either side has 64 bits.
Integer nanAsInteger(Type type, Type from) {
  if (typeBits(type) < 64 && from != Type::F64)
    return 0;
  return isSigned(type) ? lowest(type) : Integer(1) << (typeBits(type) - 1);
}

/// Floats beyond the range of the integer saturate.
Integer toInteger(double value, Type type, Type from, Rounding rounding) {
  if (value != value)
    return nanAsInteger(type, from);
  value = roundIntegral(value, rounding);
  if (value >= 0x1p64)
    return highest(type);
  if (value <= -0x1p64)
    return lowest(type);
  return clampTo(static_cast<Integer>(value), type);
}

/// An integer as a double, rounded to odd if it does not fit.
double integerToOdd(Integer value) {
  bool negative = value < 0;
  auto magnitude = static_cast<uint64_t>(negative ? -value : value);
  if (magnitude >> 53) {
    unsigned drop = 11 - static_cast<unsigned>(__builtin_clzll(magnitude));
    uint64_t rest = magnitude & ((1ull << drop) - 1);
    magnitude = (magnitude >> drop | (rest != 0)) << drop;
  }
  double result = static_cast<double>(magnitude);
  return negative ? -result : result;
}

double integerToDouble(Integer value, Rounding rounding) {
  static const int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
  std::fesetround(kModes[static_cast<unsigned>(rounding)]);
  volatile double result = value < 0 ? static_cast<double>(static_cast<int64_t>(value))
                                     : static_cast<double>(static_cast<uint64_t>(value));
  std::fesetround(FE_TONEAREST);
  return result;
}

/// Bits of a float of type `to`; |value| is exact or rounded to odd.
uint64_t storeFloat(double value, const CvtFlags &flags) {
  if (flags.sat)
    value = value > 0.0 ? (value < 1.0 ? value : 1.0) : 0.0;
  if (flags.relu && !(value > 0.0) && value == value)
    value = 0.0;
  if (flags.to == Type::F64)
    return bitCast<uint64_t>(value);
  uint32_t bits;
  if (flags.to == Type::F32 && flags.rounding == Rounding::NearestEven && value == value)
    bits = bitCast<uint32_t>(static_cast<float>(value));
  else
    bits = encodeFloat(value, formatOf(flags.to), flags.rounding, flags.satfinite);
  if (flags.to == Type::TF32)
    return static_cast<uint64_t>(bits) << 13;
  if (flags.ftz && flags.to == Type::F32 && (bits & 0x7f800000u) == 0)
    bits &= 0x80000000u;
  return bits;
}

/// Most conversions make the one NaN of their type; these keep sign and payload, as
/// far as it fits. False: not one of them.
bool payloadSurvives(uint64_t bits, const CvtFlags &flags, uint64_t &nan) {
  if (flags.sat || flags.relu || flags.toIntegral)
    return false;
  auto word = static_cast<uint32_t>(bits);
  if (flags.from == Type::F64 && (flags.to == Type::F32 || flags.to == Type::F16)) {
    FloatFormat to = formatOf(flags.to);
    uint32_t quiet = 1u << (to.mantissaBits - 1);
    auto payload = static_cast<uint32_t>((bits & 0xfffffffffffffull) >> (52 - to.mantissaBits));
    nan = (bits >> 63 ? to.signBit() : 0u) | to.infinity() | quiet | payload;
    return true;
  }
  // A sum that flushes comes first, and makes the one NaN of f32.
  if (flags.from == Type::F32 && flags.to == Type::F64 && flags.ftz) {
    nan = 0x7fffffffe0000000ull;
    return true;
  }
  if (flags.from == Type::BF16 && flags.to == Type::F32) {
    nan = word << 16;
    return true;
  }
  if (flags.to == Type::TF32 && flags.rounding == Rounding::NearestAway) {
    constexpr uint32_t kDropped = (1u << 13) - 1;
    nan = word & ~kDropped;
    if ((nan & 0x7fffff) == 0)
      nan |= 0x400000; // a payload that is dropped whole must not leave infinity
    return true;
  }
  return false;
}

uint64_t extend(Integer value, const CvtFlags &flags) {
  // Truncation to the type, then extension to the register.
  return static_cast<uint64_t>(loadInteger(static_cast<uint64_t>(value), flags.to));
}

uint64_t convertOne(uint64_t bits, const CvtFlags &flags) {
  if (!isFloat(flags.from)) {
    Integer value = loadInteger(bits, flags.from);
    if (!isFloat(flags.to))
      return extend(flags.sat ? clampTo(value, flags.to) : value, flags);
    if (flags.to == Type::F64)
      return bitCast<uint64_t>(integerToDouble(value, flags.rounding));
    return storeFloat(integerToOdd(value), flags);
  }
  double value = loadFloat(bits, flags.from, flags.ftz);
  if (!isFloat(flags.to))
    return extend(toInteger(value, flags.to, flags.from, flags.rounding), flags);
  uint64_t nan;
  if (value != value && payloadSurvives(bits, flags, nan))
    return nan;
  if (flags.toIntegral)
    value = roundIntegral(value, flags.rounding);
  return storeFloat(value, flags);
}

void execCvt(Warp &warp, const Inst &inst, uint32_t mask) {
  CvtFlags flags = CvtFlags::unpack(inst.imm);
  const uint8_t *from = warp.registers + inst.a;
  uint8_t *to = warp.registers + inst.dst;
  unsigned fromBytes = inst.b, toBytes = inst.c, bytes = typeBytes(flags.from);
  forLanes(mask, [&](unsigned l) {
    storeBits(to, l, toBytes, convertOne(loadBits(from, l, fromBytes, bytes), flags));
  });
}

/// cvt.rn.f16x2.f32 d, a, b: a goes to the upper half. inst.c = bits of a half.
void execCvtPair(Warp &warp, const Inst &inst, uint32_t mask) {
  CvtFlags flags = CvtFlags::unpack(inst.imm);
  const float *a = warp.row<float>(inst.a), *b = warp.row<float>(inst.b);
  forLanes(mask, [&](unsigned l) {
    uint64_t high = storeFloat(loadFloat(bitCast<uint32_t>(a[l]), Type::F32, flags.ftz), flags);
    uint64_t low = storeFloat(loadFloat(bitCast<uint32_t>(b[l]), Type::F32, flags.ftz), flags);
    if (inst.c == 16)
      warp.row<uint32_t>(inst.dst)[l] = static_cast<uint32_t>(high << 16 | low);
    else
      warp.row<uint16_t>(inst.dst)[l] = static_cast<uint16_t>(high << 8 | low);
  });
}

/// Pairs of 8-bit floats to and from f16x2.
void execCvtFp8(Warp &warp, const Inst &inst, uint32_t mask) {
  CvtFlags flags = CvtFlags::unpack(inst.imm);
  bool narrowing = flags.from == Type::F16x2;
  FloatFormat fp8 = formatOf(narrowing ? flags.to : flags.from);
  forLanes(mask, [&](unsigned l) {
    if (narrowing) {
      uint32_t a = warp.row<uint32_t>(inst.a)[l];
      uint32_t result = 0;
      for (unsigned i = 0; i < 2; ++i) {
        double value = halfToFloat(static_cast<uint16_t>(a >> (16 * i)));
        if (flags.relu && !(value > 0.0) && value == value)
          value = 0.0;
        result |= encodeFloat(value, fp8, Rounding::NearestEven, true) << (8 * i);
      }
      warp.row<uint16_t>(inst.dst)[l] = static_cast<uint16_t>(result);
      return;
    }
    uint32_t a = warp.row<uint16_t>(inst.a)[l], result = 0;
    for (unsigned i = 0; i < 2; ++i) {
      double value = decodeFloat(a >> (8 * i) & 0xff, fp8);
      if (flags.relu && !(value > 0.0) && value == value)
        value = 0.0;
      result |= encodeFloat(value, kF16Format, Rounding::NearestEven) << (16 * i);
    }
    warp.row<uint32_t>(inst.dst)[l] = result;
  });
}

/// cvt.pack: saturates two integers and packs them above operand c's bits.
void execCvtPack(Warp &warp, const Inst &inst, uint32_t mask) {
  CvtFlags flags = CvtFlags::unpack(inst.imm);
  unsigned bits = inst.aux & 0xff;
  bool sign = inst.aux >> 8 & 1;
  Integer low = sign ? -(Integer(1) << (bits - 1)) : 0;
  Integer high = (Integer(1) << (bits - (sign ? 1 : 0))) - 1;
  uint32_t keep = bits == 32 ? ~0u : (1u << bits) - 1;
  const uint32_t *a = warp.row<uint32_t>(inst.a), *b = warp.row<uint32_t>(inst.b);
  uint32_t *d = warp.row<uint32_t>(inst.dst);
  forLanes(mask, [&](unsigned l) {
    auto part = [&](uint32_t raw) {
      Integer value = loadInteger(raw, flags.from);
      value = value < low ? low : value > high ? high : value;
      return static_cast<uint32_t>(value) & keep;
    };
    uint32_t packed = part(a[l]) << bits | part(b[l]);
    if (inst.c != kNoRow)
      packed |= warp.row<uint32_t>(inst.c)[l] << (2 * bits);
    d[l] = packed;
  });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

bool decodePack(InstDecoder &d) {
  if (!d.flag("sat"))
    return d.fail("expected .sat");
  std::string_view name = d.nextModifier();
  bool sign = !name.empty() && name[0] == 's';
  unsigned bits = 0;
  for (char c : name.substr(name.empty() ? 0 : 1))
    bits = bits * 10 + static_cast<unsigned>(c - '0');
  if (bits != 2 && bits != 4 && bits != 8 && bits != 16)
    return d.fail("unsupported type ." + std::string(name));
  Type from = d.takeType();
  if (d.failed() || from != Type::S32)
    return d.failed() ? false : d.fail("expected source type .s32");
  bool three = bits < 16;
  if (three && (d.takeType() != Type::B32 || d.failed()))
    return d.fail("expected type .b32 of the third operand");
  if (!d.expectOperands(three ? 4 : 3))
    return false;
  CvtFlags flags{from, Type::U32, Rounding::NearestEven, false, false, true, false, false};
  d.out.fn = execCvtPack;
  d.out.imm = flags.pack();
  d.out.aux = bits | (sign ? 1u : 0u) << 8;
  d.out.dst = d.dst(0u, Type::U32);
  d.out.a = d.src(1, Type::U32);
  d.out.b = d.src(2, Type::U32);
  if (three)
    d.out.c = d.src(3, Type::U32);
  return !d.failed();
}

/// Takes .rni .rzi .rmi .rpi .rn .rz .rm .rp .rna; false if there is none.
bool takeCvtRounding(InstDecoder &d, CvtFlags &flags) {
  static const std::pair<const char *, Rounding> kIntegral[] = {{"rni", Rounding::NearestEven},
                                                                {"rzi", Rounding::Zero},
                                                                {"rmi", Rounding::Down},
                                                                {"rpi", Rounding::Up}};
  for (const auto &entry : kIntegral)
    if (d.flag(entry.first)) {
      flags.rounding = entry.second;
      flags.toIntegral = true;
      return true;
    }
  if (d.flag("rna")) {
    flags.rounding = Rounding::NearestAway;
    return true;
  }
  Rounding none = Rounding::NearestAway;
  Rounding found = takeRounding(d, none);
  if (found == none)
    return false;
  flags.rounding = found;
  return true;
}

bool isFp8Pair(Type type) { return type == Type::E4M3x2 || type == Type::E5M2x2; }

bool decodePairs(InstDecoder &d, const CvtFlags &flags) {
  if (flags.from == Type::F32) {
    if (!d.expectOperands(3))
      return false;
    d.out.fn = execCvtPair;
    d.out.dst = d.dst(0u, flags.to);
    d.out.a = d.src(1, Type::F32);
    d.out.b = d.src(2, Type::F32);
    d.out.c = typeBits(flags.to) / 2;
    return !d.failed();
  }
  bool known = (isFp8Pair(flags.to) && flags.from == Type::F16x2) ||
               (isFp8Pair(flags.from) && flags.to == Type::F16x2);
  if (!known)
    return d.fail("unsupported conversion");
  if (!d.expectOperands(2))
    return false;
  d.out.fn = execCvtFp8;
  d.out.dst = d.dst(0u, flags.to);
  d.out.a = d.src(1, flags.from);
  return !d.failed();
}

bool decodeCvt(InstDecoder &d) {
  d.out.instClass = InstClass::Conversion;
  if (d.flag("pack"))
    return decodePack(d);
  CvtFlags flags{};
  bool hasRounding = takeCvtRounding(d, flags);
  flags.ftz = d.flag("ftz");
  flags.sat = d.flag("sat");
  flags.relu = d.flag("relu");
  flags.satfinite = d.flag("satfinite");
  flags.to = d.takeType();
  flags.from = d.takeType();
  if (d.failed())
    return false;
  d.out.imm = flags.pack();
  if (typeBits(flags.to) == 32 && isFloat(flags.to) && flags.to != Type::F32 &&
      flags.to != Type::TF32)
    return decodePairs(d, flags);
  if (isFp8Pair(flags.to) || isFp8Pair(flags.from))
    return decodePairs(d, flags);
  bool fromFloat = isFloat(flags.from), toFloat = isFloat(flags.to);
  if ((!fromFloat && !isInteger(flags.from)) || (!toFloat && !isInteger(flags.to)))
    return d.fail("unsupported types");
  bool hasBfloat = flags.from == Type::BF16 || flags.to == Type::BF16;
  if (hasBfloat && (flags.sat || typeBits(flags.from) == 8 || typeBits(flags.to) == 8))
    return d.fail("there is no such conversion of bf16");
  // Inexact conversions must say how they round.
  bool needs = (fromFloat && !toFloat) || (!fromFloat && toFloat) ||
               (fromFloat && toFloat && typeBits(flags.to) < typeBits(flags.from));
  if (needs && !hasRounding)
    return d.fail("expected a rounding modifier");
  if (!d.expectOperands(2))
    return false;
  unsigned fromBytes = 0, toBytes = 0;
  d.out.fn = execCvt;
  d.out.dst = d.dstAtLeast(d.operand(0), flags.to, toBytes);
  d.out.a = d.srcAtLeast(d.operand(1), flags.from, fromBytes);
  d.out.b = fromBytes;
  d.out.c = toBytes;
  return !d.failed();
}

} // namespace

void xc::ptxsim::addConvertOpcodes(OpcodeTable &table) { table["cvt"] = decodeCvt; }
