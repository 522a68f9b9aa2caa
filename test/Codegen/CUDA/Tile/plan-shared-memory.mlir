// RUN: xc-opt %s -split-input-file -verify-diagnostics -xc-cuda-plan-shared-memory | FileCheck %s

// Rings, then tiles, then barriers.
// CHECK-LABEL: func.func @places
// CHECK-SAME:    shared = 73792
// CHECK:         tile.alloc {offset = 65536 : i64} : {{.*}}<64x64xbf16>
// CHECK:         tile.ring arrivals 1 consumers 1 {barriers = 73728 : i64, offset = 0 : i64}
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @places() attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %tile = tile.alloc : !tile.shared<64x64xbf16>
    %ring = tile.ring arrivals 1 consumers 1 : !tile.ring<4, !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16>>
    return
  }
}

// -----

// Tiles of whole lines begin at multiples of 128 bytes, the ring itself at one of 1024.
// CHECK-LABEL: func.func @whole_lines
// CHECK-SAME:    shared = 5376
// CHECK:         tile.ring arrivals 0 consumers 0 {offset = 1024 : i64}
// CHECK:         tile.alloc {offset = 5120 : i64}
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @whole_lines() attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [32, 1, 1], cluster = [1, 1, 1], shared = 16, scratch = 0>} {
    %ring = tile.ring arrivals 0 consumers 0 : !tile.ring<2, !tile.shared<40x16xbf16, lines>, !tile.shared<24x16xbf16, lines>>
    %tile = tile.alloc : !tile.shared<8x32xi8, lines>
    return
  }
}

// -----

// Buffers that an emitter placed come first.
// CHECK-LABEL: func.func @after_buffers
// CHECK-SAME:    shared = 9216
// CHECK:         tile.alloc {offset = 1024 : i64}
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @after_buffers() attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 48, scratch = 0>} {
    %tile = tile.alloc : !tile.shared<64x64xbf16>
    return
  }
}

// -----

// A tile of 8 KiB that nobody uses any more, and one that begins behind a barrier.
// CHECK-LABEL: func.func @one_after_the_other
// CHECK-SAME:    shared = 8192
// CHECK-COUNT-2: tile.alloc {offset = 0 : i64}
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @one_after_the_other(%x: vector<8xbf16>, %i: index) -> (vector<8xbf16>, vector<8xbf16>) attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %a = tile.alloc : !tile.shared<64x64xbf16>
    %b = tile.alloc : !tile.shared<64x64xbf16>
    tile.write %x to %a[%i, %i] : vector<8xbf16>, !tile.shared<64x64xbf16>
    gpu.barrier
    %y = tile.read_elements %a[%i, %i] : !tile.shared<64x64xbf16> -> vector<8xbf16>
    gpu.barrier
    tile.write %x to %b[%i, %i] : vector<8xbf16>, !tile.shared<64x64xbf16>
    gpu.barrier
    %z = tile.read_elements %b[%i, %i] : !tile.shared<64x64xbf16> -> vector<8xbf16>
    return %y, %z : vector<8xbf16>, vector<8xbf16>
  }
}

// -----

// Another thread may still read the one while this one stores to the other: that of a warpgroup is not a barrier of the block.
// CHECK-LABEL: func.func @no_barrier_between
// CHECK-SAME:    shared = 16384
// CHECK:         tile.alloc {offset = 0 : i64}
// CHECK:         tile.alloc {offset = 8192 : i64}
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @no_barrier_between(%x: vector<8xbf16>, %i: index) -> vector<8xbf16> attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %a = tile.alloc : !tile.shared<64x64xbf16>
    %b = tile.alloc : !tile.shared<64x64xbf16>
    tile.write %x to %a[%i, %i] : vector<8xbf16>, !tile.shared<64x64xbf16>
    gpu.barrier
    %y = tile.read_elements %a[%i, %i] : !tile.shared<64x64xbf16> -> vector<8xbf16>
    tile.sync_warpgroup %i
    tile.write %x to %b[%i, %i] : vector<8xbf16>, !tile.shared<64x64xbf16>
    return %y : vector<8xbf16>
  }
}

// -----

// What a loop uses, it uses from beginning to end: its next iteration begins with the one again.
// CHECK-LABEL: func.func @in_a_loop
// CHECK-SAME:    shared = 16384
// CHECK:         tile.alloc {offset = 0 : i64}
// CHECK:         tile.alloc {offset = 8192 : i64}
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @in_a_loop(%x: vector<8xbf16>, %i: index) attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %a = tile.alloc : !tile.shared<64x64xbf16>
    %b = tile.alloc : !tile.shared<64x64xbf16>
    scf.for %j = %i to %i step %i {
      tile.write %x to %a[%i, %i] : vector<8xbf16>, !tile.shared<64x64xbf16>
      gpu.barrier
      tile.write %x to %b[%i, %i] : vector<8xbf16>, !tile.shared<64x64xbf16>
    }
    return
  }
}

