// RUN: xc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(xc-split-lines))' | FileCheck %s

// Segments have totals, those have running totals, from which the segments start.
// CHECK-LABEL: func.func @long_row(
// CHECK-SAME:    %[[X:.*]]: tensor<100000xf16>
// CHECK:         %[[TOTALS:.*]] = kernel.scan sum, %[[X]] every 4096 totals into %{{.*}} axis = 0 reverse :
// CHECK-SAME:      tensor<100000xf16> into tensor<24xf32> -> tensor<24xf32>
// CHECK:         %[[CARRY:.*]] = kernel.scan sum, %[[TOTALS]] into %{{.*}} axis = 0 reverse :
// CHECK:         kernel.scan sum, %[[X]] from %[[CARRY]] every 4096 into %{{.*}} axis = 0 exclusive reverse :
// CHECK-LABEL: func.func @columns(
// CHECK:         kernel.scan max, %{{.*}} every 64 totals into %{{.*}} axis = 1 : tensor<2x1000x8xf32> into tensor<2x15x8xf32>
// Many lines are enough for all threads.
// CHECK-LABEL: func.func @many_lines(
// CHECK-NOT:     every
builtin.module @cuda attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @long_row(%x: tensor<100000xf16>) -> tensor<100000xf16> {
    %e = tensor.empty() : tensor<100000xf16>
    %0 = kernel.scan sum, %x into %e axis = 0 exclusive reverse : tensor<100000xf16> into tensor<100000xf16> -> tensor<100000xf16>
    return %0 : tensor<100000xf16>
  }
  func.func @columns(%x: tensor<2x1000x8xf32>) -> tensor<2x1000x8xf32> {
    %e = tensor.empty() : tensor<2x1000x8xf32>
    %0 = kernel.scan max, %x into %e axis = 1 : tensor<2x1000x8xf32> into tensor<2x1000x8xf32> -> tensor<2x1000x8xf32>
    return %0 : tensor<2x1000x8xf32>
  }
  func.func @many_lines(%x: tensor<1000x10000xf32>) -> tensor<1000x10000xf32> {
    %e = tensor.empty() : tensor<1000x10000xf32>
    %0 = kernel.scan max, %x into %e axis = 1 : tensor<1000x10000xf32> into tensor<1000x10000xf32> -> tensor<1000x10000xf32>
    return %0 : tensor<1000x10000xf32>
  }
}

// -----

// CHECK-LABEL: func.func @sort(
// CHECK-SAME:    %[[X:.*]]: tensor<3x5000xf32>
// CHECK:         %[[TILES:.*]]:2 = kernel.sort %[[X]] into %{{.*}}, %{{.*}} descending segment = 2048 :
// CHECK:         %[[RUNS:.*]]:2 = kernel.merge %[[TILES]]#0, %[[TILES]]#1 into %{{.*}}, %{{.*}} run = 2048 descending :
// CHECK:         kernel.merge %[[RUNS]]#0, %[[RUNS]]#1 into %{{.*}}, %{{.*}} run = 4096 descending :
// CHECK-LABEL: func.func @first(
// CHECK:         %[[FOUND:.*]]:2 = kernel.sort %{{.*}} into %{{.*}}, %{{.*}} keep = 4 segment = 2048 :
// CHECK-SAME:      tensor<5000xf32> into tensor<12xf32>, tensor<12xi32>
// CHECK:         kernel.sort %[[FOUND]]#0 payload %[[FOUND]]#1 into %{{.*}}, %{{.*}} keep = 4 :
// CHECK-LABEL: func.func @dynamic(
// CHECK-NOT:     segment
builtin.module @cuda attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @sort(%x: tensor<3x5000xf32>) -> (tensor<3x5000xf32>, tensor<3x5000xi32>) {
    %v = tensor.empty() : tensor<3x5000xf32>
    %i = tensor.empty() : tensor<3x5000xi32>
    %0:2 = kernel.sort %x into %v, %i descending
      : tensor<3x5000xf32> into tensor<3x5000xf32>, tensor<3x5000xi32> -> tensor<3x5000xf32>, tensor<3x5000xi32>
    return %0#0, %0#1 : tensor<3x5000xf32>, tensor<3x5000xi32>
  }
  func.func @first(%x: tensor<5000xf32>) -> tensor<4xf32> {
    %v = tensor.empty() : tensor<4xf32>
    %i = tensor.empty() : tensor<4xi32>
    %0:2 = kernel.sort %x into %v, %i keep = 4
      : tensor<5000xf32> into tensor<4xf32>, tensor<4xi32> -> tensor<4xf32>, tensor<4xi32>
    return %0#0 : tensor<4xf32>
  }
  func.func @dynamic(%x: tensor<?xf32>, %v: tensor<?xf32>, %i: tensor<?xi64>) -> tensor<?xf32> {
    %0:2 = kernel.sort %x into %v, %i : tensor<?xf32> into tensor<?xf32>, tensor<?xi64> -> tensor<?xf32>, tensor<?xi64>
    return %0#0 : tensor<?xf32>
  }
}

// -----

// CHECK-LABEL: func.func @cpu(
// CHECK-NOT:     every
builtin.module @cpu attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @cpu(%x: tensor<100000xf32>) -> tensor<100000xf32> {
    %e = tensor.empty() : tensor<100000xf32>
    %0 = kernel.scan sum, %x into %e axis = 0 : tensor<100000xf32> into tensor<100000xf32> -> tensor<100000xf32>
    return %0 : tensor<100000xf32>
  }
}

// -----

// CHECK-LABEL: func.func @scatter(
// CHECK-SAME:    %[[D:.*]]: tensor<50x60x8xf32>, %[[I:.*]]: tensor<2x4096x2xi16>, %[[U:.*]]: tensor<2x4096x8xf32>
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape %[[I]] {{.*}} : tensor<2x4096x2xi16> into tensor<8192x2xi16>
// CHECK:         %[[KEYS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8192xi32>)
// CHECK-COUNT-2:   tensor.extract %[[FLAT]]
// CHECK:           %[[NONE:.*]] = arith.constant 3000 : i64
// CHECK:           arith.select %{{.*}}, %{{.*}}, %[[NONE]]
// CHECK:         kernel.sort %[[KEYS]] into %{{.*}}, %{{.*}} segment = 2048
// CHECK:         kernel.merge
// CHECK:         %[[SORTED:.*]]:2 = kernel.merge
// CHECK:         kernel.scatter add, %[[I]], %[[U]] by %[[SORTED]]#0, %[[SORTED]]#1 into %[[D]] axes = [0, 1]
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     by
builtin.module @cuda attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @scatter(%d: tensor<50x60x8xf32>, %i: tensor<2x4096x2xi16>, %u: tensor<2x4096x8xf32>) -> tensor<50x60x8xf32> {
    %0 = kernel.scatter add, %i, %u into %d axes = [0, 1]
      : tensor<2x4096x2xi16>, tensor<2x4096x8xf32> into tensor<50x60x8xf32> -> tensor<50x60x8xf32>
    return %0 : tensor<50x60x8xf32>
  }
  func.func @few(%d: tensor<50x8xf32>, %i: tensor<100x1xi32>, %u: tensor<100x8xf32>) -> tensor<50x8xf32> {
    %0 = kernel.scatter add, %i, %u into %d axes = [0]
      : tensor<100x1xi32>, tensor<100x8xf32> into tensor<50x8xf32> -> tensor<50x8xf32>
    return %0 : tensor<50x8xf32>
  }
}
