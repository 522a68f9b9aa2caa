// RUN: xc-opt %s -split-input-file -xc-cuda-emit-scan -verify-diagnostics

builtin.module @scan attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  // expected-error @below {{expected one output, the result of kernel.scan, for #cuda.row_scan<threads = 32, rows = 4, vector = 4>}}
  func.func @scan() attributes {lowering_config = #cuda.row_scan<threads = 32, rows = 4, vector = 4>} {
    return
  }
}
