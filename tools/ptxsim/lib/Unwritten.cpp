//===- Unwritten.cpp - Registers that may be read before they are written -===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread's registers hold anything when it starts. Most reads are dominated by a write,
// which a dataflow analysis shows when a function is decoded. The others are legal as long as
// the value does not matter: compilers leave the operands of a phi unwritten that they know
// nobody looks at. So registers which may be read too early are tracked while the kernel runs,
// with what is computed from them, and what is refused is a use that matters: an address, a
// value that is stored, a guard, an operand of a matrix product. The instructions that neither
// read such a value nor write such a register cost nothing.
//
//===----------------------------------------------------------------------===//

#include "ByteMoves.h"
#include "Decoder.h"

#include <algorithm>

using namespace xc::ptxsim;

namespace {

using BitSet = std::vector<uint64_t>;

bool test(const BitSet &set, uint32_t bit) { return set[bit / 64] >> (bit % 64) & 1; }
void assign(BitSet &set, uint32_t bit, bool value) {
  uint64_t mask = 1ull << (bit % 64);
  set[bit / 64] = value ? set[bit / 64] | mask : set[bit / 64] & ~mask;
}

/// Instructions whose results depend on nothing but their operands, lane by lane.
bool isArithmetic(const Instruction &inst) {
  static const std::set<std::string_view> kOpcodes = {
      "abs", "add",   "and",  "bfe",        "bfi",   "bfind",    "bmsk", "brev", "clz",  "cnot",
      "cos", "cvt",   "cvta", "copysign",   "div",   "dp2a",     "dp4a", "ex2",  "fma",  "fns",
      "lg2", "lop3",  "mad",  "getctarank", "mad24", "isspacep", "mapa", "max",  "min",  "mov",
      "mul", "mul24", "neg",  "not",        "or",    "popc",     "prmt", "rcp",  "rem",  "rsqrt",
      "sad", "selp",  "set",  "setp",       "shf",   "shl",      "shr",  "sin",  "slct", "sqrt",
      "sub", "szext", "tanh", "testp",      "xor"};
  // The condition code is not tracked.
  return kOpcodes.count(inst.opcode) != 0 &&
         std::find(inst.modifiers.begin(), inst.modifiers.end(), "cc") == inst.modifiers.end();
}

UnwrittenOp::Rule ruleOf(const Instruction &inst) {
  if (inst.opcode == "shfl")
    return UnwrittenOp::Shuffle;
  if (inst.opcode == "wgmma")
    return UnwrittenOp::Product;
  if (!isArithmetic(inst))
    return UnwrittenOp::Refuse;
  if (inst.opcode == "selp")
    return UnwrittenOp::Select;
  if (inst.opcode == "and")
    return UnwrittenOp::And;
  if (inst.opcode == "or")
    return UnwrittenOp::Or;
  if (inst.opcode == "mov" || findByteMoves(inst))
    return UnwrittenOp::Bytes;
  return UnwrittenOp::Join;
}

/// An instruction's part in the analysis.
struct Effect {
  UnwrittenOp::Rule rule = UnwrittenOp::Refuse;
  bool guarded = false;
  std::vector<uint32_t> reads, writes; // the guard is among what is read
};

/// A block of instructions without branches, and what may be unwritten where it begins.
struct Stretch {
  uint32_t begin = 0, end = 0;
  bool reached = false, queued = false;
  BitSet maybe;
};

class Finder {
public:
  Finder(const Function &function, const std::vector<uint32_t> &rows,
         const std::vector<uint32_t> &codeOffsets, Program &program)
      : function(function), rows(rows), codeOffsets(codeOffsets), program(program),
        words((function.registers.size() + 63) / 64) {}

  void run() {
    if (program.unwrittenOps.empty())
      program.unwrittenOps.emplace_back();
    if (function.instructions.empty())
      return;
    collectEffects();
    findStretches();
    solve();
    chooseTracked();
    if (!anyTracked)
      return;
    for (const Stretch &stretch : stretches)
      if (stretch.reached)
        addOps(stretch);
  }

private:
  void collectEffects();
  void findStretches();
  void solve();
  void transfer(const Effect &effect, BitSet &maybe) const;
  void chooseTracked();
  void addOps(const Stretch &stretch);
  bool addOp(uint32_t index, const BitSet &maybe);

  /// The number of a register among the program's tracked ones, if it may be unwritten.
  uint32_t trackedIf(uint32_t reg, const BitSet &maybe) const {
    return test(maybe, reg) ? numbers[reg] : UnwrittenOp::kNone;
  }
  UnwrittenOp::Source source(const Operand &operand, const BitSet &maybe) const;
  void listBytes(const Operand &operand, uint32_t total, bool reads, const BitSet &maybe,
                 std::vector<uint32_t> &masks) const;
  void addMoves(const Instruction &inst, const BitSet &maybe, UnwrittenOp &op) const;

