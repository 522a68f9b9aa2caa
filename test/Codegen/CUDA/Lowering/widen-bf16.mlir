// RUN: xc-opt %s -xc-cuda-widen-bf16 | FileCheck %s

// CHECK-LABEL: func.func @pairs
// CHECK-SAME:    (%[[X:.*]]: vector<4xbf16>)
// CHECK-DAG:     %[[SIXTEEN:.*]] = arith.constant dense<16> : vector<2xi32>
// CHECK-DAG:     %[[UPPER:.*]] = arith.constant dense<-65536> : vector<2xi32>
// CHECK-DAG:     %[[WORDS:.*]] = vector.bitcast %[[X]] : vector<4xbf16> to vector<2xi32>
// CHECK-DAG:     %[[LOW:.*]] = arith.shli %[[WORDS]], %[[SIXTEEN]]
// CHECK-DAG:     %[[HIGH:.*]] = arith.andi %[[WORDS]], %[[UPPER]]
// CHECK:         %[[EVEN:.*]] = arith.bitcast %[[LOW]] : vector<2xi32> to vector<2xf32>
// CHECK:         %[[ODD:.*]] = arith.bitcast %[[HIGH]] : vector<2xi32> to vector<2xf32>
// CHECK:         vector.interleave %[[EVEN]], %[[ODD]] : vector<2xf32> -> vector<4xf32>
// CHECK-NOT:     arith.extf
func.func @pairs(%x: vector<4xbf16>) -> vector<4xf32> {
  %y = arith.extf %x : vector<4xbf16> to vector<4xf32>
  return %y : vector<4xf32>
}

// No pairs are in registers: single numbers, an odd number of them, one for all lanes. f16 has an instruction for either half.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-5: arith.extf
// CHECK-NOT:     vector.bitcast
func.func @others(%a: bf16, %b: vector<3xbf16>, %c: vector<2xf16>)
    -> (f32, vector<3xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>) {
  %splat = vector.broadcast %a : bf16 to vector<2xbf16>
  %both = vector.from_elements %a, %a : vector<2xbf16>
  %0 = arith.extf %a : bf16 to f32
  %1 = arith.extf %b : vector<3xbf16> to vector<3xf32>
  %2 = arith.extf %c : vector<2xf16> to vector<2xf32>
  %3 = arith.extf %splat : vector<2xbf16> to vector<2xf32>
  %4 = arith.extf %both : vector<2xbf16> to vector<2xf32>
  return %0, %1, %2, %3, %4 : f32, vector<3xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>
}
