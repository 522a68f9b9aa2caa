// The passes of MLIR that pipelines use can be run alone.
// RUN: xc-opt %s -resolve-shaped-type-result-dims -linalg-fold-unit-extent-dims -expand-strided-metadata -lower-affine \
// RUN:   -convert-scf-to-cf -convert-vector-to-llvm -convert-to-llvm -reconcile-unrealized-casts | FileCheck %s

// CHECK-LABEL: llvm.func @count
// CHECK: llvm.cond_br
// CHECK-NOT: builtin.unrealized_conversion_cast
func.func @count(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> index {
    %t = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%s, %i)
    scf.yield %t : index
  }
  return %sum : index
}
