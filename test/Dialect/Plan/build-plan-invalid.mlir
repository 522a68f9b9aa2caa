// RUN: xc-opt %s -xc-build-plan -split-input-file -verify-diagnostics

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  // expected-error @+1 {{expected inputs that are tensors, got 'index' as input 1}}
  func.func @no_tensor(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  // expected-error @+1 {{expected elements of integers or floats, got 'tensor<4xindex>'}}
  func.func @elements(%x: tensor<4xindex>) -> tensor<4xindex> {
    return %x : tensor<4xindex>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  module @k attributes {plan.kernel} {}

  func.func @size_of_data(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<?xf32> {
    %element = tensor.extract %i[] : tensor<i32>
    %n = arith.index_cast %element : i32 to index
    // expected-error @+1 {{expected sizes that are formulas over the dynamic dims of the function's inputs, got 'tensor<?xf32>'}}
    %y = plan.dispatch @k(%x : tensor<4xf32>) -> (tensor<?xf32>) dims(%n) reuse [-1]
    return %y : tensor<?xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  module @k attributes {plan.kernel} {}

  func.func @scalar_of_data(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
    %element = tensor.extract %i[] : tensor<i32>
    %n = arith.index_cast %element : i32 to index
    // expected-error @+1 {{expected scalars that are formulas over the dynamic dims of the function's inputs}}
    %y = plan.dispatch @k(%x : tensor<4xf32>) scalars(%n) -> (tensor<4xf32>) reuse [-1]
    return %y : tensor<4xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  module @k attributes {plan.kernel} {}

  func.func @offset_of_data(%x: tensor<8xf32>, %i: tensor<i32>) -> tensor<4xf32> {
    %element = tensor.extract %i[] : tensor<i32>
    %n = arith.index_cast %element : i32 to index
    // expected-error @+1 {{expected an offset that is a formula over the dynamic dims of the function's inputs}}
    %part = tensor.extract_slice %x[%n] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %y = plan.dispatch @k(%part : tensor<4xf32>) -> (tensor<4xf32>) reuse [-1]
    return %y : tensor<4xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @requirement_of_data(%x: tensor<?xf32>, %i: tensor<i32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %size = tensor.dim %x, %c0 : tensor<?xf32>
    %element = tensor.extract %i[] : tensor<i32>
    %n = arith.index_cast %element : i32 to index
    // expected-error @+1 {{expected sizes that are formulas over the dynamic dims of the function's inputs}}
    plan.require %size equal %n, "expected equal sizes"
    return %x : tensor<?xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @region_without_function(%x: tensor<4xf32>, %p: tensor<i8>) -> tensor<4xf32> {
    // expected-error @+1 {{expected the name of a function, got @then}}
    %y = plan.branch %p then @then otherwise @then(%x) : (tensor<i8>, tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
