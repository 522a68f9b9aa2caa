//===- Dump.h - The parts of xdump ----------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XDUMP_DUMP_H
#define XC_TOOLS_XDUMP_DUMP_H

#include "tools/common/Result.h"

#include "xcr/xcr.h"

#include "schemas/module_generated.h"

#include <string>

namespace xc::tools {

/// Everything in the tables, for people.
std::string dumpText(const xcr_module_t *module, const fb::Module &tables);

/// Everything in the tables, field by field as schemas/module.fbs names them.
Result<std::string> dumpJson(const xcr_module_t *module, const fb::Module &tables);

/// The PTX of every executable that holds it.
Result<std::string> dumpPtx(const xcr_module_t *module, const fb::Module &tables);

/// The machine code of every cubin, by nvdisasm or cuobjdump.
Result<std::string> dumpSass(const xcr_module_t *module, const fb::Module &tables);

/// The disassembly of every native image, by the first disassembler found.
Result<std::string> dumpAssembly(const xcr_module_t *module, const fb::Module &tables);

using Formulas = flatbuffers::Vector<const fb::Range *>;
using FormulaCode = flatbuffers::Vector<const fb::FormulaInstruction *>;
using SymbolNames = std::vector<std::string>;

/// The formulas of one table as text, such as "ceildiv(batch, 16)". What a file can make of its
/// bytes by sharing them is bounded: a long formula is written once and named elsewhere, and one of
/// more instructions than anybody reads is counted.
class FormulaTexts {
public:
  /// |names| gives the symbol |i| its name.
  FormulaTexts(const Formulas *formulas, const FormulaCode *code, SymbolNames names);

  /// "ceildiv(batch, 16)", or "f3" where that is a line of definitions().
  std::string use(int64_t index) const;
  /// A literal or a formula.
  std::string use(const fb::Value &value) const {
    return value.formula() < 0 ? std::to_string(value.literal()) : use(value.formula());
  }
  /// A line for each formula that is named: "f3 = n * n".
  std::string definitions(const std::string &indent) const;

private:
  std::string write(const fb::Range &range) const;

  const FormulaCode *code;
  SymbolNames names;
  std::vector<std::string> texts;
  std::vector<bool> isNamed;
};

/// What a null vector of a table stands for: one without elements.
template <typename Vector> size_t sizeOf(const Vector *vector) {
  return vector ? vector->size() : 0;
}

/// A name as it may go to a terminal: escaped, and cut where nobody would read on.
std::string textOf(const flatbuffers::String *text);

} // namespace xc::tools

#endif // XC_TOOLS_XDUMP_DUMP_H
