// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-scan -xc-cuda-emit-sort -xc-cuda-emit-select -xc-cuda-emit-merge -xc-cuda-emit-digit-sort -canonicalize -cse | FileCheck %s

// A block scans a row in rounds: vectors, warps by shuffles, totals of warps in shared memory.
// CHECK-LABEL: func.func @row()
// CHECK-SAME:    lowering_config = #cuda.row_scan<threads = 256, rows = 1, vector = 4>
// CHECK:         memref.alloc() {cuda.shared_offset = 0 : i64} : memref<16xf32, #gpu.address_space<workgroup>>
// CHECK:         scf.for
// CHECK:           vector.load
// CHECK-COUNT-6:   gpu.shuffle {{ *}}up
// CHECK:           gpu.barrier
// CHECK:           vector.store
builtin.module @row attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @row() {
    %b0 = plan.binding 0 read align 16 : memref<8x16384xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<8x16384xf32> to tensor<8x16384xf32>
    %b1 = plan.binding 1 write align 16 : memref<8x16384xf32>
    %e = tensor.empty() : tensor<8x16384xf32>
    %0 = kernel.scan sum, %x into %e axis = 1 : tensor<8x16384xf32> into tensor<8x16384xf32> -> tensor<8x16384xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b1 : (tensor<8x16384xf32>, memref<8x16384xf32>) -> ()
    return
  }
}

// -----

// Short rows: some threads of a warp each, and no shared memory.
// CHECK-LABEL: func.func @short_rows()
// CHECK-SAME:    lowering_config = #cuda.row_scan<threads = 16, rows = 8, vector = 4>
// CHECK-NOT:     memref.alloc
// CHECK-COUNT-5: gpu.shuffle {{ *}}up
// CHECK-NOT:     gpu.shuffle
builtin.module @short_rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @short_rows() {
    %b0 = plan.binding 0 read align 16 : memref<100x64xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<100x64xf32> to tensor<100x64xf32>
    %b1 = plan.binding 1 write align 16 : memref<100x64xf32>
    %e = tensor.empty() : tensor<100x64xf32>
    %0 = kernel.scan sum, %x into %e axis = 1 : tensor<100x64xf32> into tensor<100x64xf32> -> tensor<100x64xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b1 : (tensor<100x64xf32>, memref<100x64xf32>) -> ()
    return
  }
}

// -----

// Columns: a thread's lanes are neighbouring lines; four rows are loaded before the first is stored.
// CHECK-LABEL: func.func @columns()
// CHECK-SAME:    lowering_config = #cuda.column_scan<threads = 128, vector = 4>
// CHECK:         scf.for
// CHECK-COUNT-4:   vector.load
// CHECK-COUNT-4:   vector.store
// CHECK-NOT:     gpu.shuffle
builtin.module @columns attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @columns() {
    %b0 = plan.binding 0 read align 16 : memref<64x1048576xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<64x1048576xf32> to tensor<64x1048576xf32>
    %b1 = plan.binding 1 write align 16 : memref<64x1048576xf32>
    %e = tensor.empty() : tensor<64x1048576xf32>
    %0 = kernel.scan max, %x into %e axis = 0 : tensor<64x1048576xf32> into tensor<64x1048576xf32> -> tensor<64x1048576xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b1 : (tensor<64x1048576xf32>, memref<64x1048576xf32>) -> ()
    return
  }
}

// -----

// Keys and positions are one integer, in shared memory between rounds of registers; a stage for each doubling of what is in order.
// CHECK-LABEL: func.func @sort()
// CHECK-SAME:    lowering_config = #cuda.sort<threads = 128, rows = 16, tile = 64>
// CHECK-DAG:     memref.alloc() {cuda.shared_offset = 0 : i64} : memref<1088xi64, #gpu.address_space<workgroup>>
// CHECK-COUNT-8: memref.store
// CHECK:         gpu.barrier
// CHECK-COUNT-8: memref.load
// CHECK-COUNT-38: arith.select
// CHECK-COUNT-8: memref.store
// CHECK:         gpu.barrier
// CHECK:         scf.for
// CHECK:           gpu.barrier
// CHECK:           scf.while
// CHECK:             gpu.barrier
builtin.module @sort attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @sort() {
    %b0 = plan.binding 0 read align 16 : memref<100x50xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<100x50xf32> to tensor<100x50xf32>
    %b1 = plan.binding 1 write align 16 : memref<100x8xf32>
    %b2 = plan.binding 2 write align 16 : memref<100x8xi32>
    %v = tensor.empty() : tensor<100x8xf32>
    %i = tensor.empty() : tensor<100x8xi32>
    %0:2 = kernel.sort %x into %v, %i descending keep = 8
      : tensor<100x50xf32> into tensor<100x8xf32>, tensor<100x8xi32> -> tensor<100x8xf32>, tensor<100x8xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<100x8xf32>, memref<100x8xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<100x8xi32>, memref<100x8xi32>) -> ()
    return
  }
}

