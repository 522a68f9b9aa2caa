// RUN: xc-opt %s -xc-resolve-references -split-input-file -verify-diagnostics | FileCheck %s

// CPU targets compute the reference; its sizes have to be what the program says.
// CHECK:       #plan.target<"cpu"
// CHECK-NOT:   @reference
// CHECK-LABEL: func.func @f
// CHECK:       %[[Y:.*]] = linalg.exp
// CHECK:       plan.require %{{.*}} equal %{{.*}}, "array.custom_kernel: expected the size that its reference gives dim 0"
// CHECK:       return %[[Y]]
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func private @reference(%x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    return %y : tensor<?xf32>
  }
  func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = kernel.custom "f"(%x : tensor<?xf32>) into(%e : tensor<?xf32>) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] else @reference ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }" -> tensor<?xf32>
    return %y : tensor<?xf32>
  }
}

// -----

// Others do not need it any more.
// CHECK:       #plan.target<"cuda"
// CHECK-NOT:   @reference
// CHECK-LABEL: func.func @f
// CHECK:       kernel.custom "f"
// CHECK-NOT:   else
module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func private @reference(%x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    return %y : tensor<?xf32>
  }
  func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = kernel.custom "f"(%x : tensor<?xf32>) into(%e : tensor<?xf32>) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] else @reference ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }" -> tensor<?xf32>
    return %y : tensor<?xf32>
  }
}

// -----

// A public one is an entry point.
// CHECK:       #plan.target<"cuda"
// CHECK-LABEL: func.func @reference
// CHECK-LABEL: func.func @f
// CHECK-NOT:   else
module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @reference(%x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    return %y : tensor<?xf32>
  }
  func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = kernel.custom "f"(%x : tensor<?xf32>) into(%e : tensor<?xf32>) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] else @reference ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }" -> tensor<?xf32>
    return %y : tensor<?xf32>
  }
}

// -----

// expected-error @+1 {{'builtin.module' op expected a module with a target}}
module {
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    // expected-error @+1 {{kernel 'f' is PTX, which target cpu:x86-64-v3 cannot run; expected 'else @function' that computes the same in array ops}}
    %y = kernel.custom "f"(%x : tensor<4xf32>) into(%e : tensor<4xf32>) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1]  ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }" -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// What is not computed may have control: its regions go, too.
// CHECK:       #plan.target<"cuda"
// CHECK-NOT:   func.func private
// CHECK-LABEL: func.func @f
// CHECK:       kernel.custom "f"
// CHECK-NOT:   else
module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func private @reference(%x: tensor<4xf32>) -> tensor<4xf32> {
    %p = arith.constant dense<1> : tensor<i8>
    %y = plan.branch %p then @a otherwise @a(%x) : (tensor<i8>, tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @a(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %y = kernel.custom "f"(%x : tensor<4xf32>) into(%e : tensor<4xf32>) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] else @reference ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }" -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// Control of a reference is copied to each place, with the control inside of its regions.
// CHECK:       #plan.target<"cpu"
// CHECK-NOT:   @{{reference|a|b}}(
// CHECK-LABEL: func.func @f
// CHECK:       %[[X:.*]] = plan.branch %{{.*}} then @[[A0:a_[0-9]+]] otherwise @[[A1:a_[0-9]+]](
// CHECK-NOT:   @[[A0]]
// CHECK-NOT:   @[[A1]]
// CHECK:       plan.branch %{{.*}} then @{{a_[0-9]+}} otherwise @{{a_[0-9]+}}(%[[X]]
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func private @reference(%x: tensor<4xf32>, %p: tensor<i8>) -> tensor<4xf32> {
    %y = plan.branch %p then @a otherwise @a(%x, %p) : (tensor<i8>, tensor<4xf32>, tensor<i8>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @a(%x: tensor<4xf32>, %p: tensor<i8>) -> tensor<4xf32> {
    %y = plan.branch %p then @b otherwise @b(%x) : (tensor<i8>, tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @b(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func @f(%x: tensor<4xf32>, %p: tensor<i8>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %y = kernel.custom "f"(%x, %p : tensor<4xf32>, tensor<i8>) into(%e : tensor<4xf32>) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] else @reference ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 p, .param .u64 y) { ret; }" -> tensor<4xf32>
    %z = kernel.custom "f"(%y, %p : tensor<4xf32>, tensor<i8>) into(%e : tensor<4xf32>) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] else @reference ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 p, .param .u64 y) { ret; }" -> tensor<4xf32>
    return %z : tensor<4xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  array.variable @v : tensor<4xf32>
  func.func private @reference(%x: tensor<4xf32>) -> tensor<4xf32> {
    %p = arith.constant dense<1> : tensor<i8>
    %y = plan.branch %p then @a otherwise @a(%x) : (tensor<i8>, tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @a(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-note @+1 {{one is here}}
    %y = array.variable.read @v : tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    // expected-error @+1 {{expected reference @reference to have no variables or custom kernels}}
    %y = kernel.custom "f"(%x : tensor<4xf32>) into(%e : tensor<4xf32>) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] else @reference ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }" -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
