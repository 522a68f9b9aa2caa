// RUN: xcompile %s -o %t.vmfb --target=cuda:sm_86 --ptxas=off --report | FileCheck %s

// The tile fits blocks of 99 KiB because its columns are not spread over the banks there.
// CHECK: #cuda.sort<{{.*}}tile = 8192
// CHECK: 98304 bytes of shared memory
func.func @main(%x: tensor<130x?xf64>) -> (tensor<130x4096xf64>, tensor<130x4096xi32>) {
  %v, %i = array.topk %x k = 4096 axis = 1 : tensor<130x?xf64> -> tensor<130x4096xf64>, tensor<130x4096xi32>
  return %v, %i : tensor<130x4096xf64>, tensor<130x4096xi32>
}
