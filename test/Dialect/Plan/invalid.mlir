// RUN: xc-opt %s -split-input-file -verify-diagnostics

func.func @region_dims(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected 1 dims for its dynamic result sizes, got 0}}
  %0 = plan.region -> (tensor<?xf32>) {
    plan.yield %x : tensor<?xf32>
  }
  return
}

// -----

func.func @yield_type(%x: tensor<4xf32>) {
  %0 = plan.region -> (tensor<8xf32>) {
    // expected-error @+1 {{expected the region's result types 'tensor<8xf32>', got 'tensor<4xf32>'}}
    plan.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @region_reuse(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected reuse indices from -1 to 0 exclusive, got 2}}
  %0 = plan.region -> (tensor<4xf32>) attributes {reuse = array<i64: 2>} {
    plan.yield %x : tensor<4xf32>
  }
  return
}

// -----

module @k attributes {plan.kernel} {}
func.func @dispatch_reuse(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected one reuse index for each of 1 results, got 0}}
  %0 = plan.dispatch @k(%x : tensor<4xf32>) -> (tensor<4xf32>) reuse []
  return
}

// -----

module @k attributes {plan.kernel} {}
func.func @dispatch_dims(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 1 dims for its dynamic result sizes, got 0}}
  %0 = plan.dispatch @k(%x : tensor<4xf32>) -> (tensor<?xf32>) reuse [-1]
  return
}

// -----

module @k attributes {plan.kernel} {}
func.func @dispatch_inits(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected an init for each of 2 updated results, got 1}}
  %0:2 = plan.dispatch @k() -> (tensor<4xf32>, tensor<4xf32>) reuse [-1, -1] updates [0, 1] inits(%x : tensor<4xf32>)
  return
}

// -----

module @k attributes {plan.kernel} {}
func.func @dispatch_updated(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected strictly increasing numbers of updated results in [0, 1), got 1}}
  %0 = plan.dispatch @k() -> (tensor<4xf32>) reuse [-1] updates [1] inits(%x : tensor<4xf32>)
  return
}

// -----

module @k attributes {plan.kernel} {}
func.func @dispatch_init_type(%x: tensor<4xf16>) {
  // expected-error @+1 {{expected an init of the result's type 'tensor<4xf32>', got 'tensor<4xf16>'}}
  %0 = plan.dispatch @k() -> (tensor<4xf32>) reuse [-1] updates [0] inits(%x : tensor<4xf16>)
  return
}

// -----

func.func @dispatch_kernel(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the name of a kernel module, got @missing}}
  %0 = plan.dispatch @missing(%x : tensor<4xf32>) -> (tensor<4xf32>) reuse [-1]
  return
}

// -----

func.func @binding_layout() {
  // expected-error @+1 {{expected a contiguous row-major memref, got 'memref<4xf32, strided<[2]>>'}}
  %0 = plan.binding 0 read align 16 : memref<4xf32, strided<[2]>>
  return
}

// -----

func.func @binding_sizes() {
  // expected-error @+1 {{expected 1 sizes, got 0}}
  %0 = plan.binding 0 read align 16 : memref<?xf32>
  return
}

// -----

func.func @binding_alignment() {
  // expected-error @+1 {{expected an alignment that is a power of two, got 12}}
  %0 = plan.binding 0 read align 12 : memref<4xf32>
  return
}

// -----

// expected-error @+1 {{expected a grid of 3 formulas, got 1}}
func.func private @grid() attributes {plan.launch = #plan.launch_config<grid = [1], block = [1, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>}

// -----

// expected-error @+1 {{expected positive block dims, got 0}}
func.func private @block() attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [0, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>}

// -----

// expected-error @+1 {{expected 3 block and 3 cluster dims, got 2 and 3}}
func.func private @dims() attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>}

// -----

// expected-error @+1 {{expected positive cluster dims, got 0}}
func.func private @cluster() attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 0, 1], shared = 0, scratch = 0>}

// -----

// expected-error @+1 {{expected sizes that are not negative, got shared = -1, scratch = 0}}
func.func private @shared() attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], shared = -1, scratch = 0>}

// -----

// expected-error @+1 {{expected a number, a symbol such as 's0', or one of 'min', 'max' and 'select'}}
func.func private @word() attributes {size = #plan.formula<abs(s0)>}

// -----

// expected-error @+1 {{expected 2 formulas, got 1}}
func.func private @operands() attributes {size = #plan.formula<max(s0)>}

// -----

// expected-error @+1 {{expected 3 formulas, got 2}}
func.func private @selection() attributes {size = #plan.formula<select(s0, 4)>}

// -----

// expected-error @+1 {{expected ')'}}
func.func private @parenthesis() attributes {size = #plan.formula<(s0 s1)>}

// -----

// expected-error @+1 {{expected formulas over 1 symbols, got s1 in 'arena'}}
plan.function @arena symbols [{name = "n"}] inputs [] outputs [] arena s0 + s1 {
}

// -----

plan.function @scalars symbols [{name = "n"}] inputs [] outputs [] arena 0 attributes {definitions = [#plan.formula<s0 * 2>]} {
  // expected-error @+1 {{expected formulas over 2 symbols, got s2 in 'scalars'}}
  plan.launch @k [] scalars [s1, max(s0, s2)] after []
}

// -----

// expected-error @+1 {{expected the definition of s1 to be a formula over the symbols before it, got one of s2}}
plan.function @definitions symbols [{name = "n"}] inputs [] outputs [] arena 0 attributes {definitions = [#plan.formula<s2 * 2>, #plan.formula<s0>]} {
}

// -----

// expected-error @+1 {{expected 'arena_max' to be a number of bytes as i64, got "many"}}
plan.function @bytes symbols [] inputs [] outputs [] arena 0 attributes {arena_max = "many"} {
}

// -----

// expected-error @+1 {{does not take attribute 'arena_most'}}
plan.function @unknown symbols [] inputs [] outputs [] arena 0 attributes {arena_most = 4 : i64} {
}
