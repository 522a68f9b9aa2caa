// RUN: split-file %s %t
// RUN: xc-opt %t/input.mlir -split-input-file -verify-diagnostics -xc-verify-phase=phase=input
// RUN: xc-opt %t/array.mlir -split-input-file -verify-diagnostics -xc-verify-phase=phase=array
// RUN: xc-opt %t/linalg.mlir -split-input-file -verify-diagnostics -xc-verify-phase=phase=linalg
// RUN: xc-opt %t/layout.mlir -split-input-file -verify-diagnostics -xc-verify-phase=phase=layout
// RUN: xc-opt %t/dispatch.mlir -split-input-file -verify-diagnostics -xc-verify-phase=phase=dispatch
// RUN: xc-opt %t/codegen.mlir -split-input-file -verify-diagnostics -xc-verify-phase=phase=codegen
// RUN: xc-opt %t/plan.mlir -split-input-file -verify-diagnostics -xc-verify-phase=phase=plan
// RUN: xc-opt %t/unknown.mlir -verify-diagnostics -xc-verify-phase=phase=lunch

// Every phase leaves what its verifier expects.
// RUN: xcompile %S/../tools/xcompile/Inputs/product.mlir --target=cpu,cuda:sm_90a --compile-to=input | xc-opt -xc-verify-phase=phase=input -o /dev/null
// RUN: xcompile %S/../tools/xcompile/Inputs/product.mlir --target=cpu,cuda:sm_90a --compile-to=dispatch | xc-opt -xc-verify-phase=phase=dispatch -o /dev/null

//--- input.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call' op is left after phase 'input'}}
  %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'tosa.exp' op is left after phase 'input'}}
  %0 = tosa.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'linalg.exp' op is left after phase 'input'}}
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%init : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'math.exp' op is left after phase 'input'}}
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- array.mlir
func.func @main(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'array.if' op is left after phase 'array'}}
  %0 = array.if %p : tensor<i1> -> (tensor<4xf32>) {
    array.yield %x : tensor<4xf32>
  } else {
    array.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

//--- linalg.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'array.add' op is left after phase 'linalg'}}
  %0 = array.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op has a value of type 'tensor<4xi1>' after phase 'linalg'; expected tensors of floats or of signless integers of at least 8 bits}}
func.func @main(%x: tensor<4xi1>) {
  return
}

// -----

func.func @main() -> tensor<4xi8> {
  // expected-error @below {{'tensor.empty' op has a value of type 'tensor<4xui8>' after phase 'linalg'}}
  %0 = tensor.empty() : tensor<4xui8>
  %1 = tensor.empty() : tensor<4xi8>
  return %1 : tensor<4xi8>
}

//--- layout.mlir
// expected-error @below {{'func.func' op is left after phase 'layout'; expected modules of targets only}}
func.func @main() {
  return
}

// -----

module {
  // expected-error @below {{'builtin.module' op is left after phase 'layout'; expected modules of targets only}}
  module @target_0 {
  }
}

// -----

module {
  module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      // expected-error @below {{'array.add' op is left after phase 'layout'}}
      %0 = array.add %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}

//--- dispatch.mlir
module {
  module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %zero = arith.constant 0.0 : f32
      %init = tensor.empty() : tensor<4xf32>
      // expected-error @below {{'linalg.fill' op is left after phase 'dispatch'}}
      %0 = linalg.fill ins(%zero : f32) outs(%init : tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}

// -----

module {
  module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func @main(%x: tensor<8x4xf32>) -> tensor<8x2xf32> {
      // A column is no view.
      // expected-error @below {{'tensor.extract_slice' op is left after phase 'dispatch'}}
      %0 = tensor.extract_slice %x[0, 1] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
      return %0 : tensor<8x2xf32>
    }
  }
}

// -----

module {
  module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      // expected-error @below {{'plan.dispatch' op brings 2 bindings to kernel @k, which uses number 2}}
      %0 = plan.dispatch @k(%x : tensor<4xf32>) -> (tensor<4xf32>) reuse [-1]
      return %0 : tensor<4xf32>
    }
    module @k attributes {plan.kernel} {
      func.func @k() {
        %0 = plan.binding 2 write align 64 : memref<4xf32>
        return
      }
    }
  }
}

// -----

module {
  module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      // expected-error @below {{'plan.dispatch' op brings 0 scalars to kernel @k, which uses number 0}}
      %0 = plan.dispatch @k(%x : tensor<4xf32>) -> (tensor<4xf32>) reuse [-1]
      return %0 : tensor<4xf32>
    }
    module @k attributes {plan.kernel} {
      func.func @k() {
        %0 = plan.scalar 0 : index
        return
      }
    }
  }
}

//--- codegen.mlir
module {
  module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    // expected-error @below {{kernel 'k' has no code after phase 'codegen'; expected plan.image}}
    module @k attributes {plan.kernel} {
    }
  }
}

// -----

module {
  module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    // expected-error @below {{kernel 'k' has no variant after phase 'codegen'; expected plan.exports}}
    module @k attributes {plan.kernel, plan.image = "code"} {
    }
  }
}

// -----

module {
  module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    // expected-error @below {{kernel 'k' has a variant without 'config' after phase 'codegen'}}
    module @k attributes {plan.kernel, plan.image = "code", plan.exports = [{name = "k", launch = #plan.launch_config<grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>}]} {
    }
  }
}

// -----

module {
  module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    // expected-error @below {{kernel 'k' has guards on its last variant: [#plan.value_guard<s0, min = 1, max = 64, divisor = 4>]; expected one that always fits}}
    module @k attributes {plan.kernel, plan.image = "code",
                          plan.exports = [{name = "k", config = "c", reason = "r", launch = #plan.launch_config<grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>,
                                           guards = [#plan.value_guard<s0, min = 1, max = 64, divisor = 4>]}]} {
    }
  }
}

//--- plan.mlir
module {
  module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    // expected-error @below {{'func.func' op is left after phase 'plan'; expected plans and kernels only}}
    func.func @main() {
      return
    }
  }
}

// -----

module {
  module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    plan.function @main symbols [] inputs [] outputs [] arena 0 {
      // expected-error @below {{'arith.constant' op is left after phase 'plan'; expected commands only}}
      %0 = arith.constant 0 : index
    }
  }
}

// -----

module {
  module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    plan.function @main symbols [] inputs [] outputs [] arena 0 {
      // expected-error @below {{'plan.copy' op is command 0 and waits for command 0; expected an earlier one}}
      plan.copy <read, input 0, offset = 0, length = 16>
          to <write, output 0, offset = 0, length = 16> after [0]
    }
  }
}

// -----

module {
  module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    plan.function @main symbols [] inputs [] outputs [] arena 0 {
      // expected-error @below {{'plan.launch' op expected the name of a kernel, got @k}}
      plan.launch @k [] scalars [] after []
    }
  }
}

//--- unknown.mlir
// expected-error @below {{unknown phase 'lunch'; known are input, array, linalg, layout, dispatch, codegen and plan}}
module {
}
