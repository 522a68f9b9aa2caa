// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(xc-cuda-emit-ptx))' | FileCheck %s

// Every other one of seven elements: nothing is loaded between them, nor behind the last, where the buffer may end.
// CHECK-LABEL: module @k attributes
// CHECK-NOT:   ld.global{{[a-z.]*}}.v
// CHECK:       ld.global{{.*}}ld.global{{.*}}ld.global{{.*}}ld.global
builtin.module {
  builtin.module @k attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
    llvm.func @k(%x: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias})
        attributes {nvvm.kernel, nvvm.maxntid = array<i32: 1, 1, 1>, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>, cuda.scalars = array<i64>, cuda.tensor_maps = []} {
      %x2 = llvm.getelementptr inbounds %x[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %x4 = llvm.getelementptr inbounds %x[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %x6 = llvm.getelementptr inbounds %x[6] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %v0 = llvm.load %x {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %v2 = llvm.load %x2 {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %v4 = llvm.load %x4 {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %v6 = llvm.load %x6 {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %a = llvm.add %v0, %v2 : i32
      %b = llvm.add %v4, %v6 : i32
      %c = llvm.add %a, %b : i32
      llvm.store %c, %y : i32, !llvm.ptr<1>
      llvm.return
    }
  }
}
