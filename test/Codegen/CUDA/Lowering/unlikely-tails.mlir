// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(xc-cuda-emit-ptx))' | FileCheck %s

// What is unlikely lies behind the usual path, with an end of its own.
// CHECK-LABEL: module @unlikely attributes
// CHECK-SAME:  .visible .entry k(
// CHECK-SAME:  ld.global
// CHECK-SAME:  @%p{{[0-9]+}} bra
// CHECK-SAME:  st.global
// CHECK-SAME:  ret;
// CHECK-SAME:  rcp.rn
// CHECK-SAME:  st.global
// CHECK-SAME:  ret;
// Of an unlikely path that reads nothing the usual one need not wait to know: it stores first.
// CHECK-LABEL: module @computes attributes
// CHECK-SAME:  .visible .entry k(
// CHECK-SAME:  ld.global
// CHECK-SAME:  st.global
// CHECK-SAME:  @%p{{[0-9]+}} bra
// CHECK-SAME:  ret;
// CHECK-SAME:  rcp.rn
// CHECK-SAME:  st.global
// CHECK-SAME:  ret;
// Either way is as likely: they meet before the end.
// CHECK-LABEL: module @either attributes
// CHECK-SAME:  .visible .entry k(
// CHECK-SAME:  rcp.rn
// CHECK-SAME:  st.global
// CHECK-SAME:  ret;
// CHECK-NOT:   ret;
// An unlikely path that ends elsewhere must not store what the usual one does.
// CHECK-LABEL: module @elsewhere attributes
// CHECK-SAME:  .visible .entry k(
// CHECK-SAME:  setp.gt.f32 {{[^;]*}};{{[^;]*}}@%p{{[0-9]+}} bra {{[^;]*}}[[AWAY:\$L__BB[0-9_]+]];
// CHECK-SAME:  st.global.b32 {{[^;]*}}[%rd{{[0-9]+}}],
// CHECK-SAME:  [[AWAY]]:
// CHECK-SAME:  st.global.b32 {{[^;]*}}[%rd{{[0-9]+}}+4],
builtin.module {
  builtin.module @unlikely attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
    llvm.func @k(%x: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias})
        attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>, cuda.scalars = array<i64>, cuda.tensor_maps = []} {
      %one = llvm.mlir.constant(1.0 : f32) : f32
      %no = llvm.mlir.constant(false) : i1
      %v = llvm.load volatile %x : !llvm.ptr<1> -> f32
      %p = llvm.fcmp "ogt" %v, %one : f32
      %q = llvm.intr.expect %p, %no : i1
      llvm.cond_br %q, ^large, ^end(%v : f32)
    ^large:
      %w = llvm.load volatile %x : !llvm.ptr<1> -> f32
      %z = llvm.fdiv %one, %w : f32
      llvm.br ^end(%z : f32)
    ^end(%r: f32):
      %s = llvm.fadd %r, %one : f32
      llvm.store %s, %y : f32, !llvm.ptr<1>
      llvm.return
    }
  }
  builtin.module @computes attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
    llvm.func @k(%x: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias})
        attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>, cuda.scalars = array<i64>, cuda.tensor_maps = []} {
      %one = llvm.mlir.constant(1.0 : f32) : f32
      %no = llvm.mlir.constant(false) : i1
      %v = llvm.load volatile %x : !llvm.ptr<1> -> f32
      %p = llvm.fcmp "ogt" %v, %one : f32
      %q = llvm.intr.expect %p, %no : i1
      llvm.cond_br %q, ^large, ^end(%v : f32)
    ^large:
      %z = llvm.fdiv %one, %v : f32
      llvm.br ^end(%z : f32)
    ^end(%r: f32):
      %s = llvm.fadd %r, %one : f32
      llvm.store %s, %y : f32, !llvm.ptr<1>
      llvm.return
    }
  }
  builtin.module @either attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
    llvm.func @k(%x: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias})
        attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>, cuda.scalars = array<i64>, cuda.tensor_maps = []} {
      %one = llvm.mlir.constant(1.0 : f32) : f32
      %v = llvm.load volatile %x : !llvm.ptr<1> -> f32
      %p = llvm.fcmp "ogt" %v, %one : f32
      llvm.cond_br %p, ^large, ^end(%v : f32)
    ^large:
      %w = llvm.load volatile %x : !llvm.ptr<1> -> f32
      %z = llvm.fdiv %one, %w : f32
      llvm.br ^end(%z : f32)
    ^end(%r: f32):
      %s = llvm.fadd %r, %one : f32
      llvm.store %s, %y : f32, !llvm.ptr<1>
      llvm.return
    }
  }
  builtin.module @elsewhere attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
    llvm.func @k(%x: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias})
        attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>, cuda.scalars = array<i64>, cuda.tensor_maps = []} {
      %one = llvm.mlir.constant(1.0 : f32) : f32
      %two = llvm.mlir.constant(2.0 : f32) : f32
      %no = llvm.mlir.constant(false) : i1
      %v = llvm.load volatile %x : !llvm.ptr<1> -> f32
      %side = llvm.fcmp "ogt" %v, %two : f32
      llvm.cond_br %side, ^side, ^main
    ^side:
      %w = llvm.load volatile %x : !llvm.ptr<1> -> f32
      llvm.br ^end(%w : f32)
    ^main:
      %p = llvm.fcmp "ogt" %v, %one : f32
      %q = llvm.intr.expect %p, %no : i1
      llvm.cond_br %q, ^away, ^end(%v : f32)
    ^away:
      %z = llvm.fdiv %one, %v : f32
      %next = llvm.getelementptr %y[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %z, %next : f32, !llvm.ptr<1>
      llvm.return
    ^end(%r: f32):
      %s = llvm.fadd %r, %one : f32
      llvm.store %s, %y : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
