//===- Passes.td - Passes of CUDA code generation ---------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_PASSES_TD
#define XC_CODEGEN_CUDA_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitScansAndSorts : Pass<"xc-cuda-split-scans-and-sorts", "mlir::func::FuncOp"> {
  let summary = "Cut long scans and sorts into work for many threads";
  let description = [{
    On CUDA targets, where a line's scan or sort is the work of one block at most. A `kernel.scan` of few long rows
    becomes three: of the totals of segments, of those, and of the segments from there. A long `kernel.sort` becomes
    one of tiles and a `kernel.merge` for each doubling; where it keeps few elements, one of tiles that keeps as many,
    and one of what they kept, again and again. A `kernel.scatter` of thousands of updates gets them sorted by row.
    Lines of symbolic length are long: short ones are one segment, or one tile that no merge has anything to do for. There are as
    many merges as memory has room for, in pairs: of those that find a line to be one run already, the second leaves in its
    destination what the first one read. Example:
    ```mlir
    %r = kernel.scan sum, %x into %e axis = 0 : tensor<1000000xf32> into tensor<1000000xf32> -> ...     // input
    %t = kernel.scan sum, %x every 4096 totals into %a axis = 0 : ... -> tensor<244xf32>                // output
    %c = kernel.scan sum, %t into %b axis = 0 : ... -> tensor<244xf32>
    %r = kernel.scan sum, %x from %c every 4096 into %e axis = 0 : ... -> tensor<1000000xf32>
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::tensor::TensorDialect", "mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect"];
}

def ReduceProducts : Pass<"xc-cuda-reduce-products", "mlir::func::FuncOp"> {
  let summary = "Make products of a matrix and a vector reductions";
  let description = [{
    Such a product moves one operand through memory once, and no matrix unit helps it: as a `linalg.generic` it
    shares kernels with what comes before and after it, as other reductions do. Runs before unit dims are folded.
    Does nothing for other targets than CUDA. Example:
    ```mlir
    %y = linalg.contract ... ins(%x, %w : tensor<10000x100xf32>, tensor<100x1xf32>) ...   // input
    %y = linalg.generic {iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : ...) ...   // output
    ```
  }];
}

def SplitReductions : Pass<"xc-cuda-split-reductions", "mlir::func::FuncOp"> {
  let summary = "Reduce in two steps where one would leave most of the GPU idle";
  let description = [{
    A reduction whose results are few, each over many elements, becomes a reduction of some hundred parts, and
    one of their results, in a fixed order. Where other ops reduce each row of what a column reduction sums up, rows go to
    the parts in turn (`#plan.partial<cyclic, 132>`), so that all of them go over the same rows, of any number; several
    loops that count the rows become one. The first step has a `plan.partial`, so that they can share a kernel with it. Where no number of parts divides a loop, or its length is symbolic, what equal parts leave over is
    reduced by one more op, and joined to their result. Elementwise inputs that others use too are computed once more by the first
    step, where that reads no more than they are: then they are not in memory before it begins. A product with a long sum for each element,
    and of so few tiles that most multiprocessors would have none, becomes a batch of products of parts of that sum, and their
    sum. So does the gradient of a convolution to its filter. The model of time has to say that parts gain in two cases: of types
    that wgmma takes, on targets that have it, where clusters can share a sum; and, on every target, of operands and sums of
    one type that no tensor core takes. What equal parts leave over of such a sum is one more product, which the sum of the
    others starts from. A sum of squares, or of exponentials, of distances from
    what was computed of the sum, or the maximum, of the same elements is split with that one: each part does both about a result of its own, and a last
    step moves what it gave (`cuda.in_parts`). Where reductions of the columns of what tensor cores compute are all that would read it
    for that, the first steps are of 64 rows each (`#plan.partial<rows, 64>`), and join the product's kernel. Does nothing for other targets than CUDA. Example:
    ```mlir
    %s = linalg.generic {iterator_types = ["reduction", "parallel"]} ins(%x : tensor<32768x1024xf32>) ...   // input

    %e = tensor.expand_shape %x [[0, 1], [2]] ... into tensor<256x128x1024xf32>                           // output
    %p = linalg.generic {iterator_types = ["parallel", "reduction", "parallel"]} ins(%e : ...) ... {plan.partial = #plan.partial<slices>}
    %s = linalg.generic {iterator_types = ["parallel", "reduction"]} ins(%p : tensor<256x1024xf32>) ...
    ```
  }];
  let options = [
    Option<"columnParts", "column-parts", "bool", /*default=*/"true", "Let kernels of products reduce their columns in parts">
  ];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect"];
}

