// RUN: xc-opt %s -xc-build-plan=reuse=false -mlir-print-local-scope | FileCheck %s

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  module @k attributes {plan.kernel} {}

  // Temporaries whose lives are apart have no byte in common, and nothing waits for reads of what was there.
  // CHECK-LABEL: plan.function @chain
  // CHECK-SAME:    arena 768
  // CHECK:         plan.launch @k {{.*}}<write, arena 0, offset = 0, {{.*}}after []
  // CHECK:         plan.launch @k {{.*}}<write, arena 0, offset = 256, {{.*}}after [0]
  // CHECK:         plan.launch @k {{.*}}<write, arena 0, offset = 512, {{.*}}after [1]
  // CHECK:         plan.launch @k {{.*}}<write, output 0, {{.*}}after [2]
  func.func @chain(%x: tensor<64xf32>) -> tensor<64xf32> {
    %a = plan.dispatch @k(%x : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    %b = plan.dispatch @k(%a : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    %c = plan.dispatch @k(%b : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    %d = plan.dispatch @k(%c : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    return %d : tensor<64xf32>
  }

  // So it is with sizes that depend on a symbol.
  // CHECK-LABEL: plan.function @symbolic
  // CHECK-SAME:    arena ((s0 * 12) ceildiv 256) * 256 + 512
  func.func @symbolic(%x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %a = plan.dispatch @k(%x : tensor<?xf32>) scalars(%n) -> (tensor<?xf32>) dims(%n) reuse [-1]
    %b = plan.dispatch @k(%a : tensor<?xf32>) scalars(%n) -> (tensor<?xf32>) dims(%n) reuse [-1]
    %c = plan.dispatch @k(%b : tensor<?xf32>) scalars(%n) -> (tensor<?xf32>) dims(%n) reuse [-1]
    %d = plan.dispatch @k(%c : tensor<?xf32>) scalars(%n) -> (tensor<?xf32>) dims(%n) reuse [-1]
    return %d : tensor<?xf32>
  }

  // In place is still in place.
  // CHECK-LABEL: plan.function @in_place
  // CHECK-SAME:    arena 256
  func.func @in_place(%x: tensor<64xf32>) -> tensor<64xf32> {
    %a = plan.dispatch @k(%x : tensor<64xf32>) -> (tensor<64xf32>) reuse [0]
    %b = plan.dispatch @k(%a : tensor<64xf32>) -> (tensor<64xf32>) reuse [0]
    %c = plan.dispatch @k(%b : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    return %c : tensor<64xf32>
  }
}
