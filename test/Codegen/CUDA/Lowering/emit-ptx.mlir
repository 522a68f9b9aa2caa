// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(xc-cuda-emit-ptx))' | FileCheck %s
// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(xc-cuda-emit-ptx{opt-level=0}))' | FileCheck %s --check-prefix=EXPORT

// Lowered kernels become PTX and what a launch needs to know; the functions go.
// CHECK-LABEL: module @k attributes
// EXPORT:      plan.exports = [{
// EXPORT-SAME:   launch = #plan.launch_config<grid = [{{.*}}], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>
// EXPORT-SAME:   name = "k"
// EXPORT-SAME:   parameters = {{\[\[}}"binding", 0], ["binding", 1]]
// CHECK-SAME:  plan.image = "{{.*}}.target sm_80{{.*}}.visible .entry k(
// CHECK-SAME:  .maxntid 256
// CHECK-SAME:  ld.global{{.*}}st.global
// CHECK-NOT:   llvm.func
builtin.module {
  builtin.module @k attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
    llvm.func @k(%x: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias})
        attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>, cuda.scalars = array<i64>, cuda.tensor_maps = []} {
      %v = llvm.load %x : !llvm.ptr<1> -> f32
      llvm.store %v, %y : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
