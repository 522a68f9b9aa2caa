//===- ModuleBuilder.h - Builds modules for tests of the runtime ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A plain description of a module that finish() turns into the bytes of a file.
// Nothing is checked, so that tests can build broken modules.
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_RUNTIME_MODULEBUILDER_H
#define XC_TEST_RUNTIME_MODULEBUILDER_H

#include "schemas/module_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace xc::test {

inline fb::Value literal(int64_t value) { return fb::Value(-1, value); }
inline fb::Value formula(int32_t ordinal) { return fb::Value(ordinal, 0); }

using Code = std::vector<fb::FormulaInstruction>;
inline fb::FormulaInstruction constant(int64_t value) {
  return fb::FormulaInstruction(fb::FormulaOp::Const, value);
}
inline fb::FormulaInstruction symbol(int64_t ordinal) {
  return fb::FormulaInstruction(fb::FormulaOp::Symbol, ordinal);
}
inline fb::FormulaInstruction op(fb::FormulaOp kind) { return fb::FormulaInstruction(kind, 0); }

/// Formulas in the form of the schema.
struct FormulaTable {
  std::vector<fb::FormulaInstruction> code;
  std::vector<fb::Range> ranges;
  fb::Value add(const Code &program);
};

struct ArgumentSpec {
  std::string name;
  fb::DType dtype = fb::DType::F32;
  std::vector<fb::Value> dims;
  uint32_t alignment = 4;
  bool donated = false;
  int32_t alias = -1;
};

struct SymbolSpec {
  std::string name;
  uint32_t input = 0, dim = 0;
  int64_t min = 0, max = INT64_MAX, divisor = 1;
};

struct VariantSpec {
  uint32_t executable = 0, exportOrdinal = 0;
  std::vector<fb::Guard> guards;
  std::vector<fb::Value> scalars;
  fb::Value grid[3] = {literal(1), literal(1), literal(1)};
  fb::Value workspace = literal(0), workspaceOffset = literal(0);
};

struct PlanSpec {
  uint32_t target = 0;
  FormulaTable formulas;
  std::vector<fb::Region> regions; ///< empty: one region with all commands
  std::vector<uint32_t> regionOrdinals;
  std::vector<fb::Command> commands;
  std::vector<uint32_t> edges;
  std::vector<fb::Dispatch> dispatches;
  std::vector<fb::Variant> variants;
  std::vector<fb::Guard> guards;
  std::vector<fb::Value> scalars;
  std::vector<fb::Binding> bindings;
  std::vector<fb::Copy> copies;
  std::vector<fb::Fill> fills;
  std::vector<fb::Collective> collectives;
  std::vector<fb::Control> controls;
  std::vector<fb::Choice> choices;
  fb::Value arenaSize = literal(0);
  std::vector<std::string> locations = {"model.mlir:1"};

  /// The ordinal of the command.
  uint32_t dispatch(const std::vector<VariantSpec> &variants,
                    const std::vector<fb::Binding> &bindings,
                    const std::vector<uint32_t> &edges = {});
  uint32_t copy(fb::Binding source, fb::Binding target, const std::vector<uint32_t> &edges = {});
  uint32_t fill(fb::Binding target, uint64_t pattern, uint8_t patternSize,
                const std::vector<uint32_t> &edges = {});

private:
  uint32_t command(fb::CommandKind kind, size_t ordinal, const std::vector<uint32_t> &edges);
};

inline fb::Binding binding(fb::Space space, uint32_t ordinal, fb::Value length, fb::Access access,
                           fb::Value offset = literal(0)) {
  return fb::Binding(space, access, ordinal, offset, length);
}
inline fb::Binding reads(fb::Space space, uint32_t ordinal, fb::Value length,
                         fb::Value offset = literal(0)) {
  return binding(space, ordinal, length, fb::Access::Read, offset);
}
inline fb::Binding writes(fb::Space space, uint32_t ordinal, fb::Value length,
                          fb::Value offset = literal(0)) {
  return binding(space, ordinal, length, fb::Access::Write, offset);
}

