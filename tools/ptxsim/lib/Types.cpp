//===- Types.cpp - PTX types and state spaces -----------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Types.h"

using namespace xc::ptxsim;

namespace {
struct TypeRow {
  const char *name;
  unsigned bits;
  TypeKind kind;
};
} // namespace

// In the order of the enumeration.
static constexpr TypeRow kTypes[] = {
    {"none", 0, TypeKind::None},     {"pred", 1, TypeKind::Pred},
    {"b8", 8, TypeKind::Bits},       {"b16", 16, TypeKind::Bits},
    {"b32", 32, TypeKind::Bits},     {"b64", 64, TypeKind::Bits},
    {"b128", 128, TypeKind::Bits},   {"u8", 8, TypeKind::Unsigned},
    {"u16", 16, TypeKind::Unsigned}, {"u32", 32, TypeKind::Unsigned},
    {"u64", 64, TypeKind::Unsigned}, {"s8", 8, TypeKind::Signed},
    {"s16", 16, TypeKind::Signed},   {"s32", 32, TypeKind::Signed},
    {"s64", 64, TypeKind::Signed},   {"u16x2", 32, TypeKind::Unsigned},
    {"s16x2", 32, TypeKind::Signed}, {"f16", 16, TypeKind::Float},
    {"f16x2", 32, TypeKind::Float},  {"bf16", 16, TypeKind::Float},
    {"bf16x2", 32, TypeKind::Float}, {"tf32", 32, TypeKind::Float},
    {"f32", 32, TypeKind::Float},    {"f32x2", 64, TypeKind::Float},
    {"f64", 64, TypeKind::Float},    {"e4m3", 8, TypeKind::Float},
    {"e5m2", 8, TypeKind::Float},    {"e4m3x2", 16, TypeKind::Float},
    {"e5m2x2", 16, TypeKind::Float},
};

Type xc::ptxsim::parseType(std::string_view name) {
  for (unsigned i = 1; i < sizeof(kTypes) / sizeof(kTypes[0]); ++i)
    if (name == kTypes[i].name)
      return static_cast<Type>(i);
  return Type::None;
}

const char *xc::ptxsim::typeName(Type type) { return kTypes[static_cast<unsigned>(type)].name; }

unsigned xc::ptxsim::typeBits(Type type) { return kTypes[static_cast<unsigned>(type)].bits; }

TypeKind xc::ptxsim::typeKind(Type type) { return kTypes[static_cast<unsigned>(type)].kind; }

bool xc::ptxsim::isDeclarable(Type type) {
  switch (type) {
  case Type::None:
  case Type::Pred:
  case Type::U16x2:
  case Type::S16x2:
  case Type::BF16:
  case Type::BF16x2:
  case Type::TF32:
  case Type::F32x2:
  case Type::E4M3:
  case Type::E5M2:
  case Type::E4M3x2:
  case Type::E5M2x2:
    return false;
  default:
    return true;
  }
}

Space xc::ptxsim::parseSpace(std::string_view name) {
  if (name == "global")
    return Space::Global;
  if (name == "shared" || name == "shared::cta")
    return Space::Shared;
  if (name == "shared::cluster")
    return Space::SharedCluster;
  if (name == "const")
    return Space::Const;
  if (name == "local")
    return Space::Local;
  if (name == "param" || name == "param::entry" || name == "param::func")
    return Space::Param;
  if (name == "reg")
    return Space::Reg;
  return Space::None;
}

const char *xc::ptxsim::spaceName(Space space) {
  switch (space) {
  case Space::None:
    return "none";
  case Space::Reg:
    return "register";
  case Space::Global:
    return "global";
  case Space::Const:
    return "constant";
  case Space::Shared:
    return "shared";
  case Space::SharedCluster:
    return "the cluster's shared";
  case Space::Local:
    return "local";
  case Space::Param:
    return "parameter";
  case Space::Generic:
    return "generic";
  }
  return "unknown";
}