// -----

// Bits of narrow elements and positions are a word, whose minima and maxima are instructions.
// CHECK-LABEL: func.func @sort_narrow()
// CHECK-SAME:    lowering_config = #cuda.sort<threads = 128, rows = 2, tile = 1024>
// CHECK:         memref.alloc() {cuda.shared_offset = 0 : i64} : memref<2112xi32, #gpu.address_space<workgroup>>
// CHECK:         arith.minui
// CHECK:         arith.maxui
// Keys of 64 bits have their positions beside them.
// CHECK-LABEL: func.func @sort_wide()
// CHECK-DAG:     memref.alloc() {cuda.shared_offset = 0 : i64} : memref<2176xi64, #gpu.address_space<workgroup>>
// CHECK-DAG:     memref.alloc() {cuda.shared_offset = 17408 : i64} : memref<2112xi32, #gpu.address_space<workgroup>>
builtin.module @sort_kinds attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @sort_narrow() {
    %b0 = plan.binding 0 read align 16 : memref<10x1000xbf16>
    %x = bufferization.to_tensor %b0 restrict : memref<10x1000xbf16> to tensor<10x1000xbf16>
    %b1 = plan.binding 1 write align 16 : memref<10x1000xbf16>
    %b2 = plan.binding 2 write align 16 : memref<10x1000xi32>
    %v = tensor.empty() : tensor<10x1000xbf16>
    %i = tensor.empty() : tensor<10x1000xi32>
    %0:2 = kernel.sort %x into %v, %i
      : tensor<10x1000xbf16> into tensor<10x1000xbf16>, tensor<10x1000xi32> -> tensor<10x1000xbf16>, tensor<10x1000xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<10x1000xbf16>, memref<10x1000xbf16>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<10x1000xi32>, memref<10x1000xi32>) -> ()
    return
  }
  func.func @sort_wide() {
    %b0 = plan.binding 0 read align 16 : memref<10x1000xf64>
    %x = bufferization.to_tensor %b0 restrict : memref<10x1000xf64> to tensor<10x1000xf64>
    %b1 = plan.binding 1 write align 16 : memref<10x1000xf64>
    %b2 = plan.binding 2 write align 16 : memref<10x1000xi32>
    %v = tensor.empty() : tensor<10x1000xf64>
    %i = tensor.empty() : tensor<10x1000xi32>
    %0:2 = kernel.sort %x into %v, %i
      : tensor<10x1000xf64> into tensor<10x1000xf64>, tensor<10x1000xi32> -> tensor<10x1000xf64>, tensor<10x1000xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<10x1000xf64>, memref<10x1000xf64>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<10x1000xi32>, memref<10x1000xi32>) -> ()
    return
  }
}

// -----

// Few elements of a long line: vectors to registers, the first of each group by shuffles, the limit, and what comes up to it.
// CHECK-LABEL: func.func @select()
// CHECK-SAME:    lowering_config = #cuda.select<threads = 256, items = 16, groups = 32, vector = 4>
// CHECK-COUNT-4: vector.load {{.*}} vector<4xf32>
// CHECK:         gpu.shuffle {{ *}}xor
// CHECK:         gpu.barrier
// CHECK:         scf.for
// CHECK:         gpu.barrier
// CHECK-COUNT-5: gpu.shuffle {{ *}}up
// CHECK:         scf.for
// Of a line of any length piece after piece, and what was kept is among the candidates.
// CHECK-LABEL: func.func @select_symbolic
// CHECK-SAME:    lowering_config = #cuda.select<threads = 256, items = 16, groups = 128, vector = {{[14]}}>
// CHECK:         scf.for
// CHECK:           gpu.shuffle {{ *}}xor
builtin.module @select attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @select() {
    %b0 = plan.binding 0 read align 16 : memref<100x4096xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<100x4096xf32> to tensor<100x4096xf32>
    %b1 = plan.binding 1 write align 16 : memref<100x8xf32>
    %b2 = plan.binding 2 write align 16 : memref<100x8xi32>
    %v = tensor.empty() : tensor<100x8xf32>
    %i = tensor.empty() : tensor<100x8xi32>
    %0:2 = kernel.sort %x into %v, %i descending keep = 8
      : tensor<100x4096xf32> into tensor<100x8xf32>, tensor<100x8xi32> -> tensor<100x8xf32>, tensor<100x8xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<100x8xf32>, memref<100x8xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<100x8xi32>, memref<100x8xi32>) -> ()
    return
  }
  func.func @select_symbolic() {
    %n = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 16 sizes(%n) : memref<?xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<?xf32> to tensor<?xf32>
    %b1 = plan.binding 1 write align 16 : memref<50xf32>
    %b2 = plan.binding 2 write align 16 : memref<50xi32>
    %v = tensor.empty() : tensor<50xf32>
    %i = tensor.empty() : tensor<50xi32>
    %0:2 = kernel.sort %x into %v, %i descending keep = 50
      : tensor<?xf32> into tensor<50xf32>, tensor<50xi32> -> tensor<50xf32>, tensor<50xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<50xf32>, memref<50xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<50xi32>, memref<50xi32>) -> ()
    return
  }
}

