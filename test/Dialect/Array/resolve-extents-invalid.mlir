// RUN: xc-opt %s -split-input-file -verify-diagnostics -xc-array-resolve-extents

func.func @returned(%x: tensor<64x8xf32>, %n: tensor<i64>) -> tensor<?x8xf32> {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  // expected-error @+1 {{'func.return' op dim 0 of operand #0 is a bounded dynamic dim, which it cannot take; return array.pad_to_bound of it and array.extent}}
  return %0 : tensor<?x8xf32>
}

// -----

func.func @size_on_host(%x: tensor<64xf32>, %y: tensor<64xf32>, %n: tensor<i64>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{'array.add' op dim 0 of operand #0 is a bounded dynamic dim, and dim 0 of operand #1, which has to be equal, has a size on the host (64); array.set_extent gives it the same one}}
  %1 = array.add %0, %y : (tensor<?xf32>, tensor<64xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @different(%x: tensor<64xf32>, %n: tensor<i64>, %m: tensor<i64>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  %1 = array.set_extent %x, %m axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{'array.mul' op dim 0 of operand #0 is a bounded dynamic dim, and dim 0 of operand #1, which has to be equal, has another one (bounds 64 and 64)}}
  %2 = array.mul %0, %1 : tensor<?xf32>
  return
}

// -----

func.func @bounds(%x: tensor<64xf32>, %y: tensor<32xf32>, %n: tensor<i64>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  %1 = array.set_extent %y, %n axis = 0 : (tensor<32xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{has another one (bounds 64 and 32)}}
  %2 = array.mul %0, %1 : tensor<?xf32>
  return
}

// -----

func.func @no_rule(%x: tensor<64xf32>, %n: tensor<i64>, %seed: tensor<2xui32>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{'array.roll' op dim 0 of operand #0 is a bounded dynamic dim, which it cannot take; array.pad_to_bound makes it an array of its bound}}
  %1 = array.roll %0 shifts = [1] axes = [0] : tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @on_host(%x: tensor<64xf32>, %n: tensor<i64>) -> index {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  %1 = array.dim %0, 0 : tensor<?xf32>
  // expected-error @+1 {{'func.return' op needs on the host a size that depends on a runtime size in device memory; array.extent and array.from_index give it as data}}
  return %1 : index
}

// -----

func.func @no_bound(%x: tensor<64xf32>, %n: tensor<i64>, %k: index) -> tensor<i32> {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  %1 = array.dim %0, 0 : tensor<?xf32>
  %2 = arith.subi %k, %1 : index
  // expected-error @+1 {{'array.iota' op needs on the host a size that depends on a runtime size in device memory}}
  %3 = array.iota axis = 0 sizes(%2) : tensor<?xi32>
  %4 = array.reduce sum, %3 axes = [0] : tensor<?xi32> -> tensor<i32>
  return %4 : tensor<i32>
}

// -----

func.func @cut(%x: tensor<64xf32>, %n: tensor<i64>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{'array.slice' op dim 0 of operand #0 is a bounded dynamic dim, which may lie before the slice's end 4; array.set_extent cuts it, or array.take with indices}}
  %1 = array.slice %0 [0:4] : tensor<?xf32> -> tensor<4xf32>
  return
}

// -----

func.func @merged(%x: tensor<4x64xf32>, %n: tensor<i64>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %x, %n axis = 1 : (tensor<4x64xf32>, tensor<i64>) -> tensor<4x?xf32>
  // expected-error @+1 {{'array.reshape' op dim 1 of operand #0 is a bounded dynamic dim, and does not stay the first of the dims that it is reshaped with, from [4, ?] to [?]}}
  %1 = array.reshape %0 : tensor<4x?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @cast(%x: tensor<64xf32>, %n: tensor<i64>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{'tensor.cast' op dim 0 of operand #0 is a bounded dynamic dim, where a size of 64 is asked for; array.pad_to_bound gives it one}}
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<64xf32>
  return
}

// -----

func.func @padded(%x: tensor<64xf32>, %n: tensor<i64>, %zero: tensor<f32>) {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{'array.pad_to_bound' op expected a result of the bounds' sizes, 'tensor<64xf32>', got 'tensor<65xf32>'}}
  %1 = array.pad_to_bound %0, %zero : (tensor<?xf32>, tensor<f32>) -> tensor<65xf32>
  return
}

// -----

func.func @not_bounded(%x: tensor<?xf32>, %u: tensor<1xf32>) {
  // expected-error @+1 {{'array.append' op expected dim 0 of its operand to be a bounded dynamic dim, as array.set_extent makes it; array.concatenate joins others}}
  %0 = array.append %x, %u axis = 0 : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @box(%x: tensor<64xf32>, %n: tensor<i64>, %i: tensor<i64>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{which a box that does not begin at 0 has to have too, with sizes(array.dim of it); array.take reads single indices}}
  %1 = array.dynamic_slice %0[%i] : (tensor<?xf32>, tensor<i64>) -> tensor<4xf32>
  return
}

// -----

func.func @repeated(%x: tensor<64xf32>, %n: tensor<i64>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{'array.broadcast_in_dim' op dim 0 of operand #0 is a bounded dynamic dim, but the result's dim 1 does not; array.dim of the operand is its size}}
  %1 = array.broadcast_in_dim %0 axes = [1] : tensor<?xf32> -> tensor<2x64xf32>
  return
}

// -----

func.func @unlike_the_result(%x: tensor<64xf32>, %y: tensor<?xf32>, %n: tensor<i64>) {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  %d = array.dim %0, 0 : tensor<?xf32>
  // expected-error @+1 {{'array.broadcast_in_dim' op expected dim 0 of its operand to have the runtime size of the result's dim 0 or to be 1, got ?}}
  %1 = array.broadcast_in_dim %y axes = [0] sizes(%d) : tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @branches(%x: tensor<64xf32>, %y: tensor<?xf32>, %n: tensor<i64>, %p: tensor<i1>) {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{'array.if' op dim 0 of value #0 is a bounded dynamic dim in one place and has a size on the host in another; array.set_extent makes it one}}
  %1 = array.if %p : tensor<i1> -> (tensor<?xf32>) {
    array.yield %0 : tensor<?xf32>
  } else {
    // expected-note @+1 {{yielded here}}
    array.yield %y : tensor<?xf32>
  }
  return
}

// -----

func.func @grows(%x: tensor<64xf32>, %u: tensor<1xf32>, %n: tensor<i64>) {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{'array.while' op expected equal bounds of value #0, got arrays of 'tensor<64xf32>' and 'tensor<65xf32>'; array.append keeps the bound}}
  %1 = array.while %0 : (tensor<?xf32>) -> (tensor<?xf32>) condition {
  ^bb0(%v: tensor<?xf32>):
    %more = array.constant dense<true> : tensor<i1>
    array.yield %more : tensor<i1>
  } body {
  ^bb0(%v: tensor<?xf32>):
    %2 = array.concatenate %v, %u axis = 0 : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
    // expected-note @+1 {{yielded here}}
    array.yield %2 : tensor<?xf32>
  }
  return
}

// -----

func.func @split(%x: tensor<130xf32>, %n: tensor<i64>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<130xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{'array.reshape' op dim 0 of operand #0 is a bounded dynamic dim, and a bound of 130, which is not a multiple of the 8 elements that it is split by}}
  %1 = array.reshape %0 : tensor<?xf32> -> tensor<?x8xf32>
  return
}

// -----

// The second follows the first a turn later, and the third the second.
func.func @unlike(%x: tensor<64xf32>, %u: tensor<1xf32>, %n: tensor<i64>, %more: tensor<i1>) {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-note @+1 {{one begins as this}}
  %1 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  %2 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  %3:3 = array.while %0, %1, %2 : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) condition {
  ^bb0(%k: tensor<?xf32>, %v: tensor<?xf32>, %w: tensor<?xf32>):
    array.yield %more : tensor<i1>
  } body {
  ^bb0(%k: tensor<?xf32>, %v: tensor<?xf32>, %w: tensor<?xf32>):
    %4 = array.append %k, %u axis = 0 : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
    // expected-error @+1 {{'array.add' op has dims with runtime sizes in device memory that have to be equal, but that a loop, which carries them, changes one unlike the other}}
    %5 = array.add %v, %w : tensor<?xf32>
    array.yield %4, %k, %5 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  }
  return
}

// -----

func.func @custom(%x: tensor<64xf32>, %n: tensor<i64>) -> tensor<64xf32> {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{'array.custom_kernel' op dim 0 of operand #0 is a bounded dynamic dim, which it cannot take; array.pad_to_bound makes it an array of its bound}}
  %1 = array.custom_kernel "f"(%0) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {file = "f.ptx"} : (tensor<?xf32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

func.func @filter_window(%x: tensor<2x9x4xf32>, %w: tensor<?x4x4xf32>, %n: tensor<i64>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %w, %n axis = 0 : (tensor<?x4x4xf32>, tensor<i64>) -> tensor<?x4x4xf32>
  // expected-error @+1 {{'array.conv' op dim 0 of operand #1 is a bounded dynamic dim, but is the size of a window whose bound is not known when the module is compiled: the smaller it is, the more places it has; a result with a static size says how many there are, array.pad_to_bound with zeros makes it a window of its bound}}
  %1 = array.conv %x, %0 dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> : (tensor<2x9x4xf32>, tensor<?x4x4xf32>) -> tensor<2x?x4xf32>
  return
}

// -----

func.func @grouped(%x: tensor<2x9x4xf32>, %w: tensor<3x2x4xf32>, %n: tensor<i64>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %w, %n axis = 2 : (tensor<3x2x4xf32>, tensor<i64>) -> tensor<3x2x?xf32>
  // expected-error @+1 {{'array.conv' op dim 2 of operand #1 is a bounded dynamic dim, but is a part of 2 groups, which begin at places that the host knows; array.pad_to_bound makes it an array of its bound}}
  %1 = array.conv %x, %0 dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> feature_groups = 2 : (tensor<2x9x4xf32>, tensor<3x2x?xf32>) -> tensor<2x7x?xf32>
  return
}

// -----

func.func @places(%x: tensor<9xf32>, %g: tensor<7xf32>, %n: tensor<i64>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<9xf32>, tensor<i64>) -> tensor<?xf32>
  %1 = array.set_extent %g, %n axis = 0 : (tensor<7xf32>, tensor<i64>) -> tensor<?xf32>
  // expected-error @+1 {{'array.select_and_scatter' op dim 0 of operand #0 is a bounded dynamic dim, and dim 0 of operand #1 is not known to have that of the places; array.reduce_window of the operand has}}
  %2 = array.select_and_scatter max, %0, %1 window = [3] : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @batch_of_attention(%q: tensor<5x4x1x64xf16>, %k: tensor<5x2x30x64xf16>, %n: tensor<i64>) {
  // expected-note @+1 {{its runtime size comes from here}}
  %0 = array.set_extent %q, %n axis = 0 : (tensor<5x4x1x64xf16>, tensor<i64>) -> tensor<?x4x1x64xf16>
  %1 = array.set_extent %k, %n axis = 0 : (tensor<5x2x30x64xf16>, tensor<i64>) -> tensor<?x2x30x64xf16>
  // expected-error @+1 {{'array.attention' op dim 0 of operand #0 is a bounded dynamic dim, which it cannot take; array.pad_to_bound makes it an array of its bound}}
  %2 = array.attention %0, %1, %1 scale = 0.125 {array.whole} : (tensor<?x4x1x64xf16>, tensor<?x2x30x64xf16>, tensor<?x2x30x64xf16>) -> tensor<?x4x1x64xf16>
  return
}
