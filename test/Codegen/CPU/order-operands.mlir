// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-cpu-order-operands))' -split-input-file | FileCheck %s

// Columns of two vectors of eight floats side by side are a panel.
// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0, d1, d2) -> (d1, d0 * 16 + d2)>
// CHECK-DAG: #[[PANELS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)>
// CHECK-DAG: #[[PANELS_FIRST:.*]] = affine_map<(d0, d1, d2) -> (d0 floordiv 16, d2, d0 mod 16)>
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  // CHECK-LABEL: func.func @weights(
  // CHECK:         %[[W:.*]] = array.parameter
  // CHECK:         %[[T:.*]] = linalg.transpose ins(%[[W]] : tensor<256x64xf32>) outs(%{{.*}} : tensor<64x256xf32>) permutation = [1, 0]
  // CHECK:         %[[P:.*]] = linalg.generic {indexing_maps = [#[[FROM]], {{.*}} ins(%[[T]] : tensor<64x256xf32>) outs(%{{.*}} : tensor<16x64x16xf32>)
  // CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[PANELS]], {{.*}} ins(%{{.*}}, %[[P]] : tensor<100x64xf32>, tensor<16x64x16xf32>)
  func.func @weights(%x: tensor<100x64xf32>, %o: tensor<100x256xf32>) -> tensor<100x256xf32> {
    %w = array.parameter "weights"::"w" : tensor<256x64xf32>
    %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%x, %w : tensor<100x64xf32>, tensor<256x64xf32>) outs(%o : tensor<100x256xf32>) -> tensor<100x256xf32>
    return %r : tensor<100x256xf32>
  }

  // The result's last dim belongs to the first operand.
  // CHECK-LABEL: func.func @columns_first(
  // CHECK:         %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<256x64xf32>)
  // CHECK:         %[[P:.*]] = linalg.generic {{.*}} ins(%[[T]] : tensor<64x256xf32>)
  // CHECK:         linalg.generic {indexing_maps = [#[[PANELS_FIRST]], {{.*}} ins(%[[P]], %{{.*}} : tensor<16x64x16xf32>, tensor<100x64xf32>)
  func.func @columns_first(%x: tensor<100x64xf32>, %o: tensor<100x256xf32>) -> tensor<100x256xf32> {
    %w = array.parameter "weights"::"w" : tensor<256x64xf32>
    %r = linalg.contract indexing_maps = [affine_map<(n, m, k) -> (n, k)>, affine_map<(n, m, k) -> (m, k)>, affine_map<(n, m, k) -> (m, n)>]
        ins(%w, %x : tensor<256x64xf32>, tensor<100x64xf32>) outs(%o : tensor<100x256xf32>) -> tensor<100x256xf32>
    return %r : tensor<100x256xf32>
  }

  // 24 columns are one panel of three vectors.
  // CHECK-LABEL: func.func @three_vectors(
  // CHECK-NOT:     linalg.transpose
  // CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<1x64x24xf32>)
  func.func @three_vectors(%x: tensor<100x64xf32>, %o: tensor<100x24xf32>) -> tensor<100x24xf32> {
    %w = array.parameter "weights"::"w" : tensor<64x24xf32>
    %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%x, %w : tensor<100x64xf32>, tensor<64x24xf32>) outs(%o : tensor<100x24xf32>) -> tensor<100x24xf32>
    return %r : tensor<100x24xf32>
  }

  // Panels that are not full would take more memory than the weights; elements of another type are converted on each call.
  // CHECK-LABEL: func.func @no_panels(
  // CHECK-NOT:     tensor.empty
  func.func @no_panels(%x: tensor<100x64xf32>, %o: tensor<100x20xf32>, %p: tensor<100x32xf32>) -> (tensor<100x20xf32>, tensor<100x32xf32>) {
    %w = array.parameter "weights"::"w" : tensor<64x20xf32>
    %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%x, %w : tensor<100x64xf32>, tensor<64x20xf32>) outs(%o : tensor<100x20xf32>) -> tensor<100x20xf32>
    %h = array.parameter "weights"::"h" : tensor<64x32xf16>
    %s = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%x, %h : tensor<100x64xf32>, tensor<64x32xf16>) outs(%p : tensor<100x32xf32>) -> tensor<100x32xf32>
    return %r, %s : tensor<100x20xf32>, tensor<100x32xf32>
  }

  // What is no parameter would be transposed on each call; a product of one row reads rows of its weights.
  // CHECK-LABEL: func.func @left_alone(
  // CHECK-NOT:     linalg.transpose
  func.func @left_alone(%x: tensor<100x64xf32>, %w: tensor<256x64xf32>, %o: tensor<100x256xf32>, %y: tensor<1x64xf32>,
                        %p: tensor<1x256xf32>) -> (tensor<100x256xf32>, tensor<1x256xf32>) {
    %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%x, %w : tensor<100x64xf32>, tensor<256x64xf32>) outs(%o : tensor<100x256xf32>) -> tensor<100x256xf32>
    %v = array.parameter "weights"::"v" : tensor<256x64xf32>
    %s = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%y, %v : tensor<1x64xf32>, tensor<256x64xf32>) outs(%p : tensor<1x256xf32>) -> tensor<1x256xf32>
    return %r, %s : tensor<100x256xf32>, tensor<1x256xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // CHECK-LABEL: func.func @other_target(
  // CHECK-NOT:     linalg.transpose
  func.func @other_target(%x: tensor<100x64xf32>, %o: tensor<100x256xf32>) -> tensor<100x256xf32> {
    %w = array.parameter "weights"::"w" : tensor<256x64xf32>
    %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%x, %w : tensor<100x64xf32>, tensor<256x64xf32>) outs(%o : tensor<100x256xf32>) -> tensor<100x256xf32>
    return %r : tensor<100x256xf32>
  }
}