def PackGroups : Pass<"xc-cuda-pack-groups", "mlir::func::FuncOp"> {
  let summary = "Pack small groups of convolutions into larger ones";
  let description = [{
    Only for targets with wgmma. Groups of fewer than 64 channels or features leave most of a tile empty. Neighbouring ones become one group, whose
    filter has zeros where a feature does not read a channel; of a gradient to the filter the blocks on the diagonal are taken. Of 16-bit floats, with channels
    innermost in memory, under windows. The option is that of `-xc-cuda-select-strategy`. Runs before parameters are hoisted: packed filters are made once an instance. Example:
    ```mlir
    %y = linalg.generic ... ins(%x, %w : tensor<8x58x58x32x4xf16>, tensor<32x4x3x3x4xf16>) ...     // input: 32 groups of 4 channels

    %p = linalg.generic ... ins(%e : tensor<2x16x4x3x3x4xf16>) ... -> tensor<2x16x4x3x3x16x4xf16>    // output: w where both groups are one, otherwise 0
    %f = tensor.collapse_shape %p [[0], [1, 2], [3], [4], [5, 6]] : ... into tensor<2x64x3x3x64xf16>
    %z = linalg.generic ... ins(%i, %f : tensor<8x58x58x2x64xf16>, tensor<2x64x3x3x64xf16>) ...
    ```
  }];
  let options = [
    Option<"wgmma", "wgmma", "bool", /*default=*/"true", "Products are on wgmma where the target has it and knows the types">
  ];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "mlir::arith::ArithDialect"];
}

def ChooseWinograd : Pass<"xc-cuda-choose-winograd", "mlir::func::FuncOp"> {
  let summary = "Compute convolutions by Winograd's algorithm where it pays";
  let description = [{
    For programs that trade accuracy for speed. An `array.conv` of f32 or f64 that names no algorithm gets `winograd` if the
    algorithm applies, all sizes are known, and it should take less time on each of `archs`. The model of plain arithmetic says so:
    there are fewer products, but images and results go through memory as blocks. The report has both times. Tensor cores are
    faster: convolutions with `allow_tf32` are left alone. Runs before convolutions are taken apart. Example:
    ```mlir
    // input
    %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> : (tensor<4x66x66x256xf32>, tensor<3x3x256x512xf32>) -> tensor<4x64x64x512xf32>

    // output
    %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> algorithm = winograd {plan.note = "by Winograd's algorithm ..."}
       : (tensor<4x66x66x256xf32>, tensor<3x3x256x512xf32>) -> tensor<4x64x64x512xf32>
    ```
  }];
  let options = [ListOption<"archs", "archs", "std::string", "Targets, as sm_90a">];
  let dependentDialects = ["xc::array::ArrayDialect"];
}

def PackPixels : Pass<"xc-cuda-pack-pixels", "mlir::func::FuncOp"> {
  let summary = "Pack the pixels of images of few channels for tensor cores";
  let description = [{
    Only for targets with wgmma. What a row of a window reads of an image with fewer than 8 channels lies side by side in memory. The image is copied once, with its padding
    and with so many channels that windows' steps along a row are multiples of 16 bytes. Then a row of the window is one line of channels, and lines overlap. The same for the
    gradient to the filter. Left alone are types of other than 16 bits, groups, windows whose rows are spread, and images with few positions. The option is that of
    `-xc-cuda-select-strategy`. Runs before parameters are hoisted: filters are padded once an instance. Example:
    ```mlir
    // input: x[n, 2 * p + r, 2 * q + s, c] * w[f, r, s, c]
    %y = linalg.generic ... ins(%x, %w : tensor<32x229x229x3xbf16>, tensor<64x7x7x3xbf16>) ...

    // output: x[n, 2 * p + r, 8 * q + l] * w[f, r, l]
    %i = tensor.collapse_shape %padded [[0], [1], [2, 3]] : tensor<32x229x240x4xbf16> into tensor<32x229x960xbf16>
    %f = tensor.collapse_shape %spread [[0], [1], [2, 3]] : tensor<64x7x8x4xbf16> into tensor<64x7x32xbf16>
    %y = linalg.generic ... ins(%i, %f : tensor<32x229x960xbf16>, tensor<64x7x32xbf16>) ...
    ```
  }];
  let options = [
    Option<"wgmma", "wgmma", "bool", /*default=*/"true", "Products are on wgmma where the target has it and knows the types">
  ];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "mlir::arith::ArithDialect"];
}

def AlignOperands : Pass<"xc-cuda-align-operands", "mlir::func::FuncOp"> {
  let summary = "Copy operands of products into rows that TMA can address";
  let description = [{
    Only for targets with wgmma. An operand of a `linalg.contract` of 16-bit floats, of f32 with `allow_tf32`, or of i8, whose rows are no
    multiple of 16 bytes, is padded along them, and the product reads the first part of each row, where that should cost less than to do without wgmma: the models of both say so where all sizes are known. The length of
    its rows must be known; for other sizes that are not, what the choice of tiles takes them for stands. The option is that of `-xc-cuda-select-strategy`. No cleanup may follow before kernels are formed: it would fold the padding away. Example:
    ```mlir
    %c = linalg.contract ... ins(%a, %b : tensor<4097x4099xbf16>, tensor<4099x4096xbf16>) ...    // input

    %p = tensor.pad %a low[0, 0] high[0, 61] ... : tensor<4097x4099xbf16> to tensor<4097x4160xbf16>  // output
    %s = tensor.extract_slice %p[0, 0] [4097, 4099] [1, 1] : tensor<4097x4160xbf16> to tensor<4097x4099xbf16>
    %c = linalg.contract ... ins(%s, %b : tensor<4097x4099xbf16>, tensor<4099x4096xbf16>) ...
    ```
  }];
  let options = [
    Option<"wgmma", "wgmma", "bool", /*default=*/"true", "Products are on wgmma where the target has it and knows the types">
  ];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "mlir::arith::ArithDialect"];
}

