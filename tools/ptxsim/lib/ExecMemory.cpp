//===- ExecMemory.cpp - Loads, stores, prefetches -------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"

using namespace xc::ptxsim;

namespace {

struct Wide {
  uint64_t low, high;
};

template <typename M> bool isSame(const M &a, const M &b) {
  return std::memcmp(&a, &b, sizeof(M)) == 0;
}

Access accessOf(const MemOp &op, AccessKind kind) {
  return {op.space, static_cast<unsigned>(op.elementBytes) * op.count, kind,
          strengthOf(op.order, op.scope), op.readOnly};
}

/// M is the element in memory, R the register.
template <typename M, typename R> void execLoad(Warp &warp, const Inst &inst, uint32_t mask) {
  const MemOp &op = warp.program->memOps[inst.aux];
  LaneAccess lanes;
  laneAddresses(warp, inst.a, op.wideAddress, inst.imm, lanes.address);
  if (!resolveAccess(warp, inst, mask, accessOf(op, AccessKind::Load), lanes))
    return;
  for (unsigned i = 0; i < op.count; ++i) {
    if (op.regs[i] == kNoRow)
      continue;
    R *d = warp.row<R>(op.regs[i]);
    forLanes(mask, [&](unsigned l) {
      M value;
      std::memcpy(&value, lanes.host[l] + i * sizeof(M), sizeof(M));
      d[l] = static_cast<R>(value);
    });
  }
  if (op.order != Order::Weak)
    forLanes(mask, [&](unsigned l) { acquireAt(warp, lanes, l, op.order, op.scope); });
}

/// A kernel parameter at a constant offset is the same for all lanes.
template <typename M, typename R> void execLoadParam(Warp &warp, const Inst &inst, uint32_t mask) {
  const MemOp &op = warp.program->memOps[inst.aux];
  const uint8_t *from = warp.block->launch->params.data() + inst.imm;
  for (unsigned i = 0; i < op.count; ++i) {
    if (op.regs[i] == kNoRow)
      continue;
    M value;
    std::memcpy(&value, from + i * sizeof(M), sizeof(M));
    R *d = warp.row<R>(op.regs[i]);
    forLanes(mask, [&](unsigned l) { d[l] = static_cast<R>(value); });
  }
}

template <typename M, typename R> void execStore(Warp &warp, const Inst &inst, uint32_t mask) {
  const MemOp &op = warp.program->memOps[inst.aux];
  LaneAccess lanes;
  laneAddresses(warp, inst.a, op.wideAddress, inst.imm, lanes.address);
  Access access = accessOf(op, AccessKind::Store);
  if (!resolveAccess(warp, inst, mask, access, lanes))
    return;
  const R *rows[8];
  for (unsigned i = 0; i < op.count; ++i)
    rows[i] = warp.row<R>(op.regs[i]);
  LineLock lock(*warp.block);
  for (uint32_t rest = mask; rest;) {
    auto l = static_cast<unsigned>(__builtin_ctz(rest));
    M values[8];
    for (unsigned i = 0; i < op.count; ++i)
      values[i] = static_cast<M>(rows[i][l]);
    uint32_t alike = 1u << l;
    if (warp.block->clocks && op.order == Order::Weak)
      forLanes(lanesAlike(warp, lanes, l, rest), [&](unsigned other) {
        bool same = true;
        for (unsigned i = 0; i < op.count; ++i)
          same &= isSame(static_cast<M>(rows[i][other]), values[i]);
        alike |= static_cast<uint32_t>(same) << other;
      });
    rest &= ~alike;
    lock.take(lanes, l);
    if (!noteStore(warp, inst, access, lanes, l, alike, values))
      return;
    if (op.order != Order::Weak)
      releaseAt(warp, lanes, l, op.order, op.scope);
    std::memcpy(lanes.host[l], values, access.bytes);
  }
}

struct MemoryFns {
  ExecFn load = nullptr, param = nullptr, store = nullptr;
};

template <typename M, typename R> MemoryFns fnsOf() {
  return {execLoad<M, R>, execLoadParam<M, R>,
          execStore<std::conditional_t<std::is_same<M, Wide>::value, Wide, M>, R>};
}

template <typename M> MemoryFns pickRegister(unsigned registerBytes) {
  if constexpr (sizeof(M) <= 2)
    if (registerBytes == 2)
      return fnsOf<M, uint16_t>();
  if constexpr (sizeof(M) <= 4)
    if (registerBytes == 4)
      return fnsOf<M, uint32_t>();
  if (registerBytes == 8)
    return fnsOf<M, uint64_t>();
  return {};
}

MemoryFns pickMemory(unsigned elementBytes, bool sign, unsigned registerBytes) {
  switch (elementBytes) {
  case 1:
    return sign ? pickRegister<int8_t>(registerBytes) : pickRegister<uint8_t>(registerBytes);
  case 2:
    return sign ? pickRegister<int16_t>(registerBytes) : pickRegister<uint16_t>(registerBytes);
  case 4:
    return sign ? pickRegister<int32_t>(registerBytes) : pickRegister<uint32_t>(registerBytes);
  case 8:
    return pickRegister<uint64_t>(registerBytes);
  case 16:
    return registerBytes == 16 ? fnsOf<Wide, Wide>() : MemoryFns();
  default:
    return {};
  }
}

/// Takes .weak, .relaxed, .acquire or .release, .volatile, .mmio and the scope.
void takeOrder(InstDecoder &d, bool isLoad, MemOp &op) {
  bool isVolatile = d.flag("volatile"), isMmio = d.flag("mmio");
  if (!isVolatile && d.flag("weak"))
    return;
  if ((!isVolatile && d.flag("relaxed")) || isVolatile)
    op.order = Order::Relaxed;
  else if (isMmio)
    d.fail("expected .relaxed with .mmio");
  else if (isLoad && d.flag("acquire"))
    op.order = Order::Acquire;
  else if (!isLoad && d.flag("release"))
    op.order = Order::Release;
  else
    return;
  if (isVolatile) {
    op.scope = MemScope::Sys;
    return;
  }
  op.scope = d.takeScope();
  if (op.scope == MemScope::None)
    d.fail("expected a scope");
}

/// Caching is not simulated; the hints are only recognised. True if a cache-policy operand follows.
bool takeCacheHints(InstDecoder &d, bool isLoad, MemOp &op) {
  auto takeOne = [&](std::initializer_list<const char *> names) {
    for (const char *name : names)
      if (d.flag(name))
        return;
  };
  if (isLoad) {
    op.readOnly = d.flag("nc");
    if (op.readOnly && (op.space != Space::Global || op.order != Order::Weak))
      d.fail("expected a weak load from .global with .nc");
    takeOne({"ca", "cg", "cs", "lu", "cv"});
  } else {
    takeOne({"wb", "cg", "cs", "wt"});
  }
  takeOne({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
           "L1::no_allocate"});
  bool hasPolicy = d.flag("L2::cache_hint");
  if (isLoad)
    takeOne({"L2::64B", "L2::128B", "L2::256B"});
  return hasPolicy;
}

bool takeVector(InstDecoder &d, MemOp &op) {
  if (d.flag("v2"))
    op.count = 2;
  else if (d.flag("v4"))
    op.count = 4;
  return op.count > 1;
}

/// Sets the registers of a vector operand or of a scalar one.
bool takeValues(InstDecoder &d, const Operand *operand, Type type, bool isLoad, MemOp &op) {
  if (!operand)
    return d.fail("expected a value");
  bool isVector = operand->kind == Operand::Vector;
  size_t count = isVector ? operand->children.size() : 1;
  if (count != op.count)
    return d.fail("expected " + std::to_string(op.count) + " values, got " + std::to_string(count));
  unsigned registerBytes = 0;
  for (size_t i = 0; i < count; ++i) {
    const Operand *value = isVector ? &operand->children[i] : operand;
    if (isLoad && value->kind == Operand::Sink)
      continue;
    unsigned bytes = 0;
    op.regs[i] = isLoad ? d.dstAtLeast(value, type, bytes) : d.srcAtLeast(value, type, bytes);
    if (d.failed())
      return false;
    if (registerBytes && bytes != registerBytes) {
      // A constant among wider registers: make its row as wide.
      if (isLoad || value->kind == Operand::Register)
        return d.fail("expected values of equal size");
      op.regs[i] = d.constantRow(static_cast<uint64_t>(value->value), registerBytes);
      bytes = registerBytes;
    }
    registerBytes = bytes;
  }
  op.registerBytes =
      static_cast<uint8_t>(registerBytes ? registerBytes : std::max(2u, typeBytes(type)));
  return true;
}

/// Parameters of functions live in slots of local memory.
Space effectiveSpace(InstDecoder &d, Space space, const AddressRef &address) {
  if (space != Space::Param)
    return space;
  if (address.symbolSpace == Space::Local)
    return Space::Local;
  return address.row != kNoRow && !d.owner().function().isEntry ? Space::Local : Space::Param;
}

/// A load of kernel parameters at a constant place: of one parameter, and aligned.
bool checkParam(InstDecoder &d, int64_t offset, uint64_t size) {
  if (offset % static_cast<int64_t>(size) != 0)
    return d.fail("offset " + std::to_string(offset) + " among the parameters is no multiple of " +
                  std::to_string(size));
  const Function &function = d.owner().function();
  for (uint32_t index : function.params) {
    const Variable &parameter = function.variables[index];
    uint64_t begin = static_cast<uint64_t>(offset) - parameter.address;
    if (offset < 0 || static_cast<uint64_t>(offset) < parameter.address || begin >= parameter.bytes)
      continue;
    return begin + size <= parameter.bytes ||
           d.fail(std::to_string(size) + " bytes at offset " + std::to_string(begin) +
                  " are not in parameter '" + std::string(parameter.name) + "', which has " +
                  std::to_string(parameter.bytes));
  }
  return d.fail("offset " + std::to_string(offset) + " is in no parameter (" +
                std::to_string(d.program().paramBytes) + " bytes)");
}

enum class Direction { Load, LoadUniform, Store };

bool decodeLoadStore(InstDecoder &d, Direction direction) {
  bool isLoad = direction != Direction::Store, isUniformLoad = direction == Direction::LoadUniform;
  MemOp op;
  if (!isUniformLoad)
    takeOrder(d, isLoad, op);
  op.space = d.takeSpace(Space::Generic);
  if (isUniformLoad && op.space != Space::Global && op.space != Space::Generic)
    return d.fail("expected global memory");
  bool hasPolicy = !isUniformLoad && takeCacheHints(d, isLoad, op);
  takeVector(d, op);
  Type type = d.takeType();
  if (d.failed() || !d.expectOperands(2, hasPolicy ? 3 : 2))
    return false;
  if (type == Type::Pred)
    return d.fail("unsupported type .pred");
  AddressRef address = d.address(isLoad ? 1 : 0, op.space);
  if (d.failed() || !takeValues(d, d.operand(isLoad ? 0 : 1), type, isLoad, op))
    return false;
  if (hasPolicy)
    d.src(2, Type::B64);
  op.space = effectiveSpace(d, op.space, address);
  op.elementBytes = static_cast<uint8_t>(typeBytes(type));
  op.signExtend = isSigned(type);
  op.wideAddress = address.wide;
  if (!isLoad && (op.space == Space::Const || op.space == Space::Param))
    return d.fail("expected a space that can be written");
  MemoryFns fns = pickMemory(op.elementBytes, op.signExtend, op.registerBytes);
  bool isUniform = isLoad && op.space == Space::Param && address.row == kNoRow;
  d.out.fn = !isLoad ? fns.store : isUniform ? fns.param : fns.load;
  if (!d.out.fn)
    return d.fail("unsupported register size");
  uint64_t size = static_cast<uint64_t>(op.elementBytes) * op.count;
  if (isUniform && !checkParam(d, address.offset, size))
    return false;
  d.out.a = address.row;
  d.out.imm = address.offset;
  d.out.mayFault = !isUniform;
  d.out.instClass = InstClass::Memory;
  d.out.aux = static_cast<uint32_t>(d.program().memOps.size());
  d.program().memOps.push_back(op);
  return !d.failed();
}

void execNothing(Warp &, const Inst &, uint32_t) {}

/// prefetch{.space}.level [a], a hint about caches.
bool decodePrefetch(InstDecoder &d) {
  if (d.flag("tensormap"))
    return decodePrefetchMap(d);
  Space space = d.takeSpace(Space::Generic);
  if (space != Space::Global && space != Space::Local && space != Space::Generic)
    return d.fail("unsupported state space");
  bool evicts = space == Space::Global && (d.flag("L2::evict_last") || d.flag("L2::evict_normal"));
  if (!evicts && !d.flag("L1") && !d.flag("L2"))
    return d.fail("expected a cache level");
  d.address(0u, space);
  d.out.fn = execNothing;
  d.out.instClass = InstClass::Memory;
  return d.expectOperands(1) && !d.failed();
}

/// prefetchu.L1 [a]
bool decodePrefetchUniform(InstDecoder &d) {
  if (!d.flag("L1"))
    return d.fail("expected .L1");
  d.address(0u, Space::Generic);
  d.out.fn = execNothing;
  d.out.instClass = InstClass::Memory;
  return d.expectOperands(1) && !d.failed();
}

/// discard{.global}.L2 [a], 128 and applypriority{.global}.L2::evict_normal [a], 128. What is
/// discarded may be read as anything; it is left as it is.
bool decodeLine(InstDecoder &d, const char *level) {
  Space space = d.takeSpace(Space::Generic);
  if (space != Space::Global && space != Space::Generic)
    return d.fail("unsupported state space");
  int64_t bytes = 0;
  if (!d.flag(level) || !d.expectOperands(2) || !d.immediate(1, bytes) || bytes != 128)
    return d.failed() ? false : d.fail(std::string("expected .") + level + " and 128 bytes");
  d.address(0u, space);
  d.out.fn = execNothing;
  d.out.instClass = InstClass::Memory;
  return !d.failed();
}

/// createpolicy: a cache policy is an opaque value that nothing reads.
void execPolicy(Warp &warp, const Inst &inst, uint32_t mask) {
  uint64_t *d = warp.row<uint64_t>(inst.dst);
  forLanes(mask, [&](unsigned l) { d[l] = 0; });
}

/// createpolicy.fractional.L2::primary[.L2::secondary].b64 d[, fraction];
/// createpolicy.range[.global].L2::primary[.L2::secondary].b64 d, [a], primary size, total size;
/// createpolicy.cvt.L2.b64 d, property
bool decodePolicy(InstDecoder &d) {
  bool isFractional = d.flag("fractional"), isRange = !isFractional && d.flag("range");
  if (isRange)
    d.flag("global");
  if (isFractional || isRange) {
    if (!d.flag("L2::evict_last") && !d.flag("L2::evict_normal") && !d.flag("L2::evict_first") &&
        !d.flag("L2::evict_unchanged"))
      return d.fail("expected a priority");
    if (!d.flag("L2::evict_first"))
      d.flag("L2::evict_unchanged");
  } else if (!d.flag("cvt") || !d.flag("L2")) {
    return d.fail("expected .fractional, .range or .cvt.L2");
  }
  Type type = d.takeType();
  if (d.failed() || type != Type::B64)
    return d.failed() ? false : d.fail("expected type .b64");
  if (!d.expectOperands(isFractional ? 1 : isRange ? 4 : 2, isRange ? 4 : 2))
    return false;
  if (isRange) {
    d.address(1, Space::Global);
    d.src(2, Type::U32);
    d.src(3, Type::U32);
  } else if (d.operandCount() == 2) {
    d.src(1, isFractional ? Type::F32 : Type::B64);
  }
  d.out.dst = d.dst(0, Type::B64);
  d.out.fn = execPolicy;
  return !d.failed();
}

} // namespace

void xc::ptxsim::addMemoryOpcodes(OpcodeTable &table) {
  table["ld"] = [](InstDecoder &d) { return decodeLoadStore(d, Direction::Load); };
  table["ldu"] = [](InstDecoder &d) { return decodeLoadStore(d, Direction::LoadUniform); };
  table["st"] = [](InstDecoder &d) { return decodeLoadStore(d, Direction::Store); };
  table["prefetch"] = decodePrefetch;
  table["prefetchu"] = decodePrefetchUniform;
  table["applypriority"] = [](InstDecoder &d) { return decodeLine(d, "L2::evict_normal"); };
  table["discard"] = [](InstDecoder &d) { return decodeLine(d, "L2"); };
  table["createpolicy"] = decodePolicy;
}
