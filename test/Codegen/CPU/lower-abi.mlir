// RUN: xc-opt %s -xc-cpu-lower-abi -split-input-file -verify-diagnostics | FileCheck %s

#launch = #plan.launch_config<grid = [s0, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 64>

// CHECK:       plan.exports = [{config = #cpu.generic<version = 1>, guards = [], launch = #plan.launch_config<{{.*}}scratch = 64>, name = "copy", reason = "why"}]

// The entry reads the tables.
// CHECK-LABEL: func.func @copy(
// CHECK-SAME:    %[[BINDINGS:.*]]: !llvm.ptr, %[[SCALARS:.*]]: !llvm.ptr, %[[SCRATCH:.*]]: !llvm.ptr, %[[X:.*]]: i64, %[[Y:.*]]: i64, %[[Z:.*]]: i64)
// CHECK:         %[[P0:.*]] = llvm.getelementptr %[[BINDINGS]][0]
// CHECK:         %[[B0:.*]] = llvm.load %[[P0]]
// CHECK:         %[[P2:.*]] = llvm.getelementptr %[[BINDINGS]][2]
// CHECK:         %[[B2:.*]] = llvm.load %[[P2]]
// CHECK:         %[[PS:.*]] = llvm.getelementptr %[[SCALARS]][0]
// CHECK:         %[[S0:.*]] = llvm.load %[[PS]] : !llvm.ptr -> i64
// CHECK:         call @copy.body(%[[B0]], %[[B2]], %[[S0]], %[[SCRATCH]], %[[X]], %[[Y]], %[[Z]])

// Binding 1 has no use and no argument; one that may alias is not noalias.
// CHECK-LABEL: func.func private @copy.body(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias, llvm.readonly},
// CHECK-SAME:    %[[B:[^:]*]]: !llvm.ptr {llvm.align = 16 : i64},
// CHECK-SAME:    %[[N:[^:]*]]: i64,
// CHECK-SAME:    %[[S:[^:]*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias},
// CHECK-SAME:    %[[I:[^:]*]]: i64, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-SAME:    llvm.linkage = #llvm.linkage<internal>
// CHECK-NOT:     plan.
func.func @copy() attributes {plan.launch = #launch, lowering_config = #cpu.generic<version = 1>, plan.reason = "why"} {
  %n = plan.scalar 0 : index
  %i = plan.workgroup_id x : index
  %a = plan.binding 0 read align 64 sizes(%n) : memref<?x4xf32>
  %b = plan.binding 2 write align 16 may_alias sizes(%n) : memref<?x4xf32>
  %s = cpu.scratch : memref<64xi8>
  %c0 = arith.constant 0 : index
  %v = memref.load %a[%i, %c0] : memref<?x4xf32>
  memref.store %v, %b[%i, %c0] : memref<?x4xf32>
  return
}

// -----

#launch = #plan.launch_config<grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>

func.func @twice() attributes {plan.launch = #launch} {
  %a = plan.binding 0 read align 64 : memref<4xf32>
  // expected-error@+1 {{expected binding 0 only once in a kernel}}
  %b = plan.binding 0 write align 64 : memref<4xf32>
  return
}