struct RequirementSpec {
  fb::Comparison comparison = fb::Comparison::Equal;
  uint32_t left = 0, right = 0; ///< formulas of the function
  std::string what = "expected equal sizes", location = "model.mlir:1:2";
};

struct FunctionSpec {
  std::string name = "main";
  std::string doc;
  std::vector<ArgumentSpec> inputs, outputs;
  std::vector<SymbolSpec> symbols;
  FormulaTable formulas;
  std::vector<PlanSpec> plans;
  std::vector<RequirementSpec> requirements;
};

struct TensorMapSpec {
  uint32_t binding = 0;
  fb::DType dtype = fb::DType::F32;
  /// Innermost first; a formula's ordinal is that of a scalar.
  std::vector<fb::Value> dims, strides;
  std::vector<uint32_t> box, elementStrides;
  uint8_t swizzle = 0;
  fb::Value offset = literal(0);
  fb::TensorMapMode mode = fb::TensorMapMode::Tiled;
  std::vector<int32_t> lower, upper, upperScalars;
  uint32_t channels = 0, pixels = 0;
};

struct OperandSpec {
  fb::DType dtype = fb::DType::F32;
  std::vector<fb::Value> dims;
};

struct ExportSpec {
  std::string name;
  uint32_t bindings = 0, scalars = 0, scratch = 0;
  fb::Value bytes = literal(0), flops = literal(0);
  std::vector<uint32_t> block;
  std::vector<fb::Parameter> parameters;
  std::vector<uint32_t> cluster;
  std::vector<TensorMapSpec> tensorMaps;
  bool programmaticLaunch = false, readsInputsEarly = false;
  std::vector<OperandSpec> operands;
  std::vector<std::string> locations;
};

struct ExecutableSpec {
  uint32_t target = 0;
  fb::CodeKind kind = fb::CodeKind::SharedObject;
  std::string arch;
  std::vector<std::string> features;
  std::vector<uint8_t> image;
  std::vector<ExportSpec> exports;
  FormulaTable formulas;
};

struct ConstantSpec {
  fb::DType dtype = fb::DType::F32;
  std::vector<int64_t> dims;
  std::vector<uint8_t> data;
  uint32_t alignment = 64;
};

struct ParameterSpec {
  std::string scope, key;
  fb::DType dtype = fb::DType::F32;
  std::vector<int64_t> dims;
};

struct VariableSpec {
  std::string name;
  fb::DType dtype = fb::DType::F32;
  std::vector<int64_t> dims;
  int32_t initialConstant = -1, initialParameter = -1;
};

struct InitPlanSpec {
  uint32_t target = 0;
  std::vector<uint64_t> packedSizes;
  PlanSpec plan;
};

struct TargetSpec {
  std::string kind, arch;
};

struct ModuleSpec {
  std::vector<std::string> requiredFeatures;
  std::vector<TargetSpec> targets;
  std::vector<FunctionSpec> functions;
  std::vector<ExecutableSpec> executables;
  std::vector<ConstantSpec> constants;
  std::vector<ParameterSpec> parameters;
  std::vector<VariableSpec> variables;
  std::vector<InitPlanSpec> initPlans;
  /// How often each kernel and function is named: they are one table in the file.
  uint32_t namings = 1;

  std::vector<uint8_t> finish() const;
};

/// Writes the checksums of a header and its tables again after a test has
/// changed them.
void fixChecksums(std::vector<uint8_t> &module);

/// The bytes of a vector.
template <typename T> std::vector<uint8_t> bytesOf(const std::vector<T> &from) {
  const uint8_t *begin = reinterpret_cast<const uint8_t *>(from.data());
  return std::vector<uint8_t>(begin, begin + from.size() * sizeof(T));
}

} // namespace xc::test

#endif // XC_TEST_RUNTIME_MODULEBUILDER_H
