// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-fuse-elementwise,canonicalize))' -split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>

// Of a difference only the elements at the labels are computed; its input of one element a row is
// an input of the gather.
// CHECK-DAG:   #[[$ONE:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @few_of_a_tensor_that_others_need(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<64x100xf32>, %[[M:[a-z0-9]+]]: tensor<64xf32>, %[[LABEL:[a-z0-9]+]]: tensor<64xindex>
// CHECK:         linalg.generic {indexing_maps = [#[[$ONE]], #[[$ONE]], #[[$ONE]]]
// CHECK-SAME:      ins(%[[LABEL]], %[[M]] : tensor<64xindex>, tensor<64xf32>)
// CHECK-NEXT:    ^bb0(%[[PLACE:.*]]: index, %[[SHIFT:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[I:.*]] = linalg.index 0
// CHECK-NEXT:      %[[ELEMENT:.*]] = tensor.extract %[[X]][%[[I]], %[[PLACE]]]
// CHECK-NEXT:      %[[RESULT:.*]] = arith.subf %[[ELEMENT]], %[[SHIFT]]
// CHECK-NEXT:      linalg.yield %[[RESULT]]
func.func @few_of_a_tensor_that_others_need(%x: tensor<64x100xf32>, %m: tensor<64xf32>, %label: tensor<64xindex>)
    -> (tensor<64xf32>, tensor<64x100xf32>) {
  %e = tensor.empty() : tensor<64x100xf32>
  %f = tensor.empty() : tensor<64xf32>
  %t = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<64x100xf32>, tensor<64xf32>) outs(%e : tensor<64x100xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<64x100xf32>
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%label : tensor<64xindex>) outs(%f : tensor<64xf32>) {
  ^bb0(%place: index, %o: f32):
    %i = linalg.index 0 : index
    %r = tensor.extract %t[%i, %place] : tensor<64x100xf32>
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %y, %t : tensor<64xf32>, tensor<64x100xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A conversion is computed wherever a row of the table is read, however often that is.
// CHECK-LABEL: func.func @rows_of_a_converted_table(
// CHECK-SAME:    %[[TABLE:[a-z0-9]+]]: tensor<10x8xbf16>
// CHECK:         linalg.generic
// CHECK:           %[[ELEMENT:.*]] = tensor.extract %[[TABLE]]
// CHECK-NEXT:      arith.extf %[[ELEMENT]]
// CHECK-NOT:     linalg.generic
func.func @rows_of_a_converted_table(%table: tensor<10x8xbf16>, %ids: tensor<?xindex>, %n: index) -> tensor<?x8xf32> {
  %e = tensor.empty() : tensor<10x8xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%table : tensor<10x8xbf16>) outs(%e : tensor<10x8xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %r = arith.extf %a : bf16 to f32
    linalg.yield %r : f32
  } -> tensor<10x8xf32>
  %f = tensor.empty(%n) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xindex>) outs(%f : tensor<?x8xf32>) {
  ^bb0(%place: index, %o: f32):
    %j = linalg.index 1 : index
    %r = tensor.extract %t[%place, %j] : tensor<10x8xf32>
    linalg.yield %r : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0) -> (d0)>

// Computed once for each element rather than once for each of ten times as many reads.
// CHECK-LABEL: func.func @more_reads_than_elements(
// CHECK:         linalg.generic
// CHECK:           math.exp
// CHECK:         linalg.generic
// CHECK:           tensor.extract
func.func @more_reads_than_elements(%table: tensor<100xf32>, %ids: tensor<1000xindex>) -> tensor<1000xf32> {
  %e = tensor.empty() : tensor<100xf32>
  %t = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%table : tensor<100xf32>) outs(%e : tensor<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<100xf32>
  %f = tensor.empty() : tensor<1000xf32>
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%ids : tensor<1000xindex>) outs(%f : tensor<1000xf32>) {
  ^bb0(%place: index, %o: f32):
    %r = tensor.extract %t[%place] : tensor<100xf32>
    linalg.yield %r : f32
  } -> tensor<1000xf32>
  return %y : tensor<1000xf32>
}

// -----

#one = affine_map<(d0) -> (d0)>

// Half of the elements of a tensor that is needed in any case are read, not computed again.
// CHECK-LABEL: func.func @many_of_a_tensor_that_others_need(
// CHECK:         %[[T:.*]] = linalg.generic
// CHECK:         tensor.extract %[[T]]
func.func @many_of_a_tensor_that_others_need(%table: tensor<100xf32>, %ids: tensor<50xindex>) -> (tensor<50xf32>, tensor<100xf32>) {
  %e = tensor.empty() : tensor<100xf32>
  %t = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%table : tensor<100xf32>) outs(%e : tensor<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %a : f32
    linalg.yield %r : f32
  } -> tensor<100xf32>
  %f = tensor.empty() : tensor<50xf32>
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%ids : tensor<50xindex>) outs(%f : tensor<50xf32>) {
  ^bb0(%place: index, %o: f32):
    %r = tensor.extract %t[%place] : tensor<100xf32>
    linalg.yield %r : f32
  } -> tensor<50xf32>
  return %y, %t : tensor<50xf32>, tensor<100xf32>
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>

