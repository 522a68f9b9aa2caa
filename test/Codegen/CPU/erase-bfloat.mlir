// RUN: xc-opt %s -xc-cpu-erase-bfloat | FileCheck %s --implicit-check-not=bf16

// CHECK-LABEL: llvm.func @moves(
// CHECK:         %[[ONE:.*]] = llvm.mlir.constant(16256 : i16) : i16
// CHECK:         %[[TWO:.*]] = llvm.mlir.constant(dense<16384> : vector<4xi16>) : vector<4xi16>
// CHECK:         llvm.store %[[ONE]], %{{.*}} : i16, !llvm.ptr
// CHECK:         llvm.store %[[TWO]], %{{.*}} : vector<4xi16>, !llvm.ptr
// CHECK:         %[[LOADED:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i16
// CHECK:         llvm.bitcast %[[LOADED]] : i16 to i16
llvm.func @moves(%p: !llvm.ptr) -> i16 {
  %one = llvm.mlir.constant(1.0 : bf16) : bf16
  %two = llvm.mlir.constant(dense<2.0> : vector<4xbf16>) : vector<4xbf16>
  llvm.store %one, %p : bf16, !llvm.ptr
  llvm.store %two, %p : vector<4xbf16>, !llvm.ptr
  %x = llvm.load %p : !llvm.ptr -> bf16
  %bits = llvm.bitcast %x : bf16 to i16
  llvm.return %bits : i16
}

// CHECK-LABEL: llvm.func @others_stay(
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> vector<4xf16>
llvm.func @others_stay(%p: !llvm.ptr) {
  %x = llvm.load %p : !llvm.ptr -> vector<4xf16>
  llvm.store %x, %p : vector<4xf16>, !llvm.ptr
  llvm.return
}
