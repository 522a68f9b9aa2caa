//===- ExecCarry.cpp - Additions and products with the condition code -----===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exec.h"
#include "ExecFloat.h"

using namespace xc::ptxsim;

namespace {

// Bits of Inst::aux.
enum : uint32_t { kReads = 1, kWrites = 2, kSubtracts = 4 };

template <typename T> void execCarry(Warp &warp, const Inst &inst, uint32_t mask) {
  T *d = warp.row<T>(inst.dst);
  const T *a = warp.row<T>(inst.a), *b = warp.row<T>(inst.b);
  uint32_t &carry = warp.predicate(static_cast<uint32_t>(inst.imm));
  forLanes(mask, [&](unsigned l) {
    using W = unsigned __int128;
    bool in = (inst.aux & kReads) && (carry >> l & 1);
    // The condition code of a subtraction is its borrow.
    W wide = inst.aux & kSubtracts ? W(a[l]) - W(b[l]) - W(in) : W(a[l]) + W(b[l]) + W(in);
    d[l] = static_cast<T>(wide);
    if (inst.aux & kWrites) {
      bool out = (wide >> (sizeof(T) * 8)) & 1;
      carry = (carry & ~(1u << l)) | static_cast<uint32_t>(out) << l;
    }
  });
}

template <typename T, bool Hi> void execMadCarry(Warp &warp, const Inst &inst, uint32_t mask) {
  using U = std::make_unsigned_t<T>;
  using W = std::conditional_t<std::is_signed<T>::value, __int128, unsigned __int128>;
  U *d = warp.row<U>(inst.dst);
  const T *a = warp.row<T>(inst.a), *b = warp.row<T>(inst.b);
  const U *c = warp.row<U>(inst.c);
  uint32_t &carry = warp.predicate(static_cast<uint32_t>(inst.imm));
  forLanes(mask, [&](unsigned l) {
    W product = W(a[l]) * W(b[l]);
    U part = static_cast<U>(Hi ? product >> (sizeof(T) * 8) : product);
    bool in = (inst.aux & kReads) && (carry >> l & 1);
    unsigned __int128 wide = static_cast<unsigned __int128>(part) + c[l] + in;
    d[l] = static_cast<U>(wide);
    if (inst.aux & kWrites) {
      bool out = (wide >> (sizeof(T) * 8)) & 1;
      carry = (carry & ~(1u << l)) | static_cast<uint32_t>(out) << l;
    }
  });
}

} // namespace

/// add.cc, addc[.cc], sub.cc, subc[.cc]
bool xc::ptxsim::decodeCarry(InstDecoder &d) {
  bool writes = d.flag("cc");
  std::string_view name = d.syntax().opcode;
  Type type = d.takeType();
  bool wide = typeBits(type) == 64;
  if (!isInteger(type) || typeBits(type) < 32 || !d.expectOperands(3))
    return d.failed() ? false : d.fail("unsupported type ." + std::string(typeName(type)));
  d.out.fn = wide ? execCarry<uint64_t> : execCarry<uint32_t>;
  d.out.dst = d.dst(0, type);
  d.out.a = d.src(1, type);
  d.out.b = d.src(2, type);
  d.out.imm = d.owner().carryRow();
  d.out.aux = (writes ? kWrites : 0u) | (name.back() == 'c' ? kReads : 0u) |
              (name[0] == 's' ? kSubtracts : 0u);
  return !d.failed();
}

/// mad.cc, madc[.cc]
bool xc::ptxsim::decodeMadCarry(InstDecoder &d, bool hi) {
  bool writes = d.flag("cc");
  Type type = d.takeType();
  switch (type) {
  case Type::U32:
    d.out.fn = hi ? execMadCarry<uint32_t, true> : execMadCarry<uint32_t, false>;
    break;
  case Type::S32:
    d.out.fn = hi ? execMadCarry<int32_t, true> : execMadCarry<int32_t, false>;
    break;
  case Type::U64:
    d.out.fn = hi ? execMadCarry<uint64_t, true> : execMadCarry<uint64_t, false>;
    break;
  case Type::S64:
    d.out.fn = hi ? execMadCarry<int64_t, true> : execMadCarry<int64_t, false>;
    break;
  default:
    return d.fail("unsupported type ." + std::string(typeName(type)));
  }
  if (!d.expectOperands(4))
    return false;
  d.out.dst = d.dst(0, type);
  d.out.a = d.src(1, type);
  d.out.b = d.src(2, type);
  d.out.c = d.src(3, type);
  d.out.imm = d.owner().carryRow();
  d.out.aux = (writes ? kWrites : 0u) | (d.syntax().opcode == "madc" ? kReads : 0u);
  return !d.failed();
}
