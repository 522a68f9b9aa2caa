//===- EmbedKernels.cpp - Take the code of custom kernels as it is --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes of a function that is one `kernel.custom` what code generation makes of other kernels:
// an image and its exports. The text stays as it is, but for its header and the names of
// kernels.
//
// Refuses texts for a later `.version` or another `.target` than the module's, and more shared
// memory than a block can have.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Custom/Passes.h"

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Kernel/IR/PTXText.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace xc::custom {

#define GEN_PASS_DEF_EMBEDKERNELS
#include "compiler/Codegen/Custom/Passes.h.inc"

static std::string printVersion(unsigned version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

/// Whether code for `arch` ("sm_80", "sm_90a") can be a part of a module for `target`.
static bool runsOn(StringRef arch, const cuda::Target &target) {
  if (arch == target.arch)
    return true;
  unsigned capability;
  // With a letter behind it code is for one kind of GPU alone.
  return arch.consume_front("sm_") && !arch.getAsInteger(10, capability) &&
         capability <= target.computeCapability;
}

static LogicalResult verifyHeader(kernel::CustomOp op, const kernel::PTXHeader &header,
                                  const cuda::Target &target) {
  if (!runsOn(header.target, target))
    return op.emitError("kernel '") << op.getEntry() << "' is PTX for " << header.target
                                    << ", which is not a part of " << target.arch;
  if (header.version > target.ptxVersion)
    return op.emitError("kernel '")
           << op.getEntry() << "' is PTX of version " << printVersion(header.version)
           << "; expected at most " << printVersion(target.ptxVersion) << ", which is that of "
           << target.arch;
  if (op.getShared() > target.sharedPerBlock)
    return op.emitError("kernel '") << op.getEntry() << "' asks for " << op.getShared()
                                    << " bytes of shared memory; a block on " << target.arch
                                    << " has at most " << target.sharedPerBlock;
  return success();
}

/// The text under the header that all kernels of the target have, the kernel called `name`.
static FailureOr<std::string> rewriteText(kernel::CustomOp op, const cuda::Target &target,
                                          StringRef name) {
  std::string text = kernel::dropLineInfo(kernel::dropComments(op.getPtx())), error;
  std::optional<kernel::PTXHeader> header = kernel::takeHeader(text, error);
  if (!header) // the op's verifier has seen it
    return failure();
  if (failed(verifyHeader(op, *header, target)))
    return failure();
  std::string result = ".version " + printVersion(target.ptxVersion) + "\n.target " +
                       target.arch.str() + "\n.address_size 64\n";
  size_t done = 0;
  for (const kernel::PTXEntry &entry : kernel::findEntries(header->body)) {
    StringRef given = header->body.slice(entry.name.begin, entry.name.end);
    result += header->body.slice(done, entry.name.begin).rtrim();
    result += " " + name.str();
    if (given != op.getEntry())
      result += "_" + given.str();
    done = entry.name.end;
  }
  return result + header->body.drop_front(done).str();
}

/// The number of the binding that `tensor`, an input, is loaded from.
static int64_t getBinding(Value tensor) {
  auto load = tensor.getDefiningOp<bufferization::ToTensorOp>();
  return load.getBuffer().getDefiningOp<plan::BindingOp>().getOrdinal();
}

/// The number of the binding that a result goes to.
static int64_t getTarget(Value result) {
  auto store = cast<bufferization::MaterializeInDestinationOp>(*result.user_begin());
  return store.getDest().getDefiningOp<plan::BindingOp>().getOrdinal();
}

static ArrayAttr describeParameters(kernel::CustomOp op) {
  Builder builder(op.getContext());
  SmallVector<Attribute> parameters;
  auto add = [&](StringRef kind, int64_t ordinal) {
    parameters.push_back(
        builder.getArrayAttr({builder.getStringAttr(kind), builder.getI64IntegerAttr(ordinal)}));
  };
  for (Value input : op.getInputs())
    add("binding", getBinding(input));
  for (Value output : op.getOutputs())
    add("binding", getTarget(output));
  for (auto [index, scalar] : llvm::enumerate(op.getScalars())) {
    Type type = cast<TypeAttr>(op.getScalarTypesAttr()[index]).getValue();
    if (!type.isIndex())
      add(type.isInteger(32) ? "i32" : "i64", scalar.getDefiningOp<plan::ScalarOp>().getOrdinal());
  }
  return builder.getArrayAttr(parameters);
}

/// The grid over the scalars of the dispatch instead of those of the op.
static SmallVector<plan::FormulaAttr> getGrid(kernel::CustomOp op) {
  SmallVector<plan::FormulaAttr> scalars, grid;
  for (Value scalar : op.getScalars())
    scalars.push_back(plan::FormulaAttr::getSymbol(
        op.getContext(), scalar.getDefiningOp<plan::ScalarOp>().getOrdinal()));
  for (AffineExpr blocks : op.getGrid().getResults())
    grid.push_back(plan::FormulaAttr::get(blocks, /*dims=*/{}, scalars));
  return grid;
}

namespace {

struct EmbedKernels final : impl::EmbedKernelsBase<EmbedKernels> {
  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      auto ops = function.getOps<kernel::CustomOp>();
      if (ops.empty())
        continue;
      if (failed(embed(*ops.begin(), function.getName())))
        return signalPassFailure();
      function.erase();
    }
  }

  LogicalResult embed(kernel::CustomOp op, StringRef name) {
    ModuleOp module = getOperation();
    const cuda::Target *target = cuda::findTarget(module);
    if (!target)
      return module.emitOpError("expected a CUDA target, known are ") << cuda::listTargets();
    FailureOr<std::string> text = rewriteText(op, *target, name);
    if (failed(text))
      return failure();
    Builder builder(&getContext());
    auto launch = plan::LaunchAttr::get(&getContext(), getGrid(op), op.getBlock(), {1, 1, 1},
                                        op.getShared(), /*scratch=*/0);
    module->setAttr(
        plan::kExportsAttr,
        builder.getArrayAttr(builder.getDictionaryAttr(
            {builder.getNamedAttr("config", builder.getStringAttr("custom")),
             builder.getNamedAttr("launch", launch),
             builder.getNamedAttr("name", builder.getStringAttr(name)),
             builder.getNamedAttr("parameters", describeParameters(op)),
             builder.getNamedAttr("reason", builder.getStringAttr("the program's own kernel '" +
                                                                  op.getEntry() + "'"))})));
    module->setAttr(plan::kImageAttr, builder.getStringAttr(*text));
    return success();
  }
};

} // namespace

} // namespace xc::custom
