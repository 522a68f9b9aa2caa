// RUN: xc-opt %s -split-input-file -verify-diagnostics

func.func @scalar_indices(%i: tensor<i32>, %u: tensor<5xf32>, %d: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @below {{expected indices of rank 1 or more and signless integers, got 'tensor<i32>'}}
  %0 = kernel.scatter set, %i, %u into %d axes = [] : tensor<i32>, tensor<5xf32> into tensor<5xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @element_types(%i: tensor<4x1xi32>, %u: tensor<4xf16>, %d: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @below {{expected updates and destination of one signless integer or float type, got 'f16' and 'f32'}}
  %0 = kernel.scatter set, %i, %u into %d axes = [0] : tensor<4x1xi32>, tensor<4xf16> into tensor<5xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @axes(%i: tensor<4x2xi32>, %u: tensor<4xf32>, %d: tensor<5x6xf32>) -> tensor<5x6xf32> {
  // expected-error @below {{expected strictly increasing axes in [0, 2), got [1, 0]}}
  %0 = kernel.scatter set, %i, %u into %d axes = [1, 0]
    : tensor<4x2xi32>, tensor<4xf32> into tensor<5x6xf32> -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// -----

func.func @components(%i: tensor<4x3xi32>, %u: tensor<4x6xf32>, %d: tensor<5x6xf32>) -> tensor<5x6xf32> {
  // expected-error @below {{expected index vectors of 1 components, got 'tensor<4x3xi32>'}}
  %0 = kernel.scatter set, %i, %u into %d axes = [0]
    : tensor<4x3xi32>, tensor<4x6xf32> into tensor<5x6xf32> -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// -----

func.func @update_shape(%i: tensor<4x1xi32>, %u: tensor<4x7xf32>, %d: tensor<5x6xf32>) -> tensor<5x6xf32> {
  // expected-error @below {{expected updates like 'tensor<4x6xf32>', got 'tensor<4x7xf32>'}}
  %0 = kernel.scatter set, %i, %u into %d axes = [0]
    : tensor<4x1xi32>, tensor<4x7xf32> into tensor<5x6xf32> -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// -----

func.func @mixed(%i: tensor<4x1xi32>, %u: memref<4x6xf32>, %d: memref<5x6xf32>) {
  // expected-error @below {{expected only tensors or only memrefs, got 'tensor<4x1xi32>', 'memref<4x6xf32>', 'memref<5x6xf32>'}}
  kernel.scatter set, %i, %u into %d axes = [0] : tensor<4x1xi32>, memref<4x6xf32> into memref<5x6xf32>
  return
}

// -----

func.func @no_result(%i: tensor<4x1xi32>, %u: tensor<4x6xf32>, %d: tensor<5x6xf32>) {
  // expected-error @below {{expected a result of each destination's type}}
  kernel.scatter set, %i, %u into %d axes = [0] : tensor<4x1xi32>, tensor<4x6xf32> into tensor<5x6xf32>
  return
}

// -----

func.func @scatter_order(%i: memref<4x1xi32>, %u: memref<4x6xf32>, %r: memref<3xi32>, %o: memref<4xi32>, %d: memref<5x6xf32>) {
  // expected-error @below {{expected rows and order to be vectors of integers, one for each index vector, got 'memref<3xi32>' and 'memref<4xi32>'}}
  kernel.scatter set, %i, %u by %r, %o into %d axes = [0]
    : memref<4x1xi32>, memref<4x6xf32> by memref<3xi32>, memref<4xi32> into memref<5x6xf32>
  return
}

// -----

func.func @scatter_half(%i: memref<4x1xi32>, %u: memref<4x6xf32>, %r: memref<4xi32>, %d: memref<5x6xf32>) {
  // expected-error @below {{expected both rows and their order, or neither}}
  "kernel.scatter"(%i, %u, %r, %d) <{kind = #kernel<scatter_kind set>, axes = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>}>
    : (memref<4x1xi32>, memref<4x6xf32>, memref<4xi32>, memref<5x6xf32>) -> ()
  return
}

// -----

func.func @a_result(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @below {{expected no result}}
  %0 = kernel.scan sum, %x into %y axis = 0 : memref<4xf32> into memref<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @scan_elements(%x: memref<4xui32>, %y: memref<4xui32>) {
  // expected-error @below {{expected ranked operands of signless integers or floats, got 'memref<4xui32>' and 'memref<4xui32>'}}
  kernel.scan sum, %x into %y axis = 0 : memref<4xui32> into memref<4xui32>
  return
}

// -----

func.func @scan_axis(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @below {{expected an axis in [0, 1), got 1}}
  kernel.scan sum, %x into %y axis = 1 : memref<4xf32> into memref<4xf32>
  return
}

// -----

func.func @scan_integers(%x: memref<4xi32>, %y: memref<4xi32>) {
  // expected-error @below {{expected floats to combine with logaddexp, got 'i32'}}
  kernel.scan logaddexp, %x into %y axis = 0 : memref<4xi32> into memref<4xi32>
  return
}

// -----

func.func @scan_segment(%x: memref<40xf32>, %y: memref<40xf32>) {
  // expected-error @below {{expected segments of at least one element, and either their totals or a carry, got segments of 8}}
  kernel.scan sum, %x every 8 into %y axis = 0 : memref<40xf32> into memref<40xf32>
  return
}

// -----

func.func @scan_carry(%x: memref<40xf16>, %c: memref<5xf32>, %y: memref<40xf16>) {
  // expected-error @below {{expected a carry of 'f32' and shape [4], got 'memref<5xf32>'}}
  kernel.scan sum, %x from %c every 8 into %y axis = 0 : memref<40xf16> from memref<5xf32> into memref<40xf16>
  return
}

// -----

func.func @scan_totals(%x: memref<40xf16>, %y: memref<4xf16>) {
  // expected-error @below {{expected a destination of 'f32' and shape [4], got 'memref<4xf16>'}}
  kernel.scan sum, %x every 8 totals into %y axis = 0 : memref<40xf16> into memref<4xf16>
  return
}

// -----

func.func @sort_rank(%x: memref<f32>, %v: memref<f32>, %i: memref<i32>) {
  // expected-error @below {{expected ranked operands of rank 1 or more, got 'memref<f32>', 'memref<f32>' and 'memref<i32>'}}
  kernel.sort %x into %v, %i : memref<f32> into memref<f32>, memref<i32>
  return
}

// -----

func.func @sort_elements(%x: memref<4xf32>, %v: memref<4xf64>, %i: memref<4xi32>) {
  // expected-error @below {{expected keys and values of one signless integer or float type, got 'f32' and 'f64'}}
  kernel.sort %x into %v, %i : memref<4xf32> into memref<4xf64>, memref<4xi32>
  return
}

// -----

func.func @sort_indices(%x: memref<4xf32>, %v: memref<4xf32>, %i: memref<4xi16>) {
  // expected-error @below {{expected indices of i32 or i64, got 'i16'}}
  kernel.sort %x into %v, %i : memref<4xf32> into memref<4xf32>, memref<4xi16>
  return
}

// -----

func.func @sort_keep(%x: memref<4xf32>, %v: memref<4xf32>, %i: memref<4xi32>) {
  // expected-error @below {{expected keep and segment that are not negative, got -1 and 0}}
  kernel.sort %x into %v, %i keep = -1 : memref<4xf32> into memref<4xf32>, memref<4xi32>
  return
}

// -----

func.func @sort_payload(%x: memref<4xf32>, %p: memref<4xi64>, %v: memref<4xf32>, %i: memref<4xi32>) {
  // expected-error @below {{expected a payload of 'i32' and the keys' shape, got 'memref<4xi64>'}}
  kernel.sort %x payload %p into %v, %i : memref<4xf32> payload memref<4xi64> into memref<4xf32>, memref<4xi32>
  return
}

// -----

func.func @sort_shape(%x: memref<3x100xf32>, %v: memref<3x16xf32>, %i: memref<3x16xi32>) {
  // expected-error @below {{expected values and indices of shape [3, 12], got [3, 16] and [3, 16]}}
  kernel.sort %x into %v, %i keep = 4 segment = 48 : memref<3x100xf32> into memref<3x16xf32>, memref<3x16xi32>
  return
}

// -----

func.func @merge_above(%x: memref<?xf32>, %p: memref<?xi32>) {
  // expected-error @below {{expected to work above a length that is not negative, got -1}}
  kernel.merge %x, %p into %x, %p run = 8 above = -1 : memref<?xf32>, memref<?xi32> into memref<?xf32>, memref<?xi32>
  return
}

// -----

func.func @element(%x: f32) -> f32 {
  // expected-error @below {{attribute 'number' failed to satisfy constraint}}
  %e = kernel.element -1, %x : f32
  return %e : f32
}

// -----

func.func @digit_keys(%x: memref<f32>, %c: memref<256x1xi32>) {
  // expected-error @below {{expected keys of rank 1 or more and of signless integers or floats, got 'memref<f32>'}}
  kernel.count_digits %x into %c digit = 0 tile = 4 : memref<f32> into memref<256x1xi32>
  return
}

// -----

func.func @digit_number(%x: memref<9xf16>, %c: memref<256x3xi32>) {
  // expected-error @below {{expected a digit from 0 to 1 of 'f16', got 2}}
  kernel.count_digits %x into %c digit = 2 tile = 4 : memref<9xf16> into memref<256x3xi32>
  return
}

// -----

func.func @digit_tile(%x: memref<9xf16>, %c: memref<256x3xi32>) {
  // expected-error @below {{expected tiles of at least one element, got 0}}
  kernel.count_digits %x into %c digit = 1 tile = 0 : memref<9xf16> into memref<256x3xi32>
  return
}

// -----

func.func @digit_counts(%x: memref<9xf16>, %c: memref<256x2xi32>) {
  // expected-error @below {{expected counts of i32 or i64 and shape [256, 3], got 'memref<256x2xi32>'}}
  kernel.count_digits %x into %c digit = 1 tile = 4 : memref<9xf16> into memref<256x2xi32>
  return
}

// -----

func.func @digit_values(%x: memref<9xf16>, %c: memref<256x3xi32>, %v: memref<9xf32>) {
  // expected-error @below {{expected keys and values of one type, got 'memref<9xf16>' and 'memref<9xf32>'}}
  kernel.sort_digit %x by %c into %v digit = 1 tile = 4 : memref<9xf16> by memref<256x3xi32> into memref<9xf32>
  return
}

// -----

func.func @digit_payload(%x: memref<9xf16>, %p: memref<9xi32>, %c: memref<256x3xi32>) {
  // expected-error @below {{expected indices to bring the payload into}}
  kernel.sort_digit %x payload %p by %c into %x digit = 1 tile = 4
    : memref<9xf16> payload memref<9xi32> by memref<256x3xi32> into memref<9xf16>
  return
}

// -----

func.func @digit_indices(%x: memref<9xf16>, %i: memref<8xi32>, %c: memref<256x3xi32>) {
  // expected-error @below {{expected payload and indices of i32 or i64 and the keys' shape, got 'memref<8xi32>'}}
  kernel.sort_digit %x by %c into %x, %i digit = 1 tile = 4
    : memref<9xf16> by memref<256x3xi32> into memref<9xf16>, memref<8xi32>
  return
}

// -----

func.func @digit_narrow_indices(%x: memref<9xf16>, %p: memref<9xi64>, %i: memref<9xi32>, %c: memref<256x3xi32>) {
  // expected-error @below {{expected indices at least as wide as the payload, got 'memref<9xi64>' and 'memref<9xi32>'}}
  kernel.sort_digit %x payload %p by %c into %x, %i digit = 1 tile = 4
    : memref<9xf16> payload memref<9xi64> by memref<256x3xi32> into memref<9xf16>, memref<9xi32>
  return
}

// -----

func.func @merge_keys(%x: memref<f32>, %p: memref<i32>) {
  // expected-error @below {{expected keys of rank 1 or more and of signless integers or floats, got 'memref<f32>'}}
  kernel.merge %x, %p into %x, %p run = 4 : memref<f32>, memref<i32> into memref<f32>, memref<i32>
  return
}

// -----

func.func @merge_payload(%x: memref<9xf32>, %p: memref<9xf32>) {
  // expected-error @below {{expected a payload of signless integers, got 'memref<9xf32>'}}
  kernel.merge %x, %p into %x, %p run = 4 : memref<9xf32>, memref<9xf32> into memref<9xf32>, memref<9xf32>
  return
}

// -----

func.func @merge_shapes(%x: memref<9xf32>, %p: memref<9xi32>, %i: memref<8xi32>) {
  // expected-error @below {{expected payload, values and indices of shape [9] and the element types of keys and payload, got 'memref<9xi32>', 'memref<9xf32>' and 'memref<8xi32>'}}
  kernel.merge %x, %p into %x, %i run = 4 : memref<9xf32>, memref<9xi32> into memref<9xf32>, memref<8xi32>
  return
}

// -----

func.func @merge_run(%x: memref<9xf32>, %p: memref<9xi32>) {
  // expected-error @below {{expected runs of at least one element, got 0}}
  kernel.merge %x, %p into %x, %p run = 0 : memref<9xf32>, memref<9xi32> into memref<9xf32>, memref<9xi32>
  return
}

// -----

func.func @merge_huge_run(%x: memref<9xf32>, %p: memref<9xi32>) {
  // expected-error @below {{expected runs that a line can have, got 4611686018427387904 elements}}
  kernel.merge %x, %p into %x, %p run = 4611686018427387904 : memref<9xf32>, memref<9xi32> into memref<9xf32>, memref<9xi32>
  return
}

// -----

func.func @unranked(%i: tensor<*xi32>, %u: tensor<4xf32>, %d: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @below {{expected ranked operands, got 'tensor<*xi32>', 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0 = kernel.scatter set, %i, %u into %d axes = [0] : tensor<*xi32>, tensor<4xf32> into tensor<5xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @update_types(%u: memref<4xf16>, %i: memref<i32>, %d: memref<8xf32>) {
  // expected-error @below {{expected an update of the destination's rank and element type, got 'memref<4xf16>' and 'memref<8xf32>'}}
  kernel.update %u at [%i] into %d : memref<4xf16> at memref<i32> into memref<8xf32>
  return
}

// -----

func.func @update_starts(%u: memref<4x2xf32>, %i: memref<i32>, %d: memref<8x2xf32>) {
  // expected-error @below {{expected a start for each of 2 dims, got 1}}
  kernel.update %u at [%i] into %d : memref<4x2xf32> at memref<i32> into memref<8x2xf32>
  return
}

// -----

func.func @update_start_type(%u: memref<4xf32>, %i: memref<1xi32>, %d: memref<8xf32>) {
  // expected-error @below {{expected starts that are scalars of signless integers, got 'memref<1xi32>'}}
  kernel.update %u at [%i] into %d : memref<4xf32> at memref<1xi32> into memref<8xf32>
  return
}

// -----

func.func @update_size(%u: memref<9xf32>, %i: memref<i32>, %d: memref<8xf32>) {
  // expected-error @below {{expected an update that fits into dim 0 of the destination, got sizes 9 and 8}}
  kernel.update %u at [%i] into %d : memref<9xf32> at memref<i32> into memref<8xf32>
  return
}

// -----

func.func @update_unsigned(%u: memref<4xf32>, %i: memref<i32>, %d: memref<8xf32>) {
  // expected-error @below {{expected strictly increasing dims in [0, 1) with unsigned starts, got [1]}}
  kernel.update %u at [%i] into %d unsigned_starts = [1] : memref<4xf32> at memref<i32> into memref<8xf32>
  return
}

// -----

func.func @attention_heads(%q: tensor<3x4x16xf16>, %k: tensor<2x5x16xf16>, %e: tensor<3x4x16xf16>) -> tensor<3x4x16xf16> {
  // expected-error @below {{expected queries, keys and values that belong together, got 'tensor<3x4x16xf16>', 'tensor<2x5x16xf16>' and 'tensor<2x5x16xf16>'}}
  %r = kernel.attention %q, %k, %k into %e scale = 1.0 : tensor<3x4x16xf16>, tensor<2x5x16xf16>, tensor<2x5x16xf16> into tensor<3x4x16xf16> -> tensor<3x4x16xf16>
  return %r : tensor<3x4x16xf16>
}

// -----

func.func @attention_rank(%q: tensor<4x16xf16>, %e: tensor<4x16xf16>) -> tensor<4x16xf16> {
  // expected-error @below {{expected query, key and value of one rank of at least 3, got 'tensor<4x16xf16>', 'tensor<4x16xf16>' and 'tensor<4x16xf16>'}}
  %r = kernel.attention %q, %q, %q into %e scale = 1.0 : tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x16xf16> into tensor<4x16xf16> -> tensor<4x16xf16>
  return %r : tensor<4x16xf16>
}

// -----

func.func @attention_type(%q: tensor<2x4x16xf64>, %e: tensor<2x4x16xf64>) -> tensor<2x4x16xf64> {
  // expected-error @below {{expected one float type of 16 or 32 bits, got 'tensor<2x4x16xf64>', 'tensor<2x4x16xf64>' and 'tensor<2x4x16xf64>'}}
  %r = kernel.attention %q, %q, %q into %e scale = 1.0 : tensor<2x4x16xf64>, tensor<2x4x16xf64>, tensor<2x4x16xf64> into tensor<2x4x16xf64> -> tensor<2x4x16xf64>
  return %r : tensor<2x4x16xf64>
}

// -----

func.func @attention_dests(%q: memref<2x4x16xf16>, %e: memref<2x4x16xf16>, %l: memref<2x4xf32>) {
  // expected-error @below {{expected one or two destinations, got 3}}
  kernel.attention %q, %q, %q into %e, %l, %l scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16> into memref<2x4x16xf16>, memref<2x4xf32>, memref<2x4xf32>
  return
}

// -----

func.func @attention_logsumexp(%q: memref<2x4x16xf16>, %e: memref<2x4x16xf16>, %l: memref<2x4xf16>) {
  // expected-error @below {{expected the result's shape and type, or f32 for each query, got 'memref<2x4xf16>'}}
  kernel.attention %q, %q, %q into %e, %l scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16> into memref<2x4x16xf16>, memref<2x4xf16>
  return
}

// -----

func.func @attention_mask(%q: memref<2x4x16xf16>, %e: memref<2x4x16xf16>, %m: memref<4x4xi32>) {
  // expected-error @below {{expected a mask of floats or bytes that broadcasts to the scores, got 'memref<4x4xi32>'}}
  kernel.attention %q, %q, %q mask(%m : memref<4x4xi32>) into %e scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16> into memref<2x4x16xf16>
  return
}

// -----

func.func @attention_window(%q: memref<2x4x16xf16>, %e: memref<2x4x16xf16>) {
  // expected-error @below {{expected 'causal' beside an offset or a window}}
  kernel.attention %q, %q, %q window = 4 into %e scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16> into memref<2x4x16xf16>
  return
}

// -----

func.func @attention_gradient_types(%q: memref<2x4x16xf64>, %l: memref<2x4xf32>) {
  // expected-error @below {{expected queries of rank 3 at least and floats of 16 or 32 bits, got 'memref<2x4x16xf64>'}}
  kernel.attention_gradient %q, %q, %q, %q, %l, %l into %q scale = 1.0 : memref<2x4x16xf64>, memref<2x4x16xf64>, memref<2x4x16xf64>, memref<2x4x16xf64>, memref<2x4xf32>, memref<2x4xf32> into memref<2x4x16xf64>
  return
}

// -----

func.func @attention_gradient_heads(%q: memref<2x4x16xf16>, %k: memref<3x4x16xf16>, %l: memref<2x4xf32>) {
  // expected-error @below {{expected queries, keys and values that belong together, got 'memref<2x4x16xf16>', 'memref<3x4x16xf16>' and 'memref<2x4x16xf16>'}}
  kernel.attention_gradient %q, %k, %q, %q, %l, %l into %q scale = 1.0 : memref<2x4x16xf16>, memref<3x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4xf32>, memref<2x4xf32> into memref<2x4x16xf16>
  return
}

// -----

func.func @attention_gradient_cotangent(%q: memref<2x4x16xf16>, %g: memref<2x4x8xf16>, %l: memref<2x4xf32>) {
  // expected-error @below {{expected the cotangent of the result, got 'memref<2x4x8xf16>'}}
  kernel.attention_gradient %q, %q, %q, %g, %l, %l into %q scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x8xf16>, memref<2x4xf32>, memref<2x4xf32> into memref<2x4x16xf16>
  return
}

// -----

func.func @attention_gradient_rows(%q: memref<2x4x16xf16>, %l: memref<2x4xf32>, %d: memref<2x5xf32>) {
  // expected-error @below {{expected an f32 for each query, got 'memref<2x5xf32>'}}
  kernel.attention_gradient %q, %q, %q, %q, %l, %d into %q scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4xf32>, memref<2x5xf32> into memref<2x4x16xf16>
  return
}

// -----

func.func @attention_gradient_dests(%q: memref<2x4x16xf16>, %l: memref<2x4xf32>) {
  // expected-error @below {{expected one destination, two or three, got 4}}
  kernel.attention_gradient %q, %q, %q, %q, %l, %l into %q, %q, %q, %q scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4xf32>, memref<2x4xf32> into memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>
  return
}

// -----

func.func @attention_gradient_dest(%q: memref<2x4x16xf16>, %e: memref<2x4x8xf16>, %l: memref<2x4xf32>) {
  // expected-error @below {{expected a destination like 'memref<2x4x16xf16>', got 'memref<2x4x8xf16>'}}
  kernel.attention_gradient %q, %q, %q, %q, %l, %l into %e scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4xf32>, memref<2x4xf32> into memref<2x4x8xf16>
  return
}

// -----

func.func @attention_gradient_only(%q: memref<2x4x16xf16>, %l: memref<2x4xf32>) {
  // expected-error @below {{expected one destination beside one of 'only_keys', 'only_values' and 'only_mask', got 2}}
  kernel.attention_gradient %q, %q, %q, %q, %l, %l only_keys into %q, %q scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4xf32>, memref<2x4xf32> into memref<2x4x16xf16>, memref<2x4x16xf16>
  return
}

// -----

func.func @attention_gradient_only_mask(%q: memref<2x4x16xf16>, %m: memref<4x4xi8>, %l: memref<2x4xf32>) {
  // expected-error @below {{expected a mask of floats beside 'only_mask'}}
  kernel.attention_gradient %q, %q, %q, %q, %l, %l mask(%m : memref<4x4xi8>) only_mask into %q scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4xf32>, memref<2x4xf32> into memref<2x4x16xf16>
  return
}

// -----

func.func @attention_gradient_sinks(%q: memref<2x4x16xf16>, %s: memref<2xf32>, %l: memref<2x4xf32>) {
  // expected-error @below {{expected a sink for each of 2 query heads beside three destinations, got 'memref<2xf32>'}}
  kernel.attention_gradient %q, %q, %q, %q, %l, %l sinks(%s : memref<2xf32>) into %q scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4xf32>, memref<2x4xf32> into memref<2x4x16xf16>
  return
}

// -----

func.func @attention_gradient_of_logsumexp(%q: memref<2x4x16xf16>, %l: memref<2x4xf32>) {
  // expected-error @below {{expected an f32 for each query beside three destinations, got 'memref<2x4xf32>'}}
  kernel.attention_gradient %q, %q, %q, %q, %l, %l logsumexp_cotangent(%l : memref<2x4xf32>) into %q scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4xf32>, memref<2x4xf32> into memref<2x4x16xf16>
  return
}

// -----

func.func @attention_gradient_mask(%q: memref<2x4x16xf16>, %m: memref<4x4xi32>, %l: memref<2x4xf32>) {
  // expected-error @below {{expected a mask of floats or bytes that broadcasts to the scores, got 'memref<4x4xi32>'}}
  kernel.attention_gradient %q, %q, %q, %q, %l, %l mask(%m : memref<4x4xi32>) into %q scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4xf32>, memref<2x4xf32> into memref<2x4x16xf16>
  return
}

// -----

func.func @attention_gradient_window(%q: memref<2x4x16xf16>, %l: memref<2x4xf32>) {
  // expected-error @below {{expected 'causal' beside an offset or a window}}
  kernel.attention_gradient %q, %q, %q, %q, %l, %l window = 4 into %q scale = 1.0 : memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4x16xf16>, memref<2x4xf32>, memref<2x4xf32> into memref<2x4x16xf16>
  return
}

// -----

func.func @decode_rank(%q: memref<4x16xf16>) {
  // expected-error @+1 {{expected queries of rank 3 at least, or 4 beside pages, got 'memref<4x16xf16>'}}
  kernel.attention_decode %q, %q, %q into %q scale = 1.0 splits = 1 : memref<4x16xf16>, memref<4x16xf16>, memref<4x16xf16> into memref<4x16xf16>
  return
}

// -----

func.func @decode_type(%q: memref<2x1x16xf64>) {
  // expected-error @+1 {{expected f16, bf16 or f32, got 'f64'}}
  kernel.attention_decode %q, %q, %q into %q scale = 1.0 splits = 1 : memref<2x1x16xf64>, memref<2x1x16xf64>, memref<2x1x16xf64> into memref<2x1x16xf64>
  return
}

// -----

func.func @decode_heads(%q: memref<3x1x16xf16>, %k: memref<2x9x16xf16>) {
  // expected-error @+1 {{expected queries, keys and values that belong together, got}}
  kernel.attention_decode %q, %k, %k into %q scale = 1.0 splits = 1 : memref<3x1x16xf16>, memref<2x9x16xf16>, memref<2x9x16xf16> into memref<3x1x16xf16>
  return
}

// -----

func.func @decode_queries(%q: memref<2x?x16xf16>, %k: memref<2x9x16xf16>) {
  // expected-error @+1 {{expected a known number of queries, got 'memref<2x?x16xf16>'}}
  kernel.attention_decode %q, %k, %k into %q scale = 1.0 splits = 1 : memref<2x?x16xf16>, memref<2x9x16xf16>, memref<2x9x16xf16> into memref<2x?x16xf16>
  return
}

// -----

func.func @decode_splits(%q: memref<2x4x1x16xf16>, %k: memref<2x2x9x16xf16>) {
  // expected-error @+1 {{expected at least one part of the keys, got 0}}
  kernel.attention_decode %q, %k, %k into %q scale = 1.0 splits = 0 : memref<2x4x1x16xf16>, memref<2x2x9x16xf16>, memref<2x2x9x16xf16> into memref<2x4x1x16xf16>
  return
}

// -----

func.func @decode_parts(%q: memref<2x4x1x16xf16>, %k: memref<2x2x9x16xf16>, %p: memref<2x4x1x3x16xf32>) {
  // expected-error @+1 {{expected one or two destinations, two of parts, got 1}}
  kernel.attention_decode %q, %k, %k into %p scale = 1.0 splits = 3 : memref<2x4x1x16xf16>, memref<2x2x9x16xf16>, memref<2x2x9x16xf16> into memref<2x4x1x3x16xf32>
  return
}

// -----

func.func @decode_dest(%q: memref<2x4x1x16xf16>, %k: memref<2x2x9x16xf16>, %l: memref<2x4x1x3xf32>) {
  // expected-error @+1 {{expected a destination of the result's shape and type, got 'memref<2x4x1x16xf16>'}}
  kernel.attention_decode %q, %k, %k into %q, %l scale = 1.0 splits = 3 : memref<2x4x1x16xf16>, memref<2x2x9x16xf16>, memref<2x2x9x16xf16> into memref<2x4x1x16xf16>, memref<2x4x1x3xf32>
  return
}

// -----

func.func @decode_logsumexp(%q: memref<2x4x1x16xf16>, %k: memref<2x2x9x16xf16>, %l: memref<2x4x1x3xf32>) {
  // expected-error @+1 {{expected an f32 for each query, got 'memref<2x4x1x3xf32>'}}
  kernel.attention_decode %q, %k, %k into %q, %l scale = 1.0 splits = 1 : memref<2x4x1x16xf16>, memref<2x2x9x16xf16>, memref<2x2x9x16xf16> into memref<2x4x1x16xf16>, memref<2x4x1x3xf32>
  return
}

// -----

func.func @decode_mask(%q: memref<2x4x1x16xf16>, %k: memref<2x2x9x16xf16>, %m: memref<9xi32>) {
  // expected-error @+1 {{expected a mask of floats or bytes that broadcasts to the scores, got 'memref<9xi32>'}}
  kernel.attention_decode %q, %k, %k mask(%m : memref<9xi32>) into %q scale = 1.0 splits = 1 : memref<2x4x1x16xf16>, memref<2x2x9x16xf16>, memref<2x2x9x16xf16> into memref<2x4x1x16xf16>
  return
}

// -----

func.func @decode_window(%q: memref<2x4x1x16xf16>, %k: memref<2x2x9x16xf16>) {
  // expected-error @+1 {{expected 'causal' beside an offset or a window}}
  kernel.attention_decode %q, %k, %k window = 4 into %q scale = 1.0 splits = 1 : memref<2x4x1x16xf16>, memref<2x2x9x16xf16>, memref<2x2x9x16xf16> into memref<2x4x1x16xf16>
  return
}

// -----

func.func @decode_table(%q: memref<2x4x1x16xf16>, %k: memref<2x2x9x16xf16>, %t: memref<2x3xi32>) {
  // expected-error @+1 {{expected a table with lengths, and neither 'causal' nor a mask beside it}}
  kernel.attention_decode %q, %k, %k table(%t : memref<2x3xi32>) into %q scale = 1.0 splits = 1 : memref<2x4x1x16xf16>, memref<2x2x9x16xf16>, memref<2x2x9x16xf16> into memref<2x4x1x16xf16>
  return
}

// -----

func.func @decode_sequences(%q: memref<2x4x1x16xf16>, %k: memref<2x2x9x16xf16>, %t: memref<3x3xi32>, %n: memref<2xi32>) {
  // expected-error @+1 {{expected integers for each sequence, got 'memref<3x3xi32>' and 'memref<2xi32>'}}
  kernel.attention_decode %q, %k, %k table(%t : memref<3x3xi32>) lengths(%n : memref<2xi32>) into %q scale = 1.0 splits = 1 : memref<2x4x1x16xf16>, memref<2x2x9x16xf16>, memref<2x2x9x16xf16> into memref<2x4x1x16xf16>
  return
}

// -----

func.func @combine_parts(%p: memref<2x4x1x3x16xf32>, %l: memref<2x4x1x4xf32>, %q: memref<2x4x1x16xf16>) {
  // expected-error @+1 {{expected f32 parts of known number and length and a logarithm of each, got}}
  kernel.attention_combine %p, %l into %q : memref<2x4x1x3x16xf32>, memref<2x4x1x4xf32> into memref<2x4x1x16xf16>
  return
}

// -----

func.func @combine_dests(%p: memref<2x4x1x3x16xf32>, %l: memref<2x4x1x3xf32>, %q: memref<2x4x1x16xf16>) {
  // expected-error @+1 {{expected one or two destinations, got 3}}
  kernel.attention_combine %p, %l into %q, %q, %q : memref<2x4x1x3x16xf32>, memref<2x4x1x3xf32> into memref<2x4x1x16xf16>, memref<2x4x1x16xf16>, memref<2x4x1x16xf16>
  return
}

// -----

func.func @combine_dest(%p: memref<2x4x1x3x16xf32>, %l: memref<2x4x1x3xf32>, %q: memref<2x4x1x8xf16>) {
  // expected-error @+1 {{expected destinations of the parts' vectors and of an f32 for each, got}}
  kernel.attention_combine %p, %l into %q : memref<2x4x1x3x16xf32>, memref<2x4x1x3xf32> into memref<2x4x1x8xf16>
  return
}

// -----

func.func @open_end_alone(%q: tensor<2x1x16xf16>, %k: tensor<2x30x16xf16>, %e: tensor<2x1x16xf16>) {
  // expected-error @below {{expected an offset beside an open end}}
  %r = kernel.attention %q, %k, %k causal open_end into %e scale = 1.0 : tensor<2x1x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16> into tensor<2x1x16xf16> -> tensor<2x1x16xf16>
  return
}

// -----

func.func @softcap_infinite(%q: tensor<2x16x16xf16>, %k: tensor<2x30x16xf16>, %e: tensor<2x16x16xf16>) {
  // expected-error @below {{attribute 'softcap' failed to satisfy constraint: 64-bit float attribute whose value is positive and finite}}
  %r = kernel.attention %q, %k, %k into %e softcap = 0x7FF0000000000000 scale = 1.0 : tensor<2x16x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16> into tensor<2x16x16xf16> -> tensor<2x16x16xf16>
  return
}

// -----

func.func @softcap_negative(%q: memref<2x4x1x16xf16>, %k: memref<2x2x9x16xf16>) {
  // expected-error @below {{attribute 'softcap' failed to satisfy constraint: 64-bit float attribute whose value is positive and finite}}
  kernel.attention_decode %q, %k, %k into %q softcap = -50.0 scale = 1.0 splits = 1 : memref<2x4x1x16xf16>, memref<2x2x9x16xf16>, memref<2x2x9x16xf16> into memref<2x4x1x16xf16>
  return
}

// -----

func.func @pages_alone(%q: memref<2x4x16x16xf16>, %k: memref<9x2x16x16xf16>, %t: memref<2x3xi32>) {
  // expected-error @below {{expected a table with lengths, and neither 'causal' nor a mask beside it}}
  kernel.attention %q, %k, %k table(%t : memref<2x3xi32>) into %q scale = 1.0 : memref<2x4x16x16xf16>, memref<9x2x16x16xf16>, memref<9x2x16x16xf16> into memref<2x4x16x16xf16>
  return
}

// -----

func.func @pages_of_others(%q: memref<2x4x16x16xf16>, %k: memref<9x2x16x16xf16>, %t: memref<3x3xi32>, %n: memref<2xi32>) {
  // expected-error @below {{expected integers for each sequence, got 'memref<3x3xi32>' and 'memref<2xi32>'}}
  kernel.attention %q, %k, %k table(%t : memref<3x3xi32>) lengths(%n : memref<2xi32>) into %q scale = 1.0 : memref<2x4x16x16xf16>, memref<9x2x16x16xf16>, memref<9x2x16x16xf16> into memref<2x4x16x16xf16>
  return
}

// -----

func.func @pages_without_batch(%q: memref<4x16x16xf16>, %k: memref<2x16x16xf16>, %t: memref<4x3xi32>, %n: memref<4xi32>) {
  // expected-error @below {{expected queries of rank 4 beside pages, got 'memref<4x16x16xf16>'}}
  kernel.attention %q, %k, %k table(%t : memref<4x3xi32>) lengths(%n : memref<4xi32>) into %q scale = 1.0 : memref<4x16x16xf16>, memref<2x16x16xf16>, memref<2x16x16xf16> into memref<4x16x16xf16>
  return
}
