// RUN: xc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(xc-cuda-split-scans-and-sorts))' | FileCheck %s

// Segments have totals, those have running totals, from which the segments start.
// CHECK-DAG: #[[$SEGMENTS:.*]] = affine_map<()[s0] -> (s0 ceildiv 8192 - s0 ceildiv 281474976710656)>
// CHECK-LABEL: func.func @long_row(
// CHECK-SAME:    %[[X:.*]]: tensor<100000xf16>
// CHECK:         %[[TOTALS:.*]] = kernel.scan sum, %[[X]] every 4096 totals into %{{.*}} axis = 0 reverse :
// CHECK-SAME:      tensor<100000xf16> into tensor<24xf32> -> tensor<24xf32>
// CHECK:         %[[CARRY:.*]] = kernel.scan sum, %[[TOTALS]] into %{{.*}} axis = 0 reverse :
// CHECK:         kernel.scan sum, %[[X]] from %[[CARRY]] every 4096 into %{{.*}} axis = 0 exclusive reverse :
// CHECK-LABEL: func.func @columns(
// CHECK:         kernel.scan max, %{{.*}} every 64 totals into %{{.*}} axis = 1 : tensor<2x1000x8xf32> into tensor<2x15x8xf32>
// Many lines are enough for all threads.
// Totals, and totals of those, of a number of segments that is 0 for lines without elements.
// CHECK-LABEL: func.func @symbolic(
// CHECK:         %[[N:.*]] = affine.apply #[[$SEGMENTS]]()[%{{.*}}]
// CHECK:         tensor.empty(%[[N]]) : tensor<?xf32>
// CHECK:         %[[TOTALS:.*]] = kernel.scan sum, %{{.*}} every 8192 totals into
// CHECK:         %[[MORE:.*]] = kernel.scan sum, %[[TOTALS]] every 8192 totals into
// CHECK:         %[[LAST:.*]] = kernel.scan sum, %[[MORE]] into
// CHECK:         %[[CARRY:.*]] = kernel.scan sum, %[[TOTALS]] from %[[LAST]] every 8192 into
// CHECK:         kernel.scan sum, %{{.*}} from %[[CARRY]] every 8192 into
// CHECK-LABEL: func.func @symbolic_columns(
// CHECK:         kernel.scan sum, %{{.*}} every 256 totals into
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
  func.func @symbolic(%x: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
    %0 = kernel.scan sum, %x into %e axis = 0 : tensor<?xf32> into tensor<?xf32> -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  func.func @symbolic_columns(%x: tensor<?x6xf32>, %e: tensor<?x6xf32>) -> tensor<?x6xf32> {
    %0 = kernel.scan sum, %x into %e axis = 0 : tensor<?x6xf32> into tensor<?x6xf32> -> tensor<?x6xf32>
    return %0 : tensor<?x6xf32>
  }
  func.func @many_lines(%x: tensor<1000x10000xf32>) -> tensor<1000x10000xf32> {
    %e = tensor.empty() : tensor<1000x10000xf32>
    %0 = kernel.scan max, %x into %e axis = 1 : tensor<1000x10000xf32> into tensor<1000x10000xf32> -> tensor<1000x10000xf32>
    return %0 : tensor<1000x10000xf32>
  }
}

// -----

