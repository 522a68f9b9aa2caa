// RUN: xc-opt %s -verify-roundtrip
// RUN: xc-opt %s | FileCheck %s

// CHECK-LABEL: func.func @elementwise()
// CHECK-SAME: #cpu.elementwise<version = 1, lanes = 32, chunk = 16384, tile = 32768>
func.func @elementwise() attributes {
    lowering_config = #cpu.elementwise<version = 1, lanes = 32, chunk = 16384, tile = 32768>} {
  return
}

// CHECK-LABEL: func.func @reduction()
// CHECK-SAME: #cpu.reduction<version = 1, direction = "rows", lanes = 32, chunk = 128, tile = 32768>
func.func @reduction() attributes {
    lowering_config = #cpu.reduction<version = 1, direction = "rows", lanes = 32, chunk = 128, tile = 32768>} {
  return
}

// CHECK-LABEL: func.func @images()
// CHECK-SAME: #cpu.reduction<version = 1, direction = "images", lanes = 8, chunk = 64, tile = 32768, strip = 4, band = 56>
func.func @images() attributes {
    lowering_config = #cpu.reduction<version = 1, direction = "images", lanes = 8, chunk = 64, tile = 32768, strip = 4, band = 56>} {
  return
}

// CHECK-LABEL: func.func @matmul()
// CHECK-SAME: #cpu.matmul<version = 1, tile = [192, 256, 256], registers = [6, 16], lanes = 8>
func.func @matmul() attributes {
    lowering_config = #cpu.matmul<version = 1, tile = [192, 256, 256], registers = [6, 16], lanes = 8>} {
  return
}

// CHECK-LABEL: func.func @lines()
// CHECK-SAME: #cpu.lines<version = 1, tile = 8192>
func.func @lines() attributes {lowering_config = #cpu.lines<version = 1, tile = 8192>} {
  return
}

// CHECK-LABEL: func.func @generic()
// CHECK-SAME: #cpu.generic<version = 1>
func.func @generic() attributes {lowering_config = #cpu.generic<version = 1>} {
  // CHECK: cpu.scratch : memref<128xi8>
  %s = cpu.scratch : memref<128xi8>
  return
}

// CHECK-LABEL: func.func @few_queries()
// CHECK-SAME: #cpu.few_queries<version = 1, tile = [4, 32], registers = 8, lanes = 8>
func.func @few_queries() attributes {lowering_config = #cpu.few_queries<version = 1, tile = [4, 32], registers = 8, lanes = 8>} {
  return
}

// CHECK-LABEL: func.func @attention()
// CHECK-SAME: #cpu.attention<version = 1, tile = [16, 96], registers = [6, 4], lanes = 8>
func.func @attention() attributes {
    lowering_config = #cpu.attention<version = 1, tile = [16, 96], registers = [6, 4], lanes = 8>} {
  return
}
