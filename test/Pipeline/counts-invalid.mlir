// RUN: split-file %s %t
// RUN: not xcompile %t/argmax.mlir -o %t/x.vmfb --target=cpu 2>&1 | FileCheck %s --check-prefix=ARGMAX
// RUN: not xcompile %t/argsort.mlir -o %t/x.vmfb --target=cpu 2>&1 | FileCheck %s --check-prefix=ARGSORT
// RUN: not xcompile %t/topk.mlir -o %t/x.vmfb --target=cpu 2>&1 | FileCheck %s --check-prefix=TOPK
// RUN: not xcompile %t/nonzero.mlir -o %t/x.vmfb --target=cpu 2>&1 | FileCheck %s --check-prefix=NONZERO
// RUN: not xcompile %t/count.mlir -o %t/x.vmfb --target=cpu 2>&1 | FileCheck %s --check-prefix=NONZERO
// RUN: not xcompile %t/categorical.mlir -o %t/x.vmfb --target=cpu 2>&1 | FileCheck %s --check-prefix=CATEGORICAL

// More elements than indices of type i32 count.
// ARGMAX:      argmax.mlir:2:{{.*}}error: array.argmax: expected at most 2147483647 elements to count in i32, got 3000000000 and 2147483647
// ARGSORT:     argsort.mlir:2:{{.*}}error: array.argsort: expected at most 2147483647 elements to count in i32, got 3000000000 and 2147483647
// TOPK:        topk.mlir:2:{{.*}}error: array.topk: expected at most 2147483647 elements to count in i32, got 3000000000 and 2147483647
// NONZERO:     error: array.nonzero: expected at most 2147483647 elements to count in i32, got 3000000000 and 2147483647
// CATEGORICAL: error: array.random_categorical: expected at most 2147483647 elements to count in i32, got 3000000000 and 2147483647

//--- argmax.mlir
func.func @main(%x: tensor<3000000000xi8>) -> tensor<i32> {
  %i = array.argmax %x axis = 0 : tensor<3000000000xi8> -> tensor<i32>
  return %i : tensor<i32>
}
//--- argsort.mlir
func.func @main(%x: tensor<3000000000xi8>) -> tensor<3000000000xi32> {
  %i = array.argsort %x axis = 0 : tensor<3000000000xi8> -> tensor<3000000000xi32>
  return %i : tensor<3000000000xi32>
}
//--- topk.mlir
func.func @main(%x: tensor<3000000000xi8>) -> (tensor<2xi8>, tensor<2xi32>) {
  %v, %i = array.topk %x k = 2 axis = 0 : tensor<3000000000xi8> -> tensor<2xi8>, tensor<2xi32>
  return %v, %i : tensor<2xi8>, tensor<2xi32>
}
//--- nonzero.mlir
func.func @main(%x: tensor<30000x100000xi8>) -> (tensor<4x2xi32>, tensor<i32>) {
  %i, %n = array.nonzero %x size = 4 : tensor<30000x100000xi8> -> tensor<4x2xi32>, tensor<i32>
  return %i, %n : tensor<4x2xi32>, tensor<i32>
}
//--- count.mlir
func.func @main(%x: tensor<3000000000xi8>) -> tensor<i32> {
  %i, %n = array.nonzero %x size = 4 : tensor<3000000000xi8> -> tensor<4x1xi32>, tensor<i32>
  return %n : tensor<i32>
}
//--- categorical.mlir
func.func @main(%k: tensor<2xui32>, %x: tensor<3000000000xf16>) -> tensor<i32> {
  %a = array.random_categorical %k, %x axis = 0 : (tensor<2xui32>, tensor<3000000000xf16>) -> tensor<i32>
  return %a : tensor<i32>
}
