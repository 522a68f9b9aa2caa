//===- ExecMatrix.cpp - mma, ldmatrix, stmatrix, movmatrix ----------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All shapes share one fragment layout (PTX, "Matrix Fragments for mma"). With
// g = lane / 4, t = lane % 4, and e elements to a 32-bit register (f64: 1), element
// s of register j of a lane is
//
//   A   row g + 8 (j & 1) (or g if m = 8), column t e + s + 4 e (j >> 1)
//   B   row t e + s + 4 e j,               column g
//   C,D row g + 8 (i >> 1),                column 2 t + (i & 1), i counting elements
//
// Sums are cut off as in hardware: see CutSum.h.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "CutSum.h"

#include <algorithm>

using namespace xc::ptxsim;

namespace {

constexpr unsigned kMaxK = 32;

template <typename T> struct Fragments {
  T a[16][kMaxK];
  T b[kMaxK][8];
  T c[16][8];
};

/// typeBits() at compile time, for the types of operands.
template <Type kType>
constexpr unsigned kBitsOf = kType == Type::F16 || kType == Type::BF16                         ? 16
                             : kType == Type::TF32 || kType == Type::F32 || kType == Type::S32 ? 32
                                                                                               : 8;

unsigned elementsPerRegister(Type type) { return type == Type::F64 ? 1 : 32 / typeBits(type); }

inline double elementAsDouble(uint64_t bits, Type type) {
  switch (type) {
  case Type::F16:
    return halfToFloat(static_cast<uint16_t>(bits));
  case Type::BF16:
    return bfloatToFloat(static_cast<uint16_t>(bits));
  // Hardware reads the upper 19 bits.
  case Type::TF32:
    return bitCast<float>(static_cast<uint32_t>(bits) & 0xffffe000u);
  case Type::F32:
    return bitCast<float>(static_cast<uint32_t>(bits));
  case Type::F64:
    return bitCast<double>(bits);
  case Type::E4M3:
    return decodeFloat(static_cast<uint32_t>(bits), kE4m3Format);
  case Type::E5M2:
    return decodeFloat(static_cast<uint32_t>(bits), kE5m2Format);
  default:
    return 0;
  }
}

inline int64_t elementAsInteger(uint64_t bits, Type type) {
  switch (type) {
  case Type::S8:
    return static_cast<int8_t>(bits);
  case Type::U8:
    return static_cast<uint8_t>(bits);
  default:
    return static_cast<int32_t>(bits);
  }
}

template <typename T> T elementAs(uint64_t bits, Type type);
template <> double elementAs<double>(uint64_t bits, Type type) {
  return elementAsDouble(bits, type);
}
template <> int64_t elementAs<int64_t>(uint64_t bits, Type type) {
  return elementAsInteger(bits, type);
}

template <Type kType>
uint64_t readElement(const Warp &warp, uint32_t row, unsigned lane, unsigned s) {
  if constexpr (kType == Type::F64) {
    return warp.row<uint64_t>(row)[lane];
  } else {
    constexpr unsigned kBits = kBitsOf<kType>;
    uint32_t word = warp.row<uint32_t>(row)[lane];
    return kBits == 32 ? word : word >> (s * (kBits & 31)) & ((1u << (kBits & 31)) - 1);
  }
}

// With the type a constant, reading an element is a few host instructions.
template <Type kType, typename T>
void gatherA(const Warp &warp, const MatrixOp &op, Fragments<T> &f) {
  constexpr unsigned kElements = kType == Type::F64 ? 1 : 32 / kBitsOf<kType>;
  for (unsigned j = 0; j < op.aRows.size(); ++j)
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      for (unsigned s = 0; s < kElements; ++s) {
        unsigned row = lane / 4 + (op.m == 8 ? 0 : 8 * (j & 1));
        unsigned column = lane % 4 * kElements + s + 4 * kElements * (op.m == 8 ? j : j >> 1);
        f.a[row][column] = elementAs<T>(readElement<kType>(warp, op.aRows[j], lane, s), kType);
      }
}

template <Type kType, typename T>
void gatherB(const Warp &warp, const MatrixOp &op, Fragments<T> &f) {
  constexpr unsigned kElements = kType == Type::F64 ? 1 : 32 / kBitsOf<kType>;
  for (unsigned j = 0; j < op.bRows.size(); ++j)
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      for (unsigned s = 0; s < kElements; ++s)
        f.b[lane % 4 * kElements + s + 4 * kElements * j][lane / 4] =
            elementAs<T>(readElement<kType>(warp, op.bRows[j], lane, s), kType);
}

template <Type kType, typename T>
void gatherC(const Warp &warp, const MatrixOp &op, Fragments<T> &f) {
  constexpr unsigned kElements = kType == Type::F16 ? 2 : 1;
  for (unsigned i = 0; i < op.cRows.size() * kElements; ++i)
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      f.c[lane / 4 + 8 * (i >> 1)][2 * (lane % 4) + (i & 1)] = elementAs<T>(
          readElement<kType>(warp, op.cRows[i / kElements], lane, i % kElements), kType);
}

void gather(const Warp &warp, const MatrixOp &op, Fragments<double> &f) {
  switch (op.a) {
  case Type::F16:
    gatherA<Type::F16>(warp, op, f);
    break;
  case Type::BF16:
    gatherA<Type::BF16>(warp, op, f);
    break;
  case Type::TF32:
    gatherA<Type::TF32>(warp, op, f);
    break;
  case Type::F64:
    gatherA<Type::F64>(warp, op, f);
    break;
  case Type::E4M3:
    gatherA<Type::E4M3>(warp, op, f);
    break;
  default:
    gatherA<Type::E5M2>(warp, op, f);
    break;
  }
  switch (op.b) {
  case Type::F16:
    gatherB<Type::F16>(warp, op, f);
    break;
  case Type::BF16:
    gatherB<Type::BF16>(warp, op, f);
    break;
  case Type::TF32:
    gatherB<Type::TF32>(warp, op, f);
    break;
  case Type::F64:
    gatherB<Type::F64>(warp, op, f);
    break;
  case Type::E4M3:
    gatherB<Type::E4M3>(warp, op, f);
    break;
  default:
    gatherB<Type::E5M2>(warp, op, f);
    break;
  }
  switch (op.d) {
  case Type::F16:
    gatherC<Type::F16>(warp, op, f);
    break;
  case Type::F64:
    gatherC<Type::F64>(warp, op, f);
    break;
  default:
    gatherC<Type::F32>(warp, op, f);
    break;
  }
}

void gather(const Warp &warp, const MatrixOp &op, Fragments<int64_t> &f) {
  if (op.a == Type::S8)
    gatherA<Type::S8>(warp, op, f);
  else
    gatherA<Type::U8>(warp, op, f);
  if (op.b == Type::S8)
    gatherB<Type::S8>(warp, op, f);
  else
    gatherB<Type::U8>(warp, op, f);
  gatherC<Type::S32>(warp, op, f);
}

void multiply(const MatrixOp &op, Fragments<double> &f) {
  if (op.d == Type::F64) {
    for (unsigned i = 0; i < op.m; ++i)
      for (unsigned k = 0; k < op.k; ++k)
        for (unsigned j = 0; j < 8; ++j)
          f.c[i][j] = std::fma(f.a[i][k], f.b[k][j], f.c[i][j]);
    return;
  }
  // Products of narrow formats are exact in double.
  double aPowers[16][kMaxK], bPowers[kMaxK][8];
  for (unsigned i = 0; i < op.m; ++i)
    powersOf(f.a[i], leastOf(op.a), aPowers[i], op.k);
  powersOf(&f.b[0][0], leastOf(op.b), &bPowers[0][0], op.k * 8);
  RoundTowardsZero rounding;
  for (unsigned i = 0; i < op.m; ++i)
    cutSum({f.a[i], aPowers[i], 1}, {&f.b[0][0], &bPowers[0][0], 8}, f.c[i], leastOf(op.d), 8, op.k,
           cutFraction(op.a));
}

void multiply(const MatrixOp &op, Fragments<int64_t> &f) {
  for (unsigned i = 0; i < op.m; ++i)
    for (unsigned j = 0; j < op.n; ++j) {
      int64_t sum = f.c[i][j];
      for (unsigned k = 0; k < op.k; ++k)
        sum += f.a[i][k] * f.b[k][j];
      if (op.satfinite)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      f.c[i][j] = sum;
    }
}

void scatterOne(const Warp &warp, const MatrixOp &op, unsigned lane, unsigned i, double value) {
  if (op.d == Type::F64) {
    warp.row<double>(op.dRows[i])[lane] = value;
  } else if (op.d == Type::F32) {
    warp.row<uint32_t>(op.dRows[i])[lane] = encodeSum(value, op.a);
  } else {
    uint32_t half = encodeFloat(value, kF16Format, Rounding::NearestEven);
    uint32_t &word = warp.row<uint32_t>(op.dRows[i / 2])[lane];
    word = i & 1 ? (word & 0xffffu) | half << 16 : (word & 0xffff0000u) | half;
  }
}
void scatterOne(const Warp &warp, const MatrixOp &op, unsigned lane, unsigned i, int64_t value) {
  warp.row<uint32_t>(op.dRows[i])[lane] = static_cast<uint32_t>(value);
}

bool wholeWarp(Warp &warp, const Inst &inst, uint32_t mask) {
  if (mask == kFullMask)
    return true;
  warp.block->raise(FaultKind::IllegalInstruction, warp, static_cast<unsigned>(__builtin_ctz(mask)),
                    inst, 0, "expected all 32 lanes of the warp, got the lanes of " + hex(mask));
  return false;
}

template <typename T> void execMma(Warp &warp, const Inst &inst, uint32_t mask) {
  if (!wholeWarp(warp, inst, mask))
    return;
  const MatrixOp &op = warp.program->matrixOps[inst.aux];
  Fragments<T> f;
  gather(warp, op, f);
  multiply(op, f);
  unsigned count = op.m == 8 ? 2 : 4;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    for (unsigned i = 0; i < count; ++i)
      scatterOne(warp, op, lane, i, f.c[lane / 4 + 8 * (i >> 1)][2 * (lane % 4) + (i & 1)]);
}

//===----------------------------------------------------------------------===//
// ldmatrix, stmatrix, movmatrix
//===----------------------------------------------------------------------===//

/// Lanes 8i .. 8i + 7 hold the addresses of the rows of matrix i: 16 bytes each.
bool resolveRows(Warp &warp, const Inst &inst, uint32_t mask, AccessKind kind, LaneAccess &lanes) {
  if (!wholeWarp(warp, inst, mask))
    return false;
  const MemOp &op = warp.program->memOps[inst.aux];
  uint32_t rows = op.count == 4 ? kFullMask : (1u << (8 * op.count)) - 1;
  laneAddresses(warp, inst.a, op.wideAddress, inst.imm, lanes.address);
  return resolveAccess(warp, inst, rows, {op.space, 16, kind, 0}, lanes);
}

void execLoadMatrix(Warp &warp, const Inst &inst, uint32_t mask) {
  const MemOp &op = warp.program->memOps[inst.aux];
  LaneAccess lanes;
  if (!resolveRows(warp, inst, mask, AccessKind::Load, lanes))
    return;
  bool transposed = inst.b != 0;
  for (unsigned i = 0; i < op.count; ++i) {
    uint16_t matrix[8][8];
    for (unsigned r = 0; r < 8; ++r)
      std::memcpy(matrix[r], lanes.host[8 * i + r], 16);
    uint32_t *d = warp.row<uint32_t>(op.regs[i]);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      unsigned g = lane / 4, t = 2 * (lane % 4);
      uint32_t low = transposed ? matrix[t][g] : matrix[g][t];
      uint32_t high = transposed ? matrix[t + 1][g] : matrix[g][t + 1];
      d[lane] = low | high << 16;
    }
  }
}

