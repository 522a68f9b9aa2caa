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

/// Formula |index| as text, such as "ceildiv(batch, 16)". |names| gives the
/// symbol |i| its name.
using Formulas = flatbuffers::Vector<const fb::Range *>;
using FormulaCode = flatbuffers::Vector<const fb::FormulaInstruction *>;
using SymbolNames = std::vector<std::string>;
std::string formulaText(const Formulas *formulas, const FormulaCode *code, int64_t index,
                        const SymbolNames &names);

/// A line for each formula that others name: "f3 = n * n".
std::string sharedFormulasText(const Formulas *formulas, const FormulaCode *code,
                               const SymbolNames &names, const std::string &indent);

/// A literal or a formula.
inline std::string valueText(const fb::Value &value, const Formulas *formulas,
                             const FormulaCode *code, const SymbolNames &names) {
  return value.formula() < 0 ? std::to_string(value.literal())
                             : formulaText(formulas, code, value.formula(), names);
}

/// What a null vector of a table stands for: one without elements.
template <typename Vector> size_t sizeOf(const Vector *vector) {
  return vector ? vector->size() : 0;
}

inline std::string textOf(const flatbuffers::String *text) { return text ? text->str() : ""; }

} // namespace xc::tools

#endif // XC_TOOLS_XDUMP_DUMP_H