// -----

// Roles run side by side.
// CHECK-LABEL: func.func @in_roles
// CHECK-SAME:    shared = 16384
// CHECK:         tile.alloc {offset = 0 : i64}
// CHECK:         tile.alloc {offset = 8192 : i64}
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @in_roles(%x: vector<8xbf16>, %i: index) attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %a = tile.alloc : !tile.shared<64x64xbf16>
    %b = tile.alloc : !tile.shared<64x64xbf16>
    tile.roles counts [1, 1] registers [24, 240] {
    ^bb0(%first: index):
      tile.write %x to %a[%i, %i] : vector<8xbf16>, !tile.shared<64x64xbf16>
      tile.yield
    }, {
    ^bb0(%second: index):
      tile.write %x to %b[%i, %i] : vector<8xbf16>, !tile.shared<64x64xbf16>
      tile.yield
    }
    return
  }
}

// -----

// A copy is done where it is waited for. That wait is a barrier, too: the third tile takes the place of the first.
// CHECK-LABEL: func.func @copies
// CHECK-SAME:    shared = 16384
// CHECK:         tile.alloc {offset = 0 : i64}
// CHECK:         tile.alloc {offset = 8192 : i64}
// CHECK:         tile.alloc {offset = 0 : i64}
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @copies(%m: memref<?xbf16>, %x: vector<8xbf16>, %i: index) -> !tile.reg<64x64xf32, accumulator> attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %q = tile.alloc : !tile.shared<64x64xbf16>
    %k = tile.alloc : !tile.shared<64x64xbf16>
    %out = tile.alloc : !tile.shared<64x64xbf16>
    %0 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %q threads 128 : memref<?xbf16> to !tile.shared<64x64xbf16>
    %1 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %k threads 128 : memref<?xbf16> to !tile.shared<64x64xbf16>
    %queries = tile.await_copies %q after %0 : !tile.shared<64x64xbf16>
    %p = tile.read %queries[%i] : !tile.shared<64x64xbf16> -> !tile.reg<64x64xbf16, operand>
    %keys = tile.await_copies %k after %1 : !tile.shared<64x64xbf16>
    tile.write %x to %out[%i, %i] : vector<8xbf16>, !tile.shared<64x64xbf16>
    %s, %t = tile.dot %p, %keys k 64 : !tile.reg<64x64xbf16, operand>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
    %r = tile.await %s after %t : !tile.reg<64x64xf32, accumulator>
    return %r : !tile.reg<64x64xf32, accumulator>
  }
}

// -----

// Where wgmma is done with what it reads, a later pass decides; boxes are stored while threads go on.
// CHECK-LABEL: func.func @asynchronous
// CHECK-SAME:    shared = 24576
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @asynchronous(%map: !tile.tensor_map<64x64xbf16>, %p: !tile.reg<64x64xbf16, operand>, %x: vector<8xbf16>, %i: index)
      -> !tile.reg<64x64xf32, accumulator> attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %a = tile.alloc : !tile.shared<64x64xbf16>
    %b = tile.alloc : !tile.shared<64x64xbf16>
    %c = tile.alloc : !tile.shared<64x64xbf16>
    tile.store %a[%i] panel 0 to %map[%i, %i] : !tile.shared<64x64xbf16>, !tile.tensor_map<64x64xbf16>
    gpu.barrier
    %s, %t = tile.dot %p, %b k 64 : !tile.reg<64x64xbf16, operand>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
    gpu.barrier
    tile.write %x to %c[%i, %i] : vector<8xbf16>, !tile.shared<64x64xbf16>
    %r = tile.await %s after %t : !tile.reg<64x64xf32, accumulator>
    return %r : !tile.reg<64x64xf32, accumulator>
  }
}

// -----

// A copy whose token goes elsewhere may be under way for longer. A tile that nobody uses is there to take room.
// CHECK-LABEL: func.func @kept_apart
// CHECK-SAME:    shared = 24576
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @kept_apart(%m: memref<?xbf16>, %x: vector<8xbf16>, %i: index, %c: i1) attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %a = tile.alloc : !tile.shared<64x64xbf16>
    %b = tile.alloc : !tile.shared<64x64xbf16>
    %room = tile.alloc : !tile.shared<64x64xbf16>
    %0 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %a threads 128 : memref<?xbf16> to !tile.shared<64x64xbf16>
    scf.if %c {
      %y = tile.await_copies %a after %0 : !tile.shared<64x64xbf16>
    }
    gpu.barrier
    tile.write %x to %b[%i, %i] : vector<8xbf16>, !tile.shared<64x64xbf16>
    return
  }
}

// -----

builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // expected-error@+1 {{expected at most 232448 bytes of shared memory on sm_90a, got 262144}}
  func.func @too_much() attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %tile = tile.alloc : !tile.shared<512x256xbf16>
    return
  }
}
