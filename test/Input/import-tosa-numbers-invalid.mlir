// RUN: xc-opt %s -xc-import-tosa -split-input-file -verify-diagnostics

// Numbers that no array op takes: said of the op that has them, before there is an array op.
func.func @main(%x: tensor<3x4xf32>) -> tensor<?x4xf32> {
  %p = tosa.const_shape {values = dense<[9223372036854775807, 1, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %v = "tosa.const"() <{values = dense<3.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-error @below {{'tosa.pad' has the padding 9223372036854775807; expected at most 2147483648}}
  %r = tosa.pad %x, %p, %v : (tensor<3x4xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

func.func @main(%x: tensor<3x4xf32>) -> tensor<2x17xf32> {
  %s = tosa.const_shape {values = dense<[1, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %z = tosa.const_shape {values = dense<[2, 17]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.slice' expected a slice within dim 1 of 'tensor<3x4xf32>', got start 0 and size 17}}
  %r = tosa.slice %x, %s, %z : (tensor<3x4xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x17xf32>
  return %r : tensor<2x17xf32>
}

// -----

func.func @main(%x: tensor<3x4xf32>) -> tensor<?x?xf32> {
  %s = tosa.const_shape {values = dense<[1, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %z = tosa.const_shape {values = dense<[5, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.slice' expected a slice within dim 0 of 'tensor<3x4xf32>', got start 1 and size 5}}
  %r = tosa.slice %x, %s, %z : (tensor<3x4xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>) -> tensor<?x2xf32> {
  %s = tosa.const_shape {values = dense<[9223372036854775807, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %z = tosa.const_shape {values = dense<[9223372036854775807, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.slice' has the start 9223372036854775807; expected at most 281474976710656}}
  %r = tosa.slice %x, %s, %z : (tensor<?x4xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x3xf32>) -> tensor<1x?x?x3xf32> {
  %s = tosa.const_shape {values = dense<[9223372036854775807, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %o = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.resize' expected scales, offsets and borders of at most 16777216, got 9223372036854775807}}
  %r = tosa.resize %x, %s, %o, %b {mode = NEAREST_NEIGHBOR} : (tensor<1x4x4x3xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x?x?x3xf32>
  return %r : tensor<1x?x?x3xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x3xf32>) -> tensor<1x?x?x3xf32> {
  %s = tosa.const_shape {values = dense<[2, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %o = tosa.const_shape {values = dense<[-9223372036854775807, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.resize' expected scales, offsets and borders of at most 16777216, got -9223372036854775807}}
  %r = tosa.resize %x, %s, %o, %b {mode = NEAREST_NEIGHBOR} : (tensor<1x4x4x3xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x?x?x3xf32>
  return %r : tensor<1x?x?x3xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x3xf32>) -> tensor<1x?x?x3xf32> {
  %s = tosa.const_shape {values = dense<[16777216, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %o = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.resize' expected a result of 1 to 4194304 rows and columns, got size 4, scale 16777216 / 1, offset 0 and border 0}}
  %r = tosa.resize %x, %s, %o, %b {mode = NEAREST_NEIGHBOR} : (tensor<1x4x4x3xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x?x?x3xf32>
  return %r : tensor<1x?x?x3xf32>
}
