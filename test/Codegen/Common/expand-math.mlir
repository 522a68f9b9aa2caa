// RUN: xc-opt %s -xc-expand-math | FileCheck %s
// RUN: xc-opt %s -xc-expand-math=has-fma=false | FileCheck %s --check-prefix=NOFMA --implicit-check-not=math.fma
// RUN: xc-opt %s -xc-expand-math=fast-math=true | FileCheck %s --check-prefix=FAST

// CHECK-LABEL: func.func @every_function_becomes_arithmetic(
// CHECK-NOT:   math.{{exp|log|sin|cos|tan|asin|acos|atan|sinh|cosh|tanh|erf|cbrt|rsqrt|powf|round |is}}
// CHECK:       return
// NOFMA-LABEL: func.func @every_function_becomes_arithmetic(
// FAST-LABEL:  func.func @every_function_becomes_arithmetic(
func.func @every_function_becomes_arithmetic(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
  %0 = math.exp %x : vector<4xf32>
  %1 = math.exp2 %0 : vector<4xf32>
  %2 = math.expm1 %1 : vector<4xf32>
  %3 = math.log %2 : vector<4xf32>
  %4 = math.log2 %3 : vector<4xf32>
  %5 = math.log10 %4 : vector<4xf32>
  %6 = math.log1p %5 : vector<4xf32>
  %7 = math.sin %6 : vector<4xf32>
  %8 = math.cos %7 : vector<4xf32>
  %9 = math.tan %8 : vector<4xf32>
  %10 = math.asin %9 : vector<4xf32>
  %11 = math.acos %10 : vector<4xf32>
  %12 = math.atan %11 : vector<4xf32>
  %13 = math.atan2 %12, %y : vector<4xf32>
  %14 = math.sinh %13 : vector<4xf32>
  %15 = math.cosh %14 : vector<4xf32>
  %16 = math.tanh %15 : vector<4xf32>
  %17 = math.asinh %16 : vector<4xf32>
  %18 = math.acosh %17 : vector<4xf32>
  %19 = math.atanh %18 : vector<4xf32>
  %20 = math.erf %19 : vector<4xf32>
  %21 = math.erfc %20 : vector<4xf32>
  %22 = math.cbrt %21 : vector<4xf32>
  %23 = math.rsqrt %22 : vector<4xf32>
  %24 = math.powf %23, %y : vector<4xf32>
  %25 = math.round %24 : vector<4xf32>
  return %25 : vector<4xf32>
}

// CHECK-LABEL: func.func @f64_keeps_its_type(
// CHECK-SAME:    %[[X:.*]]: f64
// CHECK-NOT:     f32
// CHECK:         arith.bitcast %{{.*}} : f64 to i64
// CHECK-NOT:     math.exp
// CHECK:         return %{{.*}} : f64
func.func @f64_keeps_its_type(%x: f64) -> f64 {
  %0 = math.exp %x : f64
  return %0 : f64
}

// CHECK-LABEL: func.func @sixteen_bits_are_computed_in_f32(
// CHECK-SAME:    %[[X:.*]]: vector<2x3xbf16>
// CHECK:         %[[WIDE:.*]] = arith.extf %[[X]] : vector<2x3xbf16> to vector<2x3xf32>
// CHECK:         %[[ROOT:.*]] = math.sqrt %[[WIDE]] : vector<2x3xf32>
// CHECK:         %[[RESULT:.*]] = arith.truncf %[[ROOT]] : vector<2x3xf32> to vector<2x3xbf16>
// CHECK:         return %[[RESULT]]
func.func @sixteen_bits_are_computed_in_f32(%x: vector<2x3xbf16>) -> vector<2x3xbf16> {
  %0 = math.sqrt %x : vector<2x3xbf16>
  return %0 : vector<2x3xbf16>
}

// CHECK-LABEL: func.func @instructions_stay(
// CHECK:         math.sqrt
// CHECK:         math.floor
// CHECK:         math.ceil
// CHECK:         math.trunc
// CHECK:         math.roundeven
// CHECK:         math.absf
// CHECK:         math.copysign
// CHECK:         math.fma
// NOFMA-LABEL: func.func @instructions_stay(
// NOFMA:         arith.mulf %{{.*}} : f64
// NOFMA:         arith.truncf %{{.*}} : f64 to f32
func.func @instructions_stay(%x: f32, %y: f32) -> f32 {
  %0 = math.sqrt %x : f32
  %1 = math.floor %0 : f32
  %2 = math.ceil %1 : f32
  %3 = math.trunc %2 : f32
  %4 = math.roundeven %3 : f32
  %5 = math.absf %4 : f32
  %6 = math.copysign %5, %y : f32
  %7 = math.fma %6, %y, %x : f32
  return %7 : f32
}

