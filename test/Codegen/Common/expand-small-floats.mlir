// RUN: xc-opt %s -xc-expand-small-floats | FileCheck %s
// RUN: xc-opt %s -xc-expand-small-floats=has-f16-conversion=false | FileCheck %s --check-prefix=SOFT --implicit-check-not="f32 to f16" --implicit-check-not="f16 to f32"

// CHECK-LABEL: func.func @bf16_extends_by_a_shift(
// CHECK-SAME:    %[[X:.*]]: bf16
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[X]] : bf16 to i16
// CHECK:         %[[WIDE:.*]] = arith.extui %[[BITS]] : i16 to i32
// CHECK:         %[[SHIFTED:.*]] = arith.shli %[[WIDE]], %{{.*}} : i32
// CHECK:         %[[RESULT:.*]] = arith.bitcast %[[SHIFTED]] : i32 to f32
// CHECK:         return %[[RESULT]]
func.func @bf16_extends_by_a_shift(%x: bf16) -> f32 {
  %0 = arith.extf %x : bf16 to f32
  return %0 : f32
}

// CHECK-LABEL: func.func @bf16_rounds_in_integers(
// CHECK-NOT:     arith.truncf
// CHECK:         arith.trunci %{{.*}} : vector<4xi32> to vector<4xi16>
// CHECK:         arith.bitcast %{{.*}} : vector<4xi16> to vector<4xbf16>
func.func @bf16_rounds_in_integers(%x: vector<4xf32>) -> vector<4xbf16> {
  %0 = arith.truncf %x : vector<4xf32> to vector<4xbf16>
  return %0 : vector<4xbf16>
}

// CHECK-LABEL: func.func @f16_conversions_stay_where_the_target_has_them(
// CHECK:         arith.extf %{{.*}} : f16 to f32
// CHECK:         arith.truncf %{{.*}} : f32 to f16
// SOFT-LABEL:  func.func @f16_conversions_stay_where_the_target_has_them(
// SOFT:          arith.bitcast %{{.*}} : i16 to f16
func.func @f16_conversions_stay_where_the_target_has_them(%x: f16) -> f16 {
  %0 = arith.addf %x, %x : f16
  return %0 : f16
}

// One rounding: f64 goes to f32 by rounding to odd.
// CHECK-LABEL: func.func @f64_rounds_once(
// CHECK-SAME:    %[[X:.*]]: f64
// CHECK:         %[[NEAREST:.*]] = arith.truncf %[[X]] : f64 to f32
// CHECK:         %[[BACK:.*]] = arith.extf %[[NEAREST]] : f32 to f64
// CHECK:         arith.cmpf one, %[[BACK]], %[[X]] : f64
// CHECK:         arith.truncf %{{.*}} : f32 to f16
func.func @f64_rounds_once(%x: f64) -> f16 {
  %0 = arith.truncf %x : f64 to f16
  return %0 : f16
}

// CHECK-LABEL: func.func @comparisons_and_integers(
// CHECK:         arith.cmpf olt, %{{.*}} : f32
// CHECK:         arith.fptosi %{{.*}} : f32 to i32
func.func @comparisons_and_integers(%x: bf16, %y: bf16) -> (i1, i32) {
  %0 = arith.cmpf olt, %x, %y : bf16
  %1 = arith.fptosi %x : bf16 to i32
  return %0, %1 : i1, i32
}

// CHECK-LABEL: func.func @other_types_are_left_alone(
// CHECK-NEXT:    arith.extf
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    return
func.func @other_types_are_left_alone(%x: f32) -> f64 {
  %0 = arith.extf %x : f32 to f64
  %1 = arith.addf %0, %0 : f64
  return %1 : f64
}