void execStoreMatrix(Warp &warp, const Inst &inst, uint32_t mask) {
  const MemOp &op = warp.program->memOps[inst.aux];
  LaneAccess lanes;
  if (!resolveRows(warp, inst, mask, AccessKind::Store, lanes))
    return;
  bool transposed = inst.b != 0;
  for (unsigned i = 0; i < op.count; ++i) {
    uint16_t matrix[8][8];
    const uint32_t *a = warp.row<uint32_t>(op.regs[i]);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      unsigned g = lane / 4, t = 2 * (lane % 4);
      auto low = static_cast<uint16_t>(a[lane]), high = static_cast<uint16_t>(a[lane] >> 16);
      (transposed ? matrix[t][g] : matrix[g][t]) = low;
      (transposed ? matrix[t + 1][g] : matrix[g][t + 1]) = high;
    }
    for (unsigned r = 0; r < 8; ++r) {
      unsigned lane = 8 * i + r;
      if (!noteStore(warp, inst, {op.space, 16, AccessKind::Store, 0}, lanes, lane, 1u << lane,
                     matrix[r]))
        return;
      std::memcpy(lanes.host[lane], matrix[r], 16);
    }
  }
}

void execMoveMatrix(Warp &warp, const Inst &inst, uint32_t mask) {
  if (!wholeWarp(warp, inst, mask))
    return;
  uint16_t matrix[8][8];
  const uint32_t *a = warp.row<uint32_t>(inst.a);
  uint32_t *d = warp.row<uint32_t>(inst.dst);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    matrix[lane / 4][2 * (lane % 4)] = static_cast<uint16_t>(a[lane]);
    matrix[lane / 4][2 * (lane % 4) + 1] = static_cast<uint16_t>(a[lane] >> 16);
  }
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    unsigned g = lane / 4, t = 2 * (lane % 4);
    d[lane] = matrix[t][g] | static_cast<uint32_t>(matrix[t + 1][g]) << 16;
  }
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// All matrix instructions are executed by whole warps.
void beginMatrix(InstDecoder &d) {
  d.out.control = Control::WarpSync;
  d.out.instClass = InstClass::Matrix;
  d.out.sync = d.constantRow(kFullMask, 4);
}