// Huge arguments take a branch of their own, which fast math leaves out.
// CHECK-LABEL: func.func @huge_angles_branch(
// CHECK:         %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<8xi1> into i1
// CHECK:         %[[UNLIKELY:.*]] = llvm.intr.expect %[[ANY]], %{{.*}} : i1
// CHECK:         scf.if %[[UNLIKELY]]
// CHECK:           scf.for
// FAST-LABEL:  func.func @huge_angles_branch(
// FAST-NOT:      scf.
// FAST:          return
func.func @huge_angles_branch(%x: vector<2x4xf32>) -> vector<2x4xf32> {
  %0 = math.sin %x : vector<2x4xf32>
  return %0 : vector<2x4xf32>
}

// CHECK-LABEL: func.func @integer_power(
// CHECK-SAME:    %[[X:.*]]: i32, %[[Y:.*]]: i32
// CHECK:         %[[LOOP:.*]]:3 = scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %[[X]], %{{.*}} = %[[Y]])
// CHECK:         %[[NONNEGATIVE:.*]] = arith.cmpi sge, %[[Y]], %{{.*}} : i32
// CHECK:         %[[VALID:.*]] = arith.ori %{{.*}}, %[[NONNEGATIVE]] : i1
// CHECK:         arith.select %[[VALID]], %[[LOOP]]#0, %{{.*}} : i32
func.func @integer_power(%x: i32, %y: i32) -> i32 {
  %0 = math.ipowi %x, %y : i32
  return %0 : i32
}

// CHECK-LABEL: func.func @remainder(
// CHECK:         arith.extf
// CHECK:         scf.while
// CHECK-NOT:     arith.remf
// CHECK:         arith.truncf
func.func @remainder(%x: f32, %y: f32) -> f32 {
  %0 = arith.remf %x, %y : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @squares_are_products(
// CHECK-SAME:    %[[X:.*]]: f32
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT:    return %[[SQUARE]]
func.func @squares_are_products(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %0 = math.powf %x, %two : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @tensors_and_scalable_vectors_are_left_alone(
// CHECK:         math.exp %{{.*}} : tensor<4xf32>
// CHECK:         math.exp %{{.*}} : vector<[4]xf32>
func.func @tensors_and_scalable_vectors_are_left_alone(%x: tensor<4xf32>, %y: vector<[4]xf32>)
    -> (tensor<4xf32>, vector<[4]xf32>) {
  %0 = math.exp %x : tensor<4xf32>
  %1 = math.exp %y : vector<[4]xf32>
  return %0, %1 : tensor<4xf32>, vector<[4]xf32>
}

// Approximate, and no such instruction: the natural logarithm and a product.
// CHECK-LABEL: func.func @approximate_log2
// CHECK-NOT:     math.log2
// CHECK:         arith.cmpf ogt
// CHECK-NEXT:    %[[LOG:.*]] = arith.select
// CHECK-NEXT:    %[[PRODUCT:.*]] = arith.mulf %[[LOG]], %{{.*}} : f32
// CHECK-NEXT:    return %[[PRODUCT]]
func.func @approximate_log2(%x: f32) -> f32 {
  %0 = math.log2 %x fastmath<afn> : f32
  return %0 : f32
}

// tanh(log(1 + x)) = (x^2 + 2x) / (x^2 + 2x + 2).
// CHECK-LABEL: func.func @tanh_of_log1p
// CHECK-SAME:    %[[X:.*]]: f64
// CHECK:         %[[TWICE:.*]] = arith.addf %[[INSIDE:.*]], %[[INSIDE]] : f64
// CHECK:         %[[N:.*]] = math.fma %[[INSIDE]], %[[INSIDE]], %[[TWICE]] : f64
// CHECK:         %[[D:.*]] = arith.addf %[[N]], %{{.*}} : f64
// CHECK:         arith.divf %[[N]], %[[D]] : f64
// CHECK-NOT:     arith.divf
func.func @tanh_of_log1p(%x: f64) -> f64 {
  %0 = math.log1p %x : f64
  %1 = math.tanh %0 : f64
  return %1 : f64
}
