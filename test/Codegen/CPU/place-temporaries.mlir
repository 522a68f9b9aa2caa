// RUN: xc-opt %s -xc-cpu-place-temporaries=stack-bytes=1024 -split-input-file -verify-diagnostics | FileCheck %s

#launch = #plan.launch_config<grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>

// The stack's budget takes the first; the others follow each other in scratch memory, on multiples of 64 bytes.
// CHECK-LABEL: func.func @stack_then_scratch()
// CHECK-SAME:    scratch = 2112
// CHECK-DAG:     %[[S:.*]] = cpu.scratch : memref<2112xi8>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 64 : index
// CHECK-DAG:     memref.view %[[S]][%[[C0]]][] : memref<2112xi8> to memref<3xf32>
// CHECK-DAG:     memref.view %[[S]][%[[C1]]][] : memref<2112xi8> to memref<512xf32>
// CHECK-DAG:     memref.alloca() {alignment = 64 : i64} : memref<250xf32>
// CHECK-NOT:     memref.alloc()
func.func @stack_then_scratch() attributes {plan.launch = #launch} {
  %c0 = arith.constant 0 : index
  %v = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<250xf32>
  %b = memref.alloc() : memref<3xf32>
  %c = memref.alloc() : memref<512xf32>
  memref.store %v, %a[%c0] : memref<250xf32>
  memref.store %v, %b[%c0] : memref<3xf32>
  memref.store %v, %c[%c0] : memref<512xf32>
  memref.dealloc %a : memref<250xf32>
  return
}

// -----

#launch = #plan.launch_config<grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>

func.func @dynamic_size() attributes {plan.launch = #launch} {
  %n = plan.scalar 0 : index
  // expected-error@+1 {{expected a temporary of static size, got 'memref<?xf32>'; kernel 'dynamic_size' needs memory that cannot be reserved for it}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}