  const Function &function;
  const std::vector<uint32_t> &rows, &codeOffsets;
  Program &program;
  size_t words;
  std::vector<Effect> effects;
  std::vector<Stretch> stretches;
  std::vector<uint32_t> stretchAt; // by instruction; where one begins
  std::vector<uint32_t> numbers;   // by register: among the tracked ones
  bool anyTracked = false;
};

void Finder::collectEffects() {
  effects.resize(function.instructions.size());
  for (size_t i = 0; i < effects.size(); ++i) {
    const Instruction &inst = function.instructions[i];
    Effect &effect = effects[i];
    effect.rule = ruleOf(inst);
    effect.guarded = inst.guard >= 0;
    registersOf(inst, effect.reads, effect.writes);
    // A product adds to what is there, unless scale-d is false.
    if (effect.rule == UnwrittenOp::Product && inst.operands.size() > 3 &&
        (inst.operands[3].kind != Operand::Integer || inst.operands[3].value))
      effect.reads.insert(effect.reads.end(), effect.writes.begin(), effect.writes.end());
  }
}

void Finder::findStretches() {
  auto count = static_cast<uint32_t>(effects.size());
  std::vector<bool> begins(count + 1);
  begins[0] = true;
  std::vector<uint32_t> successors;
  for (uint32_t i = 0; i < count; ++i) {
    successors.clear();
    successorsOf(function, i, successors);
    if (successors.size() == 1 && successors[0] == i + 1)
      continue;
    begins[i + 1] = true;
    for (uint32_t s : successors)
      begins[s] = true;
  }
  stretchAt.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (begins[i]) {
      stretches.emplace_back();
      stretches.back().begin = i;
    }
    stretchAt[i] = static_cast<uint32_t>(stretches.size() - 1);
    stretches.back().end = i + 1;
  }
}

void Finder::transfer(const Effect &effect, BitSet &maybe) const {
  if (effect.writes.empty())
    return;
  bool depends = false;
  if (effect.rule != UnwrittenOp::Refuse && effect.rule != UnwrittenOp::Product)
    for (uint32_t reg : effect.reads)
      depends |= test(maybe, reg);
  // What a guard leaves out stays as it was.
  for (uint32_t reg : effect.writes)
    if (depends || !effect.guarded)
      assign(maybe, reg, depends);
}

void Finder::solve() {
  stretches[0].maybe.assign(words, ~0ull);
  stretches[0].reached = true;
  std::set<uint32_t> work = {0};
  std::vector<uint32_t> successors;
  while (!work.empty()) {
    const Stretch &stretch = stretches[*work.begin()];
    work.erase(work.begin());
    BitSet maybe = stretch.maybe;
    for (uint32_t i = stretch.begin; i < stretch.end; ++i)
      transfer(effects[i], maybe);
    successors.clear();
    successorsOf(function, stretch.end - 1, successors);
    for (uint32_t s : successors) {
      Stretch &next = stretches[stretchAt[s]];
      if (!next.reached)
        next.maybe.assign(words, 0);
      bool changed = !next.reached;
      for (size_t w = 0; w < words; ++w) {
        changed |= (maybe[w] & ~next.maybe[w]) != 0;
        next.maybe[w] |= maybe[w];
      }
      next.reached = true;
      if (changed)
        work.insert(stretchAt[s]);
    }
  }
}

/// Numbers the registers that are read somewhere where they may be unwritten.
void Finder::chooseTracked() {
  numbers.assign(function.registers.size(), UnwrittenOp::kNone);
  for (const Stretch &stretch : stretches) {
    if (!stretch.reached)
      continue;
    BitSet maybe = stretch.maybe;
    for (uint32_t i = stretch.begin; i < stretch.end; ++i) {
      for (uint32_t reg : effects[i].reads) {
        if (!test(maybe, reg) || numbers[reg] != UnwrittenOp::kNone)
          continue;
        anyTracked = true;
        numbers[reg] = static_cast<uint32_t>(program.tracked.size());
        TrackedRegister tracked;
        tracked.name = function.registers[reg].fullName();
        tracked.first = program.trackedBytes;
        tracked.bytes = std::max(1u, typeBytes(function.registers[reg].type));
        program.trackedBytes += tracked.bytes;
        program.tracked.push_back(std::move(tracked));
      }
      transfer(effects[i], maybe);
    }
  }
}

//===----------------------------------------------------------------------===//
// What instructions do
//===----------------------------------------------------------------------===//

UnwrittenOp::Source Finder::source(const Operand &operand, const BitSet &maybe) const {
  UnwrittenOp::Source source;
  if (operand.kind != Operand::Register) {
    source.constant = operand.kind == Operand::Integer ? static_cast<uint64_t>(operand.value) : 0;
    return source;
  }
  source.tracked = trackedIf(operand.reg, maybe);
  source.row = rows[operand.reg];
  Type type = function.registers[operand.reg].type;
  source.bytes = type == Type::Pred ? 0 : std::max(2u, typeBytes(type));
  source.flip = operand.negated ? kFullMask : 0;
  return source;
}

