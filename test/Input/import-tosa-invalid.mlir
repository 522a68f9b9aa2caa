// RUN: xc-opt %s -xc-import-tosa -verify-diagnostics

// What sizes must be like is said by the ops that need it.
func.func @require(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  // expected-error @+1 {{'plan.require' is not supported; sizes are required by the ops that need them}}
  plan.require %n equal %n, "a size of its own"
  return %x : tensor<?xf32>
}