// -----

// A line of any size is sorted where its result is.
// CHECK-LABEL: func.func @in_place()
// CHECK-SAME:    lowering_config = #cuda.sort_in_place<threads = 1024>
// CHECK-NOT:     memref.alloc
// CHECK:         scf.while
builtin.module @in_place attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @in_place() {
    %n = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 16 sizes(%n) : memref<?xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<?xf32> to tensor<?xf32>
    %b1 = plan.binding 1 write align 16 sizes(%n) : memref<?xf32>
    %b2 = plan.binding 2 write align 16 sizes(%n) : memref<?xi64>
    %v = tensor.empty(%n) : tensor<?xf32>
    %i = tensor.empty(%n) : tensor<?xi64>
    %0:2 = kernel.sort %x into %v, %i : tensor<?xf32> into tensor<?xf32>, tensor<?xi64> -> tensor<?xf32>, tensor<?xi64>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<?xf32>, memref<?xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<?xi64>, memref<?xi64>) -> ()
    return
  }
}

// -----

// Two rounds of a search by half of the block each, then bisection by each thread among what the block has; then one place after the other.
// CHECK-LABEL: func.func @merge()
// CHECK-SAME:    lowering_config = #cuda.merge<threads = 256, items = 16>
// CHECK-DAG:     %[[ROUNDS:.*]] = arith.constant 2 : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[ROUNDS]] step
// CHECK:           gpu.barrier
// CHECK-COUNT-16: memref.load %{{.*}} : memref<5000xf32>
// CHECK:         gpu.barrier
// CHECK:         scf.while
// CHECK:           memref.load %{{.*}} : memref<4224xi32, #gpu.address_space<workgroup>>
// CHECK-COUNT-16: memref.store %{{.*}} : memref<4224xi32, #gpu.address_space<workgroup>>
// CHECK:         gpu.barrier
builtin.module @merge attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @merge() {
    %b0 = plan.binding 0 read align 16 : memref<5000xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<5000xf32> to tensor<5000xf32>
    %b1 = plan.binding 1 read align 16 : memref<5000xi32>
    %p = bufferization.to_tensor %b1 restrict : memref<5000xi32> to tensor<5000xi32>
    %b2 = plan.binding 2 write align 16 : memref<5000xf32>
    %b3 = plan.binding 3 write align 16 : memref<5000xi32>
    %v = tensor.empty() : tensor<5000xf32>
    %i = tensor.empty() : tensor<5000xi32>
    %0:2 = kernel.merge %x, %p into %v, %i run = 4096
      : tensor<5000xf32>, tensor<5000xi32> into tensor<5000xf32>, tensor<5000xi32> -> tensor<5000xf32>, tensor<5000xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b2 : (tensor<5000xf32>, memref<5000xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b3 : (tensor<5000xi32>, memref<5000xi32>) -> ()
    return
  }
}

// -----

// Lines that are one run already: the destinations stay, which are in the memory of the results where the plan can have that.
// CHECK-LABEL: func.func @merge_above_narrow()
// CHECK-DAG:     %[[LIMIT:.*]] = arith.constant 4096 : index
// CHECK:         %[[LONG:.*]] = arith.cmpi {{.*}} %[[LIMIT]]
// CHECK:         scf.while
// CHECK:         scf.for
// CHECK:           %[[OLD:.*]] = memref.load %{{.*}}[%[[AT:.*]]] : memref<?xf32>{{[[:space:]]+}}memref.store %[[OLD]], %{{.*}}[%[[AT]]] : memref<?xf32>
builtin.module @merge_above attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @merge_above() {
    %n = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 16 sizes(%n) : memref<?xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<?xf32> to tensor<?xf32>
    %b1 = plan.binding 1 read align 16 sizes(%n) : memref<?xi32>
    %p = bufferization.to_tensor %b1 restrict : memref<?xi32> to tensor<?xi32>
    %b2 = plan.binding 2 read align 16 may_alias sizes(%n) : memref<?xf32>
    %v = bufferization.to_tensor %b2 restrict : memref<?xf32> to tensor<?xf32>
    %b3 = plan.binding 3 read align 16 may_alias sizes(%n) : memref<?xi32>
    %i = bufferization.to_tensor %b3 restrict : memref<?xi32> to tensor<?xi32>
    %b4 = plan.binding 4 write align 16 may_alias sizes(%n) : memref<?xf32>
    %b5 = plan.binding 5 write align 16 may_alias sizes(%n) : memref<?xi32>
    %0:2 = kernel.merge %x, %p into %v, %i run = 8192 above = 4096
      : tensor<?xf32>, tensor<?xi32> into tensor<?xf32>, tensor<?xi32> -> tensor<?xf32>, tensor<?xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b4 : (tensor<?xf32>, memref<?xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b5 : (tensor<?xi32>, memref<?xi32>) -> ()
    return
  }
}

