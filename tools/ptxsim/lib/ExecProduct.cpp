//===- ExecProduct.cpp - wgmma --------------------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The four warps of a warpgroup issue products together, and hardware carries them
// out for all four. Here each warp's issuing is noted, and the product is carried
// out when the first of them waits for it: the latest moment, so that operands
// changed too early show. Until a warp has waited it must leave its accumulators
// alone, and its registers of A as they are; until the product is done its operands
// in shared memory must stay.
//
//===----------------------------------------------------------------------===//

#include "AsyncAccess.h"
#include "Exec.h"
#include "Product.h"

#include <algorithm>
#include <cstdio>

using namespace xc::ptxsim;

static bool fail(Warp &warp, unsigned lane, const Inst &inst, std::string message) {
  warp.block->raise(FaultKind::IllegalInstruction, warp, lane, inst, 0, std::move(message));
  return false;
}

static const ProductOp &opOf(const Warp &warp, const Inst &inst) {
  return warp.program->productOps[inst.aux];
}

//===----------------------------------------------------------------------===//
// Issuing
//===----------------------------------------------------------------------===//

/// A descriptor must be the same in all lanes.
static bool readDescriptor(Warp &warp, const Inst &inst, uint32_t row, uint64_t &value) {
  if (row == kNoRow)
    return true;
  const uint64_t *lanes = warp.row<uint64_t>(row);
  value = lanes[0];
  for (unsigned l = 1; l < kWarpSize; ++l)
    if (lanes[l] != value)
      return fail(warp, l, inst,
                  "the matrix descriptor differs between lanes: " + hex(value) + " and " +
                      hex(lanes[l]));
  return true;
}

static bool checkWarpgroup(Warp &warp, const Inst &inst, uint32_t mask) {
  if (mask != kFullMask)
    return fail(warp, static_cast<unsigned>(__builtin_ctz(mask)), inst,
                "expected all 32 lanes of the warp, got the lanes of " + hex(mask));
  if ((warp.index / 4 + 1) * 128 > warp.block->threads)
    return fail(warp, 0, inst,
                "expected a warpgroup of 128 threads; the block has " +
                    std::to_string(warp.block->threads));
  return true;
}

/// The range of shared memory that an operand lies in.
static void extentOf(uint64_t descriptor, unsigned rows, bool transposed, uint32_t &begin,
                     uint32_t &end) {
  begin = ~0u;
  forTileParts(TileAddress(descriptor, transposed), rows, transposed,
               [&](unsigned, unsigned, uint32_t place) {
                 begin = std::min(begin, place);
                 end = std::max(end, place + 16);
                 return true;
               });
}

static void execIssue(Warp &warp, const Inst &inst, uint32_t mask) {
  const ProductOp &op = opOf(warp, inst);
  Block &block = *warp.block;
  Warpgroup &group = block.warpgroups[warp.index / 4];
  uint64_t a = 0, b = 0;
  if (!checkWarpgroup(warp, inst, mask) || !readDescriptor(warp, inst, op.aDescriptor, a) ||
      !readDescriptor(warp, inst, op.bDescriptor, b))
    return;
  uint32_t scale = warp.predicate(op.scaleD) ^ op.scaleDFlip;
  if (scale != 0 && scale != kFullMask) {
    fail(warp, 0, inst, "scale-d differs between lanes");
    return;
  }
  if (!warp.fencedProducts) {
    fail(warp, 0, inst, "no wgmma.fence has come before the warp's first wgmma.mma_async");
    return;
  }
  for (const std::vector<uint32_t> *ids : {&op.dIds, &op.aIds})
    for (uint32_t id : *ids)
      if (warp.written[id]) {
        fail(warp, 0, inst,
             "the warp has written an accumulator or a register of A since its last wgmma.fence");
        return;
      }
  uint64_t number = warp.productsIssued++;
  if (number == group.first + group.products.size()) {
    Product product;
    product.inst = &inst;
    product.a = a;
    product.b = b;
    product.accumulate = scale != 0;
    if (op.aRows.empty())
      extentOf(a, 64, op.transposeA, product.aBegin, product.aEnd);
    extentOf(b, op.n, op.transposeB, product.bBegin, product.bEnd);
    group.products.push_back(std::move(product));
    ++block.pendingProducts;
  }
  Product &product = group.products[number - group.first];
  if (product.inst != &inst || product.a != a || product.b != b ||
      product.accumulate != (scale != 0)) {
    fail(warp, 0, inst,
         "the warps of a warpgroup must execute the same wgmma with the same operands: "
         "another warp's has descriptors " +
             hex(product.a) + " and " + hex(product.b) + " at PTX line " +
             std::to_string(lineOf(block, *product.inst)) + ", this one " + hex(a) + " and " +
             hex(b));
    return;
  }
  product.warps |= 1u << warp.index % 4;
  if (block.clocks)
    product.observers[warp.index % 4] = block.clocks->observe(warp.threadOf(0));
  warp.productGroups.push_back(warp.productGroup);
  for (uint32_t id : op.dIds)
    warp.busy[id] = true;
  for (uint32_t id : op.aIds)
    warp.frozen[id] = true;
  ++block.cluster->events;
  if (product.warps == 15)
    for (unsigned w = warp.index / 4 * 4; w < warp.index / 4 * 4 + 4; ++w)
      for (Group &waiting : block.warps[w].groups)
        if (waiting.state == Group::WaitProducts)
          waiting.state = Group::Ready;
}