// The first elements of a dim are no input, whose loops would be as long as the dim.
// CHECK-LABEL: func.func @first_elements(
// CHECK-SAME:    %[[X:.*]]: tensor<15x?xf32>
// CHECK:         tensor.extract %[[X]]
// CHECK-NOT:     ins(%[[X]]
func.func @first_elements(%x: tensor<15x?xf32>) -> tensor<14x?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<15x?xf32>
  %e = tensor.empty(%n) : tensor<15x?xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<15x?xf32>) outs(%e : tensor<15x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<15x?xf32>
  %f = tensor.empty(%n) : tensor<14x?xf32>
  %y = linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]} outs(%f : tensor<14x?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %r = tensor.extract %t[%i, %j] : tensor<15x?xf32>
    linalg.yield %r : f32
  } -> tensor<14x?xf32>
  return %y : tensor<14x?xf32>
}

// -----

#along = affine_map<(d0) -> (d0)>

// Sizes that are symbols of their own are not those of a loop, either.
// CHECK-LABEL: func.func @first_of_a_symbolic_number(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %{{.*}}: tensor<?xf32>
// CHECK:         tensor.extract %[[X]]
func.func @first_of_a_symbolic_number(%x: tensor<?xf32>, %like: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %like, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %t = linalg.generic {indexing_maps = [#along, #along], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %f = tensor.empty(%m) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#along], iterator_types = ["parallel"]} outs(%f : tensor<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %r = tensor.extract %t[%i] : tensor<?xf32>
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0) -> (d0)>

// What follows a product is in memory for others in bf16: the product, which is in none, would have to be stored in f32 as well. The
// conversion of that is computed where it is read.
// CHECK-LABEL: func.func @behind_a_product(
// CHECK:         %[[P:.*]] = linalg.matmul
// CHECK:         %[[NARROW:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<64x100xf32>) outs(%{{.*}} : tensor<64x100xbf16>)
// CHECK:         tensor.extract %[[NARROW]]
// CHECK-NEXT:    arith.extf
func.func @behind_a_product(%x: tensor<64x32xbf16>, %w: tensor<32x100xbf16>, %label: tensor<64xindex>)
    -> (tensor<64xf32>, tensor<64x100xf32>, tensor<64x100xbf16>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x100xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x100xf32>) -> tensor<64x100xf32>
  %p = linalg.matmul ins(%x, %w : tensor<64x32xbf16>, tensor<32x100xbf16>) outs(%z : tensor<64x100xf32>) -> tensor<64x100xf32>
  %n = tensor.empty() : tensor<64x100xbf16>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<64x100xf32>) outs(%n : tensor<64x100xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<64x100xbf16>
  %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<64x100xbf16>) outs(%e : tensor<64x100xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %r = arith.extf %a : bf16 to f32
    linalg.yield %r : f32
  } -> tensor<64x100xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%u : tensor<64x100xf32>) outs(%e : tensor<64x100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<64x100xf32>
  %f = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%label : tensor<64xindex>) outs(%f : tensor<64xf32>) {
  ^bb0(%place: index, %o: f32):
    %i = linalg.index 0 : index
    %r = tensor.extract %u[%i, %place] : tensor<64x100xf32>
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %y, %s, %t : tensor<64xf32>, tensor<64x100xf32>, tensor<64x100xbf16>
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>

// An image is resized along its rows and then along its columns: a gather of what a gather makes is one.
// CHECK-LABEL: func.func @gather_of_a_gather(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<64x64xf32>
// CHECK:         linalg.generic
// CHECK:           tensor.extract %[[X]][%{{.*}}, %{{.*}}]
// CHECK-NOT:     linalg.generic
func.func @gather_of_a_gather(%x: tensor<64x64xf32>, %i: tensor<128xindex>, %j: tensor<128xindex>) -> tensor<128x128xf32> {
  %e = tensor.empty() : tensor<128x64xf32>
  %f = tensor.empty() : tensor<128x128xf32>
  %t = linalg.generic {indexing_maps = [#rows, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<128xindex>) outs(%e : tensor<128x64xf32>) {
  ^bb0(%place: index, %o: f32):
    %column = linalg.index 1 : index
    %r = tensor.extract %x[%place, %column] : tensor<64x64xf32>
    linalg.yield %r : f32
  } -> tensor<128x64xf32>
  %y = linalg.generic {indexing_maps = [#columns, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%j : tensor<128xindex>) outs(%f : tensor<128x128xf32>) {
  ^bb0(%place: index, %o: f32):
    %row = linalg.index 0 : index
    %r = tensor.extract %t[%row, %place] : tensor<128x64xf32>
    linalg.yield %r : f32
  } -> tensor<128x128xf32>
  return %y : tensor<128x128xf32>
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>

// So it is with an image that has a dim of size 1 in between.
// CHECK-LABEL: func.func @behind_a_dim_of_size_one(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<64x64xf32>
// CHECK-NOT:     tensor.expand_shape
// CHECK:         linalg.generic
// CHECK:           tensor.extract %[[X]][%{{.*}}, %{{.*}}]
// CHECK-NOT:     linalg.generic
func.func @behind_a_dim_of_size_one(%x: tensor<64x64xf32>, %i: tensor<128xindex>, %j: tensor<128xindex>) -> tensor<128x128xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<128x64xf32>
  %f = tensor.empty() : tensor<128x128xf32>
  %t = linalg.generic {indexing_maps = [#rows, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<128xindex>) outs(%e : tensor<128x64xf32>) {
  ^bb0(%place: index, %o: f32):
    %column = linalg.index 1 : index
    %r = tensor.extract %x[%place, %column] : tensor<64x64xf32>
    linalg.yield %r : f32
  } -> tensor<128x64xf32>
  %u = tensor.expand_shape %t [[0, 1], [2]] output_shape [1, 128, 64] : tensor<128x64xf32> into tensor<1x128x64xf32>
  %y = linalg.generic {indexing_maps = [#columns, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%j : tensor<128xindex>) outs(%f : tensor<128x128xf32>) {
  ^bb0(%place: index, %o: f32):
    %row = linalg.index 0 : index
    %r = tensor.extract %u[%c0, %row, %place] : tensor<1x128x64xf32>
    linalg.yield %r : f32
  } -> tensor<128x128xf32>
  return %y : tensor<128x128xf32>
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>

// What takes long to compute and is read eight times is computed where threads of a GPU share it
// with their neighbours: by lists that go up evenly, but not by others.
// CHECK-LABEL: func.func @shared_with_neighbours(
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:       func.func @not_shared(
// CHECK-COUNT-2: linalg.generic
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
func.func @shared_with_neighbours(%x: tensor<64x4xf32>) -> tensor<64x8xf32> {
  %left = arith.constant dense<[0, 0, 1, 1, 2, 2, 3, 3]> : tensor<8xi64>
  %right = arith.constant dense<[1, 1, 2, 2, 3, 3, 3, 3]> : tensor<8xi64>
  %e = tensor.empty() : tensor<64x4xf32>
  %f = tensor.empty() : tensor<64x8xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x4xf32>) outs(%e : tensor<64x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    %1 = math.exp %0 : f32
    %2 = math.exp %1 : f32
    %3 = math.exp %2 : f32
    linalg.yield %3 : f32
  } -> tensor<64x4xf32>
  %y = linalg.generic {indexing_maps = [#columns, #columns, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%left, %right : tensor<8xi64>, tensor<8xi64>) outs(%f : tensor<64x8xf32>) {
  ^bb0(%l: i64, %r: i64, %o: f32):
    %row = linalg.index 0 : index
    %i = arith.index_cast %l : i64 to index
    %j = arith.index_cast %r : i64 to index
    %a = tensor.extract %t[%row, %i] : tensor<64x4xf32>
    %b = tensor.extract %t[%row, %j] : tensor<64x4xf32>
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}

func.func @not_shared(%x: tensor<64x4xf32>) -> tensor<64x8xf32> {
  %left = arith.constant dense<[0, 2, 1, 1, 2, 0, 3, 3]> : tensor<8xi64>
  %right = arith.constant dense<[1, 3, 2, 2, 3, 1, 3, 3]> : tensor<8xi64>
  %e = tensor.empty() : tensor<64x4xf32>
  %f = tensor.empty() : tensor<64x8xf32>
  %t = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x4xf32>) outs(%e : tensor<64x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    %1 = math.exp %0 : f32
    %2 = math.exp %1 : f32
    %3 = math.exp %2 : f32
    linalg.yield %3 : f32
  } -> tensor<64x4xf32>
  %y = linalg.generic {indexing_maps = [#columns, #columns, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%left, %right : tensor<8xi64>, tensor<8xi64>) outs(%f : tensor<64x8xf32>) {
  ^bb0(%l: i64, %r: i64, %o: f32):
    %row = linalg.index 0 : index
    %i = arith.index_cast %l : i64 to index
    %j = arith.index_cast %r : i64 to index
    %a = tensor.extract %t[%row, %i] : tensor<64x4xf32>
    %b = tensor.extract %t[%row, %j] : tensor<64x4xf32>
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}
}
