// RUN: xc-opt %s -xc-expand-math="has-exp2 has-log2 has-tanh has-min-max" | FileCheck %s
// RUN: xc-opt %s -xc-expand-math="has-exp2 has-log2 has-tanh has-min-max fast-math" | FileCheck %s --check-prefix=FAST

// The instruction for 2^x computes exp, with the rounding error of the product mended.
// CHECK-LABEL: func.func @exp
// CHECK:         arith.maximumf
// CHECK:         arith.minimumf
// CHECK:         %[[HIGH:.*]] = arith.mulf
// CHECK:         math.fma
// CHECK:         math.fma
// CHECK:         math.exp2 %[[HIGH]] : f32
// CHECK:         math.fma
// CHECK-NOT:     arith.select
// FAST-LABEL:  func.func @exp
// FAST:          %[[PRODUCT:.*]] = arith.mulf
// FAST-NEXT:     %[[POWER:.*]] = math.exp2 %[[PRODUCT]] fastmath<afn> : f32
// FAST-NEXT:     return %[[POWER]]
func.func @exp(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @exp2
// CHECK-NEXT:    math.exp2 %{{.*}} : vector<4xf32>
func.func @exp2(%x: vector<4xf32>) -> vector<4xf32> {
  %y = math.exp2 %x : vector<4xf32>
  return %y : vector<4xf32>
}

// No such instruction for f64.
// CHECK-LABEL: func.func @wide
// CHECK-NOT:     math.exp2
func.func @wide(%x: f64) -> f64 {
  %y = math.exp2 %x : f64
  return %y : f64
}

// CHECK-LABEL: func.func @erf
// CHECK:         math.exp2 %{{.*}} fastmath<afn> : f32
func.func @erf(%x: f32) -> f32 {
  %y = math.erf %x : f32
  return %y : f32
}

// The approximation is for fast-math only.
// CHECK-LABEL: func.func @tanh
// CHECK-NOT:     math.tanh
// FAST-LABEL:  func.func @tanh
// FAST-NEXT:     math.tanh %{{.*}} fastmath<afn> : f32
func.func @tanh(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  return %y : f32
}

// Where an approximation will do, the instruction.
// CHECK-LABEL: func.func @log2
// CHECK:         math.log2 %{{.*}} fastmath<afn> : vector<4xf32>
// CHECK-NOT:     math.log2
// CHECK:         return
func.func @log2(%x: vector<4xf32>, %y: f32) -> (vector<4xf32>, f32) {
  %0 = math.log2 %x fastmath<afn> : vector<4xf32>
  %1 = math.log2 %y : f32
  return %0, %1 : vector<4xf32>, f32
}

// With an instruction for 1 / x, too, no quotient remains within functions, and a root is one instruction.
// RUN: xc-opt %s -xc-expand-math="has-exp2 has-reciprocal has-min-max" | FileCheck %s --check-prefix=RCP
// RCP-LABEL:   func.func @with_reciprocal
// RCP-NOT:       arith.divf {{[^<]*$}}
// RCP:           math.exp2 %{{.*}} fastmath<afn> : f32
// RCP-NOT:       arith.divf {{[^<]*$}}
// RCP:           arith.divf %{{.*}}, %{{.*}} fastmath<afn> : f32
// RCP-NOT:       arith.divf {{[^<]*$}}
// RCP:           math.rsqrt %{{.*}} fastmath<afn> : f32
// RCP-NOT:       arith.divf {{[^<]*$}}
// RCP:           return
func.func @with_reciprocal(%x: f32) -> (f32, f32, f32) {
  %0 = math.tanh %x : f32
  %1 = math.rsqrt %x : f32
  %2 = math.log2 %x : f32
  return %0, %1, %2 : f32, f32, f32
}
