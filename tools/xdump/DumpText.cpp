//===- DumpText.cpp - A module's tables for people ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xdump/Dump.h"

#include "tools/common/HostArray.h"
#include "tools/common/Table.h"

#include <algorithm>

namespace xc::tools {

namespace {
/// Text of a module for each of its bytes, and in any case. Tables may share parts, so a small file
/// can say more than anybody reads.
static constexpr size_t kMostPerByte = 128, kLeastText = 16 << 20;

/// Writes one plan; formulas are over the symbols of its function.
class PlanPrinter {
public:
  PlanPrinter(const fb::Module &module, const fb::Plan &plan, const SymbolNames &symbols,
              size_t most, std::string &out)
      : module(module), plan(plan), formulas(plan.formulas(), plan.formula_code(), symbols),
        most(most), out(out) {}
  void print();

private:
  std::string value(const fb::Value &v) const { return formulas.use(v); }
  /// True where no more is to be written.
  bool isFull() const { return out.size() >= most; }
  std::string binding(const fb::Binding &b) const;
  std::string edges(const fb::Command &command) const;
  std::string arena() const;
  void printRegion(uint32_t ordinal, unsigned depth);
  void printRegions(const fb::Range &regions, const std::string &indent, unsigned depth);
  void printCommand(uint32_t ordinal, unsigned depth);
  void printDispatch(const fb::Dispatch &dispatch, const std::string &indent);
  void printVariant(const fb::Variant &variant, const std::string &indent);
  std::string guardText(const fb::Guard &guard) const;

