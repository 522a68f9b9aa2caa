//===- Decoder.cpp - Operands and modifiers of one instruction ------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include <cstring>

using namespace xc::ptxsim;

DecoderCoverage *xc::ptxsim::decoderCoverage = nullptr;

const OpcodeTable &xc::ptxsim::opcodeTable() {
  static const OpcodeTable table = [] {
    OpcodeTable t;
    addIntegerOpcodes(t);
    addBitOpcodes(t);
    addFloatOpcodes(t);
    addCompareOpcodes(t);
    addConvertOpcodes(t);
    addMoveOpcodes(t);
    addMemoryOpcodes(t);
    addAtomicOpcodes(t);
    addWarpOpcodes(t);
    addSyncOpcodes(t);
    addControlOpcodes(t);
    addAsyncCopyOpcodes(t);
    addMatrixOpcodes(t);
    addMbarrierOpcodes(t);
    addClusterOpcodes(t);
    addProductOpcodes(t);
    return t;
  }();
  return table;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

const std::string &InstDecoder::opcodeText() const {
  if (opcodeCache.empty()) {
    opcodeCache = std::string(ast.opcode);
    for (std::string_view modifier : ast.modifiers)
      opcodeCache += "." + std::string(modifier);
  }
  return opcodeCache;
}

bool InstDecoder::fail(std::string message) {
  hasFailed = true;
  return builder.fail(ast, "'" + opcodeText() + "': " + message,
                      /*unsupported=*/true);
}

bool InstDecoder::failModifier() {
  return fail("unsupported modifier '." + std::string(peekModifier()) + "'");
}

bool InstDecoder::finish() {
  if (hasFailed)
    return false;
  if (taken != (1ull << ast.modifiers.size()) - 1)
    return failModifier();
  std::string lack =
      unmetRequirement(ast.opcode, ast.modifiers, ast.operands.size(), builder.target());
  return lack.empty() || fail(lack);
}

Program &InstDecoder::program() { return builder.program(); }

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

void InstDecoder::take(size_t index) {
  taken |= 1ull << index;
  if (decoderCoverage)
    decoderCoverage->taken[std::string(ast.opcode)].emplace(ast.modifiers[index]);
}

bool InstDecoder::flag(std::string_view name) {
  if (decoderCoverage)
    decoderCoverage->asked[std::string(ast.opcode)].emplace(name);
  for (size_t i = 0; i < ast.modifiers.size(); ++i) {
    if ((taken >> i & 1) || ast.modifiers[i] != name)
      continue;
    take(i);
    return true;
  }
  return false;
}

std::string_view InstDecoder::peekModifier() const {
  for (size_t i = 0; i < ast.modifiers.size(); ++i)
    if (!(taken >> i & 1))
      return ast.modifiers[i];
  return {};
}

std::string_view InstDecoder::nextModifier() {
  std::string_view name = peekModifier();
  if (!name.empty())
    flag(name);
  return name;
}

Type InstDecoder::takeOptionalType() {
  for (size_t i = 0; i < ast.modifiers.size(); ++i) {
    if (taken >> i & 1)
      continue;
    Type type = parseType(ast.modifiers[i]);
    if (type == Type::None)
      continue;
    take(i);
    return type;
  }
  return Type::None;
}

Type InstDecoder::takeType() {
  Type type = takeOptionalType();
  if (type == Type::None)
    fail("expected a type");
  return type;
}

Space InstDecoder::takeSpace(Space otherwise) {
  for (size_t i = 0; i < ast.modifiers.size(); ++i) {
    if (taken >> i & 1)
      continue;
    Space space = parseSpace(ast.modifiers[i]);
    if (space == Space::None || space == Space::Reg)
      continue;
    take(i);
    return space;
  }
  return otherwise;
}

MemScope InstDecoder::takeScope() {
  bool isCta = flag("cta");
  if (isCta || flag("cluster")) {
    program().narrowScopes = true;
    return isCta ? MemScope::Cta : MemScope::Cluster;
  }
  if (flag("gpu"))
    return MemScope::Gpu;
  if (flag("sys"))
    return MemScope::Sys;
  return MemScope::None;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool InstDecoder::expectOperands(unsigned count) { return expectOperands(count, count); }

bool InstDecoder::expectOperands(unsigned least, unsigned most) {
  if (operandCount() >= least && operandCount() <= most)
    return true;
  std::string range = std::to_string(least);
  if (most != least)
    range += " to " + std::to_string(most);
  return fail("expected " + range + " operands, got " + std::to_string(operandCount()));
}

uint32_t InstDecoder::dst(const Operand *operand, unsigned bits) {
  if (operand && operand->kind == Operand::Sink)
    return builder.sinkRow();
  if (!operand || operand->kind != Operand::Register) {
    fail("expected a destination register");
    return kNoRow;
  }
  unsigned actual = typeBits(builder.typeOf(operand->reg));
  if (actual != bits) {
    fail("expected a destination of " + std::to_string(bits) + " bits, got one of " +
         std::to_string(actual));
    return kNoRow;
  }
  return builder.rowOf(operand->reg);
}

uint32_t InstDecoder::dstAtLeast(const Operand *operand, Type type, unsigned &bytes) {
  if (operand && operand->kind == Operand::Sink) {
    bytes = std::max(2u, typeBytes(type));
    return builder.sinkRow();
  }
  if (!operand || operand->kind != Operand::Register ||
      builder.typeOf(operand->reg) == Type::Pred) {
    fail("expected a destination register");
    return kNoRow;
  }
  // Registers of 8 bits have rows of 16.
  bytes = std::max(2u, typeBytes(builder.typeOf(operand->reg)));
  if (bytes < typeBytes(type))
    fail("expected a destination of at least " + std::to_string(typeBits(type)) +
         " bits, got one of " + std::to_string(bytes * 8));
  return builder.rowOf(operand->reg);
}

static const std::pair<std::string_view, Special> kSpecials[] = {
    {"%tid.x", Special::TidX},
    {"%tid.y", Special::TidY},
    {"%tid.z", Special::TidZ},
    {"%ntid.x", Special::NtidX},
    {"%ntid.y", Special::NtidY},
    {"%ntid.z", Special::NtidZ},
    {"%ctaid.x", Special::CtaidX},
    {"%ctaid.y", Special::CtaidY},
    {"%ctaid.z", Special::CtaidZ},
    {"%nctaid.x", Special::NctaidX},
    {"%nctaid.y", Special::NctaidY},
    {"%nctaid.z", Special::NctaidZ},
    {"%laneid", Special::LaneId},
    {"%warpid", Special::WarpId},
    {"%nwarpid", Special::NwarpId},
    {"%smid", Special::SmId},
    {"%nsmid", Special::NsmId},
    {"%gridid", Special::GridId},
    {"%lanemask_eq", Special::LaneMaskEq},
    {"%lanemask_le", Special::LaneMaskLe},
    {"%lanemask_lt", Special::LaneMaskLt},
    {"%lanemask_ge", Special::LaneMaskGe},
    {"%lanemask_gt", Special::LaneMaskGt},
    {"%dynamic_smem_size", Special::DynamicSharedSize},
    {"%total_smem_size", Special::TotalSharedSize},
    {"%clusterid.x", Special::ClusterIdX},
    {"%clusterid.y", Special::ClusterIdY},
    {"%clusterid.z", Special::ClusterIdZ},
    {"%nclusterid.x", Special::NclusterIdX},
    {"%nclusterid.y", Special::NclusterIdY},
    {"%nclusterid.z", Special::NclusterIdZ},
    {"%cluster_ctaid.x", Special::ClusterCtaidX},
    {"%cluster_ctaid.y", Special::ClusterCtaidY},
    {"%cluster_ctaid.z", Special::ClusterCtaidZ},
    {"%cluster_nctaid.x", Special::ClusterNctaidX},
    {"%cluster_nctaid.y", Special::ClusterNctaidY},
    {"%cluster_nctaid.z", Special::ClusterNctaidZ},
    {"%cluster_ctarank", Special::ClusterCtaRank},
    {"%cluster_nctarank", Special::ClusterNctaRank},
    {"%is_explicit_cluster", Special::IsExplicitCluster}};

uint32_t InstDecoder::srcAtLeast(const Operand *operand, Type type, unsigned &bytes) {
  bytes = std::max(2u, typeBytes(type));
  if (!operand) {
    fail("expected another operand");
    return kNoRow;
  }
  switch (operand->kind) {
  case Operand::Register: {
    Type registerType = builder.typeOf(operand->reg);
    if (registerType == Type::Pred || typeBits(registerType) < typeBits(type)) {
      fail("expected a source of " + std::to_string(typeBits(type)) + " bits, got one of " +
           std::to_string(typeBits(registerType)));
      return kNoRow;
    }
    bytes = std::max(2u, typeBytes(registerType));
    return builder.rowOf(operand->reg);
  }
  case Operand::Special: {
    std::string_view name = operand->text.substr(0, operand->text.find('.'));
    if (std::string lack = unmetRequirement(name, {}, 0, builder.target()); !lack.empty()) {
      fail("'" + std::string(name) + "' " + lack);
      return kNoRow;
    }
    for (const auto &entry : kSpecials)
      if (operand->text == entry.first)
        return builder.specialRow(entry.second, bytes);
    fail("'" + std::string(operand->text) + "' cannot be an operand here");
    return kNoRow;
  }
  case Operand::Integer:
    if (isFloat(type) && typeBits(type) >= 32 && type != Type::F16x2 && type != Type::BF16x2)
      break;
    return constantRow(static_cast<uint64_t>(operand->value), bytes);
  case Operand::Single:
    if (bytes != 4)
      break;
    return constantRow(static_cast<uint64_t>(operand->value), bytes);
  case Operand::Double: {
    uint64_t bits = static_cast<uint64_t>(operand->value);
    if (type == Type::F32) {
      double wide;
      std::memcpy(&wide, &bits, sizeof(wide));
      float narrow = static_cast<float>(wide);
      bits = 0;
      std::memcpy(&bits, &narrow, sizeof(narrow));
    } else if (bytes != 8) {
      break;
    }
    return constantRow(bits, bytes);
  }
  case Operand::Symbol: {
    uint64_t address = 0;
    Space space = Space::None;
    if (!builder.resolveSymbol(operand->text, ast.scope, address, space)) {
      fail("unknown symbol '" + std::string(operand->text) + "'");
      return kNoRow;
    }
    address += static_cast<uint64_t>(operand->value);
    if (bytes < 4 || (bytes == 4 && address > 0xffffffffull))
      break;
    return constantRow(address, bytes);
  }
  default:
    break;
  }
  fail("unexpected operand for type ." + std::string(typeName(type)));
  return kNoRow;
}

uint32_t InstDecoder::src(const Operand *operand, Type type) {
  unsigned bytes = 0;
  uint32_t row = srcAtLeast(operand, type, bytes);
  if (!hasFailed && bytes != std::max(2u, typeBytes(type)))
    fail("expected a source of " + std::to_string(typeBits(type)) + " bits, got one of " +
         std::to_string(bytes * 8));
  return row;
}

PredicateRef InstDecoder::predicate(const Operand *operand) {
  PredicateRef ref;
  if (operand && operand->kind == Operand::Integer) {
    ref.row = operand->value ? kTrueRow : kFalseRow;
    return ref;
  }
  if (!operand || operand->kind != Operand::Register ||
      builder.typeOf(operand->reg) != Type::Pred) {
    fail("expected a predicate");
    return ref;
  }
  ref.row = builder.rowOf(operand->reg);
  ref.flip = operand->negated ? kFullMask : 0;
  return ref;
}

uint32_t InstDecoder::dstPredicate(const Operand *operand) {
  if (operand && operand->kind == Operand::Sink)
    return builder.sinkRow();
  PredicateRef ref = predicate(operand);
  if (!hasFailed && (ref.flip || operand->kind != Operand::Register))
    fail("expected a predicate to write");
  return ref.row;
}

AddressRef InstDecoder::address(const Operand *operand, Space space) {
  AddressRef ref;
  if (!operand || operand->kind != Operand::Address || operand->children.empty()) {
    fail("expected an address");
    return ref;
  }
  const Operand &base = operand->children[0];
  ref.offset = operand->value;
  switch (base.kind) {
  case Operand::Register: {
    unsigned bits = typeBits(builder.typeOf(base.reg));
    if (bits != 32 && bits != 64) {
      fail("expected an address of 32 or 64 bits, got one of " + std::to_string(bits));
      return ref;
    }
    ref.row = builder.rowOf(base.reg);
    ref.wide = bits == 64;
    return ref;
  }
  case Operand::Integer:
    ref.offset += base.value;
    return ref;
  case Operand::Symbol: {
    uint64_t address = 0;
    if (!builder.resolveSymbol(base.text, ast.scope, address, ref.symbolSpace)) {
      fail("unknown symbol '" + std::string(base.text) + "'");
      return ref;
    }
    // A variable of a window, named by a generic access.
    if (space == Space::Generic && ref.symbolSpace == Space::Shared)
      address += kSharedWindow;
    if (space == Space::Generic && ref.symbolSpace == Space::Local)
      address += kLocalWindow;
    if (space == Space::Generic && ref.symbolSpace == Space::Param)
      address += kParamWindow;
    ref.offset += static_cast<int64_t>(address);
    return ref;
  }
  default:
    fail("unexpected base of an address");
    return ref;
  }
}

bool InstDecoder::immediate(unsigned index, int64_t &value) {
  const Operand *op = operand(index);
  if (!op || op->kind != Operand::Integer)
    return fail("expected an integer constant as operand " + std::to_string(index + 1));
  value = op->value;
  return true;
}

uint32_t InstDecoder::constantRow(uint64_t value, unsigned bytes) {
  if (bytes < 8)
    value &= (1ull << (bytes * 8)) - 1;
  return builder.constantRow(value, static_cast<int64_t>(value) < 0 && bytes > 8 ? ~0ull : 0,
                             bytes);
}
