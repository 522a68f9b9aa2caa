//===- ExecControl.cpp - Branches, calls, exits ---------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decoding only: the scheduler executes these.
//
//===----------------------------------------------------------------------===//

#include "Exec.h"

#include <thread>

using namespace xc::ptxsim;

static bool decodeBra(InstDecoder &d) {
  d.flag("uni");
  if (!d.expectOperands(1))
    return false;
  const Operand *label = d.operand(0);
  int target =
      label->kind == Operand::Symbol ? d.owner().labelTarget(label->text, d.syntax().scope) : -1;
  if (target < 0)
    return d.fail("unknown label '" + std::string(label->text) + "'");
  d.out.control = Control::Branch;
  d.out.instClass = InstClass::Control;
  d.out.imm = target; // an index into the function; the builder makes it a
                      // place in the code
  return true;
}

/// brx.idx index, targets: the targets are a label of a .branchtargets
/// directive.
static bool decodeBrx(InstDecoder &d) {
  if (!d.flag("idx"))
    return d.fail("expected .idx");
  d.flag("uni");
  if (!d.expectOperands(2))
    return false;
  const Operand *name = d.operand(1);
  const std::vector<std::string_view> *labels =
      d.owner().branchTargets(name->text, d.syntax().scope);
  if (!labels)
    return d.fail("unknown branch targets '" + std::string(name->text) + "'");
  std::vector<uint32_t> targets;
  for (std::string_view label : *labels) {
    int target = d.owner().labelTarget(label, d.syntax().scope);
    if (target < 0)
      return d.fail("unknown label '" + std::string(label) + "'");
    targets.push_back(static_cast<uint32_t>(target));
  }
  d.out.control = Control::BranchIndexed;
  d.out.instClass = InstClass::Control;
  d.out.a = d.src(0u, Type::U32);
  d.out.aux = static_cast<uint32_t>(d.program().tables.size());
  d.program().tables.push_back(std::move(targets));
  return !d.failed();
}

static bool decodePlain(InstDecoder &d, Control control) {
  if (d.syntax().opcode == "ret") // which leaves a kernel, too
    d.flag("uni");
  d.out.control = control;
  d.out.instClass = InstClass::Control;
  return d.expectOperands(0);
}

static void execYield(Warp &, const Inst &, uint32_t) {
  // Another host thread may be what this one waits for.
  std::this_thread::yield();
}

static void execNothing(Warp &, const Inst &, uint32_t) {}

static bool decodeNanosleep(InstDecoder &d) {
  d.takeType();
  if (!d.expectOperands(1))
    return false;
  d.src(0u, Type::U32);
  d.out.fn = execYield;
  d.out.instClass = InstClass::Control;
  return !d.failed();
}

void xc::ptxsim::copySlots(Warp &warp, const std::vector<SlotCopy> &copies, uint32_t mask) {
  ByteBits &written = warp.block->localWritten;
  forLanes(mask, [&](unsigned l) {
    uint8_t *local = warp.localOf(l);
    uint64_t place = warp.block->localPlace(local);
    for (const SlotCopy &copy : copies) {
      std::memmove(local + copy.to, local + copy.from, copy.bytes);
      for (uint32_t i = 0; i < copy.bytes; ++i)
        written.assign(place + copy.to + i, 1, written.all(place + copy.from + i, 1));
    }
  });
}

const Program &xc::ptxsim::programOf(const Warp &warp) { return *warp.program; }

void xc::ptxsim::addControlOpcodes(OpcodeTable &table) {
  table["bra"] = decodeBra;
  table["brx"] = decodeBrx;
  table["call"] = [](InstDecoder &d) { return d.owner().decodeCall(d); };
  table["ret"] = [](InstDecoder &d) {
    return decodePlain(d, d.owner().function().isEntry ? Control::Exit : Control::Return);
  };
  table["exit"] = [](InstDecoder &d) { return decodePlain(d, Control::Exit); };
  table["trap"] = [](InstDecoder &d) { return decodePlain(d, Control::Trap); };
  table["brkpt"] = [](InstDecoder &d) { return decodePlain(d, Control::Trap); };
  table["nanosleep"] = decodeNanosleep;
  table["pmevent"] = [](InstDecoder &d) {
    d.flag("mask");
    d.out.fn = execNothing;
    return d.expectOperands(1);
  };
}
