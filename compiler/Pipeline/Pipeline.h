//===- Pipeline.h - From a parsed program to the bytes of a module ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_PIPELINE_PIPELINE_H
#define XC_PIPELINE_PIPELINE_H

#include "compiler/Target/ModuleWriter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"

#include <functional>
#include <optional>
#include <string>

namespace xc {

/// The phases in order; docs/architecture.md says what holds after each.
enum class Phase { Input, Array, Linalg, Layout, Dispatch, Codegen, Plan, Vmfb };

llvm::ArrayRef<llvm::StringLiteral> getPhaseNames();
std::optional<Phase> parsePhase(llvm::StringRef name);

/// A function whose gradient is added, and the inputs that it is taken to: none are all of floats.
struct Gradient {
  std::string function;
  llvm::SmallVector<std::string> inputs;
};

struct CompileOptions {
  /// "cpu:x86-64-v3", "cuda:sm_90a": resolved, at least one.
  llvm::SmallVector<std::string> targets;
  Phase compileTo = Phase::Vmfb;
  llvm::SmallVector<Gradient> gradients;
  /// Zeros, with a warning, in place of what ops that cannot be imported would compute.
  bool stubUnsupported = false;
  unsigned optLevel = 3;
  bool fastMath = false;
  bool allowTF32 = false; // for f32 matrix products on GPUs
  /// What weights of f32 are held and multiplied in: "bf16" or "f16"; empty: as they are.
  std::string weightsType;
  bool lineInfo = false;
  /// Make softmax and attention whole that the program writes in smaller ops.
  bool recognize = true;
  /// Put several ops into one kernel where that is possible.
  bool fuse = true;
  /// Keep for reports why ops share kernels; what is compiled is the same.
  bool explainFusion = false;
  /// Let temporaries whose lifetimes are apart share memory.
  bool reuse = true;
  /// CUDA: products on wgmma where the target has it and knows the types.
  bool wgmma = true;
  /// CUDA: lines `KEY = CONFIG` that say how products are laid out, and the file that they are
  /// from.
  std::string tuning, tuningFile;
  /// CUDA: layouts of products that were measured, and are compiled in, go before the model's.
  bool shippedTuning = true;
  /// Where the paths of custom kernels begin: the model's directory.
  std::string modelDirectory;
  /// The ptxas to assemble PTX with; empty: modules hold PTX only.
  std::string ptxas;
  /// Where to write the IR after every phase and each kernel's IR and assembly; empty: nowhere.
  std::string dumpDirectory;
  target::Provenance provenance;
  /// Called at the start of a phase, and as kernels are compiled, with how many of them are; from
  /// any thread, one at a time.
  std::function<void(llvm::StringRef phase, size_t done, size_t all)> progress;
};

/// Takes `module` through the phases up to `options.compileTo`, in place. Returns the module file's
/// bytes after phase vmfb, else an empty string. Errors are diagnostics. Kernels compile on the
/// context's threads.
mlir::FailureOr<std::string> compile(mlir::ModuleOp module, const CompileOptions &options,
                                     mlir::TimingScope &timing);

} // namespace xc

#endif // XC_PIPELINE_PIPELINE_H
