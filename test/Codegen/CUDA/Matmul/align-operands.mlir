// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-align-operands))" | FileCheck %s
// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-allow-tf32,xc-cuda-align-operands))" | FileCheck %s --check-prefix=TF32
// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-align-operands{wgmma=false}))" | FileCheck %s --check-prefix=PLAIN

// PLAIN-LABEL: func.func @unaligned_rows(
// PLAIN-NOT:     tensor.pad

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @unaligned_rows(
// CHECK-SAME:    %[[A:.*]]: tensor<4097x4099xbf16>, %[[B:.*]]: tensor<4099x4096xbf16>, %[[C:.*]]: tensor<4097x4096xf32>
// CHECK:         %[[WIDE:.*]] = tensor.pad %[[A]] low[0, 0] high[0, 61]
// CHECK:         %[[ROWS:.*]] = tensor.extract_slice %[[WIDE]][0, 0] [4097, 4099] [1, 1] : tensor<4097x4160xbf16> to tensor<4097x4099xbf16>
// CHECK:         linalg.contract {{.*}} ins(%[[ROWS]], %[[B]]
builtin.module @unaligned attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @unaligned_rows(%a: tensor<4097x4099xbf16>, %b: tensor<4099x4096xbf16>, %c: tensor<4097x4096xf32>) -> tensor<4097x4096xf32> {
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<4097x4099xbf16>, tensor<4099x4096xbf16>) outs(%c : tensor<4097x4096xf32>) -> tensor<4097x4096xf32>
    return %p : tensor<4097x4096xf32>
  }
  // Two copies would take longer than they save.
  // CHECK-LABEL: func.func @small(
  // CHECK-NOT:     tensor.pad
  func.func @small(%a: tensor<257x19xbf16>, %b: tensor<19x255xbf16>, %c: tensor<257x255xf32>) -> tensor<257x255xf32> {
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<257x19xbf16>, tensor<19x255xbf16>) outs(%c : tensor<257x255xf32>) -> tensor<257x255xf32>
    return %p : tensor<257x255xf32>
  }
  // CHECK-LABEL: func.func @without_rows(
  // CHECK-NOT:     tensor.pad
  func.func @without_rows(%a: tensor<0x19xbf16>, %b: tensor<19x255xbf16>, %c: tensor<0x255xf32>) -> tensor<0x255xf32> {
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<0x19xbf16>, tensor<19x255xbf16>) outs(%c : tensor<0x255xf32>) -> tensor<0x255xf32>
    return %p : tensor<0x255xf32>
  }
  // Those of parameters are made once an instance.
  // CHECK-LABEL: func.func @parameter(
  // CHECK:         tensor.pad %{{.*}} low[0, 0] high[0, 5]
  // CHECK:         linalg.contract
  func.func @parameter(%a: tensor<257x256xbf16>, %c: tensor<257x259xf32>) -> tensor<257x259xf32> {
    %b = array.parameter "m"::"b" : tensor<256x259xbf16>
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<257x256xbf16>, tensor<256x259xbf16>) outs(%c : tensor<257x259xf32>) -> tensor<257x259xf32>
    return %p : tensor<257x259xf32>
  }
  // CHECK-LABEL: func.func @rounded(
  // CHECK:         tensor.pad %{{.*}} low[0, 0] high[0, 29]
  // CHECK-NOT:     tensor.pad
  // CHECK:         linalg.contract
  func.func @rounded(%a: tensor<4097x4099xf32>, %b: tensor<4099x4096xf32>, %c: tensor<4097x4096xf32>) -> tensor<4097x4096xf32> {
    %p = linalg.contract indexing_maps = [#a, #b, #c] {plan.allow_tf32} ins(%a, %b : tensor<4097x4099xf32>, tensor<4099x4096xf32>) outs(%c : tensor<4097x4096xf32>) -> tensor<4097x4096xf32>
    return %p : tensor<4097x4096xf32>
  }
  // CHECK-LABEL: func.func @bytes(
  // CHECK:         tensor.pad %{{.*}} low[0, 0] high[0, 125] {{.*}}
  // CHECK:         tensor<4097x4224xi8> to tensor<4097x4099xi8>
  // CHECK:         tensor<4099x4224xi8> to tensor<4099x4104xi8>
  func.func @bytes(%a: tensor<4097x4099xi8>, %b: tensor<4099x4104xi8>, %c: tensor<4097x4104xi32>) -> tensor<4097x4104xi32> {
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<4097x4099xi8>, tensor<4099x4104xi8>) outs(%c : tensor<4097x4104xi32>) -> tensor<4097x4104xi32>
    return %p : tensor<4097x4104xi32>
  }
  // Without `allow_tf32` all bits count, unless the option says that they never do.
  // TF32-LABEL: func.func @single(
  // TF32:         tensor.pad %{{.*}} low[0, 0] high[0, 29]
  // CHECK-LABEL: func.func @single(
  // CHECK-NOT:     tensor.pad
  func.func @single(%a: tensor<4097x4099xf32>, %b: tensor<4099x4096xf32>, %c: tensor<4097x4096xf32>) -> tensor<4097x4096xf32> {
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<4097x4099xf32>, tensor<4099x4096xf32>) outs(%c : tensor<4097x4096xf32>) -> tensor<4097x4096xf32>
    return %p : tensor<4097x4096xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Without wgmma the rows matter to nobody.
