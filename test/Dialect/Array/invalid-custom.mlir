// RUN: xc-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected either 'ptx' or 'file', got both}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {file = "f.ptx", ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected either 'ptx' or 'file', got none}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected a size for each of 1 dynamic dims of the results, got 0}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected at least one result, got none}}
  array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected a type for each of 1 scalars, got 2}}
  %y = array.custom_kernel "f"(%x) scalars(%n) as [i32, i64] grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected scalars of type i64, i32 or index, got 'f32'}}
  %y = array.custom_kernel "f"(%x) scalars(%n) as [f32] grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected a grid of 3 numbers over 0 symbols, one for each scalar, got affine_map<() -> (1, 1)>}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected from 0 to 65535 blocks along one axis of the grid, got 65536}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 65536, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected a block of at most 1024 x 1024 x 64 and 1024 threads in all, got [1024, 2, 1]}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [1024, 2, 1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected a number of bytes of shared memory, got -4}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] shared = -4 {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected for each of 1 results the input whose memory it may take, or -1, got [0, 0]}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] reuse = [0, 0] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected inputs up to 0 in 'reuse', got 1}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] reuse = [1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected in 'reuse' inputs of their results' types, once each, got input 0 of 'tensor<4xf32>' for a result of 'tensor<4xi32>'}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] reuse = [0] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected PTX with '.version MAJOR.MINOR' in the first line}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".target sm_75\0A.visible .entry f() { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected PTX with '.target ARCH' behind '.version'}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.visible .entry f() { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected PTX with one architecture sm_NN and no option behind '.target', got 'sm_75, debug'}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75, debug\0A.visible .entry f() { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected PTX with '.address_size 64' behind '.target'}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75\0A.visible .entry f() { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected a kernel 'f' in the PTX, which has [g, h]}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry g() { ret; } // .entry f()\0A.entry h() { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected kernel 'f' to have 3 parameters (1 inputs, 1 results, then the scalars), got 2}}
  %y = array.custom_kernel "f"(%x) scalars(%n) as [i32] grid = affine_map<()[n] -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected parameter 1 of kernel 'f' to be an integer of 64 bits, got '.param .f64 y'}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .f64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected parameter 2 of kernel 'f' to be an integer of 32 bits, got '.param .align 4 .b32 n[2]'}}
  %y = array.custom_kernel "f"(%x) scalars(%n) as [i32] grid = affine_map<()[n] -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y, .param .align 4 .b32 n[2]) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected behind 'else' a function of the module, got @g}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] else @g {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.custom_kernel' op expected @g to take ('tensor<4xf32>') and to return ('tensor<4xf32>'), got '(tensor<5xf32>) -> tensor<4xf32>'}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] else @g {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func private @g(%x: tensor<5xf32>) -> tensor<4xf32> {
  %y = array.slice %x [0:4] : tensor<5xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