/// The registers of a fragment; a fragment of one register may come without braces.
bool takeFragment(InstDecoder &d, const Operand *operand, unsigned count, Type type, bool isDst,
                  std::vector<uint32_t> &rows) {
  Type registerType = type == Type::F64 ? Type::B64 : Type::B32;
  size_t have = operand->kind == Operand::Vector ? operand->children.size() : 1;
  if (have != count)
    return d.fail("expected a fragment of " + std::to_string(count) + " registers, got " +
                  std::to_string(have));
  for (size_t i = 0; i < count; ++i) {
    const Operand *part = operand->kind == Operand::Vector ? &operand->children[i] : operand;
    rows.push_back(isDst ? d.dst(part, typeBits(registerType)) : d.src(part, registerType));
  }
  return !d.failed();
}

struct Shape {
  const char *name;
  unsigned m, n, k;
};

/// Whether mma has |shape| for elements of |type|.
bool isKnown(const Shape &shape, Type type) {
  switch (type) {
  case Type::F16:
  case Type::BF16:
    return shape.m == 16 && (shape.k == 8 || shape.k == 16);
  case Type::TF32:
    return shape.m == 16 && (shape.k == 4 || shape.k == 8);
  case Type::S8:
  case Type::U8:
    return shape.m == 16 ? shape.k >= 16 : shape.k == 16;
  case Type::E4M3:
  case Type::E5M2:
    return shape.m == 16 && shape.k == 32;
  case Type::F64:
    return shape.m == 16 ? shape.k <= 16 : shape.k == 4;
  default:
    return false;
  }
}