  const fb::Module &module;
  const fb::Plan &plan;
  const FormulaTexts formulas;
  const size_t most;
  std::string &out;
};
} // namespace

static std::string dimsText(const flatbuffers::Vector<int64_t> *dims, fb::DType dtype) {
  std::vector<int64_t> shape;
  for (size_t i = 0; i < sizeOf(dims); ++i)
    shape.push_back(dims->Get(uint32_t(i)));
  return shapeString(DType(int(dtype)), shape);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

std::string PlanPrinter::binding(const fb::Binding &b) const {
  static constexpr const char *spaces[] = {"arena",    "input",     "output", "constant",
                                           "variable", "parameter", "packed"};
  static constexpr const char *accesses[] = {"none", "read", "write", "update"};
  size_t space = size_t(b.space()), access = size_t(b.access());
  std::string name = space < std::size(spaces) ? spaces[space] : "?";
  if (b.space() == fb::Space::Variable && b.ordinal() < sizeOf(module.variables()))
    name += " " + textOf(module.variables()->Get(b.ordinal())->name());
  else if (b.space() != fb::Space::Arena)
    name += " " + std::to_string(b.ordinal());
  return std::string(access < std::size(accesses) ? accesses[access] : "?") + " " + name + "[" +
         value(b.offset()) + ", +" + value(b.length()) + "]";
}

std::string PlanPrinter::edges(const fb::Command &command) const {
  std::string text;
  for (uint32_t i = 0; i < command.edges().count() && out.size() + text.size() < most; ++i)
    text += (i ? ", " : " after ") + std::to_string(plan.edges()->Get(command.edges().begin() + i));
  return text;
}

std::string PlanPrinter::guardText(const fb::Guard &guard) const {
  std::string divisor = std::to_string(guard.divisor());
  if (guard.kind() == fb::GuardKind::BindingAligned)
    return "binding " + std::to_string(guard.operand()) + " aligned to " + divisor;
  std::string text = formulas.use(guard.operand());
  std::string condition;
  if (guard.min() != INT64_MIN)
    condition += std::to_string(guard.min()) + " <= ";
  condition += text;
  if (guard.max() != INT64_MAX)
    condition += " <= " + std::to_string(guard.max());
  if (guard.divisor() > 1)
    condition += ", a multiple of " + divisor;
  return condition;
}

void PlanPrinter::printVariant(const fb::Variant &variant, const std::string &indent) {
  std::string name = "?";
  if (variant.executable() < sizeOf(module.executables())) {
    auto *exports = module.executables()->Get(variant.executable())->exports();
    if (variant.export_ordinal() < sizeOf(exports))
      name = textOf(exports->Get(variant.export_ordinal())->name());
  }
  out += indent + name + " grid (" + value(variant.grid_x()) + ", " + value(variant.grid_y()) +
         ", " + value(variant.grid_z()) + ")";
  for (uint32_t i = 0; i < variant.scalars().count() && !isFull(); ++i)
    out += (i ? ", " : " scalars ") + value(*plan.scalars()->Get(variant.scalars().begin() + i));
  if (variant.workspace().formula() >= 0 || variant.workspace().literal() != 0)
    out += " workspace " + value(variant.workspace()) + " bytes at " +
           value(variant.workspace_offset());
  for (uint32_t i = 0; i < variant.guards().count() && !isFull(); ++i)
    out += (i ? " and " : " if ") + guardText(*plan.guards()->Get(variant.guards().begin() + i));
  out += "\n";
}

void PlanPrinter::printDispatch(const fb::Dispatch &dispatch, const std::string &indent) {
  std::string location;
  if (dispatch.location() < sizeOf(plan.locations()))
    location = textOf(plan.locations()->Get(dispatch.location()));
  out += location.empty() ? "\n" : "  // " + location + "\n";
  for (uint32_t i = 0; i < dispatch.variants().count() && !isFull(); ++i)
    printVariant(*plan.variants()->Get(dispatch.variants().begin() + i), indent);
  for (uint32_t i = 0; i < dispatch.bindings().count() && !isFull(); ++i)
    out += indent + "  " + binding(*plan.bindings()->Get(dispatch.bindings().begin() + i)) + "\n";
}

void PlanPrinter::printCommand(uint32_t ordinal, unsigned depth) {
  const fb::Command &command = *plan.commands()->Get(ordinal);
  std::string indent(4 * depth + 4, ' ');
  std::string after = edges(command);
  switch (command.kind()) {
  case fb::CommandKind::Dispatch:
    out += "dispatch" + after;
    return printDispatch(*plan.dispatches()->Get(command.ordinal()), indent);
  case fb::CommandKind::Copy: {
    const fb::Copy &copy = *plan.copies()->Get(command.ordinal());
    out += "copy" + after + "\n" + indent + binding(copy.source()) + "\n" + indent +
           binding(copy.target()) + "\n";
    return;
  }
  case fb::CommandKind::Fill: {
    const fb::Fill &fill = *plan.fills()->Get(command.ordinal());
    char pattern[32];
    snprintf(pattern, sizeof(pattern), " 0x%0*llx", 2 * fill.pattern_size(),
             (unsigned long long)fill.pattern());
    out += "fill" + after + "\n" + indent + binding(fill.target()) + pattern + "\n";
    return;
  }
  case fb::CommandKind::Collective: {
    const fb::Collective &collective = *plan.collectives()->Get(command.ordinal());
    out += std::string("collective ") + fb::EnumNameCollectiveKind(collective.kind()) + after +
           "\n" + indent + binding(collective.source()) + "\n" + indent +
           binding(collective.target()) + "\n";
    return;
  }
  case fb::CommandKind::Control: {
    const fb::Control &control = *plan.controls()->Get(command.ordinal());
    out += (control.is_loop() ? "while" : "if") + after + "\n" + indent +
           binding(control.condition()) + "\n";
    return printRegions(control.regions(), indent, depth);
  }
  case fb::CommandKind::Choice: {
    const fb::Choice &choice = *plan.choices()->Get(command.ordinal());
    out += "choice" + after + "\n" + indent + "first if " + value(choice.condition()) + "\n";
    return printRegions(choice.regions(), indent, depth);
  }
  }
}

void PlanPrinter::printRegions(const fb::Range &regions, const std::string &indent,
                               unsigned depth) {
  for (uint32_t i = 0; i < regions.count(); ++i) {
    out += indent + "region\n";
    printRegion(plan.region_ordinals()->Get(regions.begin() + i), depth + 1);
  }
}

void PlanPrinter::printRegion(uint32_t ordinal, unsigned depth) {
  // A verified plan's regions form a tree, so this ends.
  const fb::Range &commands = plan.regions()->Get(ordinal)->commands();
  for (uint32_t i = 0; i < commands.count() && !isFull(); ++i) {
    out += std::string(4 * depth, ' ') + std::to_string(i) + ": ";
    printCommand(commands.begin() + i, depth);
  }
}

/// "no arena", "arena 512 B", "arena n * 4 bytes, at most 1 MiB".
std::string PlanPrinter::arena() const {
  const fb::Value *size = plan.arena_size();
  if (!size || (size->formula() < 0 && size->literal() <= 0))
    return "no arena";
  if (size->formula() < 0)
    return "arena " + formatBytes(uint64_t(size->literal()));
  return "arena " + value(*size) + " bytes" +
         (plan.arena_max() ? ", at most " + formatBytes(plan.arena_max()) : std::string());
}

void PlanPrinter::print() {
  out += formatCount(sizeOf(plan.commands()), "command", "commands") + " (" +
         formatCount(sizeOf(plan.dispatches()), "dispatch", "dispatches") + "), " + arena() + "\n" +
         formulas.definitions("    ");
  if (sizeOf(plan.regions()))
    printRegion(0, 1);
  if (isFull())
    out += "\n... the tables share so much that their text is cut at " + std::to_string(most) +
           " bytes\n";
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static std::string targetName(const fb::Module &module, uint32_t ordinal) {
  if (ordinal >= sizeOf(module.targets()))
    return "?";
  const fb::Target &target = *module.targets()->Get(ordinal);
  return textOf(target.kind()) + ":" + textOf(target.arch());
}

static SymbolNames symbolNames(const fb::Function &function) {
  SymbolNames names;
  for (uint32_t i = 0; i < sizeOf(function.symbols()); ++i) {
    std::string name = textOf(function.symbols()->Get(i)->name());
    names.push_back(name.empty() ? "d" + std::to_string(i) : name);
  }
  return names;
}

static std::string argumentText(const fb::Argument &argument, const FormulaTexts &formulas) {
  std::string text;
  for (uint32_t i = 0; i < sizeOf(argument.dims()); ++i) {
    const fb::Value &dim = *argument.dims()->Get(i);
    std::string size = formulas.use(dim);
    text += dim.formula() < 0 ? size + "x" : "[" + size + "]x";
  }
  text += dtypeName(DType(int(argument.dtype())));
  if (!textOf(argument.name()).empty())
    text += " " + textOf(argument.name());
  if (argument.alignment() > 1)
    text += " aligned to " + std::to_string(argument.alignment());
  if (argument.donated())
    text += " donated";
  if (argument.alias() >= 0)
    text += " in the buffer of input " + std::to_string(argument.alias());
  return text;
}

static void printSymbols(const fb::Function &function, const SymbolNames &symbols,
                         std::string &out) {
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    const fb::Symbol &symbol = *function.symbols()->Get(i);
    out += "  symbol " + symbols[i] + ": dim " + std::to_string(symbol.dim()) + " of input " +
           std::to_string(symbol.input());
    if (symbol.min() > 0)
      out += ", at least " + std::to_string(symbol.min());
    if (symbol.max() != INT64_MAX)
      out += ", at most " + std::to_string(symbol.max());
    if (symbol.divisor() > 1)
      out += ", a multiple of " + std::to_string(symbol.divisor());
    out += "\n";
  }
}

static void printRequirements(const fb::Function &function, const FormulaTexts &formulas,
                              std::string &out) {
  static constexpr const char *comparisons[] = {" = ", " <= ", " is 1 or "};
  for (uint32_t i = 0; i < sizeOf(function.requirements()); ++i) {
    const fb::Requirement &requirement = *function.requirements()->Get(i);
    out += "  requires " + formulas.use(requirement.left()) +
           comparisons[size_t(requirement.comparison())] + formulas.use(requirement.right()) +
           ": " + textOf(requirement.what()) + " (" + textOf(requirement.location()) + ")\n";
  }
}

static void printFunction(const fb::Module &module, const fb::Function &function, size_t most,
                          std::string &out) {
  SymbolNames symbols = symbolNames(function);
  FormulaTexts formulas(function.formulas(), function.formula_code(), symbols);
  out += "\nfunction " + textOf(function.name()) + "\n";
  if (!textOf(function.doc()).empty())
    out += "  " + textOf(function.doc()) + "\n";
  for (uint32_t i = 0; i < sizeOf(function.inputs()); ++i)
    out += "  input " + std::to_string(i) + ": " +
           argumentText(*function.inputs()->Get(i), formulas) + "\n";
  for (uint32_t i = 0; i < sizeOf(function.outputs()); ++i)
    out += "  output " + std::to_string(i) + ": " +
           argumentText(*function.outputs()->Get(i), formulas) + "\n";
  printSymbols(function, symbols, out);
  out += formulas.definitions("  ");
  printRequirements(function, formulas, out);
  for (uint32_t i = 0; i < sizeOf(function.plans()); ++i) {
    const fb::Plan &plan = *function.plans()->Get(i);
    out += "  plan for " + targetName(module, plan.target()) + ": ";
    PlanPrinter(module, plan, symbols, most, out).print();
  }
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static std::string tripleText(const flatbuffers::Vector<uint32_t> *values) {
  std::string text;
  for (uint32_t i = 0; i < sizeOf(values); ++i)
    text += (i ? "x" : "") + std::to_string(values->Get(i));
  return text;
}

static std::string parametersText(const fb::Export &kernel) {
  std::string text;
  for (uint32_t i = 0; i < sizeOf(kernel.parameters()); ++i) {
    const fb::Parameter &parameter = *kernel.parameters()->Get(i);
    static constexpr const char *names[] = {"binding", "i32", "i64", "tensor map", "workspace"};
    size_t kind = size_t(parameter.kind());
    text += (i ? ", " : "") + std::string(kind < std::size(names) ? names[kind] : "?") + " " +
            std::to_string(parameter.operand());
  }
  return text;
}

/// "[s0]x8xf32, 8x8xf32"; "?" for a dim that is no formula of the scalars.
static std::string operandsText(const fb::Export &kernel, const FormulaTexts &formulas) {
  std::string text;
  for (uint32_t i = 0; i < sizeOf(kernel.operands()); ++i) {
    const fb::Operand &operand = *kernel.operands()->Get(i);
    text += i ? ", " : "";
    for (uint32_t d = 0; d < sizeOf(operand.dims()); ++d) {
      const fb::Value &dim = *operand.dims()->Get(d);
      std::string size = formulas.use(dim);
      text += dim.formula() >= 0 ? "[" + size + "]x" : dim.literal() < 0 ? "?x" : size + "x";
    }
    text += dtypeName(DType(int(operand.dtype())));
  }
  return text;
}

static void printExport(const fb::Executable &executable, const fb::Export &kernel,
                        std::string &out) {
  out += "  " + textOf(kernel.name()) + "\n";
  auto line = [&](const char *name, const std::string &text) {
    if (!text.empty())
      out += std::string("    ") + name + ": " + text + "\n";
  };
  line("strategy", textOf(kernel.strategy()));
  line("reason", textOf(kernel.reason()));
  for (uint32_t i = 0; i < sizeOf(kernel.locations()); ++i)
    line("source", textOf(kernel.locations()->Get(i)));
  std::string shape;
  if (executable.kind() == fb::CodeKind::SharedObject) {
    if (kernel.scratch())
      shape = formatBytes(kernel.scratch()) + " of scratch a workgroup";
  } else {
    shape = "block " + tripleText(kernel.block()) + ", cluster " + tripleText(kernel.cluster()) +
            ", shared memory " + std::to_string(kernel.static_shared_memory()) + " + " +
            std::to_string(kernel.dynamic_shared_memory()) + " bytes";
    if (kernel.registers() >= 0)
      shape += ", " + std::to_string(kernel.registers()) + " registers";
    if (kernel.spill_bytes() >= 0)
      shape += ", " + std::to_string(kernel.spill_bytes()) + " bytes spilled";
  }
  line("launch", shape);
  line("takes", std::to_string(kernel.binding_count()) + " bindings, " +
                    std::to_string(kernel.scalar_count()) + " scalars");
  line("parameters", parametersText(kernel));
  SymbolNames scalars;
  for (uint32_t i = 0; i < kernel.scalar_count(); ++i)
    scalars.push_back("s" + std::to_string(i));
  FormulaTexts formulas(executable.formulas(), executable.formula_code(), scalars);
  line("bindings", operandsText(kernel, formulas));
  auto amount = [&](const fb::Value *value) {
    return value ? formulas.use(*value) : std::string();
  };
  line("bytes", amount(kernel.bytes()));
  line("flops", amount(kernel.flops()));
}

static void printExecutable(const fb::Module &module, uint32_t ordinal, std::string &out) {
  static constexpr const char *kinds[] = {"native code", "PTX", "cubin"};
  const fb::Executable &executable = *module.executables()->Get(ordinal);
  size_t kind = size_t(executable.kind());
  out += "\nexecutable " + std::to_string(ordinal) + " for " +
         targetName(module, executable.target()) + ": " +
         (kind < std::size(kinds) ? kinds[kind] : "?") + " for " + textOf(executable.arch());
  if (executable.image())
    out += ", " + formatBytes(executable.image()->size());
  if (executable.min_driver())
    out += ", driver " + std::to_string(executable.min_driver() / 1000) + "." +
           std::to_string(executable.min_driver() % 1000 / 10) + " or later";
  for (uint32_t i = 0; i < sizeOf(executable.cpu_features()); ++i)
    out += (i ? " " : ", needs ") + textOf(executable.cpu_features()->Get(i));
  out += "\n";
  for (uint32_t i = 0; i < sizeOf(executable.exports()); ++i)
    printExport(executable, *executable.exports()->Get(i), out);
}

//===----------------------------------------------------------------------===//
// Data and provenance
//===----------------------------------------------------------------------===//

static void printData(const fb::Module &module, std::string &out) {
  Table table({"", ">#", "type", ">bytes", "name"});
  for (uint32_t i = 0; i < sizeOf(module.constants()); ++i) {
    const fb::Constant &constant = *module.constants()->Get(i);
    table.addRow({"constant", std::to_string(i), dimsText(constant.dims(), constant.dtype()),
                  constant.data() ? std::to_string(constant.data()->size()) : "?", ""});
  }
  auto bytes = [](fb::DType dtype, const flatbuffers::Vector<int64_t> *dims) {
    std::vector<int64_t> shape;
    for (uint32_t i = 0; i < sizeOf(dims); ++i)
      shape.push_back(dims->Get(i));
    Result<uint64_t> size = byteSize(DType(int(dtype)), shape);
    return size ? std::to_string(*size) : "?";
  };
  for (uint32_t i = 0; i < sizeOf(module.parameters()); ++i) {
    const fb::ExternalParameter &parameter = *module.parameters()->Get(i);
    table.addRow({"parameter", std::to_string(i), dimsText(parameter.dims(), parameter.dtype()),
                  bytes(parameter.dtype(), parameter.dims()),
                  textOf(parameter.scope()) + "::" + textOf(parameter.key())});
  }
  for (uint32_t i = 0; i < sizeOf(module.variables()); ++i) {
    const fb::Variable &variable = *module.variables()->Get(i);
    std::string initial = variable.initial_constant() >= 0
                              ? "constant " + std::to_string(variable.initial_constant())
                          : variable.initial_parameter() >= 0
                              ? "parameter " + std::to_string(variable.initial_parameter())
                              : "zeros";
    table.addRow({"variable", std::to_string(i), dimsText(variable.dims(), variable.dtype()),
                  bytes(variable.dtype(), variable.dims()),
                  textOf(variable.name()) + ", initially " + initial});
  }
  if (!table.empty())
    out += "\n" + table.str();
}

static void printHead(const xcr_module_t *module, const fb::Module &tables, std::string &out) {
  xcr_module_info_t info = XCR_MODULE_INFO_INIT;
  xcr_module_get_info(module, &info);
  auto line = [&](const char *name, const std::string &text) {
    if (!text.empty())
      out += std::string(name) + ": " + text + "\n";
  };
  line("module", std::string(view(info.path)) + ", " + formatBytes(info.file_size) + ", format " +
                     std::to_string(info.format_major) + "." + std::to_string(info.format_minor));
  line("compiler", std::string(view(info.compiler)));
  line("flags", std::string(view(info.flags)));
  char hash[32];
  snprintf(hash, sizeof(hash), " (hash %016llx)", (unsigned long long)info.source_hash);
  if (info.source_name.size)
    line("source", std::string(view(info.source_name)) + hash);
  line("ptxas", std::string(view(info.ptxas)));
  std::string targets, features;
  for (uint32_t i = 0; i < sizeOf(tables.targets()); ++i)
    targets += (i ? ", " : "") + targetName(tables, i);
  line("targets", targets);
  for (uint32_t i = 0; i < sizeOf(tables.required_features()); ++i)
    features += (i ? ", " : "") + textOf(tables.required_features()->Get(i));
  line("required features", features);
}

static void printInitPlans(const fb::Module &module, size_t most, std::string &out) {
  for (uint32_t i = 0; i < sizeOf(module.init_plans()); ++i) {
    const fb::InitPlan &init = *module.init_plans()->Get(i);
    uint64_t bytes = 0;
    for (uint32_t j = 0; j < sizeOf(init.packed_sizes()); ++j)
      bytes += init.packed_sizes()->Get(j);
    out += "\ninit plan for " + targetName(module, init.target()) + ", " +
           std::to_string(sizeOf(init.packed_sizes())) + " packed buffers of together " +
           formatBytes(bytes) + ": ";
    if (init.plan())
      PlanPrinter(module, *init.plan(), {}, most, out).print();
    else
      out += "nothing to do\n";
  }
}

std::string dumpText(const xcr_module_t *module, const fb::Module &tables) {
  std::string out;
  xcr_module_info_t info = XCR_MODULE_INFO_INIT;
  xcr_module_get_info(module, &info);
  size_t most = kLeastText + info.file_size * kMostPerByte;
  printHead(module, tables, out);
  for (uint32_t i = 0; i < sizeOf(tables.functions()) && out.size() < most; ++i)
    printFunction(tables, *tables.functions()->Get(i), most, out);
  printInitPlans(tables, most, out);
  for (uint32_t i = 0; i < sizeOf(tables.executables()); ++i)
    printExecutable(tables, i, out);
  printData(tables, out);
  return out;
}

} // namespace xc::tools