// CHECK-LABEL: func.func @older(
// CHECK-NOT:     tensor.pad
builtin.module @older attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @older(%a: tensor<4097x4099xbf16>, %b: tensor<4099x4096xbf16>, %c: tensor<4097x4096xf32>) -> tensor<4097x4096xf32> {
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<4097x4099xbf16>, tensor<4099x4096xbf16>) outs(%c : tensor<4097x4096xf32>) -> tensor<4097x4096xf32>
    return %p : tensor<4097x4096xf32>
  }
}

// -----

#at = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Threads transpose operand A where both operands lie across k, so its rows may begin at any word.
builtin.module @turned attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // CHECK-LABEL: func.func @turned_tf32(
  // CHECK-SAME:    %[[A:.*]]: tensor<4096x4099xf32>, %[[B:.*]]: tensor<4096x4097xf32>
  // CHECK:         tensor.pad %[[B]]
  // CHECK-NOT:     tensor.pad
  // CHECK:         linalg.contract {{.*}} ins(%[[A]],
  func.func @turned_tf32(%a: tensor<4096x4099xf32>, %b: tensor<4096x4097xf32>, %c: tensor<4099x4097xf32>) -> tensor<4099x4097xf32> {
    %p = linalg.contract indexing_maps = [#at, #b, #c] {plan.allow_tf32} ins(%a, %b : tensor<4096x4099xf32>, tensor<4096x4097xf32>) outs(%c : tensor<4099x4097xf32>) -> tensor<4099x4097xf32>
    return %p : tensor<4099x4097xf32>
  }
  // Bytes that are no words cannot be turned, and nothing is gained.
  // CHECK-LABEL: func.func @turned_bytes(
  // CHECK-NOT:     tensor.pad
  func.func @turned_bytes(%a: tensor<4096x4099xi8>, %b: tensor<4096x4097xi8>, %c: tensor<4099x4097xi32>) -> tensor<4099x4097xi32> {
    %p = linalg.contract indexing_maps = [#at, #b, #c] ins(%a, %b : tensor<4096x4099xi8>, tensor<4096x4097xi8>) outs(%c : tensor<4099x4097xi32>) -> tensor<4099x4097xi32>
    return %p : tensor<4099x4097xi32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#at = affine_map<(m, n, k) -> (k, m)>

// Rows whose length is known are copied, whatever their number.
builtin.module @symbolic attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // CHECK-LABEL: func.func @static_weight(
  // CHECK-SAME:    %[[A:.*]]: tensor<?x768xbf16>, %[[B:.*]]: tensor<768x50257xbf16>
  // CHECK:         %[[WIDE:.*]] = tensor.pad %[[B]] low[0, 0] high[0, 47]
  // CHECK:         %[[ROWS:.*]] = tensor.extract_slice %[[WIDE]][0, 0] [768, 50257] [1, 1] : tensor<768x50304xbf16> to tensor<768x50257xbf16>
  // CHECK:         linalg.contract {{.*}} ins(%[[A]], %[[ROWS]]
  func.func @static_weight(%a: tensor<?x768xbf16>, %b: tensor<768x50257xbf16>, %c: tensor<?x50257xbf16>) -> tensor<?x50257xbf16> {
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<?x768xbf16>, tensor<768x50257xbf16>) outs(%c : tensor<?x50257xbf16>) -> tensor<?x50257xbf16>
    return %p : tensor<?x50257xbf16>
  }
  // CHECK-LABEL: func.func @symbolic_rows(
  // CHECK-SAME:    %[[A:.*]]: tensor<?x768xbf16>, %[[B:.*]]: tensor<?x50257xbf16>
  // CHECK:         %[[WIDE:.*]] = tensor.pad %[[B]] low[0, 0] high[0, 47]
  // CHECK:         %[[COUNT:.*]] = tensor.dim %[[B]]
  // CHECK:         tensor.extract_slice %[[WIDE]][0, 0] [%[[COUNT]], 50257] [1, 1] : tensor<?x50304xbf16> to tensor<?x50257xbf16>
  func.func @symbolic_rows(%a: tensor<?x768xbf16>, %b: tensor<?x50257xbf16>, %c: tensor<768x50257xbf16>) -> tensor<768x50257xbf16> {
    %p = linalg.contract indexing_maps = [#at, #b, #c] ins(%a, %b : tensor<?x768xbf16>, tensor<?x50257xbf16>) outs(%c : tensor<768x50257xbf16>) -> tensor<768x50257xbf16>
    return %p : tensor<768x50257xbf16>
  }
  // Threads transpose operands of known sizes only, so that nothing would be gained.
  // CHECK-LABEL: func.func @symbolic_sum(
  // CHECK-NOT:     tensor.pad
  func.func @symbolic_sum(%a: tensor<?x4096xf32>, %b: tensor<?x4097xf32>, %c: tensor<4096x4097xf32>) -> tensor<4096x4097xf32> {
    %p = linalg.contract indexing_maps = [#at, #b, #c] {plan.allow_tf32} ins(%a, %b : tensor<?x4096xf32>, tensor<?x4097xf32>) outs(%c : tensor<4096x4097xf32>) -> tensor<4096x4097xf32>
    return %p : tensor<4096x4097xf32>
  }
}
