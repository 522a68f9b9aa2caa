//===- VerifyCalls.cpp - Functions that call themselves -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows calls depth first, each function once. Chains of calls may be longer than the stack is
// deep, so the path is a list.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/VerifyCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace xc {

namespace {

/// A function on the path, and those of its calls that are still to be followed.
struct Step {
  explicit Step(func::FuncOp func) : func(func) {
    func.walk([&](Operation *op) {
      ++ops;
      if (auto call = dyn_cast<func::CallOp>(op))
        calls.push_back(call);
    });
    own = ops;
    std::reverse(calls.begin(), calls.end());
  }

  func::FuncOp func;
  SmallVector<func::CallOp> calls;
  uint64_t own = 0; ///< ops that are written in it
  uint64_t ops = 0; ///< the same and those of what it has called so far
};

/// Ops that calls may make of a program. Each function once more than the one before calls it
/// doubles them.
constexpr uint64_t kMostInlinedOps = uint64_t(1) << 18;

class CallFollower {
public:
  explicit CallFollower(ModuleOp module) : symbols(module) {}

  LogicalResult follow(func::FuncOp entry);

private:
  LogicalResult enter(func::CallOp call);
  LogicalResult finish();
  void push(func::FuncOp func) {
    place[func] = path.size();
    path.emplace_back(func);
  }

  static constexpr size_t kDone = std::numeric_limits<size_t>::max();

  SymbolTable symbols;
  SmallVector<Step> path;
  /// Where on the path a function is; kDone behind it.
  llvm::DenseMap<Operation *, size_t> place;
  /// Ops of the functions that are done, with those of their calls in the place of these.
  llvm::DenseMap<Operation *, uint64_t> inlinedOps;
};

} // namespace

LogicalResult CallFollower::enter(func::CallOp call) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
  if (!callee)
    return success(); // the call's own verifier has said so
  auto known = place.find(callee);
  if (known == place.end()) {
    push(callee);
    return success();
  }
  if (known->second == kDone) {
    path.back().ops += inlinedOps[callee];
    return success();
  }
  InFlightDiagnostic error = call.emitError() << "'" << callee.getName() << "' calls itself: ";
  for (Step &step : llvm::drop_begin(path, known->second))
    error << step.func.getName() << " -> ";
  return error << callee.getName() << "; recursive calls are not supported";
}

LogicalResult CallFollower::finish() {
  Step step = path.pop_back_val();
  place[step.func] = kDone;
  // None of those that it calls has more, so that the sum of all fits.
  if (step.ops > kMostInlinedOps && step.ops > step.own)
    return step.func.emitError() << "'" << step.func.getName() << "' has " << step.ops
                                 << " ops once what it calls is in the place of its calls; "
                                    "expected at most "
                                 << kMostInlinedOps;
  inlinedOps[step.func] = step.ops;
  if (!path.empty())
    path.back().ops += step.ops;
  return success();
}

LogicalResult CallFollower::follow(func::FuncOp entry) {
  if (place.contains(entry))
    return success();
  push(entry);
  while (!path.empty()) {
    bool isDone = path.back().calls.empty();
    if (failed(isDone ? finish() : enter(path.back().calls.pop_back_val())))
      return failure();
  }
  return success();
}

LogicalResult verifyCalls(ModuleOp module) {
  CallFollower follower(module);
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(follower.follow(func)))
      return failure();
  return success();
}

} // namespace xc
