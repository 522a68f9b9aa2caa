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

builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // expected-error@+1 {{expected at most 232448 bytes of shared memory on sm_90a, got 262144}}
  func.func @too_much() attributes {plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
    %tile = tile.alloc : !tile.shared<512x256xbf16>
    return
  }
}
