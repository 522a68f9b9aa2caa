// RUN: xc-opt %s -xc-lower-kernel-ops-to-loops | FileCheck %s

// CHECK-LABEL: func.func @scan_backwards(
// CHECK-SAME:    %[[X:.*]]: memref<4x8xf16>, %[[Y:.*]]: memref<4x8xf16>
// CHECK:         scf.for %[[ROW:.*]] =
// CHECK:           scf.for %[[I:.*]] = {{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (f32)
// CHECK:             %[[J:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK:             memref.load %[[X]][%[[ROW]], %[[J]]]
// CHECK:             %[[WIDE:.*]] = arith.extf
// CHECK:             %[[AFTER:.*]] = arith.addf %[[BEFORE]], %[[WIDE]]
// CHECK:             %[[NARROW:.*]] = arith.truncf %[[BEFORE]]
// CHECK:             memref.store %[[NARROW]], %[[Y]][%[[ROW]], %[[J]]]
// CHECK:             scf.yield %[[AFTER]]
func.func @scan_backwards(%x: memref<4x8xf16>, %y: memref<4x8xf16>) {
  kernel.scan sum, %x into %y axis = 1 exclusive reverse : memref<4x8xf16> into memref<4x8xf16>
  return
}

// CHECK-LABEL: func.func @totals(
// CHECK-SAME:    %[[X:.*]]: memref<100xi32>, %[[T:.*]]: memref<12xi32>
// CHECK:         scf.for %[[SEGMENT:.*]] =
// CHECK:           %[[TOTAL:.*]] = scf.for
// CHECK:             arith.maxui
// CHECK:           memref.store %[[TOTAL]], %[[T]][%[[SEGMENT]]]
func.func @totals(%x: memref<100xi32>, %t: memref<12xi32>) {
  kernel.scan max, %x every 8 totals into %t axis = 0 unsigned_elements : memref<100xi32> into memref<12xi32>
  return
}

// CHECK-LABEL: func.func @segments(
// CHECK-SAME:    %[[X:.*]]: memref<100xi32>, %[[T:.*]]: memref<12xi32>
// CHECK:         scf.for %[[SEGMENT:.*]] =
// CHECK:           %[[FIRST:.*]] = arith.cmpi eq, %[[SEGMENT]]
// CHECK:           %[[START:.*]] = scf.if %[[FIRST]]
// CHECK:             memref.load %[[T]]
// CHECK:           scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
func.func @segments(%x: memref<100xi32>, %t: memref<12xi32>, %y: memref<100xi32>) {
  kernel.scan max, %x from %t every 8 into %y axis = 0 : memref<100xi32> from memref<12xi32> into memref<100xi32>
  return
}

// The results' memory is a heap: first of what is kept, then of what is left of it.
// CHECK-LABEL: func.func @first_of_line(
// CHECK-SAME:    %[[X:.*]]: memref<3x?xf32>, %[[V:.*]]: memref<3x4xf32>, %[[I:.*]]: memref<3x4xi32>
// CHECK:         scf.for %[[LINE:.*]] =
// CHECK:           scf.for
// CHECK:             memref.store %{{.*}}, %[[V]][%[[LINE]]
// CHECK:           scf.for
// CHECK:             scf.while
// CHECK:           scf.for
// CHECK:             scf.if
// CHECK:               scf.while
// CHECK:           scf.for
// CHECK:             scf.while
// What the line is too short for.
// CHECK:           scf.for
// CHECK:             memref.store %{{.*}}, %[[V]]
// CHECK:             %[[NONE:.*]] = arith.constant -1 : i32
// CHECK:             memref.store %[[NONE]], %[[I]]
func.func @first_of_line(%x: memref<3x?xf32>, %v: memref<3x4xf32>, %i: memref<3x4xi32>) {
  kernel.sort %x into %v, %i keep = 4 : memref<3x?xf32> into memref<3x4xf32>, memref<3x4xi32>
  return
}

// CHECK-LABEL: func.func @tiles(
// CHECK-SAME:    %{{.*}}: memref<100xf32>, %[[P:.*]]: memref<100xi32>
// CHECK:         scf.for
// CHECK:           memref.load %[[P]]
func.func @tiles(%x: memref<100xf32>, %p: memref<100xi32>, %v: memref<100xf32>, %i: memref<100xi32>) {
  kernel.sort %x payload %p into %v, %i segment = 16 : memref<100xf32> payload memref<100xi32> into memref<100xf32>, memref<100xi32>
  return
}

