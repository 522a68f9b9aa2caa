//===- Registers.cpp - An estimate of register pressure -------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The peak number of live 32-bit registers, by a backward liveness analysis
// over the instructions of a function. ptxas schedules and rematerialises, so
// its number differs; this one serves occupancy estimates and attribute
// queries.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include <algorithm>

using namespace xc::ptxsim;

namespace {

using BitSet = std::vector<uint64_t>;

struct Node {
  std::vector<uint32_t> reads, writes;
  std::vector<uint32_t> successors;
};

bool writesFirstOperand(const Instruction &inst) {
  static const std::string_view kReaders[] = {
      "st",       "red",     "bra", "brx",        "call",           "prefetch",
      "stmatrix", "discard", "cp",  "setmaxnreg", "griddepcontrol", "nanosleep"};
  std::string_view name = inst.opcode;
  if (name == "mbarrier") {
    std::string_view what = inst.modifiers.empty() ? "" : inst.modifiers[0];
    return what != "init" && what != "inval" && what != "expect_tx" && what != "complete_tx";
  }
  if (name == "bar" || name == "barrier")
    return std::find(inst.modifiers.begin(), inst.modifiers.end(), "red") != inst.modifiers.end();
  return std::find(std::begin(kReaders), std::end(kReaders), name) == std::end(kReaders);
}

void collect(const Operand &operand, bool write, std::vector<uint32_t> &reads,
             std::vector<uint32_t> &writes) {
  if (operand.kind == Operand::Register)
    (write ? writes : reads).push_back(operand.reg);
  for (const Operand &child : operand.children)
    collect(child, write && operand.kind != Operand::Address, reads, writes);
}

} // namespace

void xc::ptxsim::registersOf(const Instruction &inst, std::vector<uint32_t> &reads,
                             std::vector<uint32_t> &writes) {
  if (inst.guard >= 0)
    reads.push_back(static_cast<uint32_t>(inst.guard));
  for (size_t k = 0; k < inst.operands.size(); ++k)
    collect(inst.operands[k], k == 0 && writesFirstOperand(inst), reads, writes);
}

void xc::ptxsim::successorsOf(const Function &function, uint32_t index,
                              std::vector<uint32_t> &successors) {
  const Instruction &inst = function.instructions[index];
  auto count = static_cast<uint32_t>(function.instructions.size());
  bool branches = inst.opcode == "bra" || inst.opcode == "brx";
  bool ends = inst.guard < 0 &&
              (inst.opcode == "ret" || inst.opcode == "exit" || inst.opcode == "trap" || branches);
  if (!ends && index + 1 < count)
    successors.push_back(index + 1);
  if (!branches)
    return;
  auto addTarget = [&](std::string_view label) {
    int target = function.findLabel(label, static_cast<int32_t>(inst.scope));
    if (target >= 0 && static_cast<uint32_t>(target) < count)
      successors.push_back(static_cast<uint32_t>(target));
  };
  if (inst.opcode == "bra" && !inst.operands.empty())
    addTarget(inst.operands[0].text);
  if (inst.opcode == "brx" && inst.operands.size() > 1)
    for (const Scope &scope : function.scopes)
      if (auto it = scope.branchTargets.find(inst.operands[1].text);
          it != scope.branchTargets.end())
        for (std::string_view label : it->second)
          addTarget(label);
}

namespace {

std::vector<Node> buildNodes(const Function &function) {
  std::vector<Node> nodes(function.instructions.size());
  auto count = static_cast<uint32_t>(nodes.size());
  for (uint32_t i = 0; i < count; ++i) {
    const Instruction &inst = function.instructions[i];
    Node &node = nodes[i];
    registersOf(inst, node.reads, node.writes);
    // A product adds to what is there.
    if (inst.opcode == "wgmma")
      node.reads.insert(node.reads.end(), node.writes.begin(), node.writes.end());
    // A write under a guard does not end the life of the old value.
    if (inst.guard >= 0)
      node.writes.clear();
    successorsOf(function, i, node.successors);
  }
  return nodes;
}

/// live-in = reads + (live-out - writes); returns whether |in| changed.
bool transfer(const Node &node, const BitSet &out, BitSet &in) {
  BitSet next = out;
  for (uint32_t r : node.writes)
    next[r / 64] &= ~(1ull << (r % 64));
  for (uint32_t r : node.reads)
    next[r / 64] |= 1ull << (r % 64);
  if (next == in)
    return false;
  in = std::move(next);
  return true;
}

unsigned weigh(const BitSet &live, const Function &function) {
  unsigned words = 0;
  for (size_t w = 0; w < live.size(); ++w)
    for (uint64_t bits = live[w]; bits; bits &= bits - 1) {
      size_t reg = w * 64 + static_cast<size_t>(__builtin_ctzll(bits));
      unsigned width = typeBits(function.registers[reg].type);
      words += width <= 1 ? 0 : (width + 31) / 32;
    }
  return words;
}

} // namespace

unsigned xc::ptxsim::estimateRegisters(const Function &function) {
  std::vector<Node> nodes = buildNodes(function);
  size_t words = (function.registers.size() + 63) / 64;
  // Liveness of every instruction of a huge function is not worth its memory.
  if (nodes.size() * words > (1u << 24))
    return 255;
  std::vector<BitSet> in(nodes.size(), BitSet(words, 0));
  unsigned peak = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = nodes.size(); i-- > 0;) {
      BitSet out(words, 0);
      for (uint32_t successor : nodes[i].successors)
        for (size_t w = 0; w < words; ++w)
          out[w] |= in[successor][w];
      changed |= transfer(nodes[i], out, in[i]);
    }
  }
  for (const BitSet &live : in)
    peak = std::max(peak, weigh(live, function));
  // A few that every kernel needs: the stack pointer, addresses of parameters.
  return std::min(255u, peak + 8);
}
