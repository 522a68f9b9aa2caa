// RUN: xc-opt %s -xc-verify-input -split-input-file -verify-diagnostics

// What is within, and what is computed.
func.func @main(%x: tensor<?x4xf32>, %y: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x4xf32>, tensor<0x4xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %r = tensor.extract_slice %x[%c0, 0] [2, 4] [%c2, 1] : tensor<?x4xf32> to tensor<2x4xf32>
  %s = tensor.insert_slice %y into %x[%n, 0] [2, 4] [%n, 1] : tensor<2x4xf32> into tensor<?x4xf32>
  %e = tensor.extract_slice %x[7, 0] [0, 4] [1, 1] : tensor<?x4xf32> to tensor<0x4xf32>
  return %r, %s, %e : tensor<2x4xf32>, tensor<?x4xf32>, tensor<0x4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{'tensor.extract_slice' expected a stride of dim 0 in [1, 281474976710656], got 0}}
  %r = tensor.extract_slice %x[0, 0] [2, 4] [0, 1] : tensor<?x4xf32> to tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>, %y: tensor<2x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %cm = arith.constant -5 : index
  // expected-error @below {{'tensor.insert_slice' expected a stride of dim 0 in [1, 281474976710656], got -5}}
  %r = tensor.insert_slice %y into %x[%c0, 0] [2, 4] [%cm, 1] : tensor<2x4xf32> into tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>) -> tensor<2x4xf32> {
  %cm = arith.constant -5 : index
  // expected-error @below {{'tensor.extract_slice' expected an offset of dim 0 in [0, 281474976710656], got -5}}
  %r = tensor.extract_slice %x[%cm, 0] [2, 4] [1, 1] : tensor<?x4xf32> to tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>, %y: tensor<1x4xf32>) -> tensor<?x4xf32> {
  // expected-error @below {{'tensor.insert_slice' expected an offset of dim 0 in [0, 281474976710656], got 9223372036854775807}}
  %r = tensor.insert_slice %y into %x[9223372036854775807, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %cm = arith.constant -1 : index
  // expected-error @below {{'tensor.extract_slice' expected a size of dim 0 in [0, 281474976710656], got -1}}
  %r = tensor.extract_slice %x[0, 0] [%cm, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// The verifier of tensor looks at attributes only.
func.func @main(%x: tensor<8x4xf32>) -> tensor<2x4xf32> {
  %c7 = arith.constant 7 : index
  // expected-error @below {{'tensor.extract_slice' expected a slice within dim 0 of 'tensor<8x4xf32>', got offset 7, size 2 and stride 1}}
  %r = tensor.extract_slice %x[%c7, 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// Its end is no number of 64 bits.
func.func @main(%x: tensor<?x4xf32>) -> tensor<65537x4xf32> {
  // expected-error @below {{'tensor.extract_slice' expected a slice within dim 0 of 'tensor<?x4xf32>', got offset 0, size 65537 and stride 281474976710656}}
  %r = tensor.extract_slice %x[0, 0] [65537, 4] [281474976710656, 1] : tensor<?x4xf32> to tensor<65537x4xf32>
  return %r : tensor<65537x4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %z = arith.constant 0.0 : f32
  %cb = arith.constant 9223372036854775807 : index
  // expected-error @below {{'tensor.pad' expected a low padding of dim 0 in [0, 2147483648], got 9223372036854775807}}
  %r = tensor.pad %x low[%cb, 0] high[%cb, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x4xf32> to tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %z = arith.constant 0.0 : f32
  // expected-error @below {{'tensor.pad' expected a high padding of dim 0 in [0, 2147483648], got -1}}
  %r = tensor.pad %x low[0, 0] high[-1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x4xf32> to tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

func.func @main(%x: tensor<1x?x?x3xf32>, %w: tensor<2x2x3x2xf32>, %o: tensor<1x?x?x2xf32>) -> tensor<1x?x?x2xf32> {
  // expected-error @below {{'linalg.conv_2d_nhwc_hwcf' expected strides in [1, 2147483648], got 9223372036854775807 for dim 0 of the window}}
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<9223372036854775807> : tensor<2xi64>} ins(%x, %w : tensor<1x?x?x3xf32>, tensor<2x2x3x2xf32>) outs(%o : tensor<1x?x?x2xf32>) -> tensor<1x?x?x2xf32>
  return %r : tensor<1x?x?x2xf32>
}

// -----

func.func @main(%x: tensor<1x?x?x3xf32>, %w: tensor<2x2x3x2xf32>, %o: tensor<1x?x?x2xf32>) -> tensor<1x?x?x2xf32> {
  // expected-error @below {{'linalg.conv_2d_nhwc_hwcf' expected dilations in [1, 2147483648], got 9223372036854775807 for dim 1 of the window}}
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 9223372036854775807]> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x?x?x3xf32>, tensor<2x2x3x2xf32>) outs(%o : tensor<1x?x?x2xf32>) -> tensor<1x?x?x2xf32>
  return %r : tensor<1x?x?x2xf32>
}
