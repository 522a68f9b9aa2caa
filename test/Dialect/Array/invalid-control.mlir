// RUN: xc-opt %s -verify-diagnostics -split-input-file

func.func @f(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'array.if' op expected its first region to yield ('tensor<4xf32>'), got ()}}
  %y = array.if %p : tensor<i1> -> (tensor<4xf32>) {
    // expected-note @+1 {{yielded here}}
    array.yield
  } else {
    array.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%p: tensor<i1>, %x: tensor<4xf32>, %z: tensor<4xi32>) {
  // expected-error @+1 {{'array.if' op expected its second region to yield ('tensor<4xf32>'), got ('tensor<4xi32>')}}
  %y = array.if %p : tensor<i1> -> (tensor<4xf32>) {
    array.yield %x : tensor<4xf32>
  } else {
    // expected-note @+1 {{yielded here}}
    array.yield %z : tensor<4xi32>
  }
  return
}

// -----

func.func @f(%p: tensor<4xi1>) {
  // expected-error @+1 {{'array.if' op operand #0 must be rank-0 tensor of truth value (i1) values, but got 'tensor<4xi1>'}}
  array.if %p : tensor<4xi1> {
  } else {
  }
  return
}

// -----

func.func @f(%p: tensor<i1>) {
  // expected-error @+1 {{'array.while' op expected at least one value that the loop changes, got none}}
  array.while : () -> () condition {
    array.yield %p : tensor<i1>
  } body {
    array.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{'array.while' op expected results of the types of its inits ('tensor<4xf32>'), got ('tensor<5xf32>')}}
  %y = array.while %x : (tensor<4xf32>) -> tensor<5xf32> condition {
  ^bb0(%v: tensor<4xf32>):
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%v: tensor<4xf32>):
    array.yield %v : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{'array.while' op expected its body to take ('tensor<4xf32>'), got ()}}
  %y = array.while %x : (tensor<4xf32>) -> tensor<4xf32> condition {
  ^bb0(%v: tensor<4xf32>):
    array.yield %p : tensor<i1>
  } body {
    array.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.while' op expected its condition to yield ('tensor<i1>'), got ('tensor<4xf32>')}}
  %y = array.while %x : (tensor<4xf32>) -> tensor<4xf32> condition {
  ^bb0(%v: tensor<4xf32>):
    // expected-note @+1 {{yielded here}}
    array.yield %v : tensor<4xf32>
  } body {
  ^bb0(%v: tensor<4xf32>):
    array.yield %v : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{'array.while' op expected its body to yield ('tensor<4xf32>'), got ('tensor<i1>')}}
  %y = array.while %x : (tensor<4xf32>) -> tensor<4xf32> condition {
  ^bb0(%v: tensor<4xf32>):
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%v: tensor<4xf32>):
    // expected-note @+1 {{yielded here}}
    array.yield %p : tensor<i1>
  }
  return
}
