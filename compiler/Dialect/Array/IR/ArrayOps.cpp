//===- ArrayOps.cpp - The generated definitions of array ops -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Alone in this file, since it costs more to compile than all the rest.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "compiler/Dialect/Array/IR/AssemblyDirectives.h"

using namespace mlir;
using namespace xc::array;

#define GET_OP_CLASSES
#include "compiler/Dialect/Array/IR/ArrayOps.cpp.inc"
