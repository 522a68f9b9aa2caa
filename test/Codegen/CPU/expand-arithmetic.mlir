// RUN: xc-opt %s -xc-cpu-expand-arithmetic=arch=x86-64-v3 -split-input-file | FileCheck %s --check-prefixes=CHECK,V3
// RUN: xc-opt %s -xc-cpu-expand-arithmetic=arch=x86-64-v2 -split-input-file | FileCheck %s --check-prefixes=CHECK,V2
// RUN: not xc-opt %s -xc-cpu-expand-arithmetic=arch=pentium 2>&1 | FileCheck %s --check-prefix=ARCH

// ARCH: error: unknown CPU 'pentium'; the known ones are x86-64, x86-64-v2, x86-64-v3, x86-64-v4, aarch64, {{.*}}native

// CHECK-LABEL: func.func @bf16_product
// CHECK-NOT:     arith.extf
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NOT:     arith.truncf
// CHECK:         return
func.func @bf16_product(%x: memref<1xbf16>) {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<1xbf16>
  %p = arith.mulf %a, %a : bf16
  memref.store %p, %x[%c0] : memref<1xbf16>
  return
}

// CHECK-LABEL: func.func @f16_conversion
// V3:            arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// V2-NOT:        arith.extf
func.func @f16_conversion(%x: vector<8xf16>) -> vector<8xf32> {
  %0 = arith.extf %x : vector<8xf16> to vector<8xf32>
  return %0 : vector<8xf32>
}

// CHECK-LABEL: func.func @fma
// V3:            math.fma
// V2-NOT:        math.fma
func.func @fma(%a: vector<8xf32>) -> vector<8xf32> {
  %0 = math.fma %a, %a, %a : vector<8xf32>
  return %0 : vector<8xf32>
}

// CHECK-LABEL: func.func @exp
// CHECK-NOT:     math.exp
func.func @exp(%a: f32) -> f32 {
  %0 = math.exp %a : f32
  return %0 : f32
}

// -----

// LLVM must not see f64 -> f32 -> f16: it would make it one conversion, which no CPU of the table has.
// CHECK-LABEL: func.func @f64_and_f16
// CHECK:         arith.truncf %{{.*}} : f64 to f32
// CHECK-NOT:     arith.truncf
func.func @f64_and_f16(%a: f64) -> f16 {
  %0 = arith.truncf %a : f64 to f32
  %1 = arith.truncf %0 : f32 to f16
  return %1 : f16
}
