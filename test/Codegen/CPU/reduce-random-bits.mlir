// RUN: xcompile %s -o %t.vmfb --target=cpu

// The random bits are computed in the loop that reduces them. LLVM's search for a CRC in such a loop does not end.
func.func @main(%key: tensor<2xui32>) -> (tensor<ui8>, tensor<ui8>) {
  %x = array.random_bits %key : tensor<2xui32> -> tensor<256xui8>
  %largest, %other = array.reduce_with %x, %x axes = [0] init = [0 : ui8, 0 : ui8] : (tensor<256xui8>, tensor<256xui8>) -> (tensor<ui8>, tensor<ui8>) {
  ^bb0(%a0: tensor<ui8>, %a1: tensor<ui8>, %b0: tensor<ui8>, %b1: tensor<ui8>):
    %more = array.compare gt, %b0, %a0 : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    %r0 = array.select %more, %b0, %a0 : (tensor<i1>, tensor<ui8>, tensor<ui8>) -> tensor<ui8>
    %same = array.compare eq, %b0, %a0 : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    %larger = array.max %a1, %b1 : tensor<ui8>
    %l = array.select %same, %larger, %a1 : (tensor<i1>, tensor<ui8>, tensor<ui8>) -> tensor<ui8>
    %r1 = array.select %more, %b1, %l : (tensor<i1>, tensor<ui8>, tensor<ui8>) -> tensor<ui8>
    array.yield %r0, %r1 : tensor<ui8>, tensor<ui8>
  }
  return %other, %largest : tensor<ui8>, tensor<ui8>
}
