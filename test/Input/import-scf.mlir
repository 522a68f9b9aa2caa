// RUN: xc-opt %s -split-input-file -verify-diagnostics -xc-import-scf | FileCheck %s --implicit-check-not=scf.

// A scalar is carried as a tensor of rank 0, and an index as an i64. What is written before it is read starts with zeros.
// CHECK-LABEL: func.func @counted
func.func @counted(%x: tensor<4xf32>) -> (tensor<4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.empty() : tensor<4xf32>
  // CHECK: %[[START:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<4xf32>)
  // CHECK: %[[LOOP:.*]]:3 = array.while %{{.*}}, %[[START]], %{{.*}} : (tensor<i64>, tensor<4xf32>, tensor<f32>)
  // CHECK: array.compare lt
  // CHECK: array.yield %{{.*}} : tensor<i1>
  // CHECK: ^bb0(%[[COUNT:.*]]: tensor<i64>, %{{.*}}: tensor<4xf32>, %[[SUM:.*]]: tensor<f32>):
  // CHECK: tensor.extract %[[COUNT]][] : tensor<i64>
  // CHECK: tensor.extract %[[SUM]][] : tensor<f32>
  %y:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %init, %s = %zero) -> (tensor<4xf32>, f32) {
    %b = linalg.exp ins(%x : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
    %n = arith.index_cast %i : index to i64
    %f = arith.sitofp %n : i64 to f32
    %t = arith.addf %s, %f : f32
    // CHECK: array.add %[[COUNT]]
    // CHECK: array.yield
    scf.yield %b, %t : tensor<4xf32>, f32
  }
  // CHECK: %[[RESULT:.*]] = tensor.extract %[[LOOP]]#2[]
  // CHECK: return %[[LOOP]]#1, %[[RESULT]]
  return %y#0, %y#1 : tensor<4xf32>, f32
}

// -----

// What the condition passes on is computed again in the body and behind the loop.
// CHECK-LABEL: func.func @conditional
func.func @conditional(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  // CHECK: %[[LOOP:.*]]:2 = array.while
  // CHECK: arith.cmpi slt
  // CHECK: linalg.exp
  // CHECK: linalg.negf
  %y:2 = scf.while (%i = %c0, %a = %x) : (i64, tensor<4xf32>) -> (i64, tensor<4xf32>) {
    %goesOn = arith.cmpi slt, %i, %c3 : i64
    %b = linalg.exp ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
    scf.condition(%goesOn) %i, %b : i64, tensor<4xf32>
  } do {
  ^bb0(%i: i64, %b: tensor<4xf32>):
    %n = arith.addi %i, %c1 : i64
    %c = linalg.negf ins(%b : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %n, %c : i64, tensor<4xf32>
  }
  // CHECK: %[[LAST:.*]] = linalg.exp ins(%[[LOOP]]#1
  // CHECK: return %[[LAST]]
  return %y#1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @choice
func.func @choice(%c: i1, %x: tensor<4xf32>, %s: f32) -> (tensor<4xf32>, f32) {
  // CHECK: %[[IF:.*]] = tensor.from_elements %arg0 : tensor<i1>
  // CHECK: %[[CHOSEN:.*]]:2 = array.if %[[IF]] : tensor<i1> -> (tensor<4xf32>, tensor<f32>)
  %y:2 = scf.if %c -> (tensor<4xf32>, f32) {
    %a = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a, %s : tensor<4xf32>, f32
  } else {
    %t = arith.negf %s : f32
    scf.yield %x, %t : tensor<4xf32>, f32
  }
  // CHECK: tensor.extract %[[CHOSEN]]#1[]
  return %y#0, %y#1 : tensor<4xf32>, f32
}

// -----

func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'scf.forall' is not supported; supported of scf are for, while and if}}
  %y = scf.forall (%i) in (4) shared_outs(%o = %x) -> tensor<4xf32> {
    %a = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %a into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %y : tensor<4xf32>
}
