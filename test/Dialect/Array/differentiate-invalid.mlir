// RUN: xc-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(xc-array-differentiate{function=f arguments=1,x})'

func.func @f(%x: tensor<4xf32> {array.name = "x"}, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'array.nextafter' has no gradient}}
  %0 = array.nextafter %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// How often a loop may run has to be known beside it.
func.func @f(%x: tensor<4xf32> {array.name = "x"}, %limit: tensor<f32>) -> tensor<4xf32> {
  // expected-error @+1 {{'array.while' has no gradient: expected a condition that bounds the number of iterations, a carried number that grows by a constant compared with a constant or a size, since what each iteration begins with is kept}}
  %0 = array.while %x : (tensor<4xf32>) -> (tensor<4xf32>) condition {
  ^bb0(%v: tensor<4xf32>):
    %s = array.reduce sum, %v axes = [0] : tensor<4xf32> -> tensor<f32>
    %more = array.compare lt, %s, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    array.yield %more : tensor<i1>
  } body {
  ^bb0(%v: tensor<4xf32>):
    %w = array.add %v, %v : tensor<4xf32>
    array.yield %w : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A cache that grows: what is kept of each iteration would have another extent.
func.func @f(%x: tensor<4xf32> {array.name = "x"}, %room: tensor<16x4xf32>) -> tensor<4xf32> {
  %zero = array.constant dense<0> : tensor<i32>
  %one = array.constant dense<1> : tensor<i32>
  %limit = array.constant dense<16> : tensor<i32>
  // expected-note @+1 {{its runtime size comes from here}}
  %none = array.set_extent %room, %zero axis = 0 : (tensor<16x4xf32>, tensor<i32>) -> tensor<?x4xf32>
  // expected-error @+1 {{'array.while' has no gradient: value 2, which its gradient needs of each iteration, has a bounded dynamic dim; carry an array of the bound's size and the runtime size as data, and use array.set_extent in the body}}
  %r:3 = array.while %zero, %x, %none : (tensor<i32>, tensor<4xf32>, tensor<?x4xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<?x4xf32>) condition {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>, %cache: tensor<?x4xf32>):
    %more = array.compare lt, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    array.yield %more : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>, %cache: tensor<?x4xf32>):
    %row = array.expand_dims %v axes = [0] : tensor<4xf32> -> tensor<1x4xf32>
    %all = array.append %cache, %row axis = 0 : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
    %w = array.reduce sum, %all axes = [0] : tensor<?x4xf32> -> tensor<4xf32>
    %next = array.add %i, %one : tensor<i32>
    array.yield %next, %w, %all : tensor<i32>, tensor<4xf32>, tensor<?x4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// -----

// In a region, too.
func.func @f(%x: tensor<4xf32> {array.name = "x"}, %y: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = array.if %p : tensor<i1> -> (tensor<4xf32>) {
    // expected-error @+1 {{'array.nextafter' has no gradient}}
    %a = array.nextafter %x, %y : tensor<4xf32>
    array.yield %a : tensor<4xf32>
  } else {
    array.yield %y : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32> {array.name = "x"}, %y: tensor<4xf32>) -> tensor<f32> {
  // expected-error @+1 {{'array.reduce_with' has no gradient: the order in which its body combines elements is not specified; use array.reduce, argmax, logsumexp or a scan that computes the same}}
  %0 = array.reduce_with %x axes = [0] init = [0.0 : f32] : (tensor<4xf32>) -> (tensor<f32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = array.add %a, %b : tensor<f32>
    array.yield %c : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

array.variable @v : tensor<4xf32> = dense<0.0>
func.func @f(%x: tensor<4xf32> {array.name = "x"}, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'array.variable.assign' keeps what depends on an input of 'f_vjp'; a gradient would assign it again}}
  array.variable.assign @v, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{input 'input1' of 'f' has type 'tensor<4xi32>', which has no gradient; expected floats}}
func.func @f(%x: tensor<4xf32> {array.name = "x"}, %y: tensor<4xi32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{function 'f' has no input 'x'; there are input0, z}}
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32> {array.name = "z"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'f_vjp' is the name of the gradient of 'f'; expected another name}}
func.func @f_vjp(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32> {array.name = "x"}, %y: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{input 'd_output0' has the name of a result's cotangent; expected another name}}
func.func @f(%x: tensor<4xf32> {array.name = "x"}, %y: tensor<4xf32> {array.name = "d_output0"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{there is no function 'f'; there is g}}
module {
  func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{input 'x' of 'f' is named twice; expected each input once}}
func.func @f(%y: tensor<4xf32>, %x: tensor<4xf32> {array.name = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

array.variable @v : tensor<4xf32> = dense<0.0>
func.func @f(%x: tensor<4xf32> {array.name = "x"}, %y: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = array.if %p : tensor<i1> -> (tensor<4xf32>) {
    // expected-error @+1 {{'array.variable.assign' keeps what depends on an input of 'f_vjp'; a gradient would assign it again}}
    array.variable.assign @v, %x : tensor<4xf32>
    array.yield %y : tensor<4xf32>
  } else {
    array.yield %y : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
