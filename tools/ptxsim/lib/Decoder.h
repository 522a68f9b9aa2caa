//===- Decoder.h - Syntax tree to decoded instructions ----------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each group of instructions (ExecInteger.cpp, ExecFloat.cpp, ...) registers
// one decode function per opcode. A decode function sees the instruction
// through an InstDecoder, takes the modifiers it understands, asks for rows of
// its operands and picks the function that executes the instruction. A modifier
// or an operand that nobody took is an error: nothing is skipped silently.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_DECODER_H
#define PTXSIM_LIB_DECODER_H

#include "Program.h"
#include "Requirements.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace xc::ptxsim {

class ProgramBuilder;

/// The modifiers that instructions, by opcode, were asked for and had. Compared with the vector
/// suite by a test, which sets decoderCoverage while it loads modules.
struct DecoderCoverage {
  std::map<std::string, std::set<std::string>> asked, taken;
};
extern DecoderCoverage *decoderCoverage; // null: nobody wants to know

/// A predicate operand; `flip` is all ones for !%p.
struct PredicateRef {
  uint32_t row = kNoRow;
  uint32_t flip = 0;
};

/// The address operand of a memory instruction.
struct AddressRef {
  uint32_t row = kNoRow; // kNoRow: `offset` is absolute
  bool wide = true;
  int64_t offset = 0;
  Space symbolSpace = Space::None; // of a symbol; Local for a .param slot of a function
};

class InstDecoder {
public:
  InstDecoder(ProgramBuilder &builder, const Instruction &ast) : builder(builder), ast(ast) {}

  Inst out;

  //--- Modifiers -----------------------------------------------------------//
  /// Takes `.name` if it is there.
  bool flag(std::string_view name);
  /// Takes and returns the first modifier left, or "".
  std::string_view nextModifier();
  /// The first modifier left, which stays.
  std::string_view peekModifier() const;
  /// Takes the first modifier left that is a type; fails if there is none.
  Type takeType();
  /// As takeType(), but Type::None if there is none.
  Type takeOptionalType();
  /// Takes a state space; |otherwise| if there is none.
  Space takeSpace(Space otherwise);
  /// Takes the memory scope; None if there is none.
  MemScope takeScope();

  //--- Operands ------------------------------------------------------------//
  unsigned operandCount() const { return static_cast<unsigned>(ast.operands.size()); }
  const Operand *operand(unsigned index) const {
    return index < ast.operands.size() ? &ast.operands[index] : nullptr;
  }
  bool expectOperands(unsigned count);
  bool expectOperands(unsigned least, unsigned most);

  /// The row of a destination register of |bits| bits; a row nobody reads for
  /// `_`.
  uint32_t dst(const Operand *operand, unsigned bits);
  uint32_t dst(unsigned index, unsigned bits) { return dst(operand(index), bits); }
  uint32_t dst(unsigned index, Type type) { return dst(operand(index), typeBits(type)); }
  /// The row of a source: a register, an immediate, a special register, an
  /// address.
  uint32_t src(const Operand *operand, Type type);
  uint32_t src(unsigned index, Type type) { return src(operand(index), type); }
  /// The same for a register that may be wider than |type|; sets |bytes| of the
  /// row.
  uint32_t srcAtLeast(const Operand *operand, Type type, unsigned &bytes);
  uint32_t dstAtLeast(const Operand *operand, Type type, unsigned &bytes);
  PredicateRef predicate(const Operand *operand);
  PredicateRef predicate(unsigned index) { return predicate(operand(index)); }
  uint32_t dstPredicate(const Operand *operand);
  AddressRef address(const Operand *operand, Space space);
  AddressRef address(unsigned index, Space space) { return address(operand(index), space); }
  /// An integer immediate.
  bool immediate(unsigned index, int64_t &value);
  /// A row that holds |value| in all lanes.
  uint32_t constantRow(uint64_t value, unsigned bytes);

  //--- Errors --------------------------------------------------------------//
  bool fail(std::string message);
  bool failed() const { return hasFailed; }
  bool failModifier();
  const std::string &opcodeText() const;

  Program &program();
  const Instruction &syntax() const { return ast; }
  ProgramBuilder &owner() { return builder; }
  /// Nothing failed, all modifiers were taken, and the module's target and version have the form.
  bool finish();

private:
  /// Takes the modifier at |index|.
  void take(size_t index);

  ProgramBuilder &builder;
  const Instruction &ast;
  uint64_t taken = 0; // modifiers, a bit each
  bool hasFailed = false;
  mutable std::string opcodeCache;
};

/// Returns false after InstDecoder::fail().
using DecodeFn = bool (*)(InstDecoder &decoder);
using OpcodeTable = std::unordered_map<std::string_view, DecodeFn>;

