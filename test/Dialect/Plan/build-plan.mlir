// RUN: xc-opt %s -xc-build-plan -split-input-file -verify-diagnostics -mlir-print-local-scope | FileCheck %s

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  module @k attributes {plan.kernel} {}

  // Temporaries take turns in the arena, and a write waits for the reads of what was there.
  // CHECK-LABEL: plan.function @chain
  // CHECK-SAME:    arena 512
  // CHECK:         plan.launch @k [#plan.range<read, input 0, {{.*}}>, #plan.range<write, arena 0, offset = [[A:[0-9]+]], {{.*}}after []
  // CHECK:         plan.launch @k [#plan.range<read, arena 0, offset = [[A]], {{.*}}>, #plan.range<write, arena 0, offset = [[B:[0-9]+]], {{.*}}after [0]
  // CHECK:         plan.launch @k [#plan.range<read, arena 0, offset = [[B]], {{.*}}>, #plan.range<write, arena 0, offset = [[A]], {{.*}}after [1]
  // CHECK:         plan.launch @k [#plan.range<read, arena 0, offset = [[A]], {{.*}}>, #plan.range<write, output 0, {{.*}}after [2]
  func.func @chain(%x: tensor<64xf32>) -> tensor<64xf32> {
    %a = plan.dispatch @k(%x : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    %b = plan.dispatch @k(%a : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    %c = plan.dispatch @k(%b : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    %d = plan.dispatch @k(%c : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    return %d : tensor<64xf32>
  }

  // Independent commands have no edge.
  // CHECK-LABEL: plan.function @independent
  // CHECK:         plan.launch @k {{.*}} after []
  // CHECK:         plan.launch @k {{.*}} after []
  func.func @independent(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    %a = plan.dispatch @k(%x : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    %b = plan.dispatch @k(%x : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    return %a, %b : tensor<64xf32>, tensor<64xf32>
  }

  // A dispatch that may takes over its dead operand's memory; an input's memory only if it was donated.
  // CHECK-LABEL: plan.function @in_place
  // CHECK-SAME:    arena 256
  // CHECK:         plan.launch @k [#plan.range<read, input 0, {{.*}}>, #plan.range<write, arena 0, offset = 0
  // CHECK:         plan.launch @k [#plan.range<read, arena 0, offset = 0, {{.*}}>, #plan.range<write, arena 0, offset = 0
  // CHECK:         plan.launch @k [#plan.range<read, input 1, {{.*}}>, #plan.range<write, input 1,
  func.func @in_place(%x: tensor<64xf32>, %y: tensor<64xf32> {array.donated}) -> (tensor<64xf32>, tensor<64xf32>) {
    %a = plan.dispatch @k(%x : tensor<64xf32>) -> (tensor<64xf32>) reuse [0]
    %b = plan.dispatch @k(%a : tensor<64xf32>) -> (tensor<64xf32>) reuse [0]
    %c = plan.dispatch @k(%y : tensor<64xf32>) -> (tensor<64xf32>) reuse [0]
    %d = plan.dispatch @k(%b : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    %e = plan.dispatch @k(%c : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    return %d, %e : tensor<64xf32>, tensor<64xf32>
  }

  // An input, a view of a result and a result returned twice are copied to their outputs.
  // CHECK-LABEL: plan.function @copies
  // CHECK:         plan.launch @k
  // CHECK:         plan.copy <read, input 0, {{.*}}> to <write, output 0
  // CHECK:         plan.copy <read, output 1, offset = 128, length = 128> to <write, output 2, {{.*}} after [0]
  // CHECK:         plan.copy <read, output 1, {{.*}}> to <write, output 3, {{.*}} after [0]
  func.func @copies(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<32xf32>, tensor<64xf32>) {
    %a = plan.dispatch @k(%x : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    %v = tensor.extract_slice %a[32] [32] [1] : tensor<64xf32> to tensor<32xf32>
    return %x, %a, %v, %a : tensor<64xf32>, tensor<64xf32>, tensor<32xf32>, tensor<64xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  module @k attributes {plan.kernel} {}
  array.variable @w : tensor<64xf32>
  array.variable @v : tensor<64xf32>

  // Updated in place where the old value is read at the same element for the last time.
  // CHECK-LABEL: plan.function @step
  // CHECK:         plan.launch @k [#plan.range<read, variable 0, {{.*}}>, #plan.range<read, input 0, {{.*}}>, #plan.range<write, variable 0,
  // CHECK-NOT:     plan.copy
  func.func @step(%g: tensor<64xf32>) {
    %w = array.variable.read @w : tensor<64xf32>
    %n = plan.dispatch @k(%w, %g : tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>) reuse [0]
    array.variable.assign @w, %n : tensor<64xf32>
    return
  }

  // The old value is still needed: computed elsewhere, copied at the end.
  // CHECK-LABEL: plan.function @old_value_returned
  // CHECK:         plan.launch @k [#plan.range<read, variable 0, {{.*}}>, #plan.range<write, arena 0,
  // CHECK:         plan.copy <read, variable 0, {{.*}}> to <write, output 0
  // CHECK:         plan.copy <read, arena 0, {{.*}}> to <write, variable 0, {{.*}} after [0, 1]
  func.func @old_value_returned() -> tensor<64xf32> {
    %w = array.variable.read @w : tensor<64xf32>
    %n = plan.dispatch @k(%w : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    array.variable.assign @w, %n : tensor<64xf32>
    return %w : tensor<64xf32>
  }

  // Both old values are saved before either variable changes.
  // CHECK-LABEL: plan.function @swap
  // CHECK:         plan.copy <read, variable 1, {{.*}}> to <write, arena 0
  // CHECK:         plan.copy <read, variable 0, {{.*}}> to <write, arena 0
  // CHECK:         plan.copy <read, arena 0, {{.*}}> to <write, variable 0
  // CHECK:         plan.copy <read, arena 0, {{.*}}> to <write, variable 1
  func.func @swap() {
    %w = array.variable.read @w : tensor<64xf32>
    %v = array.variable.read @v : tensor<64xf32>
    array.variable.assign @w, %v : tensor<64xf32>
    array.variable.assign @v, %w : tensor<64xf32>
    return
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  module @k attributes {plan.kernel} {}

  // Sizes are formulas over the inputs' dims; dims with one name are one symbol.
  // CHECK-LABEL: plan.function @symbolic symbols [{dim = 0 : i64, input = 0 : i64, name = "n"}]
  // CHECK-SAME:    arena ((s0 * 4) ceildiv 256) * 256
  // CHECK:         plan.launch @k {{.*}} #plan.range<write, arena 0, offset = 0, length = s0 * 4>] scalars [s0]
  func.func @symbolic(%x: tensor<?xf32> {array.dims = ["n"]}, %y: tensor<?xf32> {array.dims = ["n"]}) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %a = plan.dispatch @k(%x : tensor<?xf32>) scalars(%n) -> (tensor<?xf32>) dims(%n) reuse [-1]
    %b = plan.dispatch @k(%a, %y : tensor<?xf32>, tensor<?xf32>) scalars(%n) -> (tensor<?xf32>) dims(%n) reuse [-1]
    return %b : tensor<?xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  module @k attributes {plan.kernel} {}

  // Sizes that are multiples of one symbol are placed like static ones, in units of it.
  // CHECK-LABEL: plan.function @open_batch
  // CHECK-SAME:    arena s0 * 1280
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = 0,
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = s0 * 1024,
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = 0,
  func.func @open_batch(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x64xf32>
    %a = plan.dispatch @k(%x : tensor<?x64xf32>) -> (tensor<?x256xf32>) dims(%n) reuse [-1]
    %b = plan.dispatch @k(%a : tensor<?x256xf32>) -> (tensor<?x64xf32>) dims(%n) reuse [-1]
    %c = plan.dispatch @k(%b : tensor<?x64xf32>) -> (tensor<?x128xf32>) dims(%n) reuse [-1]
    %d = plan.dispatch @k(%c : tensor<?x128xf32>) -> (tensor<?x64xf32>) dims(%n) reuse [-1]
    return %d : tensor<?x64xf32>
  }

  // What begins where a multiple of the symbol is rounded up to the alignment ends so much later.
  // CHECK-LABEL: plan.function @unaligned
  // CHECK-SAME:    arena ((s0 * 60) ceildiv 256) * 256 + 512
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = 0,
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = ((s0 * 28) ceildiv 256) * 256,
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = ((s0 * 48) ceildiv 256) * 256 + 256,
  func.func @unaligned(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x3xf32>
    %a = plan.dispatch @k(%x : tensor<?x3xf32>) -> (tensor<?x7xf32>) dims(%n) reuse [-1]
    %b = plan.dispatch @k(%a : tensor<?x7xf32>) -> (tensor<?x5xf32>) dims(%n) reuse [-1]
    %c = plan.dispatch @k(%a, %b : tensor<?x7xf32>, tensor<?x5xf32>) -> (tensor<?x3xf32>) dims(%n) reuse [-1]
    %d = plan.dispatch @k(%c, %b : tensor<?x3xf32>, tensor<?x5xf32>) -> (tensor<?x3xf32>) dims(%n) reuse [-1]
    return %d : tensor<?x3xf32>
  }

  // A buffer takes the place of one that is larger whatever the symbols are. Like terms are one.
  // CHECK-LABEL: plan.function @growing
  // CHECK-SAME:    arena (s0 + s1 * 3) * 256 + (s0 + s1 * 2) * 256
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = 0,
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = (s0 + s1 * 3) * 256,
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = 0,
  func.func @growing(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x64xf32>
    %m = tensor.dim %y, %c0 : tensor<?x64xf32>
    %n1 = arith.addi %n, %m : index
    %n2 = arith.addi %n1, %m : index
    %n3 = arith.addi %n2, %m : index
    %a = plan.dispatch @k(%x, %y : tensor<?x64xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>) dims(%n1) reuse [-1]
    %b = plan.dispatch @k(%a, %y : tensor<?x64xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>) dims(%n2) reuse [-1]
    %c = plan.dispatch @k(%b, %y : tensor<?x64xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>) dims(%n3) reuse [-1]
    %d = plan.dispatch @k(%c : tensor<?x64xf32>) -> (tensor<?x64xf32>) dims(%n) reuse [-1]
    return %d : tensor<?x64xf32>
  }

  // A product is the same in either order.
  // CHECK-LABEL: plan.function @transposed
  // CHECK-SAME:    arena (s0 * s1) * 512
  func.func @transposed(%x: tensor<?x?x64xf32>) -> tensor<?x?x64xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?x?x64xf32>
    %m = tensor.dim %x, %c1 : tensor<?x?x64xf32>
    %a = plan.dispatch @k(%x : tensor<?x?x64xf32>) -> (tensor<?x?x64xf32>) dims(%n, %m) reuse [-1]
    %b = plan.dispatch @k(%a : tensor<?x?x64xf32>) -> (tensor<?x?x64xf32>) dims(%m, %n) reuse [-1]
    %c = plan.dispatch @k(%b : tensor<?x?x64xf32>) -> (tensor<?x?x64xf32>) dims(%n, %m) reuse [-1]
    %d = plan.dispatch @k(%c : tensor<?x?x64xf32>) -> (tensor<?x?x64xf32>) dims(%n, %m) reuse [-1]
    return %d : tensor<?x?x64xf32>
  }

  // Or because ranges say so: 512 of the one are less than 1024 of the other.
  // CHECK-LABEL: plan.function @bounded
  // CHECK-SAME:    arena s0 * 4 + 256
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = 256,
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = 0,
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = 256,
  func.func @bounded(%x: tensor<?xf32> {array.dims = ["n"]}, %y: tensor<?xf32> {array.dims = ["m"]}) -> tensor<?xf32> attributes {array.dim_range = {m = [1, 512, 1], n = [1024, 4096, 64]}} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %m = tensor.dim %y, %c0 : tensor<?xf32>
    %a = plan.dispatch @k(%x : tensor<?xf32>) -> (tensor<?xf32>) dims(%n) reuse [-1]
    %b = plan.dispatch @k(%a : tensor<?xf32>) -> (tensor<3xf32>) reuse [-1]
    %c = plan.dispatch @k(%b : tensor<3xf32>) -> (tensor<?xf32>) dims(%m) reuse [-1]
    %d = plan.dispatch @k(%c : tensor<?xf32>) -> (tensor<?xf32>) dims(%m) reuse [-1]
    return %d : tensor<?xf32>
  }

  // Else it gets its own.
  // CHECK-LABEL: plan.function @unrelated
  // CHECK-SAME:    arena ((s0 * 4) ceildiv 256) * 256 + ((s1 * 4) ceildiv 256) * 256 + 256
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = 256,
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = 0,
  // CHECK:         plan.launch @k {{.*}}#plan.range<write, arena 0, offset = ((s0 * 4) ceildiv 256) * 256 + 256,
  func.func @unrelated(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %m = tensor.dim %y, %c0 : tensor<?xf32>
    %a = plan.dispatch @k(%x : tensor<?xf32>) -> (tensor<?xf32>) dims(%n) reuse [-1]
    %b = plan.dispatch @k(%a : tensor<?xf32>) -> (tensor<3xf32>) reuse [-1]
    %c = plan.dispatch @k(%b : tensor<3xf32>) -> (tensor<?xf32>) dims(%m) reuse [-1]
    %d = plan.dispatch @k(%c : tensor<?xf32>) -> (tensor<?xf32>) dims(%m) reuse [-1]
    return %d : tensor<?xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @not_dispatched(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{expected a dispatch, a view, a constant, state or index arithmetic when the plan is built}}
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// What sizes must be like goes into the plan.
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  // CHECK-LABEL: plan.function @required
  // CHECK-SAME:    requirements = [{comparison = 0 : i32, left = #plan.formula<s0>, loc = loc(
  // CHECK-SAME:    right = #plan.formula<4>, what = "expected four"}]
  func.func @required(%x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    plan.require %n equal %c4, "expected four"
    return %x : tensor<?xf32>
  }
}

// -----

// A result with array.alias lies in the input's buffer: computed there where nothing else needs the old value, else copied there
// last, behind what reads it.
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  module @k attributes {plan.kernel} {}

  // CHECK-LABEL: plan.function @over_its_input
  // CHECK-SAME:    outputs [{alias = 0 : i64,
  // CHECK:         plan.launch @k [#plan.range<read, input 0, {{.*}}>, #plan.range<write, input 0,
  // CHECK-NOT:     plan.copy
  func.func @over_its_input(%x: tensor<64xf32> {array.donated}) -> (tensor<64xf32> {array.alias = 0}) {
    %a = plan.dispatch @k(%x : tensor<64xf32>) -> (tensor<64xf32>) reuse [0]
    return %a : tensor<64xf32>
  }

  // CHECK-LABEL: plan.function @after_the_last_read
  // CHECK:         plan.launch @k [#plan.range<read, input 0, {{.*}}>, #plan.range<write, arena 0,
  // CHECK:         plan.launch @k [#plan.range<read, input 0, {{.*}}>, #plan.range<write, output 1,
  // CHECK:         plan.copy <read, arena 0, {{.*}}> to <write, input 0, {{.*}}> after [0, 1]
  func.func @after_the_last_read(%x: tensor<64xf32> {array.donated}) -> (tensor<64xf32> {array.alias = 0}, tensor<64xf32>) {
    %a = plan.dispatch @k(%x : tensor<64xf32>) -> (tensor<64xf32>) reuse [0]
    %b = plan.dispatch @k(%x : tensor<64xf32>) -> (tensor<64xf32>) reuse [0]
    return %a, %b : tensor<64xf32>, tensor<64xf32>
  }
}

// -----

// A value that is repeated is not stored where it is only copied: its copies are fills. Nor are zeros that a variable has at
// first.
// CHECK-LABEL: module @repeated
// CHECK-SAME:    plan.constants = [dense<2.500000e+00> : tensor<4xf32>, dense<5.000000e-01> : tensor<64xf32>]
// CHECK-SAME:    plan.variables = [{name = "w", type = tensor<64xf32>}, {constant = 1 : i64, name = "v", type = tensor<64xf32>}]
module @repeated attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  module @k attributes {plan.kernel} {}
  array.variable @w : tensor<64xf32> = dense<0.0>
  array.variable @v : tensor<64xf32> = dense<0.5>

  // CHECK:         plan.fill <write, output 0, {{.*}}length = 400000000000> with 1065353216 size 4 after []
  // CHECK:         plan.fill <write, output 1, {{.*}}length = 64> with 513 size 2 after []
  // CHECK:         plan.fill <write, variable 0, {{.*}}> with 3221225472 size 4 after []
  // CHECK-NOT:     plan.copy
  func.func @fills() -> (tensor<100000000000xf32>, tensor<32xi16>) {
    %0 = arith.constant dense<1.0> : tensor<100000000000xf32>
    %1 = arith.constant dense<513> : tensor<64xi16>
    %2 = tensor.extract_slice %1[8] [32] [1] : tensor<64xi16> to tensor<32xi16>
    %3 = arith.constant dense<-2.0> : tensor<64xf32>
    array.variable.assign @w, %3 : tensor<64xf32>
    return %0, %2 : tensor<100000000000xf32>, tensor<32xi16>
  }

  // What a kernel reads is stored.
  // CHECK-LABEL: plan.function @reads
  // CHECK:         plan.launch @k [#plan.range<read, constant 0, {{.*}}>, #plan.range<write, output 0,
  // CHECK:         plan.fill <write, output 1, {{.*}}> with 1075838976 size 4 after []
  func.func @reads() -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = arith.constant dense<2.5> : tensor<4xf32>
    %1 = plan.dispatch @k(%0 : tensor<4xf32>) -> (tensor<4xf32>) reuse [-1]
    return %1, %0 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  // expected-error @below {{expected at most 1073741824 bytes in the module for a value that is repeated, got 400000000000}}
  array.variable @v : tensor<100000000000xf32> = dense<0.5>
  func.func @main() {
    return
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  module @k attributes {plan.kernel} {}
  func.func @main() -> tensor<4xf32> {
    // expected-error @below {{expected at most 1073741824 bytes in the module for a value that is repeated, got 400000000000}}
    %0 = arith.constant dense<1.0> : tensor<100000000000xf32>
    %1 = plan.dispatch @k(%0 : tensor<100000000000xf32>) -> (tensor<4xf32>) reuse [-1]
    return %1 : tensor<4xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  module @k attributes {plan.kernel} {}

  // What the init function returns are buffers that outlive calls; a parameter that is returned as it is is copied there.
  // CHECK-LABEL: plan.function @main
  // CHECK:         plan.launch @k [#plan.range<read, input 0, {{.*}}>, #plan.range<read, packed 0, offset = 0, length = 256>, #plan.range<write, output 0,
  func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %w = plan.packed 0 : tensor<64xf32>
    %y = plan.dispatch @k(%x, %w : tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    return %y : tensor<64xf32>
  }

  // CHECK-LABEL: plan.function @init
  // CHECK-SAME:    attributes {{.*}}plan.hoisted = ["tensor<64xf32> of w", "tensor<64xf32> of w"], plan.init
  // CHECK:         plan.launch @k [#plan.range<read, parameter 0, {{.*}}>, #plan.range<write, packed 0,
  // CHECK:         plan.copy <read, parameter 0, {{.*}}> to <write, packed 1,
  func.func private @init() -> (tensor<64xf32>, tensor<64xf32>) attributes {plan.init, plan.hoisted = ["tensor<64xf32> of w", "tensor<64xf32> of w"]} {
    %w = array.parameter "m"::"w" : tensor<64xf32>
    %y = plan.dispatch @k(%w : tensor<64xf32>) -> (tensor<64xf32>) reuse [-1]
    return %y, %w : tensor<64xf32>, tensor<64xf32>
  }
}
