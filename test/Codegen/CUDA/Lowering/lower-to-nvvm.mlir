// RUN: xc-opt %s -xc-cuda-lower-to-nvvm -canonicalize | FileCheck %s


// Loads of what the kernel only reads are invariant; of what may alias they are not.
// CHECK:       llvm.mlir.global external @xc_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: llvm.func @pointers(
// CHECK-SAME:    %[[X:.*]]: !llvm.ptr<1> {llvm.align = 64 : i64, llvm.noalias, llvm.readonly},
// CHECK-SAME:    %[[Y:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[N:.*]]: i64)
// CHECK-SAME:    nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>
// CHECK:         %[[BUFFER:.*]] = llvm.getelementptr %{{.*}}[256] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK:         llvm.load %{{.*}} invariant {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:         %[[OLD:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK:         %[[PLACE:.*]] = llvm.getelementptr inbounds %[[BUFFER]][%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
// CHECK:         llvm.store %[[OLD]], %[[PLACE]]
// CHECK:         nvvm.barrier0
func.func @pointers() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [64, 1, 1], cluster = [1, 1, 1], shared = 512, scratch = 0>} {
  %n = plan.scalar 2 : index
  %x = plan.binding 0 read align 64 : memref<64xf32>
  %y = plan.binding 1 read_write align 16 may_alias : memref<64xf32>
  %buffer = memref.alloc() {cuda.shared_offset = 256 : i64} : memref<64xf32, #gpu.address_space<workgroup>>
  %v = vector.load %x[%n] {alignment = 16 : i64} : memref<64xf32>, vector<4xf32>
  %old = memref.load %y[%n] : memref<64xf32>
  memref.store %old, %buffer[%n] : memref<64xf32, #gpu.address_space<workgroup>>
  gpu.barrier
  vector.store %v, %y[%n] {alignment = 16 : i64} : memref<64xf32>, vector<4xf32>
  return
}

// A word times a known word is one instruction for both halves, on vectors lane by lane; other products are not.
// CHECK-LABEL: llvm.func @products(
// CHECK-COUNT-2: llvm.inline_asm {{.*}}"mul.wide.u32 $0, $1, $2;", "=l,r,r" %{{.*}}, %{{.*}} : (i32, i32) -> i64
// CHECK-NOT:     mul.wide
// CHECK:         llvm.mul
// CHECK-NOT:     mul.wide
func.func @products() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [64, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
  %i = plan.scalar 2 : index
  %x = plan.binding 0 read_write align 16 : memref<64xi64>
  %y = plan.binding 1 read align 16 : memref<64xi32>
  %words = vector.load %y[%i] {alignment = 8 : i64} : memref<64xi32>, vector<2xi32>
  %wide = arith.extui %words : vector<2xi32> to vector<2xi64>
  %known = arith.constant dense<3528531795> : vector<2xi64>
  %product = arith.muli %wide, %known : vector<2xi64>
  vector.store %product, %x[%i] {alignment = 16 : i64} : memref<64xi64>, vector<2xi64>
  %old = memref.load %x[%i] : memref<64xi64>
  %large = arith.constant 4294967297 : i64
  %other = arith.muli %old, %large : i64
  memref.store %other, %x[%i] : memref<64xi64>
  return
}

// Approximations are instructions; an exact root is LLVM's.
// CHECK-LABEL: llvm.func @approximate(
// CHECK:         llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%{{.*}}) : (f32) -> f32
// CHECK:         llvm.call_intrinsic "llvm.nvvm.sqrt.approx.ftz.f"(%{{.*}}) : (f32) -> f32
// CHECK:         llvm.intr.sqrt(%{{.*}}) : (f32) -> f32
// CHECK:         llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"(%{{.*}}) : (f32) -> f32
// CHECK:         llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%{{.*}}) : (f32) -> f32
// CHECK:         llvm.fdiv
func.func @approximate() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [64, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
  %i = plan.scalar 1 : index
  %x = plan.binding 0 read_write align 64 : memref<64xf32>
  %a = memref.load %x[%i] : memref<64xf32>
  %log = math.log2 %a fastmath<afn> : f32
  %root = math.sqrt %log fastmath<afn> : f32
  %exact = math.sqrt %root : f32
  %inverse = math.rsqrt %exact fastmath<afn> : f32
  %one = arith.constant 1.0 : f32
  %reciprocal = arith.divf %one, %inverse fastmath<afn> : f32
  %quotient = arith.divf %one, %reciprocal : f32
  memref.store %quotient, %x[%i] : memref<64xf32>
  return
}
