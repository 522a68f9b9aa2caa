// RUN: xc-opt %s -split-input-file -xc-cuda-allow-dependent-launch | FileCheck %s


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

// 1056 blocks of 256 threads are on an H200 at once: there is room for others beside half as many.
// CHECK-LABEL: llvm.func @wide(
// CHECK-SAME:  cuda.programmatic
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    llvm.load %{{[a-z0-9]*}} {alias_scopes

// One of a symbolic size may be empty.
// CHECK-LABEL: llvm.func @open(
// CHECK-NOT:     cuda.programmatic
// CHECK-NEXT:    llvm.return

// CHECK-LABEL: llvm.func @quarter(
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    nvvm.griddepcontrol wait

// Few of those behind would find room at once.
// CHECK-LABEL: llvm.func @most(
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    nvvm.griddepcontrol wait

// Two blocks with 100 KiB each fit on one of the 132 multiprocessors.
// CHECK-LABEL: llvm.func @shared(
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    nvvm.griddepcontrol wait

// Loads between stores, or between barriers, stay invariant.
// CHECK-LABEL: llvm.func @streams(
// CHECK-NOT:     griddepcontrol
// CHECK:         llvm.load %{{.*}} invariant
// CHECK-LABEL: llvm.func @meets(
// CHECK-NOT:     griddepcontrol
// CHECK:         llvm.load %{{.*}} invariant
// CHECK-LABEL: llvm.func @meets_all(
// CHECK-NOT:     griddepcontrol
// CHECK:         llvm.load %{{.*}} invariant

// A loop of loads alone loses nothing.
// CHECK-LABEL: llvm.func @sums(
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
builtin.module @k attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  llvm.func @small(%x: !llvm.ptr<1> {llvm.align = 64 : i64, llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}) attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [4, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %v = llvm.load %x invariant : !llvm.ptr<1> -> f32
    llvm.store %v, %y : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @shares(%x: !llvm.ptr<1>, %y: !llvm.ptr<1> {llvm.noalias}) attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [4, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %p = llvm.getelementptr %x[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    llvm.store %v, %y : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @wide(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}) attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [528, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %v = llvm.load %x invariant : !llvm.ptr<1> -> f32
    llvm.store %v, %y : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @open() attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [s0, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    llvm.return
  }
  llvm.func @quarter() attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [264, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    llvm.return
  }
  llvm.func @most() attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [529, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    llvm.return
  }
  llvm.func @shared() attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [132, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 102400, scratch = 0>} {
    llvm.return
  }
  llvm.func @streams(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}, %n: i32) attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [2000, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %none = llvm.mlir.constant(0.0 : f32) : f32
    llvm.br ^head(%zero, %none : i32, f32)
  ^head(%i: i32, %s: f32):
    %more = llvm.icmp "slt" %i, %n : i32
    llvm.cond_br %more, ^body, ^end
  ^body:
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p invariant : !llvm.ptr<1> -> f32
    %t = llvm.fadd %s, %v : f32
    llvm.store %t, %y : f32, !llvm.ptr<1>
    %next = llvm.add %i, %one : i32
    llvm.br ^head(%next, %t : i32, f32)
  ^end:
    llvm.store %s, %y : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @meets(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}, %n: i32) attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [2000, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %none = llvm.mlir.constant(0.0 : f32) : f32
    llvm.br ^head(%zero, %none : i32, f32)
  ^head(%i: i32, %s: f32):
    %more = llvm.icmp "slt" %i, %n : i32
    llvm.cond_br %more, ^body, ^end
  ^body:
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p invariant : !llvm.ptr<1> -> f32
    %t = llvm.fadd %s, %v : f32
    nvvm.barrier
    %next = llvm.add %i, %one : i32
    llvm.br ^head(%next, %t : i32, f32)
  ^end:
    llvm.store %s, %y : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @meets_all(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}, %n: i32) attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [2000, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %none = llvm.mlir.constant(0.0 : f32) : f32
    llvm.br ^head(%zero, %none : i32, f32)
  ^head(%i: i32, %s: f32):
    %more = llvm.icmp "slt" %i, %n : i32
    llvm.cond_br %more, ^body, ^end
  ^body:
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p invariant : !llvm.ptr<1> -> f32
    %t = llvm.fadd %s, %v : f32
    nvvm.barrier0
    %next = llvm.add %i, %one : i32
    llvm.br ^head(%next, %t : i32, f32)
  ^end:
    llvm.store %s, %y : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @sums(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}, %n: i32) attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [2000, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %none = llvm.mlir.constant(0.0 : f32) : f32
    llvm.br ^head(%zero, %none : i32, f32)
  ^head(%i: i32, %s: f32):
    %more = llvm.icmp "slt" %i, %n : i32
    llvm.cond_br %more, ^body, ^end
  ^body:
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p invariant : !llvm.ptr<1> -> f32
    %t = llvm.fadd %s, %v : f32
    %next = llvm.add %i, %one : i32
    llvm.br ^head(%next, %t : i32, f32)
  ^end:
    llvm.store %s, %y : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// Older GPUs launch a kernel when those before it have ended.
// CHECK-LABEL: llvm.func @older(
// CHECK-NOT:     griddepcontrol
// CHECK:         llvm.return
builtin.module @k attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_89">} {
  llvm.func @older() attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    llvm.return
  }
}

// -----

// What no call writes is loaded before the wait, with its address, up to 160 bytes a thread; the rest behind it.
// CHECK-LABEL: llvm.func @fixed(
// CHECK-SAME:    %[[W:.*]]: !llvm.ptr<1>, %[[X:.*]]: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>)
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    %[[I:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK-NEXT:    %[[P:.*]] = llvm.getelementptr %[[W]][%[[I]]]
// CHECK-NEXT:    llvm.load %[[P]] {{.*}} -> vector<40xf32>
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    llvm.getelementptr %[[X]][%[[I]]]
// CHECK-NEXT:    llvm.load
// CHECK-NEXT:    llvm.load %[[W]]
builtin.module @k attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  llvm.func @fixed(%w: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}) attributes {nvvm.kernel, plan.fixed_bindings = array<i64: 0>, plan.launch = #plan.launch_config<grid = [4, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %i = nvvm.read.ptx.sreg.tid.x : i32
    %q = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %a = llvm.load %q : !llvm.ptr<1> -> vector<40xf32>
    %p = llvm.getelementptr %w[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %b = llvm.load %p : !llvm.ptr<1> -> vector<40xf32>
    %c = llvm.load %w : !llvm.ptr<1> -> f32
    %s = llvm.fadd %a, %b : vector<40xf32>
    llvm.store %s, %y : vector<40xf32>, !llvm.ptr<1>
    llvm.store %c, %y : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// Of an input of the call, the kernel says so: what is in front of the call may still write it.
// CHECK-LABEL: llvm.func @input(
// CHECK-SAME:    attributes {cuda.programmatic, cuda.reads_inputs_early,
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    llvm.load
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-LABEL: llvm.func @inputs_behind(
// CHECK-SAME:    attributes {cuda.programmatic, nvvm.kernel
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    llvm.load
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    llvm.load
builtin.module @k attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  llvm.func @input(%k: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}) attributes {nvvm.kernel, plan.fixed_bindings = array<i64: 0>, plan.fixed_inputs = array<i64: 0>, plan.launch = #plan.launch_config<grid = [4, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %a = llvm.load %k : !llvm.ptr<1> -> f32
    llvm.store %a, %y : f32, !llvm.ptr<1>
    llvm.return
  }
  // All that may be held is of weights.
  llvm.func @inputs_behind(%w: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %k: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}) attributes {nvvm.kernel, plan.fixed_bindings = array<i64: 0, 1>, plan.fixed_inputs = array<i64: 1>, plan.launch = #plan.launch_config<grid = [4, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %a = llvm.load %w : !llvm.ptr<1> -> vector<40xf32>
    %b = llvm.load %k : !llvm.ptr<1> -> f32
    llvm.store %a, %y : vector<40xf32>, !llvm.ptr<1>
    llvm.store %b, %y : f32, !llvm.ptr<1>
    llvm.return
  }
}
