//===- ProgramBuilder.cpp - Layout and decoding of one kernel -------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Callees are decoded before their callers. Every function has its registers,
// its .local variables and its .param slots at fixed places, so a call is a
// jump and copies between slots; recursion is refused.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include <algorithm>
#include <set>

using namespace xc::ptxsim;

static uint64_t alignTo(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

bool ProgramBuilder::fail(const Instruction &inst, std::string message, bool unsupported) {
  if (error.message.empty()) {
    error.message = std::move(message);
    error.line = inst.line;
    error.column = inst.column;
    error.unsupported = unsupported;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

uint32_t ProgramBuilder::allocateRow(unsigned bytes) {
  Program &p = *current;
  if (bytes == 0) { // a predicate: 4 bytes, packed 16 to a row
    if (predicatesLeft == 0) {
      predicateSlab = p.registerBytes;
      p.registerBytes += 64;
      predicatesLeft = 16;
    }
    uint32_t row = predicateSlab;
    predicateSlab += 4;
    --predicatesLeft;
    return row;
  }
  uint32_t row = p.registerBytes;
  p.registerBytes += bytes * kWarpSize;
  return row;
}

uint32_t ProgramBuilder::constantRow(uint64_t low, uint64_t high, unsigned bytes) {
  auto inserted = constantRows.try_emplace({{low, high}, bytes}, 0);
  if (inserted.second) {
    inserted.first->second = allocateRow(bytes);
    current->constants.push_back({inserted.first->second, bytes, low, high});
  }
  return inserted.first->second;
}

uint32_t ProgramBuilder::specialRow(Special kind, unsigned bytes) {
  auto inserted = specialRows.try_emplace({kind, bytes}, 0);
  if (inserted.second) {
    inserted.first->second = allocateRow(bytes);
    current->specials.push_back({kind, inserted.first->second, bytes});
  }
  return inserted.first->second;
}

uint32_t ProgramBuilder::sinkRow() {
  if (sink == kNoRow)
    sink = allocateRow(16);
  return sink;
}

uint32_t ProgramBuilder::carryRow() {
  if (carry == kNoRow)
    carry = allocateRow(0);
  return carry;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

uint32_t ProgramBuilder::allocateLocal(uint32_t bytes, uint32_t align) {
  auto offset = static_cast<uint32_t>(alignTo(current->localBytes, std::max(1u, align)));
  current->localBytes = offset + bytes;
  return offset;
}

static void collectSymbols(const Operand &operand, std::set<std::string_view> &symbols) {
  if (operand.kind == Operand::Symbol)
    symbols.insert(operand.text);
  for (const Operand &child : operand.children)
    collectSymbols(child, symbols);
}

/// The symbols that |function| and the functions it calls name.
static void collectSymbols(const ModuleAst &module, const Function &function,
                           std::set<std::string_view> &symbols,
                           std::set<const Function *> &visited) {
  if (!visited.insert(&function).second)
    return;
  std::set<std::string_view> own;
  for (const Instruction &inst : function.instructions)
    for (const Operand &operand : inst.operands)
      collectSymbols(operand, own);
  for (std::string_view name : own) {
    int callee = module.findFunction(name);
    if (callee >= 0)
      collectSymbols(module, module.functions[callee], symbols, visited);
  }
  symbols.insert(own.begin(), own.end());
}

/// The shared variables that the kernel uses; then the unsized arrays, which
/// all name the dynamic shared memory behind them.
void ProgramBuilder::layOutShared(const Function &kernel) {
  std::set<std::string_view> symbols;
  std::set<const Function *> reachable;
  collectSymbols(module, kernel, symbols, reachable);
  std::vector<Variable *> used;
  auto collect = [&](std::vector<Variable> &variables) {
    for (Variable &variable : variables)
      if (variable.space == Space::Shared && symbols.count(variable.name))
        used.push_back(&variable);
  };
  collect(module.variables);
  for (Function &function : module.functions)
    if (reachable.count(&function))
      collect(function.variables);
  Program &p = *current;
  uint32_t dynamicAlign = 16;
  for (Variable *variable : used) {
    variable->placed = true;
    if (variable->isUnsizedArray) {
      p.usesDynamicShared = true;
      dynamicAlign = std::max(dynamicAlign, variable->align);
      continue;
    }
    variable->address = alignTo(p.staticShared, variable->align);
    p.staticShared = static_cast<uint32_t>(variable->address + variable->bytes);
  }
  p.dynamicSharedOffset = static_cast<uint32_t>(alignTo(p.staticShared, dynamicAlign));
  for (Variable *variable : used)
    if (variable->isUnsizedArray)
      variable->address = p.dynamicSharedOffset;
}

void ProgramBuilder::layOutVariables(Function &function) {
  uint32_t paramOffset = 0;
  for (Variable &variable : function.variables) {
    bool isKernelParam =
        function.isEntry && &variable < function.variables.data() + function.params.size();
    if (variable.space == Space::Local) {
      variable.address = allocateLocal(static_cast<uint32_t>(variable.bytes), variable.align);
      variable.placed = true;
    } else if (variable.space == Space::Param && isKernelParam) {
      paramOffset = static_cast<uint32_t>(alignTo(paramOffset, variable.align));
      variable.address = paramOffset;
      paramOffset += static_cast<uint32_t>(variable.bytes);
      variable.placed = true;
    } else if (variable.space == Space::Param) {
      // Slots of 16 bytes' alignment: vector stores to them are legal.
      variable.address = allocateLocal(static_cast<uint32_t>(variable.bytes), 16);
      variable.placed = true;
    }
  }
  if (function.isEntry)
    current->paramBytes = paramOffset;
}

bool ProgramBuilder::resolveSymbol(std::string_view name, uint32_t scope, uint64_t &address,
                                   Space &space) {
  Function &function = *currentFunction;
  const Variable *variable = nullptr;
  int index = function.findVariable(name, static_cast<int32_t>(scope));
  bool isKernelParam = false;
  if (index >= 0) {
    variable = &function.variables[index];
    isKernelParam = function.isEntry && static_cast<size_t>(index) < function.params.size();
  } else if ((index = module.findVariable(name)) >= 0) {
    variable = &module.variables[index];
  }
  if (!variable || !variable->placed)
    return false;
  address = variable->address;
  space = variable->space;
  if (space == Space::Param && !isKernelParam)
    space = Space::Local;
  return true;
}

int ProgramBuilder::labelTarget(std::string_view name, uint32_t scope) {
  return currentFunction->findLabel(name, static_cast<int32_t>(scope));
}

const std::vector<std::string_view> *ProgramBuilder::branchTargets(std::string_view name,
                                                                   uint32_t scope) {
  for (int32_t s = static_cast<int32_t>(scope); s >= 0; s = currentFunction->scopes[s].parent) {
    auto it = currentFunction->scopes[s].branchTargets.find(name);
    if (it != currentFunction->scopes[s].branchTargets.end())
      return &it->second;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool ProgramBuilder::build(Function &kernel, Program &program) {
  current = &program;
  program.name = std::string(kernel.name);
  program.ast = &module;
  // The predicates that are always true and always false come first.
  allocateRow(0);
  allocateRow(0);
  layOutShared(kernel);
  if (!placeFunction(kernel))
    return false;
  program.entry = placed[&kernel].entry;
  program.maxCallDepth = placed[&kernel].depth;
  program.localBytes = static_cast<uint32_t>(alignTo(program.localBytes, 16));
  return true;
}

/// Decodes the callees of |function|, then itself.
bool ProgramBuilder::placeFunction(Function &function) {
  if (placed[&function].done)
    return true;
  placed[&function].active = true;
  unsigned depth = 0;
  for (const Instruction &inst : function.instructions) {
    if (inst.opcode != "call")
      continue;
    for (const Operand &operand : inst.operands) {
      if (operand.kind != Operand::Symbol)
        continue;
      int index = module.findFunction(operand.text);
      if (index < 0 || !module.functions[index].isDefined)
        break;
      Function &callee = module.functions[index];
      if (placed[&callee].active)
        return fail(inst, "recursive call of '" + std::string(operand.text) + "'", true);
      if (!placeFunction(callee))
        return false;
      depth = std::max(depth, placed[&callee].depth + 1);
      break;
    }
  }
  currentFunction = &function;
  asyncIds.clear();
  Placed &place = placed[&function];
  place.depth = depth;
  place.entry = static_cast<uint32_t>(current->code.size());
  place.localBegin = current->localBytes;
  layOutVariables(function);
  place.localEnd = current->localBytes;
  registerRows.clear();
  for (const VirtualRegister &reg : function.registers) {
    unsigned bytes = reg.type == Type::Pred ? 0 : std::max(2u, typeBytes(reg.type));
    registerRows.push_back(allocateRow(bytes));
  }
  place.active = false;
  place.done = true;
  return decodeBody(function);
}

uint32_t ProgramBuilder::asyncRegister(uint32_t reg) {
  auto inserted = asyncIds.try_emplace(reg, current->asyncRegisters);
  current->asyncRegisters += inserted.second;
  return inserted.first->second;
}

/// Lists the registers of wgmma that other instructions touch.
void ProgramBuilder::noteTouches(const Function &function) {
  Program &p = *current;
  if (p.touches.empty())
    p.touches.emplace_back();
  if (asyncIds.empty())
    return;
  for (size_t i = 0; i < function.instructions.size(); ++i) {
    const Instruction &inst = function.instructions[i];
    // wgmma itself may name registers that are in use.
    if (inst.opcode == "wgmma")
      continue;
    std::vector<uint32_t> reads, writes;
    registersOf(inst, reads, writes);
    Program::Touch touch;
    auto keep = [&](const std::vector<uint32_t> &from, std::vector<uint32_t> &to) {
      for (uint32_t reg : from)
        if (auto it = asyncIds.find(reg); it != asyncIds.end())
          to.push_back(it->second);
    };
    keep(reads, touch.reads);
    keep(writes, touch.writes);
    if (touch.reads.empty() && touch.writes.empty())
      continue;
    p.code[codeOffsets[i]].touches = static_cast<uint32_t>(p.touches.size());
    p.code[codeOffsets[i]].watched = true;
    p.touches.push_back(std::move(touch));
  }
}

bool ProgramBuilder::decodeBody(Function &function) {
  Program &p = *current;
  codeOffsets.clear();
  size_t firstCode = p.code.size();
  for (const Instruction &inst : function.instructions) {
    codeOffsets.push_back(static_cast<uint32_t>(p.code.size()));
    InstDecoder decoder(*this, inst);
    if (decoderCoverage)
      decoderCoverage->taken[std::string(inst.opcode)];
    auto it = opcodeTable().find(inst.opcode);
    if (it == opcodeTable().end())
      return fail(inst, "unknown instruction '" + decoder.opcodeText() + "'", true);
    if (inst.guard >= 0) {
      decoder.out.guard = registerRows[inst.guard];
      decoder.out.guardFlip = inst.guardNegated ? kFullMask : 0;
    }
    if (!it->second(decoder) || !decoder.finish())
      return false;
    p.code.push_back(decoder.out);
    // A call may have appended the instruction that fetches its result.
    if (decoder.out.control == Control::Call && !p.calls[decoder.out.aux].results.empty()) {
      Inst fetch;
      fetch.fn = p.calls[decoder.out.aux].fetchResults;
      fetch.aux = decoder.out.aux;
      fetch.guard = decoder.out.guard;
      fetch.guardFlip = decoder.out.guardFlip;
      fetch.leader = true;
      p.code.push_back(fetch);
    }
    while (p.debug.size() < p.code.size())
      p.debug.push_back({inst.line, std::string(inst.text), inst.location});
  }
  noteTouches(function);
  placed[&function].trackedBegin = static_cast<uint32_t>(p.tracked.size());
  findUnwritten(function, registerRows, codeOffsets, p);
  placed[&function].trackedEnd = static_cast<uint32_t>(p.tracked.size());
  // Falling off the end of a body returns.
  codeOffsets.push_back(static_cast<uint32_t>(p.code.size()));
  Inst last;
  last.control = function.isEntry ? Control::Exit : Control::Return;
  last.instClass = InstClass::Control;
  p.code.push_back(last);
  p.debug.push_back({function.line, "}", {}});

  // Branches name instructions of the function; now these have places.
  p.code[firstCode].leader = true;
  for (size_t i = firstCode; i < p.code.size(); ++i) {
    if (p.code[i].control == Control::Branch) {
      p.code[i].imm = codeOffsets[p.code[i].imm];
      p.code[p.code[i].imm].leader = true;
    } else if (p.code[i].control == Control::BranchIndexed) {
      for (uint32_t &target : p.tables[p.code[i].aux]) {
        target = codeOffsets[target];
        p.code[target].leader = true;
      }
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Pairs the caller's slots of |list| with the callee's |variables|.
bool ProgramBuilder::passArguments(InstDecoder &decoder, const Operand *list, Function &callee,
                                   const std::vector<uint32_t> &variables, bool results,
                                   std::vector<SlotCopy> &copies) {
  size_t count = list ? list->children.size() : 0;
  if (count != variables.size())
    return decoder.fail("expected " + std::to_string(variables.size()) +
                        (results ? " results" : " arguments") + ", got " + std::to_string(count));
  for (size_t i = 0; i < count; ++i) {
    uint64_t slot = 0;
    Space space = Space::None;
    const Operand &operand = list->children[i];
    if (operand.kind != Operand::Symbol ||
        !resolveSymbol(operand.text, decoder.syntax().scope, slot, space) || space != Space::Local)
      return decoder.fail("expected a .param variable as argument");
    const Variable &variable = callee.variables[variables[i]];
    SlotCopy copy;
    copy.from = static_cast<uint32_t>(results ? variable.address : slot);
    copy.to = static_cast<uint32_t>(results ? slot : variable.address);
    copy.bytes = static_cast<uint32_t>(variable.bytes);
    copies.push_back(copy);
  }
  return true;
}

bool ProgramBuilder::decodeExternCall(InstDecoder &decoder, Function &callee,
                                      const Operand *results, const Operand *arguments) {
  ExternCall call;
  call.name = std::string(callee.name);
  auto it = externs.find(call.name);
  if (it == externs.end())
    return decoder.fail("extern function '" + call.name + "' is not provided");
  call.function = it->second;
  for (uint32_t index : callee.params) {
    Variable &variable = callee.variables[index];
    variable.address = alignTo(call.argumentBytes, variable.align);
    call.argumentBytes = static_cast<uint32_t>(variable.address + variable.bytes);
  }
  std::vector<SlotCopy> result;
  if (!passArguments(decoder, arguments, callee, callee.params, false, call.arguments) ||
      !passArguments(decoder, results, callee, callee.results, true, result))
    return false;
  if (!result.empty()) {
    call.resultSlot = result[0].to;
    call.resultBytes = result[0].bytes;
  }
  decoder.out.control = Control::CallExtern;
  decoder.out.aux = static_cast<uint32_t>(current->externs.size());
  current->externs.push_back(std::move(call));
  return true;
}

/// call[.uni] [(results),] function [, (arguments)]
bool ProgramBuilder::decodeCall(InstDecoder &decoder) {
  decoder.flag("uni");
  unsigned next = 0;
  const Operand *results = nullptr, *arguments = nullptr;
  if (decoder.operand(0) && decoder.operand(0)->kind == Operand::List)
    results = decoder.operand(next++);
  const Operand *name = decoder.operand(next++);
  if (decoder.operand(next) && decoder.operand(next)->kind == Operand::List)
    arguments = decoder.operand(next++);
  if (!name || name->kind != Operand::Symbol || next != decoder.operandCount())
    return decoder.fail("unsupported indirect call");
  int index = module.findFunction(name->text);
  if (index < 0)
    return decoder.fail("unknown function '" + std::string(name->text) + "'");
  Function &callee = module.functions[index];
  decoder.out.instClass = InstClass::Control;
  if (!callee.isDefined)
    return decodeExternCall(decoder, callee, results, arguments);
  CallOp call;
  if (!passArguments(decoder, arguments, callee, callee.params, false, call.arguments) ||
      !passArguments(decoder, results, callee, callee.results, true, call.results))
    return false;
  call.fetchResults = [](Warp &warp, const Inst &inst, uint32_t mask) {
    copySlots(warp, programOf(warp).calls[inst.aux].results, mask);
  };
  call.trackedBegin = placed[&callee].trackedBegin;
  call.trackedEnd = placed[&callee].trackedEnd;
  call.localBegin = placed[&callee].localBegin;
  call.localEnd = placed[&callee].localEnd;
  decoder.out.control = Control::Call;
  decoder.out.imm = placed[&callee].entry;
  decoder.out.aux = static_cast<uint32_t>(current->calls.size());
  current->calls.push_back(std::move(call));
  return true;
}
