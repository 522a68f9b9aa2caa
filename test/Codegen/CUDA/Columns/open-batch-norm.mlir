// RUN: xcompile %s -o %t.vmfb --target=cuda:sm_90a --gradient=main 2>&1 | FileCheck %s

// The norm of a batch of symbolic size sums up by columns in two steps each, and the four sums of its gradient are two kernels together.
// CHECK-DAG: @main: 5 launches
// CHECK-DAG: @main_vjp: 8 launches
func.func @main(%x: tensor<?x28x28x256xbf16> {array.name = "x"}, %s: tensor<256xbf16> {array.name = "s"}, %b: tensor<256xbf16> {array.name = "b"}) -> tensor<?x28x28x256xbf16> {
  %y, %m, %v = array.batch_norm_training %x, %s, %b axis = 3 epsilon = 1.0e-5 : (tensor<?x28x28x256xbf16>, tensor<256xbf16>, tensor<256xbf16>) -> (tensor<?x28x28x256xbf16>, tensor<256xbf16>, tensor<256xbf16>)
  %r = array.relu %y : tensor<?x28x28x256xbf16>
  return %r : tensor<?x28x28x256xbf16>
}
