// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @scatter_on_tensors(
// CHECK:         kernel.scatter add, %{{.*}}, %{{.*}} into %{{.*}} axes = [0, 2] unsigned_indices unsigned_elements unique
func.func @scatter_on_tensors(%indices: tensor<7x2xi8>, %updates: tensor<7x5xi32>, %dest: tensor<4x5x6xi32>)
    -> tensor<4x5x6xi32> {
  %0 = kernel.scatter add, %indices, %updates into %dest axes = [0, 2] unsigned_indices unsigned_elements unique
    : tensor<7x2xi8>, tensor<7x5xi32> into tensor<4x5x6xi32> -> tensor<4x5x6xi32>
  return %0 : tensor<4x5x6xi32>
}

// CHECK-LABEL: func.func @scatter_on_memrefs(
// CHECK:         kernel.scatter set, %{{.*}}, %{{.*}} into %{{.*}} axes = [0]
func.func @scatter_on_memrefs(%indices: memref<?x1xi64>, %updates: memref<?x5xf16>, %dest: memref<4x5xf16>) {
  kernel.scatter set, %indices, %updates into %dest axes = [0]
    : memref<?x1xi64>, memref<?x5xf16> into memref<4x5xf16>
  return
}

// CHECK-LABEL: func.func @scans(
// CHECK:         kernel.scan sum, %{{.*}} into %{{.*}} axis = 1 exclusive reverse unsigned_elements :
// CHECK-SAME:      tensor<4x?xi32> into tensor<4x?xi32> -> tensor<4x?xi32>
// CHECK:         kernel.scan max, %{{.*}} every 512 totals into %{{.*}} axis = 0 : memref<1000xf16> into memref<1xf32>
// CHECK:         kernel.scan logaddexp, %{{.*}} from %{{.*}} every 512 into %{{.*}} axis = 0 :
// CHECK-SAME:      memref<1000xf16> from memref<1xf32> into memref<1000xf16>
func.func @scans(%x: tensor<4x?xi32>, %e: tensor<4x?xi32>, %m: memref<1000xf16>, %t: memref<1xf32>) -> tensor<4x?xi32> {
  %0 = kernel.scan sum, %x into %e axis = 1 exclusive reverse unsigned_elements
    : tensor<4x?xi32> into tensor<4x?xi32> -> tensor<4x?xi32>
  kernel.scan max, %m every 512 totals into %t axis = 0 : memref<1000xf16> into memref<1xf32>
  kernel.scan logaddexp, %m from %t every 512 into %m axis = 0 : memref<1000xf16> from memref<1xf32> into memref<1000xf16>
  return %0 : tensor<4x?xi32>
}

// CHECK-LABEL: func.func @sorts(
// CHECK:         kernel.sort %{{.*}} into %{{.*}}, %{{.*}} descending unsigned_elements keep = 8 :
// CHECK-SAME:      tensor<4x?xi32> into tensor<4x8xi32>, tensor<4x8xi64> -> tensor<4x8xi32>, tensor<4x8xi64>
// CHECK:         kernel.sort %{{.*}} payload %{{.*}} into %{{.*}}, %{{.*}} segment = 512 :
// CHECK-SAME:      memref<1000xf16> payload memref<1000xi32> into memref<1000xf16>, memref<1000xi32>
// CHECK:         kernel.merge %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}} run = 512 descending :
// CHECK:         kernel.merge %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}} run = 1024 above = 512 :
func.func @sorts(%x: tensor<4x?xi32>, %v: tensor<4x8xi32>, %i: tensor<4x8xi64>, %m: memref<1000xf16>, %p: memref<1000xi32>)
    -> tensor<4x8xi64> {
  %0:2 = kernel.sort %x into %v, %i descending unsigned_elements keep = 8
    : tensor<4x?xi32> into tensor<4x8xi32>, tensor<4x8xi64> -> tensor<4x8xi32>, tensor<4x8xi64>
  kernel.sort %m payload %p into %m, %p segment = 512
    : memref<1000xf16> payload memref<1000xi32> into memref<1000xf16>, memref<1000xi32>
  kernel.merge %m, %p into %m, %p run = 512 descending
    : memref<1000xf16>, memref<1000xi32> into memref<1000xf16>, memref<1000xi32>
  kernel.merge %m, %p into %m, %p run = 1024 above = 512
    : memref<1000xf16>, memref<1000xi32> into memref<1000xf16>, memref<1000xi32>
  return %0#1 : tensor<4x8xi64>
}

