// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// What is written is read again.
// CHECK-LABEL: @text
// CHECK-SAME: a = [#plan.formula<-3>, #plan.formula<s12>, #plan.formula<-s0>],
// CHECK-SAME: b = [#plan.formula<s0 * 4 + 3>, #plan.formula<s0 - s1 * 4 - 3>, #plan.formula<s0 - s1>, #plan.formula<-(s0 + s1)>],
// CHECK-SAME: c = [#plan.formula<(s0 floordiv s1) * s2>, #plan.formula<s0 floordiv (s1 * s2)>, #plan.formula<(s0 + 1) ceildiv 8>, #plan.formula<(s0 mod 3) mod s1>],
// CHECK-SAME: d = [#plan.formula<s0 + (s1 + s2)>, #plan.formula<s0 - (s1 + s2)>],
// CHECK-SAME: e = #plan.formula<min(s0 + 1, max(s1 - 2, 0) * 2) + select(s2, s0, 4)>}
func.func private @text() attributes {
  a = [#plan.formula<-3>, #plan.formula<s12>, #plan.formula<-s0>],
  b = [#plan.formula<s0 * 4 + 3>, #plan.formula<s0 - s1 * 4 - 3>, #plan.formula<s0 - s1>, #plan.formula<-(s0 + s1)>],
  c = [#plan.formula<s0 floordiv s1 * s2>, #plan.formula<s0 floordiv (s1 * s2)>, #plan.formula<(s0 + 1) ceildiv 8>, #plan.formula<s0 mod 3 mod s1>],
  d = [#plan.formula<s0 + (s1 + s2)>, #plan.formula<s0 - (s1 + s2)>],
  e = #plan.formula<min(s0 + 1, max(s1 - 2, 0) * 2) + select(s2, s0, 4)>
}

// Numbers are folded, and stand on the right.
// CHECK-LABEL: @numbers
// CHECK-SAME: a = [#plan.formula<7>, #plan.formula<-2>, #plan.formula<2>, #plan.formula<3>, #plan.formula<1>, #plan.formula<-1>],
// CHECK-SAME: b = [#plan.formula<3>, #plan.formula<4>, #plan.formula<s0>, #plan.formula<s1>],
// CHECK-SAME: c = [#plan.formula<s0 + 5>, #plan.formula<s0 * 6>, #plan.formula<s0>, #plan.formula<0>, #plan.formula<max(s0, 5)>, #plan.formula<min(s0, 3)>]}
func.func private @numbers() attributes {
  a = [#plan.formula<3 + 4>, #plan.formula<2 * -1>, #plan.formula<5 floordiv 2>, #plan.formula<5 ceildiv 2>, #plan.formula<-5 mod 3>, #plan.formula<-5 ceildiv 3>],
  b = [#plan.formula<min(3, 4)>, #plan.formula<max(3, 4)>, #plan.formula<select(1, s0, s1)>, #plan.formula<select(0, s0, s1)>],
  c = [#plan.formula<2 + s0 + 3>, #plan.formula<2 * s0 * 3>, #plan.formula<1 * (s0 + 0)>, #plan.formula<s0 * 0>, #plan.formula<max(3, max(s0, 5))>, #plan.formula<min(min(s0, 5), 3)>]
}

// What does not fit into 64 bits, or has no value, is left to the runtime.
// CHECK-LABEL: @left_alone
// CHECK-SAME: a = [#plan.formula<9223372036854775807 + 1>, #plan.formula<9223372036854775807 * 2>, #plan.formula<1 floordiv 0>, #plan.formula<s0 mod 0>]}
func.func private @left_alone() attributes {
  a = [#plan.formula<9223372036854775807 + 1>, #plan.formula<9223372036854775807 * 2>, #plan.formula<1 floordiv 0>, #plan.formula<s0 mod 0>]
}

// The rules of affine expressions.
// CHECK-LABEL: @sums_and_quotients
// CHECK-SAME: a = [#plan.formula<s0 * 5>, #plan.formula<0>, #plan.formula<s0 + s1 + 2>, #plan.formula<s0 * s1>, #plan.formula<s0 + s1>],
// CHECK-SAME: b = [#plan.formula<s0 * 2>, #plan.formula<s0 * 2 + s1 floordiv 4>, #plan.formula<s0 * 3>, #plan.formula<0>, #plan.formula<s1 mod 4>],
// CHECK-SAME: c = [#plan.formula<s0 mod 4>, #plan.formula<s0 mod s1>]}
func.func private @sums_and_quotients() attributes {
  a = [#plan.formula<s0 * 2 + s0 * 3>, #plan.formula<s0 - s0>, #plan.formula<s0 + 2 + s1>, #plan.formula<s1 * s0>, #plan.formula<s1 + s0>],
  b = [#plan.formula<s0 * 8 floordiv 4>, #plan.formula<(s0 * 8 + s1) floordiv 4>, #plan.formula<s0 * 12 ceildiv 4>, #plan.formula<s0 * 8 mod 4>, #plan.formula<(s0 * 8 + s1) mod 4>],
  c = [#plan.formula<s0 - s0 floordiv 4 * 4>, #plan.formula<s0 - s0 floordiv s1 * s1>]
}

// Of maxima beside which there are only numbers one is left. Those that fall where the inner one grows have to stay.
// CHECK-LABEL: @maxima
// CHECK-SAME: a = [#plan.formula<max(s0 - 4, 0)>, #plan.formula<max(s0 floordiv 2 - 4, 0)>, #plan.formula<max(s0 + 1, 3)>, #plan.formula<max(s0 * 2, 6)>],
// CHECK-SAME: b = [#plan.formula<max(-max(s0, 1) + 4, 0)>, #plan.formula<max(max(s0, 1) + s1, 0)>, #plan.formula<s0>, #plan.formula<s0>, #plan.formula<s0>]}
func.func private @maxima() attributes {
  a = [#plan.formula<max(max(s0 - 2, 0) - 2, 0)>, #plan.formula<max(max(max(s0 - 2, 0) - 2, 0) floordiv 2 - 2, 0)>, #plan.formula<max(max(s0 - 2, 0) + 3, 0)>, #plan.formula<max(max(s0, 3) * 2, 5)>],
  b = [#plan.formula<max(4 - max(s0, 1), 0)>, #plan.formula<max(max(s0, 1) + s1, 0)>, #plan.formula<max(s0, s0)>, #plan.formula<min(s0, s0)>, #plan.formula<select(s1, s0, s0)>]
}
