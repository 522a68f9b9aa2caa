func.func @empty() {
  return
}

// -----

func.func private @declared(tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @array(%x: tensor<?x8xf32>, %y: tensor<8xf32>) -> tensor<?xf32> {
  %0 = array.add %x, %y : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %1 = array.exp %0 : tensor<?x8xf32>
  %2 = array.reduce sum, %1 axes = [1] : tensor<?x8xf32> -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

func.func @linalg(%x: tensor<?x9xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x9xf32>
  %rows = tensor.empty(%n) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x9xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %t = arith.addf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %s : tensor<?xf32>
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @index_elements(%x: tensor<4xindex>) -> tensor<4xf32> {
    %y = plan.region -> (tensor<4xf32>) {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      plan.yield %r : tensor<4xf32>
    }
    return %y : tensor<4xf32>
  }
}

// -----

module attributes {plan.kernel, plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @nothing_reduced() attributes {
      lowering_config = #cpu.reduction<version = 1, direction = "rows", lanes = 32, chunk = 128, tile = 32768>} {
    return
  }
}

// -----

module {
  builtin.module @k attributes {plan.kernel, plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func @k() {
      %x = plan.binding 0 read align 64 : memref<8xf32>
      %y = plan.binding 1 write align 64 : memref<8xf32>
      %t = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
      %e = tensor.empty() : tensor<8xf32>
      %r = linalg.exp ins(%t : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      bufferization.materialize_in_destination %r in restrict writable %y : (tensor<8xf32>, memref<8xf32>) -> ()
      return
    }
  }
}

// -----

func.func @remainder(%x: f32) -> f32 {
  %y = arith.remf %x, %x : f32
  return %y : f32
}

// -----

module {
  // A kernel without a name, in the form that it has after code generation.
  builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
    llvm.func @k(%x: !llvm.ptr<1>) attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [4, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
      llvm.return
    }
  }
}

// -----

module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  llvm.func @k(%x: !llvm.ptr<1>) attributes {nvvm.kernel, plan.launch = #plan.launch_config<grid = [4, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    llvm.return
  }
}