// CHECK-LABEL: func.func @digits(
// CHECK:         kernel.count_digits %{{.*}} into %{{.*}} digit = 3 tile = 512 descending :
// CHECK-SAME:      tensor<4x?xf32> into tensor<4x256x?xi32> -> tensor<4x256x?xi32>
// CHECK:         kernel.sort_digit %{{.*}} by %{{.*}} into %{{.*}}, %{{.*}} digit = 3 tile = 512 descending :
// CHECK-SAME:      tensor<4x?xf32> by tensor<4x256x?xi32> into tensor<4x?xf32>, tensor<4x?xi64> -> tensor<4x?xf32>, tensor<4x?xi64>
// CHECK:         kernel.sort_digit %{{.*}} payload %{{.*}} by %{{.*}} into %{{.*}}, %{{.*}} digit = 0 tile = 512 unsigned_elements :
// CHECK-SAME:      memref<1000xi16> payload memref<1000xi32> by memref<256x2xi32> into memref<1000xi16>, memref<1000xi64>
// CHECK:         kernel.sort_digit %{{.*}} by %{{.*}} into %{{.*}} digit = 1 tile = 512 adds_counts :
// CHECK-SAME:      memref<1000xi16> by memref<256x2xi32> into memref<1000xi16>
func.func @digits(%x: tensor<4x?xf32>, %c: tensor<4x256x?xi32>, %i: tensor<4x?xi64>, %m: memref<1000xi16>, %p: memref<1000xi32>,
                  %q: memref<1000xi64>, %e: memref<256x2xi32>) -> tensor<4x?xi64> {
  %0 = kernel.count_digits %x into %c digit = 3 tile = 512 descending
    : tensor<4x?xf32> into tensor<4x256x?xi32> -> tensor<4x256x?xi32>
  %1:2 = kernel.sort_digit %x by %0 into %x, %i digit = 3 tile = 512 descending
    : tensor<4x?xf32> by tensor<4x256x?xi32> into tensor<4x?xf32>, tensor<4x?xi64> -> tensor<4x?xf32>, tensor<4x?xi64>
  kernel.sort_digit %m payload %p by %e into %m, %q digit = 0 tile = 512 unsigned_elements
    : memref<1000xi16> payload memref<1000xi32> by memref<256x2xi32> into memref<1000xi16>, memref<1000xi64>
  kernel.sort_digit %m by %e into %m digit = 1 tile = 512 adds_counts : memref<1000xi16> by memref<256x2xi32> into memref<1000xi16>
  return %1#1 : tensor<4x?xi64>
}

// CHECK-LABEL: func.func @element(
// CHECK:         kernel.element 0, %{{.*}} : f32
func.func @element(%x: f32) -> f32 {
  %e = kernel.element 0, %x : f32
  return %e : f32
}

// CHECK-LABEL: func.func @scatter_by_row(
// CHECK:         kernel.scatter add, %{{.*}}, %{{.*}} by %{{.*}}, %{{.*}} into %{{.*}} axes = [0] :
// CHECK-SAME:      memref<8x1xi32>, memref<8x5xf16> by memref<8xi32>, memref<8xi64> into memref<4x5xf16>
func.func @scatter_by_row(%i: memref<8x1xi32>, %u: memref<8x5xf16>, %r: memref<8xi32>, %o: memref<8xi64>, %d: memref<4x5xf16>) {
  kernel.scatter add, %i, %u by %r, %o into %d axes = [0]
    : memref<8x1xi32>, memref<8x5xf16> by memref<8xi32>, memref<8xi64> into memref<4x5xf16>
  return
}

// CHECK-LABEL: func.func @within(
// CHECK:         kernel.within %{{.*}}, %{{.*}} before %{{.*}} : f32
func.func @within(%x: f32, %i: index, %n: index) -> f32 {
  %y = kernel.within %x, %i before %n : f32
  return %y : f32
}

// CHECK-LABEL: func.func @updates(
// CHECK:         kernel.update %{{.*}} at[%{{.*}}, %{{.*}}] into %{{.*}} unsigned_starts = [1] :
// CHECK-SAME:      tensor<1x64xf16> at tensor<i32>, tensor<i64> into tensor<?x64xf16> -> tensor<?x64xf16>
// CHECK:         kernel.update %{{.*}} into %{{.*}} : memref<f32> into memref<f32>
func.func @updates(%u: tensor<1x64xf16>, %i: tensor<i32>, %j: tensor<i64>, %x: tensor<?x64xf16>, %s: memref<f32>, %m: memref<f32>)
    -> tensor<?x64xf16> {
  %0 = kernel.update %u at [%i, %j] into %x unsigned_starts = [1]
    : tensor<1x64xf16> at tensor<i32>, tensor<i64> into tensor<?x64xf16> -> tensor<?x64xf16>
  kernel.update %s into %m : memref<f32> into memref<f32>
  return %0 : tensor<?x64xf16>
}

