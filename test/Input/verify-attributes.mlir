// RUN: xc-opt %s -xc-verify-input -split-input-file -verify-diagnostics

// expected-error @below {{attribute 'arry.name' of argument 0 of 'main': dialect 'arry' is unknown; did you mean 'array.name'?}}
func.func @main(%x: tensor<4xf32> {arry.name = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{attribute 'arrays.alias' of result 0 of 'main': dialect 'arrays' is unknown; did you mean 'array.alias'?}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {arrays.alias = 0 : i64}) {
  return %x : tensor<4xf32>
}

// -----

// What another exporter writes is no mistake.
// expected-warning @below {{attribute 'torch.assume_strict_symbolic_shapes' of 'main' has no effect: dialect 'torch' is unknown}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {torch.assume_strict_symbolic_shapes} {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{attribute 'arry.max_scores' of 'array.exp': dialect 'arry' is unknown; did you mean 'array.max_scores'?}}
  %y = array.exp %x {arry.max_scores = 4 : i64} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Of ops nothing is said of what another exporter writes.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.exp %x {torch.note = "a"} : tensor<4xf32>
  return %y : tensor<4xf32>
}
