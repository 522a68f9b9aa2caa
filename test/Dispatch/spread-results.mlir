// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(func.func(xc-spread-results)))' -split-input-file | FileCheck %s

#a = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#b = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#c = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// The product's region stores its elements apart, of images of symbolic number.
// CHECK-LABEL: func.func @product(
// CHECK:         %[[R:.*]] = plan.region -> (tensor<?x13x16xf32>) dims(%{{.*}}) {
// CHECK:           %[[M:.*]] = linalg.generic {{.*}}"reduction"
// CHECK:           %[[F:.*]] = linalg.fill {{.*}} tensor<?x13x16xf32>
// CHECK:           %[[S:.*]] = tensor.insert_slice %[[M]] into %[[F]][0, 0, 0] [%{{.*}}, 7, 16] [1, 2, 1]
// CHECK:           plan.yield %[[S]]
// CHECK-NOT:     plan.region
// CHECK:         return %[[R]]
module {
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @product(%x: tensor<?x7x4xf32>, %w: tensor<4x16xf32>) -> tensor<?x13x16xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x7x4xf32>
    %p = plan.region -> (tensor<?x7x16xf32>) dims(%n) {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty(%n) : tensor<?x7x16xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x7x16xf32>) -> tensor<?x7x16xf32>
      %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<?x7x4xf32>, tensor<4x16xf32>) outs(%f : tensor<?x7x16xf32>) {
      ^bb0(%l: f32, %r: f32, %s: f32):
        %q = arith.mulf %l, %r : f32
        %t = arith.addf %s, %q : f32
        linalg.yield %t : f32
      } -> tensor<?x7x16xf32>
      plan.yield %m : tensor<?x7x16xf32>
    }
    %g = plan.region -> (tensor<?x13x16xf32>) dims(%n) {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty(%n) : tensor<?x13x16xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x13x16xf32>) -> tensor<?x13x16xf32>
      %s = tensor.insert_slice %p into %f[0, 0, 0] [%n, 7, 16] [1, 2, 1] : tensor<?x7x16xf32> into tensor<?x13x16xf32>
      plan.yield %s : tensor<?x13x16xf32>
    }
    return %g : tensor<?x13x16xf32>
  }
}
}

// -----

