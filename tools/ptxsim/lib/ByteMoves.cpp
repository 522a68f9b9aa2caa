//===- ByteMoves.cpp - Which bytes of operands a result is made of --------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Integer Arithmetic Instructions" (bfe, bfi), "Logic and Shift Instructions" (not, xor,
// lop3, shf, shl, shr), "Data Movement and Conversion Instructions" (prmt, cvt).
//
//===----------------------------------------------------------------------===//

#include "ByteMoves.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace xc::ptxsim;

namespace {

class Finder {
public:
  explicit Finder(const Instruction &inst) : inst(inst) {}

  bool run();
  std::vector<ByteMove> list() const {
    std::vector<ByteMove> moves;
    for (auto [to, operand, from] : bytes)
      moves.push_back({to, operand, from});
    return moves;
  }

private:
  bool isNumber(size_t operand) const {
    return operand < inst.operands.size() && inst.operands[operand].kind == Operand::Integer;
  }
  uint64_t number(size_t operand) const {
    return static_cast<uint64_t>(inst.operands[operand].value);
  }
  /// Bit `to` of the result depends on bit `from` of an operand.
  void add(uint64_t to, uint32_t operand, uint64_t from) {
    bytes.insert({static_cast<uint32_t>(to / 8), operand, static_cast<uint32_t>(from / 8)});
  }
  void addBits(uint64_t to, uint32_t operand, uint64_t from, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
      add(to + i, operand, from + i);
  }
  bool combine();
  bool permute();
  bool shift();
  bool funnel();
  bool extract();
  bool insert();
  bool convert();

  const Instruction &inst;
  uint64_t width = 0; // bits of the type
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> bytes;
};

} // namespace

/// not, xor, lop3: each bit of the bits of its place.
bool Finder::combine() {
  size_t sources = inst.opcode == "not" ? 1 : inst.opcode == "xor" ? 2 : 3;
  for (uint32_t operand = 1; operand <= sources; ++operand)
    addBits(0, operand, 0, std::max<uint64_t>(width, 1));
  return inst.operands.size() > sources && inst.operands[0].kind == Operand::Register;
}

bool Finder::permute() {
  if (inst.modifiers.size() != 1 || !isNumber(3))
    return false;
  for (unsigned i = 0; i < 4; ++i) {
    uint64_t byte = number(3) >> (4 * i) & 7;
    add(8ull * i, byte < 4 ? 1 : 2, byte % 4 * 8);
  }
  return true;
}

bool Finder::shift() {
  if (!isNumber(2))
    return false;
  uint64_t by = std::min(number(2) & 0xffffffff, width);
  if (inst.opcode == "shl") {
    addBits(by, 1, 0, width - by);
    return true;
  }
  addBits(0, 1, by, width - by);
  if (isSigned(parseType(inst.modifiers.back())))
    for (uint64_t bit = width - by; bit < width; ++bit)
      add(bit, 1, width - 1);
  return true;
}

/// shf: a half of 64 bits, of which operand 1 is the low half.
bool Finder::funnel() {
  if (!isNumber(3) || inst.modifiers.size() != 3)
    return false;
  uint64_t by =
      inst.modifiers[1] == "wrap" ? number(3) & 31 : std::min(number(3) & 0xffffffff, uint64_t(32));
  uint64_t first = inst.modifiers[0] == "l" ? 32 - by : by;
  for (uint64_t bit = 0; bit < 32; ++bit)
    add(bit, first + bit < 32 ? 1 : 2, (first + bit) % 32);
  return true;
}

bool Finder::extract() {
  if (!isNumber(2) || !isNumber(3))
    return false;
  uint64_t begin = number(2) & 0xff, count = number(3) & 0xff, last = width - 1;
  uint64_t sign = count == 0 ? last + 1 : std::min(begin + count - 1, last);
  for (uint64_t bit = 0; bit < width; ++bit) {
    if (bit < count && begin + bit <= last)
      add(bit, 1, begin + bit);
    else if (isSigned(parseType(inst.modifiers.back())) && sign <= last)
      add(bit, 1, sign);
  }
  return true;
}

bool Finder::insert() {
  if (!isNumber(3) || !isNumber(4))
    return false;
  uint64_t begin = number(3) & 0xff, count = number(4) & 0xff;
  for (uint64_t bit = 0; bit < width; ++bit) {
    bool isInserted = bit >= begin && bit < begin + count;
    add(bit, isInserted ? 1 : 2, isInserted ? bit - begin : bit);
  }
  return true;
}

/// Between integers: the low bits, and the sign in front of them. A register may be wider than the
/// type that is written to it.
bool Finder::convert() {
  if (inst.modifiers.size() != 2)
    return false;
  Type to = parseType(inst.modifiers[0]), from = parseType(inst.modifiers[1]);
  if (!isInteger(to) || !isInteger(from))
    return false;
  constexpr uint64_t kWidest = 64;
  uint64_t kept = std::min(typeBits(to), typeBits(from));
  addBits(0, 1, 0, kept);
  for (uint64_t bit = kept; bit < kWidest && (isSigned(from) || isSigned(to)); ++bit)
    add(bit, 1, kept - 1);
  return true;
}

bool Finder::run() {
  std::string_view opcode = inst.opcode;
  if (inst.modifiers.empty())
    return false;
  width = typeBits(parseType(inst.modifiers.back()));
  if (opcode == "not" || opcode == "xor" || opcode == "lop3")
    return combine();
  if (opcode == "prmt")
    return permute();
  if (opcode == "shl" || opcode == "shr")
    return shift();
  if (opcode == "shf")
    return funnel();
  if (opcode == "bfe")
    return extract();
  if (opcode == "bfi")
    return insert();
  return opcode == "cvt" && convert();
}

std::optional<std::vector<ByteMove>> xc::ptxsim::findByteMoves(const Instruction &inst) {
  Finder finder(inst);
  if (!finder.run())
    return std::nullopt;
  return finder.list();
}
