// RUN: xc-opt %s -xc-cpu-lower-lines -canonicalize -split-input-file -verify-diagnostics | FileCheck %s

#config = #cpu.lines<version = 1, tile = 100>

// Eleven lines of nine elements are a workgroup's; the last one has fewer.
// CHECK-LABEL: func.func @rows()
// CHECK-SAME:    grid = [6, 1, 1]
// CHECK-DAG:     %[[C11:.*]] = arith.constant 11
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64
// CHECK-DAG:     %[[X:.*]] = plan.binding 0
// CHECK-DAG:     %[[Y:.*]] = plan.binding 1
// CHECK-DAG:     %[[I:.*]] = plan.binding 2
// CHECK:         %[[ID:.*]] = plan.workgroup_id x
// CHECK:         %[[FIRST:.*]] = arith.muli %[[ID]], %[[C11]]
// CHECK:         %[[NEXT:.*]] = arith.addi %[[FIRST]], %[[C11]]
// CHECK:         %[[END:.*]] = arith.minui %[[NEXT]], %[[C64]]
// CHECK:         scf.for %[[LINE:.*]] = %[[FIRST]] to %[[END]]
// CHECK:           %[[KEYS:.*]] = memref.subview %[[X]][%[[LINE]], 0] [1, 9]
// CHECK:           %[[VALUES:.*]] = memref.subview %[[Y]][%[[LINE]], 0] [1, 9]
// CHECK:           %[[PLACES:.*]] = memref.subview %[[I]][%[[LINE]], 0] [1, 9]
// CHECK:           kernel.sort %[[KEYS]] into %[[VALUES]], %[[PLACES]]
func.func @rows() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<64x9xf32>
  %y = plan.binding 1 write align 64 : memref<64x9xf32>
  %i = plan.binding 2 write align 64 : memref<64x9xi32>
  %t = bufferization.to_tensor %x restrict : memref<64x9xf32> to tensor<64x9xf32>
  %e = tensor.empty() : tensor<64x9xf32>
  %f = tensor.empty() : tensor<64x9xi32>
  %v, %p = kernel.sort %t into %e, %f : tensor<64x9xf32> into tensor<64x9xf32>, tensor<64x9xi32> -> tensor<64x9xf32>, tensor<64x9xi32>
  bufferization.materialize_in_destination %v in restrict writable %y : (tensor<64x9xf32>, memref<64x9xf32>) -> ()
  bufferization.materialize_in_destination %p in restrict writable %i : (tensor<64x9xi32>, memref<64x9xi32>) -> ()
  return
}

// -----

#config = #cpu.lines<version = 1, tile = 100>

// Lines lie between dims, one of which is not known when it is compiled.
// CHECK-LABEL: func.func @between()
// CHECK-SAME:    grid = [(s0 * 3) ceildiv 10, 1, 1]
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3
// CHECK-DAG:     %[[X:.*]] = plan.binding 0
// CHECK-DAG:     %[[Y:.*]] = plan.binding 1
// CHECK:         scf.for %[[LINE:.*]] =
// CHECK:           %[[INNER:.*]] = arith.remui %[[LINE]], %[[C3]]
// CHECK:           %[[OUTER:.*]] = arith.divui %[[LINE]], %[[C3]]
// CHECK:           %[[FROM:.*]] = memref.subview %[[X]][%[[OUTER]], 0, %[[INNER]]] [1, 10, 1]
// CHECK:           %[[TO:.*]] = memref.subview %[[Y]][%[[OUTER]], 0, %[[INNER]]] [1, 10, 1]
// CHECK:           kernel.scan sum, %[[FROM]] into %[[TO]] axis = 1
func.func @between() attributes {lowering_config = #config} {
  %n = plan.scalar 0 : index
  %x = plan.binding 0 read align 64 sizes(%n) : memref<?x10x3xf32>
  %y = plan.binding 1 write align 64 sizes(%n) : memref<?x10x3xf32>
  %t = bufferization.to_tensor %x restrict : memref<?x10x3xf32> to tensor<?x10x3xf32>
  %e = tensor.empty(%n) : tensor<?x10x3xf32>
  %r = kernel.scan sum, %t into %e axis = 1 : tensor<?x10x3xf32> into tensor<?x10x3xf32> -> tensor<?x10x3xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?x10x3xf32>, memref<?x10x3xf32>) -> ()
  return
}

// -----

#config = #cpu.lines<version = 1, tile = 100>

// Lines of unknown length: a workgroup for each, here for the only one.
// CHECK-LABEL: func.func @one_line()
// CHECK-SAME:    grid = [1, 1, 1]
func.func @one_line() attributes {lowering_config = #config} {
  %n = plan.scalar 0 : index
  %x = plan.binding 0 read align 64 sizes(%n) : memref<?xf32>
  %y = plan.binding 1 write align 64 sizes(%n) : memref<?xf32>
  %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = kernel.scan max, %t into %e axis = 0 : tensor<?xf32> into tensor<?xf32> -> tensor<?xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

#config = #cpu.lines<version = 1, tile = 100>

// expected-error@+1 {{the lines strategy does not take kernel 'elementwise': its first result is no sort or scan}}
func.func @elementwise() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<8xf32>
  %y = plan.binding 1 write align 64 : memref<8xf32>
  %t = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%t : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

#config = #cpu.lines<version = 1, tile = 100>

// expected-error@+1 {{the lines strategy does not take kernel 'computed': operand 0 of kernel.scan is not memory that it reads, or writes alone}}
func.func @computed() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<8xf32>
  %y = plan.binding 1 write align 64 : memref<8xf32>
  %t = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.exp ins(%t : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = kernel.scan sum, %f into %e axis = 0 : tensor<8xf32> into tensor<8xf32> -> tensor<8xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

#config = #cpu.lines<version = 1, tile = 100>

// expected-error@+1 {{the lines strategy does not take kernel 'two': it has other results than those of kernel.scan}}
func.func @two() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<8xf32>
  %y = plan.binding 1 write align 64 : memref<8xf32>
  %z = plan.binding 2 write align 64 : memref<8xf32>
  %t = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = kernel.scan sum, %t into %e axis = 0 : tensor<8xf32> into tensor<8xf32> -> tensor<8xf32>
  %f = linalg.exp ins(%t : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<8xf32>, memref<8xf32>) -> ()
  bufferization.materialize_in_destination %f in restrict writable %z : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}
