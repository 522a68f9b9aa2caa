// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-split-reductions,canonicalize,cse))" | FileCheck %s

// The gradient to a filter sums up 32 x 56 x 56 positions, in parts that end within images.
// CHECK: #[[PARTS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> ((d4 * 3136 + d5 * 56 + d6) floordiv [[SIZE:[0-9]+]], d0, d1, d2, d3)>
// CHECK-LABEL: func.func @gradient
// CHECK:         %[[X:.*]] = tensor.pad
// CHECK:         %[[SUMS:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[PARTS]]]
// CHECK-SAME:      ins(%[[X]], %{{.*}}) outs(%{{.*}} : tensor<[[COUNT:[0-9]+]]x64x3x3x64xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["reduction", "parallel", "parallel", "parallel", "parallel"]
// CHECK-SAME:      ins(%[[SUMS]] : tensor<[[COUNT]]x64x3x3x64xf32>)
#image = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d1 + d5, d2 + d6, d3)>
#back = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d0)>
#filter = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @gradient(%x: tensor<32x56x56x64xbf16>, %dy: tensor<32x56x56x64xbf16>) -> tensor<64x3x3x64xf32> {
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0.0 : bf16
    %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %none : bf16
    } : tensor<32x56x56x64xbf16> to tensor<32x58x58x64xbf16>
    %empty = tensor.empty() : tensor<64x3x3x64xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x3x3x64xf32>) -> tensor<64x3x3x64xf32>
    %dw = linalg.generic {indexing_maps = [#image, #back, #filter],
                          iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%padded, %dy : tensor<32x58x58x64xbf16>, tensor<32x56x56x64xbf16>) outs(%init : tensor<64x3x3x64xf32>) {
    ^bb0(%left: bf16, %right: bf16, %acc: f32):
      %l = arith.extf %left : bf16 to f32
      %r = arith.extf %right : bf16 to f32
      %p = arith.mulf %l, %r : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x3x3x64xf32>
    return %dw : tensor<64x3x3x64xf32>
  }
}

// -----

// Without a window it is a product of several loops, of any lengths: 35 x 47 x 59 terms.
// CHECK: affine_map<(d0, d1, d2, d3, d4) -> ((d2 * 2773 + d3 * 59 + d4) floordiv {{[0-9]*}}, d0, d1)>
// CHECK-LABEL: func.func @product
#left = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4, d0)>
#right = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4, d1)>
#result = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @product(%a: tensor<35x47x59x64xf16>, %b: tensor<35x47x59x128xf16>, %init: tensor<64x128xf32>) -> tensor<64x128xf32> {
    %c = linalg.contract indexing_maps = [#left, #right, #result]
        ins(%a, %b : tensor<35x47x59x64xf16>, tensor<35x47x59x128xf16>) outs(%init : tensor<64x128xf32>) -> tensor<64x128xf32>
    return %c : tensor<64x128xf32>
  }
}

// -----