// CHECK-LABEL: func.func @scatter_in_place(
// CHECK:         kernel.scatter set, %{{.*}}, %{{.*}} into %{{.*}} axes = [0] unique in_place :
func.func @scatter_in_place(%indices: memref<3x1xi64>, %updates: memref<3x5xf16>, %dest: memref<4x5xf16>) {
  kernel.scatter set, %indices, %updates into %dest axes = [0] unique in_place
    : memref<3x1xi64>, memref<3x5xf16> into memref<4x5xf16>
  return
}

// CHECK-LABEL: func.func @attention
// CHECK:         kernel.attention %{{.*}}, %{{.*}}, %{{.*}} mask(%{{.*}} : tensor<1x1x?x?xi8>) causal window = 9 offset(%{{.*}} : tensor<i32>) sinks(%{{.*}} : tensor<8xf32>) into %{{.*}}, %{{.*}} scale = 1.250000e-01
func.func @attention(%q: tensor<?x8x?x64xf16>, %k: tensor<?x2x?x64xf16>, %m: tensor<1x1x?x?xi8>, %o: tensor<i32>, %s: tensor<8xf32>,
                     %e: tensor<?x8x?x64xf16>, %f: tensor<?x8x?xf32>) -> (tensor<?x8x?x64xf16>, tensor<?x8x?xf32>) {
  %r, %l = kernel.attention %q, %k, %k mask(%m : tensor<1x1x?x?xi8>) causal window = 9 offset(%o : tensor<i32>) sinks(%s : tensor<8xf32>)
    into %e, %f scale = 0.125 : tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> into tensor<?x8x?x64xf16>, tensor<?x8x?xf32>
    -> tensor<?x8x?x64xf16>, tensor<?x8x?xf32>
  return %r, %l : tensor<?x8x?x64xf16>, tensor<?x8x?xf32>
}

// CHECK-LABEL: func.func @attention_gradient
// CHECK:         kernel.attention_gradient %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} mask(%{{.*}} : tensor<20x30xi8>) causal window = 9 offset(%{{.*}} : tensor<i32>) into %{{.*}} scale = 1.250000e-01
// CHECK:         kernel.attention_gradient %{{.*}} into %{{.*}}, %{{.*}} scale = 1.250000e-01
// CHECK:         kernel.attention_gradient %{{.*}} only_values into %{{.*}} scale = 1.250000e-01
func.func @attention_gradient(%q: tensor<2x8x20x64xf16>, %k: tensor<2x2x30x64xf16>, %v: tensor<2x2x30x32xf16>, %g: tensor<2x8x20x32xf16>, %l: tensor<2x8x20xf32>, %m: tensor<20x30xi8>, %o: tensor<i32>)
    -> (tensor<2x8x20x64xf16>, tensor<2x2x30x64xf16>, tensor<2x2x30x32xf16>) {
  %a = kernel.attention_gradient %q, %k, %v, %g, %l, %l mask(%m : tensor<20x30xi8>) causal window = 9 offset(%o : tensor<i32>) into %q scale = 0.125
    : tensor<2x8x20x64xf16>, tensor<2x2x30x64xf16>, tensor<2x2x30x32xf16>, tensor<2x8x20x32xf16>, tensor<2x8x20xf32>, tensor<2x8x20xf32> into tensor<2x8x20x64xf16> -> tensor<2x8x20x64xf16>
  %b, %c = kernel.attention_gradient %q, %k, %v, %g, %l, %l into %k, %v scale = 0.125
    : tensor<2x8x20x64xf16>, tensor<2x2x30x64xf16>, tensor<2x2x30x32xf16>, tensor<2x8x20x32xf16>, tensor<2x8x20xf32>, tensor<2x8x20xf32> into tensor<2x2x30x64xf16>, tensor<2x2x30x32xf16> -> tensor<2x2x30x64xf16>, tensor<2x2x30x32xf16>
  %d = kernel.attention_gradient %q, %k, %v, %g, %l, %l only_values into %c scale = 0.125
    : tensor<2x8x20x64xf16>, tensor<2x2x30x64xf16>, tensor<2x2x30x32xf16>, tensor<2x8x20x32xf16>, tensor<2x8x20xf32>, tensor<2x8x20xf32> into tensor<2x2x30x32xf16> -> tensor<2x2x30x32xf16>
  return %a, %b, %d : tensor<2x8x20x64xf16>, tensor<2x2x30x64xf16>, tensor<2x2x30x32xf16>
}