void addIntegerOpcodes(OpcodeTable &table);
void addBitOpcodes(OpcodeTable &table);
void addFloatOpcodes(OpcodeTable &table);
void addCompareOpcodes(OpcodeTable &table);
void addConvertOpcodes(OpcodeTable &table);
void addMoveOpcodes(OpcodeTable &table);
void addMemoryOpcodes(OpcodeTable &table);
void addAtomicOpcodes(OpcodeTable &table);
void addWarpOpcodes(OpcodeTable &table);
void addSyncOpcodes(OpcodeTable &table);
void addControlOpcodes(OpcodeTable &table);
void addAsyncCopyOpcodes(OpcodeTable &table);
void addMatrixOpcodes(OpcodeTable &table);
void addMbarrierOpcodes(OpcodeTable &table);
void addClusterOpcodes(OpcodeTable &table);
void addProductOpcodes(OpcodeTable &table);
/// cp.async.bulk and cp.reduce.async.bulk, after these modifiers.
bool decodeBulkCopy(InstDecoder &decoder, bool reduces);
bool decodePrefetchMap(InstDecoder &decoder);
bool decodeClusterBarrier(InstDecoder &decoder);

const OpcodeTable &opcodeTable();

/// Builds the Program of one kernel.
class ProgramBuilder {
public:
  ProgramBuilder(ModuleAst &module, const std::map<std::string, ExternFunction> &externs, Arch arch,
                 ParseError &error)
      : module(module), externs(externs), arch(arch), targetInfo(module.target, module.version),
        error(error) {}

  bool build(Function &kernel, Program &program);
  /// Adds the functions that build() has decoded.
  void addPlaced(std::set<const Function *> &functions) const {
    for (const auto &entry : placed)
      if (entry.second.done)
        functions.insert(entry.first);
  }

  Program &program() { return *current; }
  Function &function() { return *currentFunction; }
  uint32_t rowOf(uint32_t reg) const { return registerRows[reg]; }
  Type typeOf(uint32_t reg) const { return currentFunction->registers[reg].type; }
  uint32_t constantRow(uint64_t low, uint64_t high, unsigned bytes);
  uint32_t specialRow(Special kind, unsigned bytes);
  /// Where results named `_` go: wide enough for any type.
  uint32_t sinkRow();
  /// The predicate that holds the condition code (add.cc, addc).
  uint32_t carryRow();
  /// The number of a register that wgmma works on, among Program::asyncRegisters.
  uint32_t asyncRegister(uint32_t reg);
  /// Resolves a symbol to an address in its space; false if unknown.
  bool resolveSymbol(std::string_view name, uint32_t scope, uint64_t &address, Space &space);
  /// Index of the instruction at a label of the current function, or -1.
  int labelTarget(std::string_view name, uint32_t scope);
  const std::vector<std::string_view> *branchTargets(std::string_view name, uint32_t scope);

  bool decodeCall(InstDecoder &decoder);
  bool fail(const Instruction &inst, std::string message, bool unsupported);

  const Arch &architecture() const { return arch; }
  const TargetInfo &target() const { return targetInfo; }

private:
  struct Placed {
    uint32_t entry = 0;
    bool active = false; // being decoded: a call to it would be recursion
    bool done = false;
    unsigned depth = 0; // of calls below it
    uint32_t trackedBegin = 0, trackedEnd = 0;
    uint32_t localBegin = 0, localEnd = 0;
  };

  bool placeFunction(Function &function);
  bool decodeBody(Function &function);
  void noteTouches(const Function &function);
  void layOutVariables(Function &function);
  void layOutShared(const Function &kernel);
  uint32_t allocateRow(unsigned bytes);
  uint32_t allocateLocal(uint32_t bytes, uint32_t align);
  bool passArguments(InstDecoder &decoder, const Operand *list, Function &callee,
                     const std::vector<uint32_t> &variables, bool results,
                     std::vector<SlotCopy> &copies);
  bool decodeExternCall(InstDecoder &decoder, Function &callee, const Operand *results,
                        const Operand *arguments);

  ModuleAst &module;
  const std::map<std::string, ExternFunction> &externs;
  Arch arch;
  TargetInfo targetInfo;
  ParseError &error;
  Program *current = nullptr;
  Function *currentFunction = nullptr;
  std::vector<uint32_t> registerRows;
  std::vector<uint32_t> codeOffsets; // instruction of the function -> index in code
  std::map<std::pair<std::pair<uint64_t, uint64_t>, unsigned>, uint32_t> constantRows;
  std::map<std::pair<Special, unsigned>, uint32_t> specialRows;
  std::map<const Function *, Placed> placed;
  uint32_t sink = kNoRow, carry = kNoRow;
  std::map<uint32_t, uint32_t> asyncIds; // by register of the current function
  uint32_t predicateSlab = 0, predicatesLeft = 0;
};

/// The registers that an instruction reads and writes.
void registersOf(const Instruction &inst, std::vector<uint32_t> &reads,
                 std::vector<uint32_t> &writes);

/// The instructions that may follow number |index|.
void successorsOf(const Function &function, uint32_t index, std::vector<uint32_t> &successors);

/// Finds the instructions of |function| that may read a register before the thread has written
/// it, or what depends on one, and those that write such registers: Program::tracked and
/// unwrittenOps. |rows| are those of the function's registers, |codeOffsets| say where its
/// instructions are.
void findUnwritten(const Function &function, const std::vector<uint32_t> &rows,
                   const std::vector<uint32_t> &codeOffsets, Program &program);

/// Peak of simultaneously live 32-bit registers: see Registers.cpp.
unsigned estimateRegisters(const Function &function);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_DECODER_H