// Products that wgmma does not take, of rows that are not aligned and of channels before positions, are in parts for mma.sync.
// CHECK-DAG: affine_map<(d0, d1, d2, d3) -> ((d2 * 590 + d3) floordiv {{[0-9]+}}, d0, d1)>
// CHECK-DAG: affine_map<(d0, d1, d2, d3) -> ((d2 * 3136 + d3) floordiv {{[0-9]+}}, d0, d1)>
#left = affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>
#right = affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>
#turned = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#result = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#imagesFirst = affine_map<(d0, d1, d2, d3) -> (d2, d0, d3)>
#cotangentsFirst = affine_map<(d0, d1, d2, d3) -> (d2, d1, d3)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // CHECK-LABEL: func.func @unaligned
  // CHECK:         linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}) outs(%{{.*}} : tensor<{{[0-9]+}}x64x63xf32>)
  func.func @unaligned(%a: tensor<350x590x64xf16>, %b: tensor<350x590x63xf16>, %init: tensor<64x63xf32>) -> tensor<64x63xf32> {
    %c = linalg.contract indexing_maps = [#left, #right, #result]
        ins(%a, %b : tensor<350x590x64xf16>, tensor<350x590x63xf16>) outs(%init : tensor<64x63xf32>) -> tensor<64x63xf32>
    return %c : tensor<64x63xf32>
  }

  // Left alone: what wgmma takes, one operand along the sum.
  // CHECK-LABEL: func.func @left_alone
  // CHECK-NOT:     linalg.generic
  // CHECK:         return
  func.func @left_alone(%a: tensor<350x590x64xf16>, %b: tensor<64x350x590xf16>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %c = linalg.contract indexing_maps = [#left, #turned, #result]
        ins(%a, %b : tensor<350x590x64xf16>, tensor<64x350x590xf16>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %c : tensor<64x64xf32>
  }

  // CHECK-LABEL: func.func @channels_first
  // CHECK:         linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}) outs(%{{.*}} : tensor<{{[0-9]+}}x64x256xf32>)
  func.func @channels_first(%a: tensor<32x64x3136xbf16>, %b: tensor<32x256x3136xbf16>, %init: tensor<64x256xf32>) -> tensor<64x256xf32> {
    %c = linalg.contract indexing_maps = [#imagesFirst, #cotangentsFirst, #result]
        ins(%a, %b : tensor<32x64x3136xbf16>, tensor<32x256x3136xbf16>) outs(%init : tensor<64x256xf32>) -> tensor<64x256xf32>
    return %c : tensor<64x256xf32>
  }
}

// -----

// Rows of 1024 positions: parts of a length that divides them would leave no quotient of the position.
// CHECK: affine_map<(d0, d1, d2, d3, d4) -> ((d3 * 1024 + d4) floordiv {{[0-9]+}}, d0, d1, d2)>
// CHECK-LABEL: func.func @rows
#rowImage = affine_map<(d0, d1, d2, d3, d4) -> (d3, d1 + d4, d2)>
#rowGradient = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d0)>
#rowResult = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @rows(%x: tensor<44x1026x64xbf16>, %g: tensor<44x1024x64xbf16>) -> tensor<64x3x64xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x3x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x3x64xf32>) -> tensor<64x3x64xf32>
    %r = linalg.generic {indexing_maps = [#rowImage, #rowGradient, #rowResult], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %g : tensor<44x1026x64xbf16>, tensor<44x1024x64xbf16>) outs(%f : tensor<64x3x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %acc: f32):
      %l = arith.extf %a : bf16 to f32
      %m = arith.extf %b : bf16 to f32
      %p = arith.mulf %l, %m : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x3x64xf32>
    return %r : tensor<64x3x64xf32>
  }
}

// -----

// Of images of symbolic size each share has as many steps as sizes say. A term is in one of them, whichever that is. Any target with mma.sync for
// 16-bit types takes them.
// CHECK: #[[SHARES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> ((d4 + d5 + d6) mod [[COUNT:[0-9]+]], d0, d1, d2, d3)>
// CHECK-LABEL: func.func @open_gradient
// CHECK:         %[[SUMS:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[SHARES]]]
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) outs(%{{.*}} : tensor<[[COUNT]]x64x3x3x64xf32>) attrs = {plan.shares}
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["reduction", "parallel", "parallel", "parallel", "parallel"]
// CHECK-SAME:      ins(%[[SUMS]] : tensor<[[COUNT]]x64x3x3x64xf32>)
#openImage = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d1 + d5, d2 + d6, d3)>
#openBack = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d0)>
#openFilter = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @open_gradient(%x: tensor<?x?x?x64xbf16>, %dy: tensor<?x?x?x64xbf16>, %init: tensor<64x3x3x64xf32>) -> tensor<64x3x3x64xf32> {
    %dw = linalg.generic {indexing_maps = [#openImage, #openBack, #openFilter],
                          iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %dy : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) outs(%init : tensor<64x3x3x64xf32>) {
    ^bb0(%left: bf16, %right: bf16, %acc: f32):
      %l = arith.extf %left : bf16 to f32
      %r = arith.extf %right : bf16 to f32
      %p = arith.mulf %l, %r : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x3x3x64xf32>
    return %dw : tensor<64x3x3x64xf32>
  }
}

// -----

// CHECK: affine_map<(d0, d1, d2, d3) -> ((d2 + d3) mod {{[0-9]+}}, d0, d1)>
// CHECK-LABEL: func.func @open_product
// CHECK:         attrs = {plan.shares}
#openLeft = affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>
#openRight = affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>
#openResult = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @open_product(%a: tensor<?x?x64xf16>, %b: tensor<?x?x128xf16>, %init: tensor<64x128xf32>) -> tensor<64x128xf32> {
    %c = linalg.contract indexing_maps = [#openLeft, #openRight, #openResult]
        ins(%a, %b : tensor<?x?x64xf16>, tensor<?x?x128xf16>) outs(%init : tensor<64x128xf32>) -> tensor<64x128xf32>
    return %c : tensor<64x128xf32>
  }
}

// -----

// Left alone: results of symbolic number, and large ones, which fill the GPU as they are.
// CHECK-LABEL: func.func @open_left_alone
// CHECK-NOT:     plan.shares
#alongLeft = affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>
#alongRight = affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>
#alongResult = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @open_left_alone(%a: tensor<?x?x?xf16>, %b: tensor<?x?x64xf16>, %c: tensor<?x?x4096xf16>, %first: tensor<?x64xf32>,
                             %second: tensor<4096x4096xf32>) -> (tensor<?x64xf32>, tensor<4096x4096xf32>) {
    %x = linalg.contract indexing_maps = [#alongLeft, #alongRight, #alongResult]
        ins(%a, %b : tensor<?x?x?xf16>, tensor<?x?x64xf16>) outs(%first : tensor<?x64xf32>) -> tensor<?x64xf32>
    %y = linalg.contract indexing_maps = [#alongLeft, #alongRight, #alongResult]
        ins(%c, %c : tensor<?x?x4096xf16>, tensor<?x?x4096xf16>) outs(%second : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    return %x, %y : tensor<?x64xf32>, tensor<4096x4096xf32>
  }
}

// -----

// Channels first: operands that run along the sum are for mma.sync, which takes any.
// CHECK: affine_map<(d0, d1, d2, d3) -> ((d2 + d3) mod {{[0-9]+}}, d0, d1)>
// CHECK-LABEL: func.func @open_along
// CHECK:         attrs = {plan.shares}
#first = affine_map<(d0, d1, d2, d3) -> (d2, d0, d3)>
#second = affine_map<(d0, d1, d2, d3) -> (d2, d1, d3)>
#both = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @open_along(%a: tensor<?x64x?xf16>, %b: tensor<?x128x?xf16>, %init: tensor<64x128xf32>) -> tensor<64x128xf32> {
    %c = linalg.contract indexing_maps = [#first, #second, #both]
        ins(%a, %b : tensor<?x64x?xf16>, tensor<?x128x?xf16>) outs(%init : tensor<64x128xf32>) -> tensor<64x128xf32>
    return %c : tensor<64x128xf32>
  }
}