def ReduceRowsInParts : Pass<"xc-cuda-reduce-rows-in-parts", "mlir::func::FuncOp"> {
  let summary = "Reduce the rows of a matrix product to partial results in its kernel";
  let description = [{
    For reductions over the columns of a `linalg.contract` for tensor cores, or of what elementwise ops make of it. Each becomes two:
    one of each part of a row (`#plan.partial<columns, 64>`), which joins the kernel of the product, and one of the parts' results.
    Parts have 64 columns where operands have 16 bits, else 32. The first step counts parts by a quotient in its result's indexing map, so that the last part of a row may be shorter. Left alone is a reduction whose result
    meets the row again, which is one kernel with what follows (softmax), and one that saves less than `fewest-bytes` of memory traffic; `plan.note` says so in the kernel's reason.
    Columns are of static size, rows may be symbolic. Does nothing for other targets than CUDA. Example:
    ```mlir
    %y = linalg.contract ... -> tensor<8192x8192xf32>                                                         // input
    %s = linalg.generic {iterator_types = ["parallel", "reduction"]} ins(%y : ...) outs(%i : tensor<8192xf32>) ...

    %y = linalg.contract ... -> tensor<8192x8192xf32>                                                         // output
    %p = linalg.generic {indexing_maps = [(d0, d1) -> (d0, d1), (d0, d1) -> (d0, d1 floordiv 64)],
                         iterator_types = ["parallel", "reduction"], plan.partial = #plan.partial<columns, 64>} ins(%y : ...) outs(%j : tensor<8192x128xf32>) ...
    %s = linalg.generic {iterator_types = ["parallel", "reduction"]} ins(%p : tensor<8192x128xf32>) outs(%i : tensor<8192xf32>) ...
    ```
  }];
  let options = [
    Option<"fewestBytes", "fewest-bytes", "int64_t", /*default=*/"524288", "Memory traffic that two steps must save">
  ];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "mlir::arith::ArithDialect"];
}

def SelectStrategy : Pass<"xc-cuda-select-strategy", "mlir::ModuleOp"> {
  let summary = "Choose a strategy and a configuration for each kernel";
  let description = [{
    Sets `lowering_config`, `plan.reason` and `cuda.index_bits` on each kernel function that has no
    `lowering_config` yet. Where a symbolic size decides (is it a multiple of the vector width, do 32-bit indices
    do), the function is cloned: the first variant has `plan.guards` and relies on them, the last has none.
    A product is looked up in `tuning` first, then in what was measured (`shipped-tuning`), by what `plan.reason` names as its key: the target, the types, batch x M x N x K and
    the layout of both operands (n: rows of a matrix are contiguous, t: columns are). f32 operands that may be rounded,
    since the op has `allow_tf32`, are called tf32 there. Refuses, with its location, an op that code generation does not know. Example:
    ```mlir
    func.func @k() { ... }                                                                       // input
    func.func @k() attributes {lowering_config = #cuda.elementwise<threads = 256, ...>, ...} { ... }  // output
    ```
  }];
  let options = [
    Option<"wgmma", "wgmma", "bool", /*default=*/"true", "Products on wgmma where the target has it and knows the types">,
    Option<"tuning", "tuning", "std::string", /*default=*/"", "Lines `KEY = CONFIG`: the configuration of products by key">,
    Option<"shippedTuning", "shipped-tuning", "bool", /*default=*/"true", "Configurations of products that were measured and are compiled in">,
    Option<"tuningFile", "tuning-file", "std::string", /*default=*/"\"tuning\"", "What errors call the file of those lines">
  ];
  let dependentDialects = ["xc::cuda::CUDADialect"];
}

class EmitPass<string flag> : Pass<flag, "mlir::func::FuncOp"> {
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
    "mlir::vector::VectorDialect", "xc::plan::PlanDialect", "xc::cuda::CUDADialect"];
}

def EmitElementwise : EmitPass<"xc-cuda-emit-elementwise"> {
  let summary = "Emit the threads of kernels configured as #cuda.elementwise";
  let description = [{
    Replaces the tensor ops of the function by what one thread does: it loads, computes and stores `unroll`
    vectors of neighbouring elements, and sets `plan.launch`. A thread whose vectors reach over the end works
    vector by vector, then element by element. Leaves other functions alone. Example:
    ```mlir
    %y = linalg.exp ins(%x : tensor<4096xf32>) ...                       // input
    %v = vector.load %x[%i] {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>   // output
    %e = math.exp %v : vector<4xf32>
    vector.store %e, %y[%i] {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
    ```
  }];
}

