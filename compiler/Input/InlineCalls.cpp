//===- InlineCalls.cpp - Functions in the place of their calls ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the entry points down: a call becomes a copy of its callee's ops as they were written, whose
// calls are next. So each op is copied once for each place where it ends up, however long the chain
// of calls is that leads there. (MLIR's inliner goes up from the leaves, and copies what it has
// inlined again with each function on the way.) A function whose gradient is declared is an entry
// point, too.
//
// Refuses functions that call themselves.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/Passes.h"
#include "compiler/Input/VerifyCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace xc {
#define GEN_PASS_DEF_INLINECALLS
#include "compiler/Input/Passes.h.inc"

/// Says of `op` and all in it that it is there because of a call at `caller`.
static void addCaller(Operation *op, Location caller) {
  op->walk([&](Operation *inner) {
    inner->setLoc(CallSiteLoc::get(inner->getLoc(), caller));
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(CallSiteLoc::get(argument.getLoc(), caller));
  });
}

/// Puts a copy of what `callee` does in the place of `call`; appends the calls in it to `calls`.
static void inlineCall(func::CallOp call, func::FuncOp callee,
                       SmallVectorImpl<func::CallOp> &calls) {
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  OpBuilder builder(call);
  Block &body = callee.getBody().front();
  for (Operation &op : body.without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    addCaller(copy, call.getLoc());
    copy->walk([&](func::CallOp inner) { calls.push_back(inner); });
  }
  for (auto [result, value] :
       llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call.erase();
}

/// Whether the program declares the gradient of `func`, which is made of what that does.
static bool hasDeclaredGradient(func::FuncOp func, const SymbolTable &symbols) {
  auto gradient = symbols.lookup<func::FuncOp>((func.getSymName() + "_vjp").str());
  return gradient && gradient.isDeclaration();
}

/// Whether more than calls refer to `func`, so that it stays.
static bool isEntry(func::FuncOp func, const SymbolUserMap &users, const SymbolTable &symbols) {
  auto isNoCall = [](Operation *user) { return !isa<func::CallOp>(user); };
  return func.isPublic() || hasDeclaredGradient(func, symbols) ||
         llvm::any_of(users.getUsers(func), isNoCall);
}

namespace {

struct InlineCalls final : impl::InlineCallsBase<InlineCalls> {
  void runOnOperation() override {
    if (failed(verifyCalls(getOperation())))
      return signalPassFailure();
    SymbolTableCollection tables;
    SymbolTable &symbols = tables.getSymbolTable(getOperation());
    SymbolUserMap users(tables, getOperation());
    SmallVector<func::FuncOp> entries;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (isEntry(func, users, symbols))
        entries.push_back(func);
    for (func::FuncOp entry : entries) {
      SmallVector<func::CallOp> calls;
      entry.walk([&](func::CallOp call) { calls.push_back(call); });
      while (!calls.empty()) {
        func::CallOp call = calls.pop_back_val();
        auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
        // A function of several blocks, or of none, is refused as such.
        if (callee && callee.getBody().hasOneBlock())
          inlineCall(call, callee, calls);
      }
    }
  }
};

} // namespace

} // namespace xc