// CHECK-LABEL: func.func @paged
// CHECK:         kernel.attention %{{.*}}, %{{.*}}, %{{.*}} table(%{{.*}} : memref<2x?xi32>) lengths(%{{.*}} : memref<2xi64>) into %{{.*}} scale = 1.250000e-01
func.func @paged(%q: memref<2x8x?x64xf16>, %k: memref<9x2x16x64xf16>, %t: memref<2x?xi32>, %n: memref<2xi64>) {
  kernel.attention %q, %k, %k table(%t : memref<2x?xi32>) lengths(%n : memref<2xi64>) into %q scale = 0.125
    : memref<2x8x?x64xf16>, memref<9x2x16x64xf16>, memref<9x2x16x64xf16> into memref<2x8x?x64xf16>
  return
}

// CHECK-LABEL: func.func @softcap
// CHECK:         kernel.attention %{{.*}} into %{{.*}} softcap = 5.000000e+01 scale = 1.250000e-01
// CHECK:         kernel.attention_gradient %{{.*}} into %{{.*}} softcap = 5.000000e+01 scale = 1.250000e-01
// CHECK:         kernel.attention_decode %{{.*}} into %{{.*}} softcap = 5.000000e+01 scale = 1.250000e-01 splits = 1
func.func @softcap(%q: memref<8x1x64xf16>, %k: memref<2x30x64xf16>, %l: memref<8x1xf32>) {
  kernel.attention %q, %k, %k into %q softcap = 50.0 scale = 0.125 : memref<8x1x64xf16>, memref<2x30x64xf16>, memref<2x30x64xf16> into memref<8x1x64xf16>
  kernel.attention_gradient %q, %k, %k, %q, %l, %l into %q softcap = 50.0 scale = 0.125
    : memref<8x1x64xf16>, memref<2x30x64xf16>, memref<2x30x64xf16>, memref<8x1x64xf16>, memref<8x1xf32>, memref<8x1xf32> into memref<8x1x64xf16>
  kernel.attention_decode %q, %k, %k into %q softcap = 50.0 scale = 0.125 splits = 1
    : memref<8x1x64xf16>, memref<2x30x64xf16>, memref<2x30x64xf16> into memref<8x1x64xf16>
  return
}

// CHECK-LABEL: func.func @attention_decode
// CHECK:         kernel.attention_decode %{{.*}}, %{{.*}}, %{{.*}} mask(%{{.*}} : tensor<30xi8>) causal window = 9 offset(%{{.*}} : tensor<i32>) sinks(%{{.*}} : tensor<8xf32>) into %{{.*}}, %{{.*}} scale = 1.250000e-01 splits = 4
// CHECK:         kernel.attention_combine %{{.*}}, %{{.*}} into %{{.*}} : tensor<2x8x1x4x64xf32>, tensor<2x8x1x4xf32> into tensor<2x8x1x64xf16> -> tensor<2x8x1x64xf16>
// CHECK:         kernel.attention_decode %{{.*}}, %{{.*}}, %{{.*}} table(%{{.*}} : tensor<2x?xi32>) lengths(%{{.*}} : tensor<2xi64>) into %{{.*}} scale = 1.250000e-01 splits = 1
func.func @attention_decode(%q: tensor<2x8x1x64xf16>, %k: tensor<2x2x30x64xf16>, %m: tensor<30xi8>, %o: tensor<i32>, %s: tensor<8xf32>,
                            %p: tensor<2x8x1x4x64xf32>, %l: tensor<2x8x1x4xf32>, %c: tensor<9x2x16x64xf16>, %t: tensor<2x?xi32>, %n: tensor<2xi64>)
    -> (tensor<2x8x1x64xf16>, tensor<2x8x1x64xf16>) {
  %a, %b = kernel.attention_decode %q, %k, %k mask(%m : tensor<30xi8>) causal window = 9 offset(%o : tensor<i32>) sinks(%s : tensor<8xf32>)
     into %p, %l scale = 0.125 splits = 4 : tensor<2x8x1x64xf16>, tensor<2x2x30x64xf16>, tensor<2x2x30x64xf16>
     into tensor<2x8x1x4x64xf32>, tensor<2x8x1x4xf32> -> tensor<2x8x1x4x64xf32>, tensor<2x8x1x4xf32>
  %d = kernel.attention_combine %a, %b into %q : tensor<2x8x1x4x64xf32>, tensor<2x8x1x4xf32> into tensor<2x8x1x64xf16> -> tensor<2x8x1x64xf16>
  %e = kernel.attention_decode %q, %c, %c table(%t : tensor<2x?xi32>) lengths(%n : tensor<2xi64>) into %q scale = 0.125 splits = 1
     : tensor<2x8x1x64xf16>, tensor<9x2x16x64xf16>, tensor<9x2x16x64xf16> into tensor<2x8x1x64xf16> -> tensor<2x8x1x64xf16>
  return %d, %e : tensor<2x8x1x64xf16>, tensor<2x8x1x64xf16>
}
