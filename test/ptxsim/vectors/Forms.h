//===- Forms.h - Instruction forms of the vector suite ----------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A form is one PTX instruction with its modifiers, wrapped into a kernel that
// applies it to one case per thread. The same forms, run on hardware, make the
// recording that the simulator is compared with.
//
// Operand kinds are characters:
//   f F32   d F64   h F16   b BF16   H F16x2   B BF16x2   i S32/U32   l S64/U64
//   s S16/U16   n a shift amount or bit position   e two 8-bit floats   x any 32 bits
//   t TF32   o an odd-sized range: values near integer limits as F32   O the same as F64
//   m/M/c/C/k/q/g/G small values for matrices: F16x2, BF16x2, F32, F64, TF32, four S8,
//   four E4M3, four E5M2
//   v/V/w values of many exponents for matrices: F16x2, BF16x2, F32
//   p a lane mask that includes the own lane (the same for all lanes of the warp)
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_PTXSIM_VECTORS_FORMS_H
#define XC_TEST_PTXSIM_VECTORS_FORMS_H

#include <cstdint>
#include <string>
#include <vector>

namespace xc::vectors {

/// How far a result may be from the recorded one. NaN is never approximate.
enum class Match : uint8_t {
  Exact,
  Ulp,      // |limit| units in the last place
  Absolute, // |limit| absolutely, for sin and cos
  Log,      // |limit| absolutely below one, relatively above
};

struct Form {
  std::string name;    // unique; the instruction
  std::string inputs;  // operand kinds; operand i is %a<i>
  std::string outputs; // operand kinds; result i is %d<i>
  std::string body;    // PTX; may use %p0, %p1 and %t0 .. %t3 (b32), %q0, %q1 (b64), %h0, %h1 (b16)
  unsigned target = 80;
  Match match = Match::Exact;
  double limit = 0;
  const char *version = nullptr; // of PTX; null: the least that the target needs
};

/// All forms, in a fixed order.
const std::vector<Form> &allForms();

/// The parts of allForms().
void addIntegerForms(std::vector<Form> &forms);
void addMemoryForms(std::vector<Form> &forms);
void addFloatForms(std::vector<Form> &forms);
void addConvertForms(std::vector<Form> &forms);
void addWarpForms(std::vector<Form> &forms);

/// Bytes that a value of |kind| occupies.
unsigned kindBytes(char kind);

/// The kernel "form" of a form: parameters are the addresses of the inputs and of
/// the outputs; every value has a slot of 8 bytes.
std::string kernelText(const Form &form);

/// The inputs of all cases, case by case, in slots of 8 bytes. The number of cases
/// is a multiple of 32.
std::vector<uint64_t> makeInputs(const Form &form);
constexpr unsigned kBlockSize = 32;

/// A fingerprint of the kernel and its inputs.
uint64_t fingerprint(const Form &form, const std::vector<uint64_t> &inputs);

} // namespace xc::vectors

#endif // XC_TEST_PTXSIM_VECTORS_FORMS_H