static void execFence(Warp &warp, const Inst &inst, uint32_t mask) {
  if (!checkWarpgroup(warp, inst, mask))
    return;
  warp.fencedProducts = true;
  std::fill(warp.written.begin(), warp.written.end(), false);
}

static void execCommit(Warp &warp, const Inst &inst, uint32_t mask) {
  if (checkWarpgroup(warp, inst, mask))
    ++warp.productGroup;
}

//===----------------------------------------------------------------------===//
// Carrying out
//===----------------------------------------------------------------------===//

/// Notes the reads of both operands, and checks them as of each warp that issued.
static bool noteReads(Block &block, unsigned warpgroup, const ProductOp &op,
                      const Product &product) {
  Warpgroup &group = block.warpgroups[warpgroup];
  const Checks &checks = block.launch->options.checks;
  // Without the checks only the bounds matter, for which one warp will do.
  unsigned warps = block.clocks && checks.race ? 4 : 1;
  for (unsigned w = 0; w < warps; ++w) {
    Warp &warp = block.warps[warpgroup * 4 + w];
    ProductReads reads(warp, *product.inst, product.observers[w], warpgroup, group.retired);
    // A warp reads its own 16 rows of A only.
    auto readA = [&](unsigned major, unsigned part, uint32_t place) {
      bool mine = warps == 1 || (op.transposeA ? part / 2 : major / 16) == w;
      return !mine || reads.read(place);
    };
    auto readB = [&](unsigned, unsigned, uint32_t place) { return reads.read(place); };
    if (op.aRows.empty() &&
        !forTileParts(TileAddress(product.a, op.transposeA), 64, op.transposeA, readA))
      return false;
    if (!forTileParts(TileAddress(product.b, op.transposeB), op.n, op.transposeB, readB))
      return false;
  }
  return true;
}

bool xc::ptxsim::executeProducts(Block &block, unsigned warpgroup, uint64_t end) {
  Warpgroup &group = block.warpgroups[warpgroup];
  bool any = false;
  for (size_t i = 0; i < group.products.size() && group.first + i < end; ++i)
    any |= !group.products[i].done;
  if (!any)
    return true;
  ++group.retired;
  for (size_t i = 0; i < group.products.size() && group.first + i < end; ++i) {
    Product &product = group.products[i];
    if (product.done)
      continue;
    const ProductOp &op = block.program->productOps[product.inst->aux];
    if (!noteReads(block, warpgroup, op, product))
      return false;
    multiply(block, warpgroup, op, product);
    product.done = true;
    --block.pendingProducts;
  }
  return true;
}

/// The warp has waited for its products but those of the |keep| latest groups.
static void retire(Warp &warp, uint32_t keep) {
  Block &block = *warp.block;
  Warpgroup &group = block.warpgroups[warp.index / 4];
  while (!warp.productGroups.empty() &&
         static_cast<uint64_t>(warp.productGroups.front()) + keep < warp.productGroup)
    warp.productGroups.pop_front();
  if (block.clocks && group.retired)
    for (unsigned l = 0; l < kWarpSize; ++l)
      block.clocks->learnProducts(warp.threadOf(l), warp.index / 4, group.retired);
  std::fill(warp.busy.begin(), warp.busy.end(), false);
  std::fill(warp.frozen.begin(), warp.frozen.end(), false);
  for (size_t i = 0; i < warp.productGroups.size(); ++i) {
    uint64_t number = warp.productsIssued - warp.productGroups.size() + i;
    const ProductOp &op = opOf(warp, *group.products[number - group.first].inst);
    for (uint32_t id : op.dIds)
      warp.busy[id] = true;
    for (uint32_t id : op.aIds)
      warp.frozen[id] = true;
  }
  // What all four have waited for is forgotten.
  uint64_t least = ~0ull;
  for (unsigned w = warp.index / 4 * 4; w < warp.index / 4 * 4 + 4; ++w)
    least = std::min(least, block.warps[w].productsIssued - block.warps[w].productGroups.size());
  while (group.first < least && !group.products.empty()) {
    group.products.pop_front();
    ++group.first;
  }
}