// CHECK-DAG: #[[$TILES:.*]] = affine_map<()[s0] -> (s0 ceildiv 4096)>
// CHECK-DAG: #[[$FOUND:.*]] = affine_map<()[s0] -> (s0 - (s0 floordiv 4096) * 4092)>
// CHECK-LABEL: func.func @sort(
// CHECK-SAME:    %[[X:.*]]: tensor<3x100000xf32>
// CHECK:         %[[COUNTS:.*]] = kernel.count_digits %[[X]] into %{{.*}} digit = 0 tile = 4096 descending :
// CHECK-SAME:      tensor<3x100000xf32> into tensor<3x256x25xi32>
// CHECK:         %[[ENDS:.*]] = kernel.scan sum, %[[COUNTS]] into %{{.*}} axis = 2 : tensor<3x256x25xi32>
// CHECK:         %[[FIRST:.*]]:2 = kernel.sort_digit %[[X]] by %[[ENDS]] into %{{.*}}, %{{.*}} digit = 0 tile = 4096 descending :
// CHECK:         kernel.count_digits %[[FIRST]]#0 into %{{.*}} digit = 1
// CHECK:         kernel.sort_digit %[[FIRST]]#0 payload %[[FIRST]]#1 by %{{.*}} digit = 1
// CHECK:         kernel.sort_digit %{{.*}} payload %{{.*}} digit = 2
// CHECK:         %[[LAST:.*]]:2 = kernel.sort_digit %{{.*}} payload %{{.*}} digit = 3
// CHECK:         return %[[LAST]]#0, %[[LAST]]#1
// Nobody asks where elements come from; indices of i64 get so wide at the end. Tiles are few: they are short, and nothing
// but what uses their counts adds these up.
// CHECK-LABEL: func.func @values(
// CHECK:         %[[COUNTS:.*]] = kernel.count_digits %{{.*}} into %{{.*}} digit = 0 tile = 2048 :
// CHECK-NOT:     kernel.scan
// CHECK:         kernel.sort_digit %{{.*}} by %[[COUNTS]] into %{{.*}} digit = 0 tile = 2048 adds_counts {{.*}} into tensor<9000xi16> ->
// CHECK:         kernel.sort_digit %{{.*}} by %{{.*}} into %{{.*}} digit = 1
// CHECK-LABEL: func.func @wide_indices(
// CHECK:         kernel.sort_digit %{{.*}} digit = 0 {{.*}} into tensor<9000xi16>, tensor<9000xi32> ->
// CHECK:         kernel.sort_digit %{{.*}} payload tensor<9000xi32> {{.*}} into tensor<9000xi16>, tensor<9000xi64> ->
// Eight digits are more than tiles and two merges.
// CHECK-LABEL: func.func @merged(
// CHECK:         %[[TILES:.*]]:2 = kernel.sort %{{.*}} into %{{.*}}, %{{.*}} descending segment = 4096 :
// CHECK:         %[[RUNS:.*]]:2 = kernel.merge %[[TILES]]#0, %[[TILES]]#1 into %{{.*}}, %{{.*}} run = 4096 descending :
// CHECK:         kernel.merge %[[RUNS]]#0, %[[RUNS]]#1 into %{{.*}}, %{{.*}} run = 8192 descending :
// CHECK-LABEL: func.func @first(
// CHECK:         %[[FOUND:.*]]:2 = kernel.sort %{{.*}} into %{{.*}}, %{{.*}} keep = 4 segment = 4096 :
// CHECK-SAME:      tensor<5000xf32> into tensor<908xf32>, tensor<908xi32>
// CHECK:         kernel.sort %[[FOUND]]#0 payload %[[FOUND]]#1 into %{{.*}}, %{{.*}} keep = 4 :
// CHECK-LABEL: func.func @search(
// CHECK:         kernel.sort %{{.*}} keep = 32 segment = 4096 : tensor<1000000xf32> into tensor<8384xf32>
// CHECK:         kernel.sort %{{.*}} keep = 32 segment = 4096 : tensor<8384xf32> payload tensor<8384xi32> into tensor<256xf32>
// CHECK:         kernel.sort %{{.*}} keep = 32 : tensor<256xf32> payload tensor<256xi32> into tensor<32xf32>
// CHECK-LABEL: func.func @dynamic(
// CHECK:         %[[TILES:.*]] = affine.apply #[[$TILES]]()[%{{.*}}]
// CHECK:         tensor.empty(%[[TILES]]) : tensor<256x?xi64>
// CHECK:         %[[COUNTS:.*]] = kernel.count_digits %{{.*}} into %{{.*}} digit = 0 tile = 4096 : tensor<?xf32> into tensor<256x?xi64>
// CHECK:         %[[ENDS:.*]] = kernel.scan sum, %[[COUNTS]] into %{{.*}} axis = 1 : tensor<256x?xi64>
// CHECK:         kernel.sort_digit %{{.*}} by %[[ENDS]] into %{{.*}} digit = 0 tile = 4096 :
// CHECK:         kernel.sort_digit {{.*}} digit = 3
// CHECK-NOT:     kernel.merge
// Of a line that is short the first of two merges leaves nothing behind, and the second what there was before.
// CHECK-LABEL: func.func @dynamic_bits(
// CHECK:         %[[TILES:.*]]:2 = kernel.sort %{{.*}} segment = 4096 : tensor<?xi4> into tensor<?xi4>, tensor<?xi64>
// CHECK:         %[[FIRST:.*]]:2 = kernel.merge %[[TILES]]#0, %[[TILES]]#1 into %{{.*}}, %{{.*}} run = 4096 above = 4096 :
// CHECK:         %[[SECOND:.*]]:2 = kernel.merge %[[FIRST]]#0, %[[FIRST]]#1 into %[[TILES]]#0, %[[TILES]]#1 run = 8192 above = 4096 :
// CHECK:         %[[THIRD:.*]]:2 = kernel.merge %[[SECOND]]#0, %[[SECOND]]#1 into %{{.*}}, %{{.*}} run = 16384 above = 16384 :
// CHECK:         kernel.merge %[[THIRD]]#0, %[[THIRD]]#1 into %[[SECOND]]#0, %[[SECOND]]#1 run = 32768 above = 16384 :
// CHECK-COUNT-18: kernel.merge
// CHECK-NOT:     kernel.merge
// CHECK-LABEL: func.func @search_dynamic(
// CHECK:         %[[N:.*]] = affine.apply #[[$FOUND]]()[%{{.*}}]
// CHECK:         tensor.empty(%[[N]]) : tensor<?xf32>
// CHECK:         %[[FOUND:.*]]:2 = kernel.sort %{{.*}} keep = 4 segment = 4096 : tensor<?xf32> into tensor<?xf32>, tensor<?xi32>
// CHECK:         %[[FEWER:.*]]:2 = kernel.sort %[[FOUND]]#0 payload %[[FOUND]]#1 into %{{.*}}, %{{.*}} keep = 4 segment = 4096 :
// CHECK:         kernel.sort %[[FEWER]]#0 payload %[[FEWER]]#1 into %{{.*}}, %{{.*}} keep = 4 : tensor<?xf32>
// CHECK-LABEL: func.func @rows_dynamic(
// CHECK-NOT:     segment
builtin.module @cuda attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @sort(%x: tensor<3x100000xf32>) -> (tensor<3x100000xf32>, tensor<3x100000xi32>) {
    %v = tensor.empty() : tensor<3x100000xf32>
    %i = tensor.empty() : tensor<3x100000xi32>
    %0:2 = kernel.sort %x into %v, %i descending
      : tensor<3x100000xf32> into tensor<3x100000xf32>, tensor<3x100000xi32> -> tensor<3x100000xf32>, tensor<3x100000xi32>
    return %0#0, %0#1 : tensor<3x100000xf32>, tensor<3x100000xi32>
  }
  func.func @values(%x: tensor<9000xi16>, %v: tensor<9000xi16>, %i: tensor<9000xi32>) -> tensor<9000xi16> {
    %0:2 = kernel.sort %x into %v, %i
      : tensor<9000xi16> into tensor<9000xi16>, tensor<9000xi32> -> tensor<9000xi16>, tensor<9000xi32>
    return %0#0 : tensor<9000xi16>
  }
  func.func @wide_indices(%x: tensor<9000xi16>, %v: tensor<9000xi16>, %i: tensor<9000xi64>) -> tensor<9000xi64> {
    %0:2 = kernel.sort %x into %v, %i
      : tensor<9000xi16> into tensor<9000xi16>, tensor<9000xi64> -> tensor<9000xi16>, tensor<9000xi64>
    return %0#1 : tensor<9000xi64>
  }
  func.func @merged(%x: tensor<3x10000xf64>, %v: tensor<3x10000xf64>, %i: tensor<3x10000xi32>) -> tensor<3x10000xi32> {
    %0:2 = kernel.sort %x into %v, %i descending
      : tensor<3x10000xf64> into tensor<3x10000xf64>, tensor<3x10000xi32> -> tensor<3x10000xf64>, tensor<3x10000xi32>
    return %0#1 : tensor<3x10000xi32>
  }
  func.func @first(%x: tensor<5000xf32>) -> tensor<4xf32> {
    %v = tensor.empty() : tensor<4xf32>
    %i = tensor.empty() : tensor<4xi32>
    %0:2 = kernel.sort %x into %v, %i keep = 4
      : tensor<5000xf32> into tensor<4xf32>, tensor<4xi32> -> tensor<4xf32>, tensor<4xi32>
    return %0#0 : tensor<4xf32>
  }
  func.func @search(%x: tensor<1000000xf32>) -> tensor<32xf32> {
    %v = tensor.empty() : tensor<32xf32>
    %i = tensor.empty() : tensor<32xi32>
    %0:2 = kernel.sort %x into %v, %i keep = 32
      : tensor<1000000xf32> into tensor<32xf32>, tensor<32xi32> -> tensor<32xf32>, tensor<32xi32>
    return %0#0 : tensor<32xf32>
  }
  func.func @dynamic(%x: tensor<?xf32>, %v: tensor<?xf32>, %i: tensor<?xi64>) -> tensor<?xi64> {
    %0:2 = kernel.sort %x into %v, %i : tensor<?xf32> into tensor<?xf32>, tensor<?xi64> -> tensor<?xf32>, tensor<?xi64>
    return %0#1 : tensor<?xi64>
  }
  func.func @dynamic_bits(%x: tensor<?xi4>, %v: tensor<?xi4>, %i: tensor<?xi64>) -> tensor<?xi4> {
    %0:2 = kernel.sort %x into %v, %i : tensor<?xi4> into tensor<?xi4>, tensor<?xi64> -> tensor<?xi4>, tensor<?xi64>
    return %0#0 : tensor<?xi4>
  }
  func.func @search_dynamic(%x: tensor<?xf32>, %v: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
    %0:2 = kernel.sort %x into %v, %i keep = 4
      : tensor<?xf32> into tensor<4xf32>, tensor<4xi32> -> tensor<4xf32>, tensor<4xi32>
    return %0#0 : tensor<4xf32>
  }
  func.func @rows_dynamic(%x: tensor<?x?xf32>, %v: tensor<?x?xf32>, %i: tensor<?x?xi64>) -> tensor<?x?xf32> {
    %0:2 = kernel.sort %x into %v, %i
      : tensor<?x?xf32> into tensor<?x?xf32>, tensor<?x?xi64> -> tensor<?x?xf32>, tensor<?x?xi64>
    return %0#0 : tensor<?x?xf32>
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
// CHECK:           arith.select
// Two digits hold all numbers of rows.
// CHECK:         kernel.sort_digit %[[KEYS]] by %{{.*}} into %{{.*}}, %{{.*}} digit = 0
// CHECK:         %[[SORTED:.*]]:2 = kernel.sort_digit {{.*}} digit = 1
// CHECK-NOT:     kernel.sort
// CHECK:         kernel.scatter add, %[[I]], %[[U]] by %[[SORTED]]#0, %[[SORTED]]#1 into %[[D]] axes = [0, 1]
// CHECK-LABEL: func.func @symbolic_updates(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<?xi64>)
// CHECK:         %[[SORTED:.*]]:2 = kernel.sort_digit {{.*}} digit = 7
// CHECK:         kernel.scatter set, %{{.*}}, %{{.*}} by %[[SORTED]]#0, %[[SORTED]]#1 into
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     by
builtin.module @cuda attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @scatter(%d: tensor<50x60x8xf32>, %i: tensor<2x4096x2xi16>, %u: tensor<2x4096x8xf32>) -> tensor<50x60x8xf32> {
    %0 = kernel.scatter add, %i, %u into %d axes = [0, 1]
      : tensor<2x4096x2xi16>, tensor<2x4096x8xf32> into tensor<50x60x8xf32> -> tensor<50x60x8xf32>
    return %0 : tensor<50x60x8xf32>
  }
  func.func @symbolic_updates(%d: tensor<?x8xf32>, %i: tensor<?x1xi32>, %u: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %0 = kernel.scatter set, %i, %u into %d axes = [0]
      : tensor<?x1xi32>, tensor<?x8xf32> into tensor<?x8xf32> -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
  func.func @few(%d: tensor<50x8xf32>, %i: tensor<60x1xi32>, %u: tensor<60x8xf32>) -> tensor<50x8xf32> {
    %0 = kernel.scatter add, %i, %u into %d axes = [0]
      : tensor<60x1xi32>, tensor<60x8xf32> into tensor<50x8xf32> -> tensor<50x8xf32>
    return %0 : tensor<50x8xf32>
  }
}
