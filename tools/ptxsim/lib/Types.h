//===- Types.h - PTX types and state spaces ---------------------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_TYPES_H
#define PTXSIM_LIB_TYPES_H

#include <cstdint>
#include <string_view>

namespace xc::ptxsim {

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  U16x2,
  S16x2,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F32x2,
  F64,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
};

enum class TypeKind : uint8_t { None, Pred, Bits, Unsigned, Signed, Float };

/// The type that |name| (without its dot) spells, or Type::None.
Type parseType(std::string_view name);
/// Whether a variable can be of this type: some that are packed or narrow are of instructions only.
bool isDeclarable(Type type);
const char *typeName(Type type);
unsigned typeBits(Type type);
TypeKind typeKind(Type type);

inline unsigned typeBytes(Type type) { return typeBits(type) / 8; }
inline bool isSigned(Type type) { return typeKind(type) == TypeKind::Signed; }
inline bool isFloat(Type type) { return typeKind(type) == TypeKind::Float; }
inline bool isInteger(Type type) {
  return typeKind(type) == TypeKind::Signed || typeKind(type) == TypeKind::Unsigned;
}

enum class Space : uint8_t {
  None,
  Reg,
  Global,
  Const,
  Shared,
  Local,
  Param,
  Generic,
  SharedCluster, // of any block of the cluster
};

/// The state space that |name| spells ("shared::cta" is Shared), or
/// Space::None.
Space parseSpace(std::string_view name);
const char *spaceName(Space space);

/// Generic addresses of the windows that are no host memory. Host addresses are
/// canonical (top byte zero in user space), so these never collide with one.
constexpr uint64_t kSharedWindow = 0x1000000000000000ull;
/// A shared address that names another block of the cluster has its rank, plus one,
/// in these bits; without it the address is one's own.
constexpr unsigned kRankShift = 24;
constexpr uint64_t kLocalWindow = 0x2000000000000000ull;
constexpr uint64_t kParamWindow = 0x3000000000000000ull;
constexpr uint64_t kWindowMask = 0xff00000000000000ull;

inline Space spaceOfGeneric(uint64_t address) {
  switch (address & kWindowMask) {
  case kSharedWindow:
    return Space::Shared;
  case kLocalWindow:
    return Space::Local;
  case kParamWindow:
    return Space::Param;
  default:
    return Space::Global;
  }
}

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_TYPES_H