Step xc::ptxsim::executeProductWait(Warp &warp, const Inst &inst, uint32_t mask) {
  if (mask == 0) {
    ++warp.groups[warp.current].pc;
    return Step::Continue;
  }
  if (!gatherWarp(warp, mask) || !checkWarpgroup(warp, inst, mask))
    return Step::Repick;
  Group &current = warp.groups[warp.current];
  auto keep = static_cast<uint32_t>(inst.imm);
  uint64_t end = warp.productsIssued - warp.productGroups.size();
  for (uint32_t group : warp.productGroups)
    end += static_cast<uint64_t>(group) + keep < warp.productGroup;
  Warpgroup &group = warp.block->warpgroups[warp.index / 4];
  for (uint64_t number = group.first; number < end; ++number)
    if (group.products[number - group.first].warps != 15) {
      current.state = Group::WaitProducts;
      return Step::Repick;
    }
  if (!executeProducts(*warp.block, warp.index / 4, end))
    return Step::Repick;
  retire(warp, keep);
  ++current.pc;
  return Step::Continue;
}

bool xc::ptxsim::isProductSource(const Block &block, uint32_t offset, uint32_t bytes,
                                 std::string &reader) {
  for (const Warpgroup &group : block.warpgroups)
    for (const Product &product : group.products) {
      if (product.done)
        continue;
      const ProductOp &op = block.program->productOps[product.inst->aux];
      auto within = [&](uint32_t begin, uint32_t end) {
        return offset < end && begin < offset + bytes;
      };
      auto misses = [&](unsigned, unsigned, uint32_t place) { return !within(place, place + 16); };
      bool hitsA = within(product.aBegin, product.aEnd) &&
                   !forTileParts(TileAddress(product.a, op.transposeA), 64, op.transposeA, misses);
      bool hitsB =
          within(product.bBegin, product.bEnd) &&
          !forTileParts(TileAddress(product.b, op.transposeB), op.n, op.transposeB, misses);
      if (hitsA || hitsB) {
        reader = "a wgmma (PTX line " + std::to_string(lineOf(block, *product.inst)) + ")";
        return true;
      }
    }
  return false;
}