// CHECK-LABEL: func.func @merge(
// CHECK-SAME:    %[[X:.*]]: memref<100xf32>, %[[P:.*]]: memref<100xi32>, %[[V:.*]]: memref<100xf32>
// CHECK:         scf.for
// CHECK:           scf.for %[[TARGET:.*]] = {{.*}} iter_args(%[[LEFT:.*]] = %{{.*}}, %[[RIGHT:.*]] = %{{.*}})
// CHECK:             arith.cmpi ule
// CHECK:             %[[SOURCE:.*]] = arith.select %{{.*}}, %[[LEFT]], %[[RIGHT]]
// CHECK:             %[[KEY:.*]] = memref.load %[[X]][%[[SOURCE]]]
// CHECK:             memref.load %[[P]][%[[SOURCE]]]
// CHECK:             memref.store %[[KEY]], %[[V]][%[[TARGET]]]
func.func @merge(%x: memref<100xf32>, %p: memref<100xi32>, %v: memref<100xf32>, %i: memref<100xi32>) {
  kernel.merge %x, %p into %v, %i run = 16 : memref<100xf32>, memref<100xi32> into memref<100xf32>, memref<100xi32>
  return
}

// Counts begin at zero; each element adds one to that of its digit and tile.
// CHECK-LABEL: func.func @count_digits(
// CHECK-SAME:    %[[X:.*]]: memref<100xf16>, %[[C:.*]]: memref<256x7xi32>
// CHECK:         memref.store %{{.*}}, %[[C]]
// CHECK:         scf.for %[[PLACE:.*]] =
// CHECK:           %[[TILE:.*]] = arith.divui %[[PLACE]]
// CHECK:           memref.load %[[X]][%[[PLACE]]]
// CHECK:           arith.shrui
// CHECK:           %[[COUNT:.*]] = memref.load %[[C]][%[[DIGIT:.*]], %[[TILE]]]
// CHECK:           %[[MORE:.*]] = arith.addi %[[COUNT]]
// CHECK:           memref.store %[[MORE]], %[[C]][%[[DIGIT]], %[[TILE]]]
func.func @count_digits(%x: memref<100xf16>, %c: memref<256x7xi32>) {
  kernel.count_digits %x into %c digit = 1 tile = 16 : memref<100xf16> into memref<256x7xi32>
  return
}

// CHECK-LABEL: func.func @sort_digit(
// CHECK-SAME:    %[[X:.*]]: memref<100xf16>, %[[P:.*]]: memref<100xi32>, %{{.*}}: memref<256x7xi32>, %[[V:.*]]: memref<100xf16>, %[[I:.*]]: memref<100xi64>
// CHECK:         scf.for %[[DIGIT:.*]] = {{.*}} iter_args
// CHECK:           scf.for %[[PLACE:.*]] = {{.*}} iter_args(%[[TARGET:.*]] = %{{.*}})
// CHECK:             %[[IS_HERE:.*]] = arith.cmpi eq, %{{.*}}, %[[DIGIT]]
// CHECK:             scf.if %[[IS_HERE]]
// CHECK:               %[[KEY:.*]] = memref.load %[[X]][%[[PLACE]]]
// CHECK:               memref.store %[[KEY]], %[[V]][%[[TARGET]]]
// CHECK:               %[[INDEX:.*]] = memref.load %[[P]][%[[PLACE]]]
// CHECK:               %[[WIDE:.*]] = arith.extsi %[[INDEX]]
// CHECK:               memref.store %[[WIDE]], %[[I]][%[[TARGET]]]
func.func @sort_digit(%x: memref<100xf16>, %p: memref<100xi32>, %e: memref<256x7xi32>, %v: memref<100xf16>, %i: memref<100xi64>) {
  kernel.sort_digit %x payload %p by %e into %v, %i digit = 1 tile = 16
    : memref<100xf16> payload memref<100xi32> by memref<256x7xi32> into memref<100xf16>, memref<100xi64>
  return
}
