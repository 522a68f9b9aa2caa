// RUN: xc-opt %s -xc-import-stablehlo -split-input-file | FileCheck %s

// One loop over the columns, all matrices of a batch at once.
// CHECK-LABEL: func @cholesky
// CHECK: array.reshape %{{.*}} : tensor<2x3x4x4xf32> -> tensor<6x4x4xf32>
// CHECK: array.while {{.*}}tensor<i32>, tensor<6x4x4xf32>, tensor<6xi32>
// CHECK: array.sqrt
// CHECK: array.dynamic_update_slice
// CHECK-NOT: array.while
func.func @cholesky(%x: tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x3x4x4xf32>
  return %0 : tensor<2x3x4x4xf32>
}

// -----

// An upper factor is the lower one of the transpose, transposed.
// CHECK-LABEL: func @potrf
// CHECK: array.transpose
// CHECK: array.while
// CHECK: array.transpose
func.func @potrf(%x: tensor<3x4x4xf64>) -> (tensor<3x4x4xf64>, tensor<3xi32>) {
  %0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%x) {mhlo.backend_config = {uplo = 85 : ui8}}
    : (tensor<3x4x4xf64>) -> (tensor<3x4x4xf64>, tensor<3xi32>)
  return %0#0, %0#1 : tensor<3x4x4xf64>, tensor<3xi32>
}

// -----

// CHECK-LABEL: func @potrf_of_gpu
// CHECK: array.while {{.*}}tensor<i32>, tensor<1x4x4xf32>, tensor<1xi32>
func.func @potrf_of_gpu(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>) {
  %0:2 = stablehlo.custom_call @cusolver_potrf_ffi(%x) {mhlo.backend_config = {lower = true}}
    : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<4x4xf32>, tensor<i32>
}

// -----

// From the right, it is the transposed equation from the left.
// CHECK-LABEL: func @trsm
// CHECK: array.transpose %arg1
// CHECK: array.transpose %arg0
// CHECK: array.while {{.*}}tensor<i32>, tensor<1x4x3xf32>
// CHECK: array.div
// CHECK: array.transpose
func.func @trsm(%a: tensor<1x4x4xf32>, %b: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  %0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b)
    {mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}}
    : (tensor<1x4x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  return %0 : tensor<1x3x4xf32>
}

// -----

// A diagonal of ones is not divided by.
// CHECK-LABEL: func @solve
// CHECK-NOT: array.transpose
// CHECK: array.while
// CHECK-NOT: array.div
// CHECK: return
func.func @solve(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}>
    : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func @getrf
// CHECK: array.while {{.*}}tensor<i32>, tensor<2x5x3xf32>, tensor<2x3xi32>, tensor<2xi32>
// CHECK: array.argmax %{{.*}} axis = 1 keepdims
// CHECK: array.take_along_axis
func.func @getrf(%x: tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xi32>, tensor<2xi32>) {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%x) {mhlo.backend_config = {}}
    : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xi32>, tensor<2xi32>)
  return %0#0, %0#1, %0#2 : tensor<2x5x3xf32>, tensor<2x3xi32>, tensor<2xi32>
}

// -----

// CHECK-LABEL: func @pivots
// CHECK: array.iota
// CHECK: array.while {{.*}}tensor<i32>, tensor<1x1x5xi32>
func.func @pivots(%x: tensor<3xi32>) -> tensor<5xi32> {
  %0 = stablehlo.custom_call @cu_lu_pivots_to_permutation(%x) : (tensor<3xi32>) -> tensor<5xi32>
  return %0 : tensor<5xi32>
}

// -----

// CHECK-LABEL: func @qr
// CHECK: array.while {{.*}}tensor<i32>, tensor<1x5x3xf32>, tensor<1x3xf32>
// CHECK: array.while {{.*}}tensor<i32>, tensor<1x5x3xf32>
func.func @qr(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%x) {mhlo.backend_config = {}}
    : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  %1 = stablehlo.custom_call @lapack_sorgqr_ffi(%0#0, %0#1) {mhlo.backend_config = {}}
    : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  return %1 : tensor<5x3xf32>
}