bool isKnownAccumulator(Type accumulator, Type type) {
  switch (type) {
  case Type::F16:
    return accumulator == Type::F32 || accumulator == Type::F16;
  case Type::S8:
  case Type::U8:
    return accumulator == Type::S32;
  case Type::F64:
    return accumulator == Type::F64;
  default:
    return accumulator == Type::F32;
  }
}

bool decodeMma(InstDecoder &d) {
  static const Shape kShapes[] = {{"m16n8k16", 16, 8, 16}, {"m16n8k8", 16, 8, 8},
                                  {"m16n8k4", 16, 8, 4},   {"m16n8k32", 16, 8, 32},
                                  {"m8n8k4", 8, 8, 4},     {"m8n8k16", 8, 8, 16}};
  if (!d.flag("sync") || !d.flag("aligned"))
    return d.fail("expected .sync.aligned");
  const Shape *shape = nullptr;
  for (const Shape &candidate : kShapes)
    if (d.flag(candidate.name))
      shape = &candidate;
  if (!shape)
    return d.fail("unsupported shape");
  if (!d.flag("row") || !d.flag("col"))
    return d.fail("expected .row.col");
  MatrixOp op;
  op.satfinite = d.flag("satfinite");
  op.d = d.takeType();
  op.a = d.takeType();
  op.b = d.takeType();
  Type c = d.takeType();
  if (d.failed() || !d.expectOperands(4))
    return false;
  if (!isKnown(*shape, op.a) || typeBits(op.a) != typeBits(op.b) || op.d != c ||
      !isKnownAccumulator(op.d, op.a))
    return d.fail("unsupported combination of shape and types");
  op.m = shape->m;
  op.n = shape->n;
  op.k = shape->k;
  unsigned ea = elementsPerRegister(op.a), ed = op.d == Type::F16 ? 2 : 1;
  unsigned dCount = op.m * op.n / kWarpSize / ed;
  unsigned aCount = op.m * op.k / kWarpSize / ea, bCount = op.n * op.k / kWarpSize / ea;
  if (!takeFragment(d, d.operand(0), dCount, op.d, true, op.dRows) ||
      !takeFragment(d, d.operand(1), aCount, op.a, false, op.aRows) ||
      !takeFragment(d, d.operand(2), bCount, op.b, false, op.bRows) ||
      !takeFragment(d, d.operand(3), dCount, op.d, false, op.cRows))
    return false;
  beginMatrix(d);
  d.out.fn = op.d == Type::S32 ? execMma<int64_t> : execMma<double>;
  d.out.aux = static_cast<uint32_t>(d.program().matrixOps.size());
  d.program().matrixOps.push_back(std::move(op));
  return true;
}

