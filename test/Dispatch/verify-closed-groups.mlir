// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-plan-test-verify-groups))' -split-input-file -verify-diagnostics

#id = affine_map<(d0, d1) -> (d0, d1)>

// What is brought in is computed and reshaped where it is written.
func.func @update(%x: tensor<8xf32>, %i: tensor<i32>, %cache: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], test.closed}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.addf %a, %a : f32
    linalg.yield %c : f32
  } -> tensor<8xf32>
  %z = tensor.expand_shape %y [[0, 1]] output_shape [2, 4] {test.closed} : tensor<8xf32> into tensor<2x4xf32>
  %r = kernel.update %z at [%i, %i] into %cache {test.closed}
      : tensor<2x4xf32> at tensor<i32>, tensor<i32> into tensor<8x4xf32> -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// Each insertion goes into what the one before it makes.
func.func @insertions(%x: tensor<2x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %a = tensor.insert_slice %x into %y[0, 0] [2, 4] [1, 1] {test.closed} : tensor<2x4xf32> into tensor<8x4xf32>
  %b = tensor.insert_slice %x into %a[2, 0] [2, 4] [1, 1] {test.closed} : tensor<2x4xf32> into tensor<8x4xf32>
  return %b : tensor<8x4xf32>
}

// -----

func.func @insertions_apart(%x: tensor<2x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %a = tensor.insert_slice %x into %y[0, 0] [2, 4] [1, 1] {test.closed} : tensor<2x4xf32> into tensor<8x4xf32>
  // expected-error @+1 {{fused wrongly: expected an insertion into what the op before it makes}}
  %b = tensor.insert_slice %x into %y[2, 0] [2, 4] [1, 1] {test.closed} : tensor<2x4xf32> into tensor<8x4xf32>
  return %b : tensor<8x4xf32>
}

// -----

