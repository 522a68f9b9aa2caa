//===- Repeat.cpp - A loop of a known number of steps ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/Repeat.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

using Values = SmallVector<Value>;

Values repeat(ExpressionBuilder &e, int64_t count, Values inits,
              llvm::function_ref<Values(Value step, ValueRange carried)> build) {
  OpBuilder &builder = e.getBuilder();
  Type number = builder.getI32Type();
  inits.insert(inits.begin(), e.integer(0, number));
  Location location = inits.front().getLoc();
  SmallVector<Type> types = llvm::to_vector(ValueRange(inits).getTypes());
  SmallVector<Location> places(types.size(), location);
  auto loop = WhileOp::create(builder, location, types, inits);
  OpBuilder::InsertionGuard guard(builder);
  Block *condition = builder.createBlock(&loop.getCondition(), {}, types, places);
  YieldOp::create(
      builder, location,
      e.compare(CompareDirection::Lt, condition->getArgument(0), e.integer(count, number)));
  Block *body = builder.createBlock(&loop.getBody(), {}, types, places);
  Value step = body->getArgument(0);
  Values next = build(step, body->getArguments().drop_front());
  next.insert(next.begin(), e.add(step, e.integer(1, number)));
  YieldOp::create(builder, location, next);
  return llvm::to_vector_of<Value>(llvm::drop_begin(loop.getResults()));
}

} // namespace xc::stablehlo_import
