// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(xc-cuda-emit-ptx))' | FileCheck %s

// The place of a tile, which is needed behind the products alone, is computed behind the wait for them.
// CHECK-LABEL: module @place attributes
// CHECK-SAME:  .visible .entry k(
// CHECK-SAME:  // fence
// CHECK-SAME:  wgmma.wait_group.sync.aligned 0;
// CHECK-SAME:  mul.hi.u32
// CHECK-SAME:  st.global
// A wait stays behind arithmetic on what is reduced, which is there to be done beside the products.
// CHECK-LABEL: module @softmax attributes
// CHECK-SAME:  .visible .entry k(
// CHECK-SAME:  // fence
// CHECK-SAME:  fma.rn.f32
// CHECK-SAME:  wgmma.wait_group.sync.aligned 1;
// CHECK-SAME:  st.global
builtin.module {
  builtin.module @place attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
    llvm.func @k(%y: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, %n: i32)
        attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>, cuda.scalars = array<i64: 0>, cuda.tensor_maps = []} {
      %seven = llvm.mlir.constant(7 : i32) : i32
      %zero = llvm.mlir.constant(0 : i32) : i32
      %one = llvm.mlir.constant(1 : i32) : i32
      %sum = llvm.mlir.constant(1.0 : f32) : f32
      %row = llvm.udiv %n, %seven : i32
      llvm.br ^loop(%zero, %sum : i32, f32)
    ^loop(%i: i32, %s: f32):
      %t = llvm.inline_asm has_side_effects "// fence $0", "=f,0" %s : (f32) -> f32
      %next = llvm.add %i, %one : i32
      %more = llvm.icmp "ult" %next, %n : i32
      llvm.cond_br %more, ^loop(%next, %t : i32, f32), ^end
    ^end:
      %done = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,0,~{memory}" %t : (f32) -> f32
      %at = llvm.getelementptr %y[%row] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %done, %at : f32, !llvm.ptr<1>
      llvm.return
    }
  }
  builtin.module @softmax attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
    llvm.func @k(%y: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, %n: i32)
        attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>, cuda.scalars = array<i64: 0>, cuda.tensor_maps = []} {
      %zero = llvm.mlir.constant(0 : i32) : i32
      %one = llvm.mlir.constant(1 : i32) : i32
      %sum = llvm.mlir.constant(1.0 : f32) : f32
      llvm.br ^loop(%zero, %sum : i32, f32)
    ^loop(%i: i32, %s: f32):
      %t = llvm.inline_asm has_side_effects "// fence $0", "=f,0" %s : (f32) -> f32
      %next = llvm.add %i, %one : i32
      %more = llvm.icmp "ult" %next, %n : i32
      llvm.cond_br %more, ^loop(%next, %t : i32, f32), ^end
    ^end:
      %weight = llvm.intr.fma(%s, %s, %sum) : (f32, f32, f32) -> f32
      %done = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 1;", "=f,0,~{memory}" %t : (f32) -> f32
      %both = llvm.fadd %done, %weight : f32
      llvm.store %both, %y : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
