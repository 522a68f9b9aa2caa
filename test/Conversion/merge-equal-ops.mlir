// RUN: xc-opt %s -xc-merge-equal-ops | FileCheck %s

array.variable @w : tensor<2xf32>

// CHECK-LABEL: func.func @equal_ops(
func.func @equal_ops(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[EXP:.*]] = array.exp
  // CHECK-NEXT: %[[LOG:.*]] = array.log
  // CHECK-NEXT: return %[[EXP]], %[[EXP]], %[[LOG]]
  %0 = array.exp %x : tensor<2xf32>
  %1 = array.exp %x : tensor<2xf32>
  %2 = array.log %x : tensor<2xf32>
  %unused = array.tanh %x : tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @order_of_operands(
func.func @order_of_operands(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: array.sub
  // CHECK: array.sub
  %0 = array.sub %x, %y : tensor<2xf32>
  %1 = array.sub %y, %x : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// Reads are equal where no assignment lies between them.
// CHECK-LABEL: func.func @reads(
func.func @reads(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[BEFORE:.*]] = array.variable.read @w
  // CHECK-NOT: array.variable.read
  // CHECK: array.variable.assign @w
  // CHECK: %[[AFTER:.*]] = array.variable.read @w
  // CHECK: return %[[BEFORE]], %[[BEFORE]], %[[AFTER]]
  %0 = array.variable.read @w : tensor<2xf32>
  %1 = array.variable.read @w : tensor<2xf32>
  array.variable.assign @w, %x : tensor<2xf32>
  %2 = array.variable.read @w : tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Nor an if that assigns.
// CHECK-LABEL: func.func @reads_around_if(
func.func @reads_around_if(%x: tensor<2xf32>, %p: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[BEFORE:.*]] = array.variable.read @w
  // CHECK: array.if
  // CHECK: %[[AFTER:.*]] = array.variable.read @w
  // CHECK: return %[[BEFORE]], %[[AFTER]]
  %0 = array.variable.read @w : tensor<2xf32>
  array.if %p : tensor<i1> {
    array.variable.assign @w, %x : tensor<2xf32>
    array.yield
  } else {
    array.yield
  }
  %1 = array.variable.read @w : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// Regions see what is before them, but not each other; ops with equal regions are equal.
// CHECK-LABEL: func.func @ifs(
func.func @ifs(%x: tensor<2xf32>, %p: tensor<i1>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[EXP:.*]] = array.exp
  // CHECK: %[[FIRST:.*]] = array.if
  // CHECK-NEXT: array.log
  // CHECK-NEXT: array.add %[[EXP]],
  // CHECK: } else {
  // CHECK-NEXT: array.log
  // CHECK: %[[THIRD:.*]] = array.if
  // CHECK-NEXT: array.log
  // CHECK-NEXT: array.mul
  // CHECK: return %[[EXP]], %[[FIRST]], %[[FIRST]], %[[THIRD]]
  %0 = array.exp %x : tensor<2xf32>
  %1 = array.if %p : tensor<i1> -> (tensor<2xf32>) {
    %e = array.exp %x : tensor<2xf32>
    %l = array.log %x : tensor<2xf32>
    %s = array.add %e, %l : tensor<2xf32>
    array.yield %s : tensor<2xf32>
  } else {
    %l = array.log %x : tensor<2xf32>
    array.yield %l : tensor<2xf32>
  }
  %2 = array.if %p : tensor<i1> -> (tensor<2xf32>) {
    %l = array.log %x : tensor<2xf32>
    %s = array.add %0, %l : tensor<2xf32>
    array.yield %s : tensor<2xf32>
  } else {
    %l = array.log %x : tensor<2xf32>
    array.yield %l : tensor<2xf32>
  }
  %3 = array.if %p : tensor<i1> -> (tensor<2xf32>) {
    %l = array.log %x : tensor<2xf32>
    %s = array.mul %0, %l : tensor<2xf32>
    array.yield %s : tensor<2xf32>
  } else {
    %l = array.log %x : tensor<2xf32>
    array.yield %l : tensor<2xf32>
  }
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