def EmitPointwise : EmitPass<"xc-cuda-emit-pointwise"> {
  let summary = "Emit the threads of kernels configured as #cuda.pointwise";
  let description = [{
    The generic kernel: one thread computes one element of the result, with loops where ops reduce. Example: a sum
    over rows becomes
    ```mlir
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) { ... }
    memref.store %sum, %y[%i] : memref<?xf32>
    ```
  }];
}

def EmitElementwiseStrips : EmitPass<"xc-cuda-emit-elementwise-strips"> {
  let summary = "Emit the threads of kernels configured as #cuda.elementwise_strips";
  let description = [{
    Replaces the tensor ops of the function by what one thread does: it computes vectors of elements at neighbouring positions along
    outer dims, and loads what several of them read once. Sets `plan.launch`. Fails where outputs differ in shape or no neighbours read the same
    elements, and leaves other functions alone. Example, of rows that are repeated, in strips of 2:
    ```mlir
    %y = linalg.generic ... { %i = arith.divui %row, %c2   tensor.extract %x[%i, %channel] } -> tensor<8x64xf32>  // input
    %v = vector.load %x[%i0] : memref<256xf32>, vector<4xf32>                                                    // output
    vector.store %v, %y[%j0] : memref<512xf32>, vector<4xf32>
    vector.store %v, %y[%j1] : memref<512xf32>, vector<4xf32>
    ```
  }];
}

def EmitWindowStrips : EmitPass<"xc-cuda-emit-window-strips"> {
  let summary = "Emit the threads of kernels configured as #cuda.window_strips";
  let description = [{
    Replaces the tensor ops of the function by what one thread does: it computes a vector of channels at some neighbouring positions
    of windows, row after row, and loads each element of the image once for all of them. Sets `plan.launch`. Fails where windows are
    of another form, and leaves other functions alone. Example, with strips of 2 under a window of 2:
    ```mlir
    %y = linalg.generic ... ins(%x, %w : tensor<1x5x8xf32>, tensor<2x8xf32>)  // input: y[q, c] += x[q + s, c] * w[s, c]
    %x0 = vector.load %x[%i0] : memref<40xf32>, vector<4xf32>                 // output
    %x1 = vector.load %x[%i1] : memref<40xf32>, vector<4xf32>                 // for both positions
    %x2 = vector.load %x[%i2] : memref<40xf32>, vector<4xf32>
    ```
  }];
}

def EmitWindowGradient : EmitPass<"xc-cuda-emit-window-gradient"> {
  let summary = "Emit the threads of kernels configured as #cuda.window_gradient";
  let description = [{
    Replaces the partial sums of a gradient to a depthwise filter by what one thread does: it holds the sums of a row of taps for a vector
    of channels, shares strips of positions with others, and adds up what they have through shared memory. Sets
    `plan.launch`. Fails where sums are of another form, and leaves other functions alone. Example:
    ```mlir
    // input: w'[(n * 56 + p) floordiv 7, r, s, c] += x[n, p + r, q + s, c] * y'[n, p, q, c]
    %parts = linalg.generic ... ins(%x, %dy : tensor<32x58x58x64xbf16>, tensor<32x56x56x64xbf16>)
    // output: a loop over strips, and then
    gpu.barrier
    memref.store %sum, %parts[%at] : memref<147456xf32>
    ```
  }];
}

def EmitTranspose : EmitPass<"xc-cuda-emit-transpose"> {
  let summary = "Emit the threads of kernels configured as #cuda.transpose";
  let description = [{
    Each input that is read along another dim than the result is written passes through a tile in shared memory:
    the block loads it along the input's rows, and reads it back along the result's. Example:
    ```mlir
    memref.store %in, %tile[%a] : memref<1056xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %out = memref.load %tile[%b] : memref<1056xf32, #gpu.address_space<workgroup>>
    ```
  }];
}