bool decodeMatrixAccess(InstDecoder &d, bool isLoad) {
  if (!d.flag("sync") || !d.flag("aligned") || !d.flag("m8n8"))
    return d.fail("expected .sync.aligned.m8n8");
  MemOp op;
  op.count = d.flag("x1") ? 1 : d.flag("x2") ? 2 : d.flag("x4") ? 4 : 0;
  bool transposed = d.flag("trans");
  op.space = d.takeSpace(Space::Generic);
  Type type = d.takeType();
  if (d.failed() || !d.expectOperands(2))
    return false;
  if (op.count == 0 || type != Type::B16)
    return d.fail("expected .x1, .x2 or .x4, and type .b16");
  AddressRef address = d.address(isLoad ? 1u : 0u, op.space);
  std::vector<uint32_t> rows;
  if (d.failed() || !takeFragment(d, d.operand(isLoad ? 0 : 1), op.count, Type::B32, isLoad, rows))
    return false;
  std::copy(rows.begin(), rows.end(), op.regs);
  op.wideAddress = address.wide;
  beginMatrix(d);
  d.out.fn = isLoad ? execLoadMatrix : execStoreMatrix;
  d.out.a = address.row;
  d.out.b = transposed;
  d.out.imm = address.offset;
  d.out.aux = static_cast<uint32_t>(d.program().memOps.size());
  d.program().memOps.push_back(op);
  return true;
}

bool decodeMoveMatrix(InstDecoder &d) {
  if (!d.flag("sync") || !d.flag("aligned") || !d.flag("m8n8") || !d.flag("trans"))
    return d.fail("expected .sync.aligned.m8n8.trans");
  Type type = d.takeType();
  if (d.failed() || !d.expectOperands(2))
    return false;
  if (type != Type::B16)
    return d.fail("expected type .b16");
  beginMatrix(d);
  d.out.fn = execMoveMatrix;
  d.out.dst = d.dst(0u, Type::B32);
  d.out.a = d.src(1, Type::B32);
  return !d.failed();
}

} // namespace

void xc::ptxsim::addMatrixOpcodes(OpcodeTable &table) {
  table["mma"] = decodeMma;
  table["ldmatrix"] = [](InstDecoder &d) { return decodeMatrixAccess(d, true); };
  table["stmatrix"] = [](InstDecoder &d) { return decodeMatrixAccess(d, false); };
  table["movmatrix"] = decodeMoveMatrix;
}