#rows = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#sums = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// So does that of another reduction, whose last cell is longer than the others.
// CHECK-LABEL: func.func @sum(
// CHECK:         plan.region -> (tensor<21x8xf32>) {
// CHECK:           linalg.generic {{.*}}"reduction"
// CHECK:           tensor.insert_slice %{{.*}}[1, 0] [10, 8] [2, 1]
// CHECK-NOT:     plan.region
module {
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @sum(%x: tensor<10x64x8xf32>) -> tensor<21x8xf32> {
    %zero = arith.constant 0.0 : f32
    %p = plan.region -> (tensor<10x8xf32>) {
      %e = tensor.empty() : tensor<10x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10x8xf32>) -> tensor<10x8xf32>
      %m = linalg.generic {indexing_maps = [#rows, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x : tensor<10x64x8xf32>) outs(%f : tensor<10x8xf32>) {
      ^bb0(%l: f32, %s: f32):
        %t = arith.addf %s, %l : f32
        linalg.yield %t : f32
      } -> tensor<10x8xf32>
      plan.yield %m : tensor<10x8xf32>
    }
    %g = plan.region -> (tensor<21x8xf32>) {
      %e = tensor.empty() : tensor<21x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<21x8xf32>) -> tensor<21x8xf32>
      %s = tensor.insert_slice %p into %f[1, 0] [10, 8] [2, 1] : tensor<10x8xf32> into tensor<21x8xf32>
      plan.yield %s : tensor<21x8xf32>
    }
    return %g : tensor<21x8xf32>
  }

  // A slice of what lies apart is stored as well.
  // CHECK-LABEL: func.func @slice(
  // CHECK:         plan.region -> (tensor<17x8xf32>) {
  // CHECK:           linalg.generic {{.*}}"reduction"
  // CHECK:           %[[W:.*]] = tensor.insert_slice
  // CHECK:           %[[S:.*]] = tensor.extract_slice %[[W]][1, 0] [17, 8] [1, 1]
  // CHECK:           %[[C:.*]] = linalg.generic {{.*}} ins(%[[S]]
  // CHECK:           plan.yield %[[C]]
  // CHECK-NOT:     plan.region
  func.func @slice(%x: tensor<10x64x8xf32>) -> tensor<17x8xf32> {
    %zero = arith.constant 0.0 : f32
    %p = plan.region -> (tensor<10x8xf32>) {
      %e = tensor.empty() : tensor<10x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10x8xf32>) -> tensor<10x8xf32>
      %m = linalg.generic {indexing_maps = [#rows, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x : tensor<10x64x8xf32>) outs(%f : tensor<10x8xf32>) {
      ^bb0(%l: f32, %s: f32):
        %t = arith.addf %s, %l : f32
        linalg.yield %t : f32
      } -> tensor<10x8xf32>
      plan.yield %m : tensor<10x8xf32>
    }
    %g = plan.region -> (tensor<20x8xf32>) {
      %e = tensor.empty() : tensor<20x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x8xf32>) -> tensor<20x8xf32>
      %s = tensor.insert_slice %p into %f[0, 0] [10, 8] [2, 1] : tensor<10x8xf32> into tensor<20x8xf32>
      plan.yield %s : tensor<20x8xf32>
    }
    %h = plan.region -> (tensor<17x8xf32>) {
      %e = tensor.empty() : tensor<17x8xf32>
      %s = tensor.extract_slice %g[1, 0] [17, 8] [1, 1] : tensor<20x8xf32> to tensor<17x8xf32>
      %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%s : tensor<17x8xf32>) outs(%e : tensor<17x8xf32>) {
      ^bb0(%l: f32, %r: f32):
        linalg.yield %l : f32
      } -> tensor<17x8xf32>
      plan.yield %c : tensor<17x8xf32>
    }
    return %h : tensor<17x8xf32>
  }

  // What something else reads stays; so do a whole that ends far behind the last cell, and neighbours in memory that would lie apart.
  // CHECK-LABEL: func.func @left_alone(
  // CHECK-COUNT-6: plan.region
  func.func @left_alone(%x: tensor<10x64x8xf32>) -> (tensor<10x8xf32>, tensor<20x8xf32>, tensor<40x8xf32>, tensor<10x16xf32>) {
    %zero = arith.constant 0.0 : f32
    %p = plan.region -> (tensor<10x8xf32>) {
      %e = tensor.empty() : tensor<10x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10x8xf32>) -> tensor<10x8xf32>
      %m = linalg.generic {indexing_maps = [#rows, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x : tensor<10x64x8xf32>) outs(%f : tensor<10x8xf32>) {
      ^bb0(%l: f32, %s: f32):
        %t = arith.addf %s, %l : f32
        linalg.yield %t : f32
      } -> tensor<10x8xf32>
      plan.yield %m : tensor<10x8xf32>
    }
    %g = plan.region -> (tensor<20x8xf32>) {
      %e = tensor.empty() : tensor<20x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x8xf32>) -> tensor<20x8xf32>
      %s = tensor.insert_slice %p into %f[0, 0] [10, 8] [2, 1] : tensor<10x8xf32> into tensor<20x8xf32>
      plan.yield %s : tensor<20x8xf32>
    }
    %o = plan.region -> (tensor<10x8xf32>) {
      %e = tensor.empty() : tensor<10x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10x8xf32>) -> tensor<10x8xf32>
      %m = linalg.generic {indexing_maps = [#rows, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x : tensor<10x64x8xf32>) outs(%f : tensor<10x8xf32>) {
      ^bb0(%l: f32, %s: f32):
        %t = arith.addf %s, %l : f32
        linalg.yield %t : f32
      } -> tensor<10x8xf32>
      plan.yield %m : tensor<10x8xf32>
    }
    %h = plan.region -> (tensor<40x8xf32>) {
      %e = tensor.empty() : tensor<40x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40x8xf32>) -> tensor<40x8xf32>
      %s = tensor.insert_slice %o into %f[0, 0] [10, 8] [2, 1] : tensor<10x8xf32> into tensor<40x8xf32>
      plan.yield %s : tensor<40x8xf32>
    }
    %q = plan.region -> (tensor<10x8xf32>) {
      %e = tensor.empty() : tensor<10x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10x8xf32>) -> tensor<10x8xf32>
      %m = linalg.generic {indexing_maps = [#rows, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x : tensor<10x64x8xf32>) outs(%f : tensor<10x8xf32>) {
      ^bb0(%l: f32, %s: f32):
        %t = arith.addf %s, %l : f32
        linalg.yield %t : f32
      } -> tensor<10x8xf32>
      plan.yield %m : tensor<10x8xf32>
    }
    %i = plan.region -> (tensor<10x16xf32>) {
      %e = tensor.empty() : tensor<10x16xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10x16xf32>) -> tensor<10x16xf32>
      %s = tensor.insert_slice %q into %f[0, 0] [10, 8] [1, 2] : tensor<10x8xf32> into tensor<10x16xf32>
      plan.yield %s : tensor<10x16xf32>
    }
    return %p, %g, %h, %i : tensor<10x8xf32>, tensor<20x8xf32>, tensor<40x8xf32>, tensor<10x16xf32>
  }
}
}

// -----

#rows = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#sums = affine_map<(d0, d1, d2) -> (d0, d1)>

// On a CPU the insertion has a kernel of its own.
// CHECK-LABEL: func.func @cpu(
// CHECK-COUNT-2: plan.region
module {
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @cpu(%x: tensor<10x64x8xf32>) -> tensor<20x8xf32> {
    %zero = arith.constant 0.0 : f32
    %p = plan.region -> (tensor<10x8xf32>) {
      %e = tensor.empty() : tensor<10x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10x8xf32>) -> tensor<10x8xf32>
      %m = linalg.generic {indexing_maps = [#rows, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x : tensor<10x64x8xf32>) outs(%f : tensor<10x8xf32>) {
      ^bb0(%l: f32, %s: f32):
        %t = arith.addf %s, %l : f32
        linalg.yield %t : f32
      } -> tensor<10x8xf32>
      plan.yield %m : tensor<10x8xf32>
    }
    %g = plan.region -> (tensor<20x8xf32>) {
      %e = tensor.empty() : tensor<20x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x8xf32>) -> tensor<20x8xf32>
      %s = tensor.insert_slice %p into %f[0, 0] [10, 8] [2, 1] : tensor<10x8xf32> into tensor<20x8xf32>
      plan.yield %s : tensor<20x8xf32>
    }
    return %g : tensor<20x8xf32>
  }
}
}
