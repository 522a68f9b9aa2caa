// RUN: xc-opt %s -split-input-file -verify-diagnostics

// What passes leave for one another is of a known name, on the op that it is for, and of its type.

// expected-error @below {{'func.func' op does not take attribute "plan.bogus"}}
func.func @unknown() attributes {plan.bogus} { return }

// -----

// expected-error @below {{'func.func' op does not take attribute "plan.partial", which is for linalg ops}}
func.func @carrier() attributes {plan.partial = #plan.partial<rest>} { return }

// -----

// expected-error @below {{'func.func' op expected plan.launch to be #plan.launch_config, got 4 : i64}}
func.func @type() attributes {plan.launch = 4 : i64} { return }

// -----

// expected-error @below {{'func.func' op expected plan.guards to be guards, got [4]}}
func.func @entries() attributes {plan.guards = [4 : i64]} { return }

// -----

// expected-error @below {{op expected plan.exports to be variants, each with a name and a launch, got [{name = "k"}]}}
module @missing attributes {plan.exports = [{name = "k"}]} {}

// -----

// expected-error @below {{op expected plan.counts to be the numbers of bindings and scalars, got {bindings = -1 : i64, scalars = 0 : i64}}}
module @value attributes {plan.counts = {bindings = -1 : i64, scalars = 0 : i64}} {}

// -----

// expected-error @below {{op expected plan.operands to be the dims and the element type of each binding, got [{dims = [], element = f32, name = "x"}]}}
module @key attributes {plan.operands = [{dims = [], element = f32, name = "x"}]} {}

// -----

// expected-error @below {{op expected plan.constants to be elements of tensors, got [4]}}
module @constants attributes {plan.constants = [4]} {}

// -----

// expected-error @below {{op expected plan.parameters to be the scope, the key and the type of each parameter, got [{key = "w", scope = "s"}]}}
module @parameters attributes {plan.parameters = [{scope = "s", key = "w"}]} {}

// -----

// expected-error @below {{op expected plan.variables to be the name, the type and the initial value of each variable, got [{constant = "c", name = "v", type = f32}]}}
module @variables attributes {plan.variables = [{name = "v", type = f32, constant = "c"}]} {}

// -----

// expected-error @below {{op expected plan.joins to be joins, each of two places, with a reason and the launches that it saves, got [{from = "a", to = "b", why = "c"}]}}
module @joins attributes {plan.joins = [{from = "a", to = "b", why = "c"}]} {}

// -----

// expected-error @below {{op expected plan.refusals to be refusals, each of a kernel and two places, with a reason, got [{from = "a", to = "b", why = "c"}]}}
module @refusals attributes {plan.refusals = [{from = "a", to = "b", why = "c"}]} {}

// -----

// expected-error @below {{op does not take attribute "plan.fusion", which is for regions}}
module @fusion attributes {plan.fusion = {number = 0 : i64, joins = [], refusals = []}} {}

// -----

// expected-error @below {{expected a positive number behind 'cyclic', got 0}}
#cyclic = #plan.partial<cyclic>

// -----

// expected-error @below {{expected no number behind 'rest', got 3}}
#rest = #plan.partial<rest, 3>

// -----

func.func @cyclic(%x: tensor<32x8xf32>, %init: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{expected results that have the indices of #plan.partial<cyclic, 5>}}
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0 mod 4, d1)>],
                       iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<32x8xf32>) outs(%init : tensor<4x8xf32>) attrs = {plan.partial = #plan.partial<cyclic, 5>} {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %p : tensor<4x8xf32>
}

// -----

func.func @columns(%x: tensor<32x8xf32>, %init: tensor<32x2xf32>) -> tensor<32x2xf32> {
  // expected-error @below {{expected results that have the indices of #plan.partial<columns, 8>}}
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1 floordiv 4)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<32x8xf32>) outs(%init : tensor<32x2xf32>) attrs = {plan.partial = #plan.partial<columns, 8>} {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  } -> tensor<32x2xf32>
  return %p : tensor<32x2xf32>
}

// -----

func.func @slices(%x: tensor<32xf32>, %init: tensor<32xf32>) -> tensor<32xf32> {
  // expected-error @below {{expected results that have the indices of #plan.partial<slices>}}
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<32xf32>) outs(%init : tensor<32xf32>) attrs = {plan.partial = #plan.partial<slices>} {
  ^bb0(%a: f32, %acc: f32):
    linalg.yield %a : f32
  } -> tensor<32xf32>
  return %p : tensor<32xf32>
}

// -----

func.func @position(%x: tensor<32xf32>, %init: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{expected plan.position to be the number of one of 1 inputs as i64, got 1}}
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<32xf32>) outs(%init : tensor<f32>) attrs = {plan.position = 1 : i64} {
  ^bb0(%a: f32, %acc: f32):
    linalg.yield %a : f32
  } -> tensor<f32>
  return %p : tensor<f32>
}

// -----

// expected-error @below {{'func.func' op expected plan.alignment to be a power of two as i64, got 12 : i64}}
func.func private @no_power_of_two(tensor<4xf32> {plan.alignment = 12 : i64})

// -----

// expected-error @below {{'func.func' op expected plan.alignment to be a power of two as i64, got "8"}}
func.func private @text(tensor<4xf32> {plan.alignment = "8"})

// -----

// expected-error @below {{'func.func' op does not take argument attribute "plan.init"}}
func.func private @other(tensor<4xf32> {plan.init})

// -----

func.func @shares(%a: tensor<?x64xf16>, %b: tensor<?x64xf16>, %init: tensor<4x64x64xf32>) -> tensor<4x64x64xf32> {
  // expected-error @below {{op expected the first index of the result of plan.shares to be a remainder of loops that are reduced, by its size}}
  %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (k mod 8, m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x64xf16>, tensor<?x64xf16>) outs(%init : tensor<4x64x64xf32>) attrs = {plan.shares} {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %l = arith.extf %x : f16 to f32
    %r = arith.extf %y : f16 to f32
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x64x64xf32>
  return %c : tensor<4x64x64xf32>
}

// -----

func.func @rows(%x: tensor<4x8x8xf32>, %init: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{expected results that have the indices of #plan.partial<rows, 8>}}
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> ((d0 + d1 * 4) floordiv 8, d2)>],
                       iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%x : tensor<4x8x8xf32>) outs(%init : tensor<4x8xf32>) attrs = {plan.partial = #plan.partial<rows, 8>} {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %p : tensor<4x8xf32>
}

// -----

// Where the size of d1 is symbolic the sum of indices stands for a row's number.
func.func @rows_of_open_size(%x: tensor<?x?x8xf32>, %init: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{expected results that have the indices of #plan.partial<rows, 8>}}
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> ((d0 * 8 + d1) floordiv 8, d2)>],
                       iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%x : tensor<?x?x8xf32>) outs(%init : tensor<?x8xf32>) attrs = {plan.partial = #plan.partial<rows, 8>} {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  return %p : tensor<?x8xf32>
}