func.func @insertion_needed_elsewhere(%x: tensor<2x4xf32>, %y: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  // expected-error @+1 {{fused wrongly: expected uses in its kernel alone, got one outside}}
  %a = tensor.insert_slice %x into %y[0, 0] [2, 4] [1, 1] {test.closed} : tensor<2x4xf32> into tensor<8x4xf32>
  %b = tensor.insert_slice %x into %a[2, 0] [2, 4] [1, 1] {test.closed} : tensor<2x4xf32> into tensor<8x4xf32>
  // expected-note @+1 {{used here}}
  return %a, %b : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// The whole is inserted into itself.
func.func @insertion_of_itself(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %a = tensor.insert_slice %x into %y[0, 0] [8, 4] [1, 1] {test.closed} : tensor<8x4xf32> into tensor<8x4xf32>
  // expected-error @+1 {{fused wrongly: expected a source from another kernel, got what the op before it makes}}
  %b = tensor.insert_slice %a into %a[0, 0] [8, 4] [1, 1] {test.closed} : tensor<8x4xf32> into tensor<8x4xf32>
  return %b : tensor<8x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A sum is not an element that a thread computes where it needs it.
func.func @reduction(%x: tensor<2x4xf32>, %m: tensor<2xf32>, %i: tensor<i32>, %cache: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{fused wrongly: expected no loops that reduce in a kernel of another op, got 1}}
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"], test.closed}
      ins(%x : tensor<2x4xf32>) outs(%m : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<2xf32>
  %r = kernel.update %s at [%i] into %cache {test.closed} : tensor<2xf32> at tensor<i32> into tensor<8xf32> -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Whoever needs an element would have to know which of the points was the last.
func.func @two_points(%x: tensor<2x4xf32>, %e: tensor<2xf32>, %i: tensor<i32>, %cache: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{fused wrongly: expected one point for each element, got (0, 0) and (0, 1) for element (0)}}
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel"], test.closed}
      ins(%x : tensor<2x4xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2xf32>
  %r = kernel.update %s at [%i] into %cache {test.closed} : tensor<2xf32> at tensor<i32> into tensor<8xf32> -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// The box may lie over the elements that others have yet to read.
func.func @reads_what_is_written(%i: tensor<i32>, %cache: tensor<8xf32>) -> tensor<8xf32> {
  %old = tensor.extract_slice %cache[2] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  // expected-error @+1 {{fused wrongly: expected it to read nothing that its kernel writes}}
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"], test.closed}
      ins(%old : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %a : f32
    linalg.yield %c : f32
  } -> tensor<2xf32>
  // expected-note @+1 {{written here}}
  %r = kernel.update %s at [%i] into %cache {test.closed} : tensor<2xf32> at tensor<i32> into tensor<8xf32> -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// So do elements at places that are computed.
func.func @gathers_what_is_written(%x: tensor<2xi32>, %i: tensor<i32>, %cache: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<2xf32>
  // expected-error @+1 {{fused wrongly: expected it to read nothing that its kernel writes}}
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"], test.closed}
      ins(%x : tensor<2xi32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: i32, %b: f32):
    %n = arith.index_cast %a : i32 to index
    %c = tensor.extract %cache[%n] : tensor<8xf32>
    linalg.yield %c : f32
  } -> tensor<2xf32>
  // expected-note @+1 {{written here}}
  %r = kernel.update %s at [%i] into %cache {test.closed} : tensor<2xf32> at tensor<i32> into tensor<8xf32> -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

func.func @needed_elsewhere(%x: tensor<2xf32>, %i: tensor<i32>, %cache: tensor<8xf32>) -> (tensor<2xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<2xf32>
  // expected-error @+1 {{fused wrongly: expected uses in its kernel alone, got one outside}}
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"], test.closed}
      ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %a : f32
    linalg.yield %c : f32
  } -> tensor<2xf32>
  %r = kernel.update %s at [%i] into %cache {test.closed} : tensor<2xf32> at tensor<i32> into tensor<8xf32> -> tensor<8xf32>
  // expected-note @+1 {{used here}}
  return %s, %r : tensor<2xf32>, tensor<8xf32>
}

// -----

// Padding is neither.
func.func @not_elementwise(%x: tensor<2x3xf32>, %i: tensor<i32>, %cache: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{fused wrongly: expected an op of linalg or a reshape in a kernel of another op}}
  %p = tensor.pad %x low[0, 0] high[1, 1] {
  ^bb0(%a: index, %b: index):
    tensor.yield %zero : f32
  } {test.closed} : tensor<2x3xf32> to tensor<3x4xf32>
  %r = kernel.update %p at [%i, %i] into %cache {test.closed}
      : tensor<3x4xf32> at tensor<i32>, tensor<i32> into tensor<8x8xf32> -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

func.func @other_order(%x: tensor<2xf32>, %i: tensor<i32>, %cache: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"], test.closed = 1}
      ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %a : f32
    linalg.yield %c : f32
  } -> tensor<2xf32>
  // expected-error @+1 {{fused wrongly: expected what it needs to be computed before it}}
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"], test.closed = 0}
      ins(%s : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %a : f32
    linalg.yield %c : f32
  } -> tensor<2xf32>
  %r = kernel.update %t at [%i] into %cache {test.closed = 2} : tensor<2xf32> at tensor<i32> into tensor<8xf32> -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

#swap = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Each result is stored where an op behind it says.
func.func @moved_results(%q: tensor<4x128x64xbf16>, %l: tensor<4x128xf32>) -> (tensor<128x4x64xbf16>, tensor<128x4x64xbf16>) {
  %e = tensor.empty() : tensor<4x128x64xbf16>
  %f = tensor.empty() : tensor<128x4x64xbf16>
  %a, %b = kernel.attention_gradient %q, %q, %q, %q, %l, %l into %e, %e scale = 1.250000e-01 {test.closed}
      : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128xf32>, tensor<4x128xf32>
      into tensor<4x128x64xbf16>, tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>, tensor<4x128x64xbf16>
  %r = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"], test.closed}
      ins(%b : tensor<4x128x64xbf16>) outs(%f : tensor<128x4x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<128x4x64xbf16>
  %s = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"], test.closed}
      ins(%a : tensor<4x128x64xbf16>) outs(%f : tensor<128x4x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<128x4x64xbf16>
  return %r, %s : tensor<128x4x64xbf16>, tensor<128x4x64xbf16>
}

// -----

#swap = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// One result cannot be stored twice.
func.func @result_moved_twice(%q: tensor<4x128x64xbf16>, %l: tensor<4x128xf32>) -> (tensor<128x4x64xbf16>, tensor<128x4x64xbf16>) {
  %e = tensor.empty() : tensor<4x128x64xbf16>
  %f = tensor.empty() : tensor<128x4x64xbf16>
  // expected-error @+1 {{fused wrongly: expected one op to store a result, got several}}
  %a, %b = kernel.attention_gradient %q, %q, %q, %q, %l, %l into %e, %e scale = 1.250000e-01 {test.closed}
      : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128xf32>, tensor<4x128xf32>
      into tensor<4x128x64xbf16>, tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>, tensor<4x128x64xbf16>
  %r = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"], test.closed}
      ins(%b : tensor<4x128x64xbf16>) outs(%f : tensor<128x4x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<128x4x64xbf16>
  %s = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"], test.closed}
      ins(%b : tensor<4x128x64xbf16>) outs(%f : tensor<128x4x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<128x4x64xbf16>
  return %r, %s : tensor<128x4x64xbf16>, tensor<128x4x64xbf16>
}

// -----

#swap = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// What another kernel makes is not stored here.
func.func @moved_operand(%q: tensor<4x128x64xbf16>, %l: tensor<4x128xf32>) -> (tensor<128x4x64xbf16>, tensor<128x4x64xbf16>) {
  %e = tensor.empty() : tensor<4x128x64xbf16>
  %f = tensor.empty() : tensor<128x4x64xbf16>
  %a, %b = kernel.attention_gradient %q, %q, %q, %q, %l, %l into %e, %e scale = 1.250000e-01 {test.closed}
      : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128xf32>, tensor<4x128xf32>
      into tensor<4x128x64xbf16>, tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>, tensor<4x128x64xbf16>
  %r = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"], test.closed}
      ins(%a : tensor<4x128x64xbf16>) outs(%f : tensor<128x4x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<128x4x64xbf16>
  // expected-error @+1 {{fused wrongly: expected it to move what an op before it makes, and to compute nothing}}
  %s = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"], test.closed}
      ins(%q : tensor<4x128x64xbf16>) outs(%f : tensor<128x4x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<128x4x64xbf16>
  return %r, %s : tensor<128x4x64xbf16>, tensor<128x4x64xbf16>
}
