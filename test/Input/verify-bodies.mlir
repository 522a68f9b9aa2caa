// RUN: xc-opt %s -xc-verify-input -split-input-file -verify-diagnostics

// Scalars of bodies may be of widths that elements do not have.
func.func @main(%x: tensor<4xi8>, %init: tensor<4xi8>) -> tensor<4xi8> {
  %0 = linalg.map ins(%x : tensor<4xi8>) outs(%init : tensor<4xi8>) (%in: i8, %out: i8) {
    %low = arith.trunci %in : i8 to i4
    %1 = arith.extsi %low : i4 to i8
    linalg.yield %1 : i8
  }
  return %0 : tensor<4xi8>
}

// -----

func.func @main(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.map ins(%x : tensor<4xf32>) outs(%init : tensor<4xf32>) (%in: f32, %out: f32) {
    // expected-error @below {{result 0 of 'arith.fptosi' has type 'i1000'; supported in the body of a linalg op are index, signless integers of up to 64 bits, f16, bf16, f32 and f64}}
    %1 = arith.fptosi %in : f32 to i1000
    %2 = arith.sitofp %1 : i1000 to f32
    linalg.yield %2 : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.map ins(%x : tensor<4xf32>) outs(%init : tensor<4xf32>) (%in: f32, %out: f32) {
    // expected-error @below {{result 0 of 'arith.truncf' has type 'f8E4M3FN'; supported}}
    %1 = arith.truncf %in : f32 to f8E4M3FN
    %2 = arith.extf %1 : f8E4M3FN to f32
    linalg.yield %2 : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.map ins(%x : tensor<4xf32>) outs(%init : tensor<4xf32>) (%in: f32, %out: f32) {
    // expected-error @below {{result 0 of 'arith.extf' has type 'f128'; supported}}
    %1 = arith.extf %in : f32 to f128
    %2 = math.exp %1 : f128
    %3 = arith.truncf %2 : f128 to f32
    linalg.yield %3 : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.map ins(%x : tensor<4xf32>) outs(%init : tensor<4xf32>) (%in: f32, %out: f32) {
    // expected-error @below {{result 0 of 'arith.constant' has type 'tensor<2xi5>'; supported element types are}}
    %1 = arith.constant dense<1> : tensor<2xi5>
    linalg.yield %in : f32
  }
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<37xi32>) -> tensor<37xi32> {
  %e = tensor.empty() : tensor<37xi32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<37xi32>) outs(%e : tensor<37xi32>) {
  ^bb0(%i: i32, %o: i32):
    %b = linalg.index 0 : index
    // expected-error @below {{'affine.apply' computes d0 floordiv 0; expected a divisor of 1 or more}}
    %q = affine.apply affine_map<(d0) -> (d0 floordiv 0)>(%b)
    %r = arith.index_cast %q : index to i32
    linalg.yield %r : i32
  } -> tensor<37xi32>
  return %x : tensor<37xi32>
}

// -----

// arith computes with signless integers; a body may pass unsigned ones on.
func.func @main(%x: tensor<4xui32>, %init: tensor<4xui32>, %p: tensor<4xi1>) -> (tensor<4xui32>, tensor<4xui32>) {
  %0 = linalg.map ins(%x : tensor<4xui32>) outs(%init : tensor<4xui32>) (%in: ui32, %out: ui32) {
    linalg.yield %in : ui32
  }
  %1 = linalg.map ins(%x, %p : tensor<4xui32>, tensor<4xi1>) outs(%init : tensor<4xui32>) (%in: ui32, %q: i1, %out: ui32) {
    // expected-error @below {{operand 1 of 'arith.select' has type 'ui32'; supported in the body of a linalg op are index, signless integers of up to 64 bits, f16, bf16, f32 and f64}}
    %2 = arith.select %q, %in, %in : ui32
    linalg.yield %2 : ui32
  }
  return %0, %1 : tensor<4xui32>, tensor<4xui32>
}

// -----

func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c = arith.constant -2 : index
  // expected-error @below {{'tensor.dim' expected a constant in [0, 2) as the dim of 'tensor<?x4xf32>', got -2}}
  %n = tensor.dim %x, %c : tensor<?x4xf32>
  return %x : tensor<?x4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c = arith.constant 1 : index
  %m = tensor.dim %x, %c : tensor<?x4xf32>
  // expected-error @below {{'tensor.dim' expected a constant in [0, 2) as the dim of 'tensor<?x4xf32>'}}
  %n = tensor.dim %x, %m : tensor<?x4xf32>
  return %x : tensor<?x4xf32>
}