bool xc::ptxsim::checkTouches(Warp &warp, const Inst &inst, uint32_t mask) {
  const Program::Touch &touch = warp.program->touches[inst.touches];
  auto raise = [&](const char *what) {
    warp.block->raise(FaultKind::AsyncCopy, warp, static_cast<unsigned>(__builtin_ctz(mask)), inst,
                      0, std::string(what) + " of a wgmma that the warp has not waited for");
    return false;
  };
  for (uint32_t id : touch.reads)
    if (warp.busy[id])
      return raise("reads an accumulator");
  for (uint32_t id : touch.writes) {
    if (warp.busy[id])
      return raise("writes an accumulator");
    if (warp.frozen[id])
      return raise("writes a register of A");
    warp.written[id] = true;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

namespace {

bool takeShape(InstDecoder &d, ProductOp &op) {
  std::string shape(d.nextModifier());
  unsigned n = 0, k = 0;
  if (std::sscanf(shape.c_str(), "m64n%uk%u", &n, &k) != 2 || n < 8 || n > 256 || n % 8)
    return d.fail("expected a shape m64nNkK with N a multiple of 8 up to 256, got '" + shape + "'");
  op.n = n;
  op.k = k;
  return true;
}

bool checkTypes(InstDecoder &d, const ProductOp &op) {
  auto isByteFloat = [](Type type) { return type == Type::E4M3 || type == Type::E5M2; };
  auto isByte = [](Type type) { return type == Type::S8 || type == Type::U8; };
  bool known = op.a == Type::F16    ? op.b == op.a && (op.d == Type::F16 || op.d == Type::F32)
               : op.a == Type::BF16 ? op.b == op.a && op.d == Type::F32
               : op.a == Type::TF32 ? op.b == op.a && op.d == Type::F32
               : isByteFloat(op.a)  ? isByteFloat(op.b) && (op.d == Type::F16 || op.d == Type::F32)
               : isByte(op.a)       ? isByte(op.b) && op.d == Type::S32
                                    : false;
  if (!known || op.k != 256 / typeBits(op.a))
    return d.fail("unsupported combination of shape and types");
  if (isByte(op.a) && op.n > 32 && op.n % 16 && op.n != 24)
    return d.fail("integers take N of 8, 16, 24, 32 and further multiples of 16, got " +
                  std::to_string(op.n));
  return true;
}

/// An immediate of 1 or -1, or 0 or 1.
bool takeFlag(InstDecoder &d, unsigned index, int64_t whenSet, int64_t otherwise, bool &flag) {
  int64_t value = 0;
  if (!d.immediate(index, value))
    return false;
  flag = value == whenSet;
  return value == whenSet || value == otherwise ||
         d.fail("expected " + std::to_string(otherwise) + " or " + std::to_string(whenSet) +
                " as operand " + std::to_string(index + 1) + ", got " + std::to_string(value));
}

bool takeRegisters(InstDecoder &d, const Operand *list, size_t count, bool isDst,
                   std::vector<uint32_t> &rows, std::vector<uint32_t> &ids) {
  if (list->kind != Operand::Vector || list->children.size() != count)
    return d.fail("expected " + std::to_string(count) + " registers, got " +
                  std::to_string(list->kind == Operand::Vector ? list->children.size() : 1));
  for (const Operand &part : list->children) {
    if (part.kind != Operand::Register)
      return d.fail("expected registers only");
    rows.push_back(isDst ? d.dst(&part, 32) : d.src(&part, Type::B32));
    ids.push_back(d.owner().asyncRegister(part.reg));
  }
  return !d.failed();
}

bool decodeProduct(InstDecoder &d) {
  ProductOp op;
  if (!d.flag("sync") || !d.flag("aligned"))
    return d.fail("expected .sync.aligned");
  op.satfinite = d.flag("satfinite");
  if (!takeShape(d, op))
    return false;
  op.d = d.takeType();
  op.a = d.takeType();
  op.b = d.takeType();
  if (d.failed() || !checkTypes(d, op))
    return false;
  bool integers = op.d == Type::S32, halves = typeBits(op.a) == 16;
  bool inRegisters = d.operand(1) && d.operand(1)->kind == Operand::Vector;
  unsigned count = 4 + (integers ? 0 : 2) + (halves ? inRegisters ? 1 : 2 : 0);
  if (!d.expectOperands(count) ||
      !takeRegisters(d, d.operand(0), op.n / (op.d == Type::F16 ? 4 : 2), true, op.dRows, op.dIds))
    return false;
  if (inRegisters) {
    if (!takeRegisters(d, d.operand(1), 4, false, op.aRows, op.aIds))
      return false;
  } else {
    op.aDescriptor = d.src(1, Type::B64);
  }
  op.bDescriptor = d.src(2, Type::B64);
  PredicateRef scale = d.predicate(3);
  op.scaleD = scale.row;
  op.scaleDFlip = scale.flip;
  if (!integers && (!takeFlag(d, 4, -1, 1, op.negateA) || !takeFlag(d, 5, -1, 1, op.negateB)))
    return false;
  if (halves && ((!inRegisters && !takeFlag(d, 6, 1, 0, op.transposeA)) ||
                 !takeFlag(d, inRegisters ? 6 : 7, 1, 0, op.transposeB)))
    return false;
  d.out.fn = execIssue;
  d.out.aux = static_cast<uint32_t>(d.program().productOps.size());
  d.program().productOps.push_back(std::move(op));
  return !d.failed();
}

bool decodeWgmma(InstDecoder &d) {
  // The lanes of a warp execute it together: those that are elsewhere are waited for.
  d.out.control = Control::WarpSync;
  d.out.instClass = InstClass::Matrix;
  d.out.sync = d.constantRow(kFullMask, 4);
  d.out.mayFault = true;
  if (d.flag("mma_async"))
    return decodeProduct(d);
  bool fence = d.flag("fence"), commit = d.flag("commit_group"), wait = d.flag("wait_group");
  if (fence + commit + wait != 1)
    return d.failModifier();
  if (!d.flag("sync") || !d.flag("aligned"))
    return d.fail("expected .sync.aligned");
  d.out.instClass = InstClass::Sync;
  if (wait) {
    d.out.control = Control::ProductWait;
    return d.expectOperands(1) && d.immediate(0, d.out.imm);
  }
  d.out.fn = fence ? execFence : execCommit;
  return d.expectOperands(0);
}

} // namespace

void xc::ptxsim::addProductOpcodes(OpcodeTable &table) { table["wgmma"] = decodeWgmma; }
