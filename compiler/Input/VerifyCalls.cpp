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
    func.walk([&](func::CallOp call) { calls.push_back(call); });
    std::reverse(calls.begin(), calls.end());
  }

  func::FuncOp func;
  SmallVector<func::CallOp> calls;
};

class CallFollower {
public:
  explicit CallFollower(ModuleOp module) : symbols(module) {}

  LogicalResult follow(func::FuncOp entry);

private:
  LogicalResult enter(func::CallOp call);
  void push(func::FuncOp func) {
    place[func] = path.size();
    path.emplace_back(func);
  }

  static constexpr size_t kDone = std::numeric_limits<size_t>::max();

  SymbolTable symbols;
  SmallVector<Step> path;
  /// Where on the path a function is; kDone behind it.
  llvm::DenseMap<Operation *, size_t> place;
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
  if (known->second == kDone)
    return success();
  InFlightDiagnostic error = call.emitError() << "'" << callee.getName() << "' calls itself: ";
  for (Step &step : llvm::drop_begin(path, known->second))
    error << step.func.getName() << " -> ";
  return error << callee.getName() << "; recursive calls are not supported";
}

LogicalResult CallFollower::follow(func::FuncOp entry) {
  if (place.contains(entry))
    return success();
  push(entry);
  while (!path.empty()) {
    if (path.back().calls.empty()) {
      place[path.back().func] = kDone;
      path.pop_back();
    } else if (failed(enter(path.back().calls.pop_back_val()))) {
      return failure();
    }
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
