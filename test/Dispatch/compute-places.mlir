// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(func.func(xc-compute-places)))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

builtin.module {
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {

// Twice as many rows, by their centers: (i - 1) / 2 from below, which is -1 before the first one,
// and one more from above, which is one too many behind the last one.
// CHECK-LABEL: func.func @rows_below_and_above(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>
// CHECK-NOT:     dense
// CHECK:         linalg.generic {{.*}} outs(
// CHECK:         %[[I:.*]] = linalg.index 0
// CHECK:         %[[SUM:.*]] = arith.addi %[[I]], %{{.*}} overflow<nsw>
// CHECK:         %[[HALF:.*]] = arith.divui %[[SUM]], %{{.*}}
// CHECK:         %[[LOWEST:.*]] = arith.maxsi %[[HALF]], %{{.*}}
// CHECK:         %[[ABOVE:.*]] = arith.minsi %[[LOWEST]], %{{.*}}
// CHECK:         %[[OTHER:.*]] = arith.divui
// CHECK:         %[[SHIFTED:.*]] = arith.addi %[[OTHER]], %c-1 overflow<nsw>
// CHECK:         %[[LOWEST:.*]] = arith.maxsi %[[SHIFTED]], %{{.*}}
// CHECK:         %[[BELOW:.*]] = arith.minsi %[[LOWEST]], %{{.*}}
// CHECK:         tensor.extract %[[X]][%[[BELOW]], %{{.*}}]
// CHECK:         tensor.extract %[[X]][%[[ABOVE]], %{{.*}}]
func.func @rows_below_and_above(%x: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %below = arith.constant dense<[0, 0, 0, 1, 1, 2, 2, 3]> : tensor<8xi64>
  %above = arith.constant dense<[0, 1, 1, 2, 2, 3, 3, 4]> : tensor<8xi64>
  %c0 = arith.constant 0 : i64
  %c3 = arith.constant 3 : i64
  %e = tensor.empty() : tensor<8x8xf32>
  %y = linalg.generic {indexing_maps = [#row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%below, %above : tensor<8xi64>, tensor<8xi64>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%b: i64, %a: i64, %o: f32):
    %column = linalg.index 1 : index
    %b0 = arith.minsi %b, %c3 : i64
    %b1 = arith.maxsi %b0, %c0 : i64
    %b2 = arith.index_cast %b1 : i64 to index
    %a0 = arith.minsi %a, %c3 : i64
    %a1 = arith.maxsi %a0, %c0 : i64
    %a2 = arith.index_cast %a1 : i64 to index
    %low = tensor.extract %x[%b2, %column] : tensor<4x8xf32>
    %high = tensor.extract %x[%a2, %column] : tensor<4x8xf32>
    %sum = arith.addf %low, %high : f32
    linalg.yield %sum : f32
  } -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// By corners, 7 places over 3 elements: i * 2 / 6.
// CHECK-LABEL: func.func @corners_of_columns(
// CHECK-NOT:     dense
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK:         %[[I:.*]] = linalg.index 1
// CHECK:         %[[QUOTIENT:.*]] = arith.divui %[[I]], %[[C3]]
// CHECK:         %[[LOWER:.*]] = arith.maxsi %[[QUOTIENT]], %{{.*}}
// CHECK:         %[[PLACE:.*]] = arith.minsi %[[LOWER]], %{{.*}}
// CHECK:         tensor.extract %{{.*}}[%{{.*}}, %[[PLACE]]]
func.func @corners_of_columns(%x: tensor<4x3xf32>) -> tensor<4x7xf32> {
  %places = arith.constant dense<[0, 0, 0, 1, 1, 1, 2]> : tensor<7xi64>
  %e = tensor.empty() : tensor<4x7xf32>
  %y = linalg.generic {indexing_maps = [#column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%places : tensor<7xi64>) outs(%e : tensor<4x7xf32>) {
  ^bb0(%p: i64, %o: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %p : i64 to index
    %r = tensor.extract %x[%row, %place] : tensor<4x3xf32>
    linalg.yield %r : f32
  } -> tensor<4x7xf32>
  return %y : tensor<4x7xf32>
}

// CHECK-LABEL: func.func @uneven(
// CHECK:         %[[LIST:.*]] = arith.constant dense<[0, 2, 1, 3]>
// CHECK:         linalg.generic {{.*}} ins(%[[LIST]] :
func.func @uneven(%x: tensor<4xf32>) -> tensor<4xf32> {
  %places = arith.constant dense<[0, 2, 1, 3]> : tensor<4xi64>
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%places : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: i64, %o: f32):
    %place = arith.index_cast %p : i64 to index
    %r = tensor.extract %x[%place] : tensor<4xf32>
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// What is added as well needs the list.
// CHECK-LABEL: func.func @list_of_numbers(
// CHECK:         %[[LIST:.*]] = arith.constant dense<[0, 0, 1, 1]>
// CHECK:         linalg.generic {{.*}} ins(%[[LIST]] :
// CHECK:         arith.divui
// CHECK:         tensor.extract
func.func @list_of_numbers(%x: tensor<2xi64>) -> tensor<4xi64> {
  %places = arith.constant dense<[0, 0, 1, 1]> : tensor<4xi64>
  %e = tensor.empty() : tensor<4xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%places : tensor<4xi64>) outs(%e : tensor<4xi64>) {
  ^bb0(%p: i64, %o: i64):
    %place = arith.index_cast %p : i64 to index
    %r = tensor.extract %x[%place] : tensor<2xi64>
    %s = arith.addi %r, %p : i64
    linalg.yield %s : i64
  } -> tensor<4xi64>
  return %y : tensor<4xi64>
}
}

builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
// CHECK-LABEL: func.func @on_a_cpu(
// CHECK:         %[[LIST:.*]] = arith.constant dense<[0, 0, 1, 1]>
// CHECK:         linalg.generic {{.*}} ins(%[[LIST]] :
func.func @on_a_cpu(%x: tensor<2xf32>) -> tensor<4xf32> {
  %places = arith.constant dense<[0, 0, 1, 1]> : tensor<4xi64>
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%places : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: i64, %o: f32):
    %place = arith.index_cast %p : i64 to index
    %r = tensor.extract %x[%place] : tensor<2xf32>
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
}
}
