//===- ByteMoves.h - Which bytes of operands a result is made of ----------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_BYTEMOVES_H
#define PTXSIM_LIB_BYTEMOVES_H

#include "Ast.h"

#include <optional>
#include <vector>

namespace xc::ptxsim {

/// Byte `to` of the result depends on byte `from` of operand number `operand`.
struct ByteMove {
  uint32_t to, operand, from;
};

/// What each byte of the result depends on, where that is known of the instruction without its
/// operands' values: it moves bits to places that it names, or combines bits of one place. Bytes
/// that are not named depend on nothing. Nothing of other instructions, and of mov, whose operands
/// may be vectors.
std::optional<std::vector<ByteMove>> findByteMoves(const Instruction &inst);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_BYTEMOVES_H
