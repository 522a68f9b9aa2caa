// RUN: split-file %s %t
// RUN: xcompile %t/sort.mlir -o %t/x.vmfb --target=cuda:sm_75 --ptxas=off --report | FileCheck %s
// RUN: xcompile %t/scatter.mlir -o %t/x.vmfb --target=cuda:sm_75 --ptxas=off --report | FileCheck %s
// RUN: xcompile %t/compress.mlir -o %t/x.vmfb --target=cuda:sm_75 --ptxas=off
// RUN: xcompile %t/sort.mlir -o %t/x.vmfb --target=cuda:sm_80 --ptxas=off --report | FileCheck %s --check-prefix=MORE
// RUN: not xcompile %t/topk.mlir -o %t/x.vmfb --target=cuda:sm_75 --ptxas=off 2>&1 | FileCheck %s --check-prefix=TOPK

// A target whose blocks have 64 KiB has no room for a tile of elements beside one of their positions, 8 bytes each: they take
// turns in one.
// CHECK: #cuda.sort_digit
// CHECK: {{[34][0-9]+}} bytes of shared memory
// MORE:  #cuda.sort_digit
// MORE:  {{7[0-9]+}} bytes of shared memory

// TOPK: topk.mlir:2:{{.*}}error: expected a k of which twice as many elements and indices fit a block's 65536 bytes of shared memory on sm_75, got 4096

//--- sort.mlir
func.func @main(%x: tensor<2x?xf64>) -> tensor<2x?xi64> {
  %i = array.argsort %x axis = 1 : tensor<2x?xf64> -> tensor<2x?xi64>
  return %i : tensor<2x?xi64>
}
//--- scatter.mlir
func.func @main(%x: tensor<?x?xf32>, %i: tensor<?x1xi32>, %u: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = array.scatter add, %x[%i] axes = [0] = %u : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
//--- compress.mlir
func.func @main(%x: tensor<?x4xf32>, %m: tensor<?xi1>) -> tensor<?x4xf32> {
  %z = array.constant dense<0.0> : tensor<f32>
  %y = array.compress %x, %m axis = 0 : (tensor<?x4xf32>, tensor<?xi1>) -> tensor<?x4xf32>
  %p = array.pad_to_bound %y, %z : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  return %p : tensor<?x4xf32>
}
//--- topk.mlir
func.func @main(%x: tensor<130x?xf64>) -> (tensor<130x4096xf64>, tensor<130x4096xi64>) {
  %v, %i = array.topk %x k = 4096 axis = 1 : tensor<130x?xf64> -> tensor<130x4096xf64>, tensor<130x4096xi64>
  return %v, %i : tensor<130x4096xf64>, tensor<130x4096xi64>
}