/// Appends the masks of |total| bytes of an operand of mov.
void Finder::listBytes(const Operand &operand, uint32_t total, bool reads, const BitSet &maybe,
                       std::vector<uint32_t> &masks) const {
  if (operand.kind == Operand::Vector) {
    auto count = static_cast<uint32_t>(operand.children.size());
    for (const Operand &child : operand.children)
      listBytes(child, total / count, reads, maybe, masks);
    return;
  }
  uint32_t number = UnwrittenOp::kNone;
  if (operand.kind == Operand::Register)
    number = reads ? trackedIf(operand.reg, maybe) : numbers[operand.reg];
  for (uint32_t i = 0; i < total; ++i)
    masks.push_back(number == UnwrittenOp::kNone ? number : program.tracked[number].first + i);
}

/// Which masks those of the bytes that are written depend on.
void Finder::addMoves(const Instruction &inst, const BitSet &maybe, UnwrittenOp &op) const {
  const Operand &to = inst.operands[0];
  if (inst.opcode == "mov") {
    uint32_t total = std::max(1u, typeBytes(parseType(inst.modifiers.back())));
    std::vector<uint32_t> from;
    listBytes(to, total, false, maybe, op.to);
    listBytes(inst.operands[1], total, true, maybe, from);
    for (uint32_t i = 0; i < from.size(); ++i)
      if (from[i] != UnwrittenOp::kNone)
        op.moves.push_back({i, from[i]});
    return;
  }
  uint32_t written = numbers[to.reg];
  if (written == UnwrittenOp::kNone)
    return;
  // All of the register, which may be wider than the type.
  for (uint32_t i = 0; i < program.tracked[written].bytes; ++i)
    op.to.push_back(program.tracked[written].first + i);
  std::optional<std::vector<ByteMove>> moves = findByteMoves(inst);
  for (const ByteMove &move : *moves) {
    const Operand &from = inst.operands[move.operand];
    uint32_t number =
        from.kind == Operand::Register ? trackedIf(from.reg, maybe) : UnwrittenOp::kNone;
    if (number != UnwrittenOp::kNone && move.to < op.to.size() &&
        move.from < program.tracked[number].bytes)
      op.moves.push_back({move.to, program.tracked[number].first + move.from});
  }
}

bool Finder::addOp(uint32_t index, const BitSet &maybe) {
  const Instruction &inst = function.instructions[index];
  const Effect &effect = effects[index];
  UnwrittenOp op;
  op.rule = effect.rule;
  if (effect.guarded)
    op.guard = trackedIf(static_cast<uint32_t>(inst.guard), maybe);
  for (size_t i = effect.guarded; i < effect.reads.size(); ++i)
    if (uint32_t number = trackedIf(effect.reads[i], maybe); number != UnwrittenOp::kNone)
      op.reads.push_back(number);
  for (uint32_t reg : effect.writes)
    if (numbers[reg] != UnwrittenOp::kNone)
      op.writes.push_back(numbers[reg]);
  if (op.guard == UnwrittenOp::kNone && op.reads.empty() && op.writes.empty())
    return false;
  if (op.rule == UnwrittenOp::Select || op.rule == UnwrittenOp::And || op.rule == UnwrittenOp::Or)
    for (size_t i = 1; i < inst.operands.size(); ++i)
      op.sources.push_back(source(inst.operands[i], maybe));
  if (op.rule == UnwrittenOp::Bytes)
    addMoves(inst, maybe, op);
  // The lanes to read from, and the members, must be known.
  if (op.rule == UnwrittenOp::Shuffle) {
    op.sources.push_back(source(inst.operands[1], maybe));
    op.reads.clear();
    for (size_t i = 2; i < inst.operands.size(); ++i)
      if (inst.operands[i].kind == Operand::Register)
        if (uint32_t n = trackedIf(inst.operands[i].reg, maybe); n != UnwrittenOp::kNone)
          op.reads.push_back(n);
  }
  Inst &out = program.code[codeOffsets[index]];
  out.watched = true;
  out.unwritten = static_cast<uint32_t>(program.unwrittenOps.size());
  program.unwrittenOps.push_back(std::move(op));
  return true;
}

void Finder::addOps(const Stretch &stretch) {
  BitSet maybe = stretch.maybe;
  for (uint32_t i = stretch.begin; i < stretch.end; ++i) {
    addOp(i, maybe);
    transfer(effects[i], maybe);
  }
}

} // namespace

void xc::ptxsim::findUnwritten(const Function &function, const std::vector<uint32_t> &rows,
                               const std::vector<uint32_t> &codeOffsets, Program &program) {
  Finder(function, rows, codeOffsets, program).run();
}