def EmitRowReduction : EmitPass<"xc-cuda-emit-row-reduction"> {
  let summary = "Emit the threads of kernels configured as #cuda.row_reduction";
  let description = [{
    Some threads of a warp, a warp, a block, or the blocks of a cluster work on one row: each reduces its share, then they
    exchange partial results by shuffles and, beyond a warp, through shared memory, in a cluster that of all its blocks. With
    `chunks` > 0 the row is read once and stays in registers until the last result is stored. Example:
    ```mlir
    %v = vector.load %x[%i] {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
    ...
    %other, %ok = gpu.shuffle xor %partial, %c16, %c32 : i32
    ```
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
    "mlir::vector::VectorDialect", "xc::plan::PlanDialect", "xc::cuda::CUDADialect", "xc::tile::TileDialect"];
}

def EmitColumnReduction : EmitPass<"xc-cuda-emit-column-reduction"> {
  let summary = "Emit the threads of kernels configured as #cuda.column_reduction";
  let description = [{
    Neighbouring threads own neighbouring columns and go down them; rows of threads that share columns combine
    their partial results through shared memory, in a fixed order. Example:
    ```mlir
    %acc = scf.for %r = %ty to %rows step %c16 iter_args(%a = %zero) -> (vector<4xf32>) { ... }
    vector.store %acc, %shared[%i] : memref<2048xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    gpu.barrier
    ```
  }];
}

def EmitMatmulFMA : EmitPass<"xc-cuda-emit-matmul-fma"> {
  let summary = "Emit the threads of kernels configured as #cuda.matmul_fma";
  let description = [{
    A block computes a tile of the product; tiles of both operands, with their elementwise producers applied,
    pass through shared memory in as many buffers as there are stages, and each thread multiplies what it holds in registers. With `split` > 1
    the blocks of a cluster share the steps of a tile, and then its sums. The
    consumers of the product are applied before it is stored. Example:
    ```mlir
    %acc = scf.for %k = %c0 to %steps step %c1 iter_args(...) { ... math.fma ... gpu.barrier ... }
    ```
  }];
}

def EmitMatmulMMA : EmitPass<"xc-cuda-emit-matmul-mma"> {
  let summary = "Emit the threads of kernels configured as #cuda.matmul_mma";
  let description = [{
    Warps multiply 16x8x16 pieces (TF32, f64: 16x8x8, bytes: 16x8x32) with `mma.sync`; several tiles of each operand are on their way from global to
    shared memory while one is multiplied. The consumers of the product are applied before it is stored. The text is ops of the tile dialect.
    Example:
    ```mlir
    %a = tile.read_operand %slot[%row, %k] : !tile.shared<128x32xbf16, lines> -> !tile.warp<16x16xbf16, first>
    %d = tile.multiply %a, %b, %c
        : !tile.warp<16x16xbf16, first>, !tile.warp<16x64xbf16, second>, !tile.warp<16x64xf32, accumulator>
    ```
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
    "mlir::vector::VectorDialect", "mlir::NVVM::NVVMDialect", "mlir::LLVM::LLVMDialect", "xc::plan::PlanDialect",
    "xc::tile::TileDialect", "xc::cuda::CUDADialect"];
}

def EmitMatmulWGMMA : EmitPass<"xc-cuda-emit-matmul-wgmma"> {
  let summary = "Emit the warpgroups of kernels configured as #cuda.matmul_wgmma";
  let description = [{
    One warpgroup fetches tiles of the operands into a ring, the others multiply them with `wgmma` and compute the outputs:
    ops of the tile dialect, with the consumers of the product between them. Example:
    ```mlir
    tile.roles counts [1, 2] registers [40, 232] {
    ^bb0(%loader: index):
      ... tile.load %map[%m, %k] to %slot signal %ring[%stage] ...
    }, {
    ^bb0(%warpgroup: index):
      ... %d, %started = tile.dot %a[%row], %b accumulate %c : ... if %later k 64 ...
    }
    ```
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
    "mlir::vector::VectorDialect", "mlir::NVVM::NVVMDialect", "xc::plan::PlanDialect", "xc::cuda::CUDADialect",
    "xc::tile::TileDialect"];
}

def EmitAttention : EmitPass<"xc-cuda-emit-attention"> {
  let summary = "Emit the warps of kernels configured as #cuda.attention or #cuda.attention_mma, and threads of #cuda.attention_rows";
  let description = [{
    One warpgroup fetches queries, keys and values by TMA boxes; each other one has 64 queries of a tile and goes over the blocks of
    keys that they see: ops of the tile dialect. Of #cuda.attention_mma, all warps copy keys and values, and compute. Of
    #cuda.attention_decode, warps go over blocks of 16 keys each, and of
    #cuda.attention_combine threads join what several blocks have seen. Example:
    ```mlir
    tile.roles counts [1, 2] registers [24, 240] {
    ^bb0(%loader: index):
      ... tile.load %keys[%head, %first, %zero] to %slot signal %ring[%stage] ...
    }, {
    ^bb0(%warpgroup: index):
      ... %s, %ready = tile.dot %q[%row], %k k 128 ...
    }
    ```
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::math::MathDialect", "mlir::memref::MemRefDialect",
    "mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::NVVM::NVVMDialect", "xc::plan::PlanDialect",
    "xc::cuda::CUDADialect", "xc::tile::TileDialect"];
}

def ExpandAttention : Pass<"xc-expand-attention", "mlir::ModuleOp"> {
  let summary = "Decompose attention where the target has no kernel for it";
  let description = [{
    Works on a target's module in linalg form. A `kernel.attention` that no strategy of the target takes, of its types and sizes, becomes
    `array.attention` again, is decomposed, and lowered to linalg, as it would have been in phase `array`. So is a
    `kernel.attention_gradient`; one that the target has kernels for becomes an op for each of them. Vectors of no multiple of 8 elements
    get zeros behind them where there is a kernel for the longer ones. A `kernel.attention` of fewer than
    16 queries becomes `kernel.attention_decode`, and where blocks without clusters are to share keys, `kernel.attention_combine` joins
    what each has seen. Example:
    ```mlir
    %o = kernel.attention %q, %k, %v into %e scale = 1.0 : ...   // input, for a CPU
    %s = linalg.contract ... linalg.generic ... linalg.contract  // output
    ```
  }];
  let options = [Option<"wgmma", "wgmma", "bool", /*default=*/"true", "Whether kernels on wgmma may be used">];
  let dependentDialects = [
    "mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::func::FuncDialect", "mlir::linalg::LinalgDialect",
    "mlir::math::MathDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect",
    "xc::array::ArrayDialect", "xc::kernel::KernelDialect", "xc::plan::PlanDialect", "xc::tile::TileDialect"];
}

def PlaceWaits : Pass<"xc-cuda-place-waits", "mlir::func::FuncOp"> {
  let summary = "Wait for products and copies as late as their readers let";
  let description = [{
    Says of each `tile.await_copies` how many copies that were started later may be under way, on every path that its tokens may have come.
    Where the target has no wgmma, products become `synchronous`, and nobody waits for them. Else it
    moves each `tile.await` down to the first reader of its product, or to the barrier or the store behind which what it read may be
    overwritten where no ring's barriers guard that. It adds those that releases of stages need, and says of each how
    many products that were started later may be under way, and which operands in registers stay as they are up to there. Where a loop
    carries a token to its next iteration, it carries those operands, too. Refuses products that neither their own block nor the next
    iteration waits for.

    What threads store, or copy, to tiles that wgmma or the Tensor Memory Accelerator accesses is fenced by `tile.fence_async` in front of the
    barrier or the arrival by which others learn of it, or by a `fenced` `tile.await_copies`. Where a loop carries operands of f64 that its
    end reads, `tile.fence_reads` keeps them there. Example:
    ```mlir
    %s, %ready = tile.dot %q[%row], %k k 128 : ...        // input
    %o, %done = tile.dot %p, %v accumulate %sums : ...
    %scores = tile.await %s after %ready : ...
    %scores = tile.await %s after %ready pending 1 : ...       // output: in place of the last line
    ```
  }];
}

def LowerRegisters : Pass<"xc-cuda-lower-registers", "mlir::func::FuncOp"> {
  let summary = "Turn tiles in registers into the registers of a thread";
  let description = [{
    Each value of type `!tile.reg`, `!tile.rows` or `!tile.warp` becomes as many scalars as a thread holds of it, through loops and branches;
    bodies are copied for each element. Products become `tile.issue`, waits `tile.retire`, copies `tile.issue_copy`; those of warps, and what
    moves single vectors to and from tiles whose lines are whole, become arithmetic on the thread's number and instructions. Must run after
    `-xc-cuda-plan-shared-memory` and `-xc-cuda-place-waits`. Example:
    ```mlir
    %m = tile.splat %x : f32 -> !tile.rows<f32>                                                     // input
    %n = tile.map (%m : !tile.rows<f32>) { ^bb0(%e: f32): ... } : !tile.rows<f32>
    %n0 = ...                                                                                       // output: the body, twice
    %n1 = ...
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect", "mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect"];
}

def LowerSchedule : Pass<"xc-cuda-lower-schedule", "mlir::func::FuncOp"> {
  let summary = "Turn roles of warpgroups and persistent loops into branches and loops";
  let description = [{
    `tile.roles` becomes `scf.if`s on the warpgroup's number, with `setmaxnreg` first in each branch; `tile.persistent`
    becomes an `scf.for` over tile numbers. Example:
    ```mlir
    tile.persistent (%m, %n, %one) raster 8 { ^bb0(%row: index, %column: index, %batch: index): ... }   // input
    scf.for %tile = %block to %count step %grid { ... }                                                 // output
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::scf::SCFDialect",
                           "mlir::NVVM::NVVMDialect", "xc::plan::PlanDialect"];
}

def PlanSharedMemory : Pass<"xc-cuda-plan-shared-memory", "mlir::func::FuncOp"> {
  let summary = "Give tiles, rings and their barriers places in shared memory";
  let description = [{
    Sets `offset` and `barriers` on `tile.ring`, `offset` on `tile.alloc`, and the size on `plan.launch`. Tiles share a place where a barrier of
    the block lies between the last use of the one and the first use of the other, and both are used by threads alone, in the kernel's own
    block: a loop, or roles, use what is used in them from beginning to end. Refuses kernels that need more than a block can have. Example:
    ```mlir
    %t = tile.alloc : !tile.shared<64x64xbf16>                    // input
    %t = tile.alloc {offset = 0 : i64} : !tile.shared<64x64xbf16> // output
    ```
  }];
}

def EmitScatter : EmitPass<"xc-cuda-emit-scatter"> {
  let summary = "Emit the threads of kernels configured as #cuda.scatter or #cuda.ordered_scatter";
  let description = [{
    Each thread owns elements of the window and applies the updates one after the other, so that the result is
    the same on every run: all that go to its rows, whose indices it compares, or those that stand in a row of
    updates sorted by row. Example:
    ```mlir
    scf.for %u = %c0 to %updates step %c1 { ... memref.load ... memref.store ... }
    ```
  }];
}

def EmitScan : EmitPass<"xc-cuda-emit-scan"> {
  let summary = "Emit the threads of kernels configured as #cuda.row_scan or #cuda.column_scan";
  let description = [{
    Along rows, threads scan a vector each and exchange totals by shuffles and through shared memory; across rows, a
    thread goes down its own columns. Example:
    ```mlir
    %v = vector.load %x[%i] : memref<4096xf32>, vector<4xf32>
    ...
    %before, %ok = gpu.shuffle up %total, %c1, %c32 : f32
    ```
  }];
}

def EmitSort : EmitPass<"xc-cuda-emit-sort"> {
  let summary = "Emit the threads of kernels configured as #cuda.sort or #cuda.sort_in_place";
  let description = [{
    Lines become keys, integers in the order of their elements, and positions; a bitonic network sorts the pairs,
    which are all different, so that the result is that of a stable sort. Example:
    ```mlir
    scf.for %stage = %c1 to %c12 step %c1 { ... gpu.barrier ... }
    ```
  }];
}

def EmitSelect : EmitPass<"xc-cuda-emit-select"> {
  let summary = "Emit the threads of kernels configured as #cuda.select";
  let description = [{
    The first k elements of the order of a line: those that come up to the k-th of the first elements of groups are
    candidates, and the number of candidates before one is its place. Example:
    ```mlir
    %before = scf.for %c = %c0 to %candidates step %c1 iter_args(%sum = %zero) -> (i32) { ... }
    ```
  }];
}

def EmitMerge : EmitPass<"xc-cuda-emit-merge"> {
  let summary = "Emit the threads of kernels configured as #cuda.merge";
  let description = [{
    A block searches for the first of its places along the diagonal where both runs have given so many elements
    together, and for the one behind its last, and takes what lies between to shared memory. There each thread does the same for
    its places, and then takes the lower of two elements after the other. Example:
    ```mlir
    %split:2 = scf.while (%low = %from, %high = %to) ...
    ```
  }];
}

def EmitDigitSort : EmitPass<"xc-cuda-emit-digit-sort"> {
  let summary = "Emit the threads of kernels configured as #cuda.count_digits or #cuda.sort_digit";
  let description = [{
    A warp finds by eight votes which of its threads hold the same digit, so that an element's rank among those of its digit needs
    no atomics; ranks of warps add up to places in the tile, where the elements get into order before they are written. Example:
    ```mlir
    %same = nvvm.vote.sync ballot %all, %bit -> i32
    %rank = math.ctpop %peers_before : i32
    ```
  }];
}

def FoldGrids : Pass<"xc-cuda-fold-grids", "mlir::func::FuncOp"> {
  let summary = "Give blocks several tiles each where a grid would be too large";
  let description = [{
    A grid has at most 2^31 - 1 blocks. Where a kernel needs more, or may need more for some sizes, each block does the
    work of every so many blocks: the body becomes that of a loop. Kernels with narrow indices have fewer elements than
    that, and are left alone; so are clusters. Example, of n blocks:
    ```mlir
    %b = plan.workgroup_id x                           // input; launch = grid () -> (n, 1, 1)
    ...
    %first = plan.workgroup_id x                       // output; launch = grid () -> (n ceildiv (n / 2147483647 + 1), 1, 1)
    scf.for %b = %first to %n step %blocks { ... }
    ```
  }];
  let options = [Option<"limit", "limit", "int64_t", /*default=*/"INT32_MAX", "Blocks of a grid">];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect",
                           "mlir::scf::SCFDialect"];
}

def RelaxMath : Pass<"xc-cuda-relax-math", "mlir::func::FuncOp"> {
  let summary = "Use approximate instructions where the precision of the result allows";
  let description = [{
    exp and tanh in f32, all of whose results become 16-bit floats by way of arithmetic in f32, are built of
    `ex2.approx` and `rcp.approx`, whose errors are far below that rounding. log and log1p of `lg2.approx`, and sin and cos
    of a shorter polynomial, where nothing but products come before that rounding. Others are left to
    `-xc-expand-math`. Quotients in f32 whose operands are known to be moderate, as those of a sigmoid are, need no
    branch: where they are narrowed too, they are a product with `rcp.approx`, and else the few steps by which `div.rn`
    rounds them. Those with a constant divisor multiply by its reciprocal, and mend the result where it is not narrowed. In kernels with `cuda.loads_ahead` these keep `div.rn`, and rsqrt is 1 / sqrt(x), each rounded: ptxas moves
    loads behind arithmetic, but not behind their calls. Example:
    ```mlir
    %y = math.exp %x : f32                                                                // input
    %n = arith.truncf %y : f32 to bf16
    %y = llvm.inline_asm asm_dialect = att "ex2.approx.ftz.f32 $0, $1;", "=f,f" %scaled   // output
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def WidenBF16 : Pass<"xc-cuda-widen-bf16", "mlir::func::FuncOp"> {
  let summary = "Make f32 of vectors of bf16 by one instruction for each element";
  let description = [{
    A bf16 is the upper half of an f32. Vectors of an even number, but for those put together of single numbers, are
    taken as words, whose lower halves are shifted up and whose upper halves are cleared below. Example:
    ```mlir
    %y = arith.extf %x : vector<2xbf16> to vector<2xf32>        // input

    %w = vector.bitcast %x : vector<2xbf16> to vector<1xi32>    // output
    %l = arith.shli %w, 16
    %h = arith.andi %w, 0xffff0000
    %y = vector.interleave (%l as f32), (%h as f32)
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::vector::VectorDialect"];
}

def HoistLoads : Pass<"xc-cuda-hoist-loads", "mlir::func::FuncOp"> {
  let summary = "Move loads from global memory up to where their addresses are known";
  let description = [{
    Within a block, moves each load of a binding above the arithmetic before it, but not above a store, a barrier
    or another op with memory effects, so that several loads are in flight before the first result is needed.
    Run common-subexpression elimination before it. Example:
    ```mlir
    %a = vector.load %x[%i] ...      // input         %a = vector.load %x[%i] ...      // output
    %b = math.exp %a ...                              %c = vector.load %x[%j] ...
    %c = vector.load %x[%j] ...                       %b = math.exp %a ...
    ```
  }];
}

def VerifyEmitted : Pass<"xc-cuda-verify-emitted", "mlir::func::FuncOp"> {
  let summary = "Check that nothing is left that the lowering to NVVM cannot take";
  let description = [{
    Reports ops on tensors, memrefs of several dims, and math functions that no NVIDIA instruction computes, each
    with its location. Runs before `-xc-cuda-lower-to-nvvm`, so that LLVM never sees what it cannot select.
    Example of what it refuses:
    ```mlir
    %y = math.erf %x : f32
    %a = memref.load %m[%i, %j] : memref<8x8xf32>
    ```
  }];
}

def LowerToNVVM : Pass<"xc-cuda-lower-to-nvvm", "mlir::ModuleOp"> {
  let summary = "Lower emitted kernels to llvm.func with bare pointer arguments";
  let description = [{
    One pointer argument for each binding (`llvm.align`, `llvm.noalias` unless it may alias, `llvm.readonly` where
    it is), then an i64 for each scalar that is used. Indices become i32 or i64 as `cuda.index_bits` says. Buffers in
    shared memory become offsets into one external array, whose size is the launch's. Example:
    ```mlir
    %x = plan.binding 0 read align 64 : memref<4096xf32>               // input
    %v = vector.load %x[%i] : memref<4096xf32>, vector<4xf32>
    llvm.func @k(%x: !llvm.ptr<1> {llvm.align = 64 : i64, llvm.noalias, llvm.readonly}) ...  // output
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p invariant : !llvm.ptr<1> -> vector<4xf32>
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect"];
}

def AllowDependentLaunch : Pass<"xc-cuda-allow-dependent-launch", "mlir::ModuleOp"> {
  let summary = "Allow programmatic dependent launch (PDL) of kernels";
  let description = [{
    For sm_90 and later. Kernels begin by letting their dependents be launched, and by waiting for the kernels that they
    depend on. Left alone are those of a symbolic size, which may be empty, and large ones with loops that load from several
    buffers or beside stores and barriers. `cuda.programmatic` on the function becomes the export's `programmatic_launch`. A kernel that has
    `cuda.programmatic` already waits by itself: a strategy made it. The loads of both are no longer of memory that never
    changes. Of bindings in `plan.fixed_bindings`, which no kernel in front writes, a kernel's first block loads up to 160 bytes a thread before it waits;
    `cuda.reads_inputs_early` on the function says that some of them are inputs of the call (`plan.fixed_inputs`). Example:
    ```mlir
    llvm.func @k(...) attributes {nvvm.kernel, plan.launch = ...} { ... }                     // input
    llvm.func @k(...) attributes {cuda.programmatic, nvvm.kernel, plan.launch = ...} {        // output
      nvvm.griddepcontrol launch_dependents
      nvvm.griddepcontrol wait
      ...
    }
    ```
  }];
  let dependentDialects = ["mlir::NVVM::NVVMDialect"];
}

def EmitPTX : Pass<"xc-cuda-emit-ptx", "mlir::ModuleOp"> {
  let summary = "Translate lowered kernels to LLVM IR and compile that to PTX";
  let description = [{
    Sets `plan.image` (PTX text) and `plan.exports` (an array with a dictionary for each kernel: name, launch, guards,
    config, reason, parameters, programmatic where it is) on the module and drops its functions. A module that has an image already
    keeps it. Example:
    ```mlir
    builtin.module @k attributes {plan.exports = [{name = "k", ...} ], plan.image = ".version 7.0 ..."} {}
    ```
  }];
  let options = [
    Option<"optLevel", "opt-level", "unsigned", /*default=*/"3", "LLVM's optimisation level, 0 to 3">,
    Option<"emitAssembly", "emit-assembly", "bool", /*default=*/"false", "Set plan.assembly too">
  ];
}

#endif // XC_CODEGEN_CUDA_PASSES_TD
