// RUN: xcompile %s --target=cuda:sm_90a --ptxas=off --report -o %t.vmfb | FileCheck %s

// A matrix times a vector: as few threads a row as load it in seven vectors each, and two rows a block.
// CHECK-LABEL: long_k0_reduce
// CHECK:         row_reduction<threads = 256, rows = 2, vector = 8, chunks = 7>
// CHECK:         rows of 14336 elements beside a vector: 256 threads load one, 2 rows a block
func.func @long(%w: tensor<4096x14336xbf16>, %x: tensor<14336xbf16>) -> tensor<4096xbf16> {
  %y = array.dot_general %w, %x batch = [] x [] contract = [1] x [0] : (tensor<4096x14336xbf16>, tensor<14336xbf16>) -> tensor<4096xbf16>
  return %y : tensor<4096xbf16>
}

// CHECK-LABEL: short_k0_reduce
// CHECK:         row_reduction<threads = 128, rows = 2, vector = 8, chunks = 1>
func.func @short(%w: tensor<768x768xbf16>, %x: tensor<768xbf16>) -> tensor<768xbf16> {
  %y = array.dot_general %w, %x batch = [] x [] contract = [1] x [0] : (tensor<768x768xbf16>, tensor<768xbf16>) -> tensor<768xbf16>
  return %y : tensor<768xbf16>
}

// Too few rows to keep all multiprocessors busy with so few threads, and rows of no vector beside them.
// CHECK-LABEL: few_k0_reduce
// CHECK-NOT:     beside a vector
// CHECK-LABEL: sums_k0_reduce
// CHECK-NOT:     beside a vector
func.func @few(%w: tensor<300x4096xbf16>, %x: tensor<4096xbf16>) -> tensor<300xbf16> {
  %y = array.dot_general %w, %x batch = [] x [] contract = [1] x [0] : (tensor<300x4096xbf16>, tensor<4096xbf16>) -> tensor<300xbf16>
  return %y : tensor<300xbf16>
}
func.func @sums(%w: tensor<4096x4096xbf16>) -> tensor<4096xbf16> {
  %y = array.reduce sum, %w axes = [1] : tensor<4096x4096xbf16> -> tensor<4096xbf16>
  return %y : tensor<4096xbf16>
}
