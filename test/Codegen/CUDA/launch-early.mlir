// RUN: xc-opt %s -split-input-file -xc-cuda-launch-early | FileCheck %s

#small = affine_map<() -> (4, 1, 1)>
#wide = affine_map<() -> (529, 1, 1)>
#open = affine_map<()[s0] -> (s0, 1, 1)>

// What is before may still write x when the kernel begins: loads of it are plain ones, behind the wait.
// CHECK-LABEL: llvm.func @small(%{{.*}}: !llvm.ptr<1> {llvm.align = 64 : i64}, %{{.*}}: !llvm.ptr<1>)
// CHECK-SAME:  cuda.programmatic
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    nvvm.griddepcontrol wait
// Each access says that it meets none through the other argument.
// CHECK-NEXT:    llvm.load %{{.*}} {alias_scopes = [#[[X:[a-z0-9_]+]]], noalias_scopes = [#[[Y:[a-z0-9_]+]]]} : !llvm.ptr<1> -> f32
// CHECK-NEXT:    llvm.store %{{.*}} {alias_scopes = [#[[Y]]], noalias_scopes = [#[[X]]]} : f32, !llvm.ptr<1>

// What may share memory with others has no scope; what is read by way of it still meets no `noalias` argument.
// CHECK-LABEL: llvm.func @shares(
// CHECK:         llvm.load %{{.*}} {noalias_scopes = [#[[OUT:[a-z0-9_]+]]]} : !llvm.ptr<1> -> f32
// CHECK-NEXT:    llvm.store %{{.*}} {alias_scopes = [#[[OUT]]]} : f32, !llvm.ptr<1>

// 1056 blocks of 256 threads fill an H200.
// CHECK-LABEL: llvm.func @wide(
// CHECK-NOT:     griddepcontrol
// CHECK:         llvm.load %{{.*}} invariant

// CHECK-LABEL: llvm.func @open(
// CHECK-NOT:     griddepcontrol
// CHECK:         llvm.return

// CHECK-LABEL: llvm.func @half(
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents

// Two blocks with 100 KiB each fit on one of the 132 multiprocessors.
// CHECK-LABEL: llvm.func @shared(
// CHECK-NOT:     griddepcontrol
builtin.module @k attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  llvm.func @small(%x: !llvm.ptr<1> {llvm.align = 64 : i64, llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}) attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = #small, block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %v = llvm.load %x invariant : !llvm.ptr<1> -> f32
    llvm.store %v, %y : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @shares(%x: !llvm.ptr<1>, %y: !llvm.ptr<1> {llvm.noalias}) attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = #small, block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %p = llvm.getelementptr %x[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    llvm.store %v, %y : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @wide(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}) attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = #wide, block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %v = llvm.load %x invariant : !llvm.ptr<1> -> f32
    llvm.store %v, %y : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @open() attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = #open, block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    llvm.return
  }
  llvm.func @half() attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = affine_map<() -> (528, 1, 1)>, block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    llvm.return
  }
  llvm.func @shared() attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = affine_map<() -> (133, 1, 1)>, block = [256, 1, 1], cluster = [1, 1, 1], shared = 102400, scratch = 0>} {
    llvm.return
  }
}

// -----

// Older GPUs launch a kernel when those before it have ended.
// CHECK-LABEL: llvm.func @older(
// CHECK-NOT:     griddepcontrol
// CHECK:         llvm.return
builtin.module @k attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_89">} {
  llvm.func @older() attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = affine_map<() -> (1, 1, 1)>, block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    llvm.return
  }
}
