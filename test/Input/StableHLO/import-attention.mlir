// RUN: xc-opt %s -split-input-file -xc-import-stablehlo -verify-diagnostics | FileCheck %s

// cuDNN's causal attention begins with the first key for the first query.
// CHECK-LABEL: func.func @causal(
// CHECK:         %[[ZERO:.*]] = array.constant dense<0> : tensor<i32>
// CHECK:         array.attention {{.*}} causal window = 4 offset(%[[ZERO]] : tensor<i32>) logsumexp scale = 2.500000e-01
// CHECK-SAME:      (tensor<2x3x8x16xbf16>, tensor<2x3x6x16xbf16>, tensor<2x3x6x16xbf16>) -> tensor<2x3x8x16xbf16>, tensor<2x3x8xf32>
func.func @causal(%q: tensor<2x8x3x16xbf16>, %k: tensor<2x6x3x16xbf16>) -> (tensor<2x3x8x16xbf16>, tensor<2x3x8xf32>) {
  %0:3 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %k, %k) {backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.25, \22mask_type\22: \22CAUSAL\22, \22sliding_window_length\22: 4, \22bmm1_dot_dimension_numbers\22: {\22lhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x8x3x16xbf16>, tensor<2x6x3x16xbf16>, tensor<2x6x3x16xbf16>) -> (tensor<2x3x8x16xbf16>, tensor<2x3x8xf32>, tensor<0xui8>)
  return %0#0, %0#1 : tensor<2x3x8x16xbf16>, tensor<2x3x8xf32>
}

// -----

// CHECK-LABEL: func.func @bias(
// CHECK-SAME:    %[[Q:.*]]: tensor<2x3x8x16xf16>, %[[B:.*]]: tensor<1x3x8x8xf16>
// CHECK:         array.attention %[[Q]], %[[Q]], %[[Q]] mask(%[[B]] : tensor<1x3x8x8xf16>) scale = 2.500000e-01
// CHECK:         array.attention_gradient {{.*}} mask(%[[B]] : tensor<1x3x8x8xf16>)
func.func @bias(%q: tensor<2x3x8x16xf16>, %b: tensor<1x3x8x8xf16>, %l: tensor<2x3x8xf32>) -> (tensor<2x3x8x16xf16>, tensor<1x3x8x8xf16>) {
  %0:2 = stablehlo.custom_call @__cudnn$fmhaScaleBiasSoftmax(%q, %q, %q, %b) {backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.25, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_batch_dimensions\22: [\220\22, \221\22]}}}"} : (tensor<2x3x8x16xf16>, tensor<2x3x8x16xf16>, tensor<2x3x8x16xf16>, tensor<1x3x8x8xf16>) -> (tensor<2x3x8x16xf16>, tensor<0xui8>)
  %1:5 = stablehlo.custom_call @__cudnn$fmhaScaleBiasSoftmaxBackward(%q, %q, %q, %l, %0#0, %b, %0#0) {backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.25, \22mask_type\22: \22NO_MASK\22, \22bmm2_grad_gemm2_dot_dimension_numbers\22: {\22lhs_batch_dimensions\22: [\220\22, \221\22]}}}"} : (tensor<2x3x8x16xf16>, tensor<2x3x8x16xf16>, tensor<2x3x8x16xf16>, tensor<2x3x8xf32>, tensor<2x3x8x16xf16>, tensor<1x3x8x8xf16>, tensor<2x3x8x16xf16>) -> (tensor<2x3x8x16xf16>, tensor<2x3x8x16xf16>, tensor<2x3x8x16xf16>, tensor<1x3x8x8xf16>, tensor<0xui8>)
  return %1#0, %1#3 : tensor<2x3x8x16xf16>, tensor<1x3x8x8xf16>
}

// -----

// expected-error @+1 {{2 of 2 ops cannot be imported; 0 can}}
module {
  func.func @refused(%q: tensor<2x3x8x16xf16>) -> (tensor<2x3x8x16xf16>, tensor<2x3x8x16xf16>) {
    // expected-error @+1 {{'stablehlo.custom_call' is not supported: it drops numbers at random}}
    %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %q, %q) {backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.25, \22mask_type\22: \22NO_MASK\22, \22dropout_rate\22: 0.5}}"} : (tensor<2x3x8x16xf16>, tensor<2x3x8x16xf16>, tensor<2x3x8x16xf16>) -> (tensor<2x3x8x16xf16>, tensor<0xui8>)
    // expected-error @+1 {{'stablehlo.custom_call' is not supported: its configuration is no JSON}}
    %1:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %q, %q) {backend_config = "{"} : (tensor<2x3x8x16xf16>, tensor<2x3x8x16xf16>, tensor<2x3x8x16xf16>) -> (tensor<2x3x8x16xf16>, tensor<0xui8>)
    return %0#0, %1#0 : tensor<2x3x8x16xf16>, tensor<2x3x8x16xf16>
  }
}