// -----

// A thread adds to the counters of 16 elements' digits, and stores one of the counters.
// CHECK-LABEL: func.func @count_digits()
// CHECK-SAME:    lowering_config = #cuda.count_digits<threads = 256, items = 16>
// CHECK-COUNT-16: memref.load %{{.*}} : memref<10000xf32>
// CHECK:         gpu.barrier
// CHECK-COUNT-16: llvm.atomicrmw add %{{.*}}, %{{.*}} syncscope("block") monotonic
// CHECK:         gpu.barrier
// CHECK:         memref.store %{{.*}} : memref<768xi32>
builtin.module @count_digits attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @count_digits() {
    %b0 = plan.binding 0 read align 16 : memref<10000xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<10000xf32> to tensor<10000xf32>
    %b1 = plan.binding 1 write align 16 : memref<256x3xi32>
    %c = tensor.empty() : tensor<256x3xi32>
    %0 = kernel.count_digits %x into %c digit = 2 tile = 4096 : tensor<10000xf32> into tensor<256x3xi32> -> tensor<256x3xi32>
    bufferization.materialize_in_destination %0 in restrict writable %b1 : (tensor<256x3xi32>, memref<256x3xi32>) -> ()
    return
  }
}

// -----

// Eight votes for each of 16 elements, places in shared memory, and the tile in order.
// CHECK-LABEL: func.func @sort_digit()
// CHECK-SAME:    lowering_config = #cuda.sort_digit<threads = 256, items = 16>
// CHECK-COUNT-16: memref.load %{{.*}} : memref<8192xf32>
// CHECK-COUNT-8: nvvm.vote.sync ballot
// CHECK:         nvvm.bar.warp.sync
// CHECK:         nvvm.bar.warp.sync
// CHECK-COUNT-120: nvvm.vote.sync ballot
// CHECK-NOT:     nvvm.vote.sync
// CHECK:         gpu.barrier
// CHECK:         gpu.barrier
// CHECK:         gpu.barrier
// CHECK-COUNT-16: memref.store %{{.*}} : memref<4096xf32, #gpu.address_space<workgroup>>
// CHECK:         gpu.barrier
// CHECK-COUNT-16: memref.store %{{.*}} : memref<8192xf32>
builtin.module @sort_digit attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @sort_digit() {
    %b0 = plan.binding 0 read align 16 : memref<8192xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<8192xf32> to tensor<8192xf32>
    %b1 = plan.binding 1 read align 16 : memref<256x2xi32>
    %e = bufferization.to_tensor %b1 restrict : memref<256x2xi32> to tensor<256x2xi32>
    %b2 = plan.binding 2 write align 16 : memref<8192xf32>
    %v = tensor.empty() : tensor<8192xf32>
    %0 = kernel.sort_digit %x by %e into %v digit = 0 tile = 4096
      : tensor<8192xf32> by tensor<256x2xi32> into tensor<8192xf32> -> tensor<8192xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b2 : (tensor<8192xf32>, memref<8192xf32>) -> ()
    return
  }
}

// -----

// A thread adds up what few tiles have of its digit.
// CHECK-LABEL: func.func @sort_few_tiles()
// CHECK-COUNT-4: vector.load %{{.*}} : memref<4096xi32>, vector<4xi32>
// CHECK-NOT:     memref<4096xi32>
builtin.module @sort_few_tiles attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @sort_few_tiles() {
    %b0 = plan.binding 0 read align 16 : memref<32768xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<32768xf32> to tensor<32768xf32>
    %b1 = plan.binding 1 read align 16 : memref<256x16xi32>
    %c = bufferization.to_tensor %b1 restrict : memref<256x16xi32> to tensor<256x16xi32>
    %b2 = plan.binding 2 write align 16 : memref<32768xf32>
    %v = tensor.empty() : tensor<32768xf32>
    %0 = kernel.sort_digit %x by %c into %v digit = 0 tile = 2048 adds_counts
      : tensor<32768xf32> by tensor<256x16xi32> into tensor<32768xf32> -> tensor<32768xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b2 : (tensor<32768xf32>, memref<32768xf32>) -> ()
    return
  }
}
