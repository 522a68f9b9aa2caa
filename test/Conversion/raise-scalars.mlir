// RUN: xc-opt %s -split-input-file -verify-diagnostics -xc-raise-scalars | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// What constants decide is a constant, through linalg ops and views.
// CHECK-LABEL: func.func @constants
func.func @constants(%x: tensor<6xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<2> : tensor<1xi64>
  %b = arith.constant dense<3> : tensor<1xi64>
  %both = tensor.concat dim(0) %a, %b : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %empty = tensor.empty() : tensor<2xi64>
  %sums = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%both : tensor<2xi64>) outs(%empty : tensor<2xi64>) {
  ^bb0(%in: i64, %out: i64):
    %sum = arith.addi %in, %in : i64
    linalg.yield %sum : i64
  } -> tensor<2xi64>
  %four = tensor.extract %sums[%c0] : tensor<2xi64>
  // CHECK: tensor.extract_slice %arg0[0] [%c4] [1]
  %size = arith.index_cast %four : i64 to index
  %y = tensor.extract_slice %x[0] [%size] [1] : tensor<6xf32> to tensor<?xf32>
  // 4 <= 4 holds, so nothing is left of it.
  // CHECK-NOT: cf.assert
  %holds = arith.cmpi sle, %four, %four : i64
  cf.assert %holds, "holds"
  return %y : tensor<?xf32>
}

// -----

// Arithmetic on sizes is of type index, and an assertion on sizes a requirement.
// CHECK-LABEL: func.func @sizes
func.func @sizes(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %c8 = arith.constant 8 : i64
  // CHECK-DAG: %[[ROWS:.*]] = tensor.dim %arg0
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %wide = arith.index_cast %rows : index to i64
  // CHECK-DAG: %[[ALL:.*]] = arith.muli %[[ROWS]], %{{.*}} : index
  %all = arith.muli %wide, %c4 : i64
  // CHECK: plan.require %{{.*}} at_most %[[ALL]], "cf.assert: eight at least"
  %isEnough = arith.cmpi sge, %all, %c8 : i64
  cf.assert %isEnough, "eight at least"
  %size = arith.index_cast %all : i64 to index
  // CHECK: tensor.empty(%[[ALL]])
  %y = tensor.empty(%size) : tensor<?xf32>
  %one = arith.constant 1.0 : f32
  %z = linalg.fill ins(%one : f32) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// What depends on data is a tensor of rank 0, which bodies read.
// CHECK-LABEL: func.func @data
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[T:.*]]: tensor<2xf32>
func.func @data(%x: tensor<4xf32>, %t: tensor<2xf32>) -> (tensor<4xf32>, tensor<3xf32>, tensor<2xf32>) {
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f32
  // CHECK: %[[ELEMENT:.*]] = linalg.generic {{.*}} iterator_types = []} outs
  // CHECK: tensor.extract %[[T]][%c1]
  %element = tensor.extract %t[%c1] : tensor<2xf32>
  // CHECK: %[[SCALED:.*]] = linalg.generic {{.*}} iterator_types = []} outs
  // CHECK: tensor.extract %[[ELEMENT]][]
  // CHECK: arith.mulf
  %scaled = arith.mulf %element, %half : f32
  // CHECK: linalg.generic {{.*}} ins(%[[X]]
  // CHECK: %[[READ:.*]] = tensor.extract %[[SCALED]][]
  // CHECK: arith.addf %{{.*}}, %[[READ]]
  %empty = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %scaled : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  // CHECK-NOT: linalg.fill
  // CHECK: linalg.generic {{.*}} ins(%[[SCALED]] : tensor<f32>)
  %init = tensor.empty() : tensor<3xf32>
  %filled = linalg.fill ins(%scaled : f32) outs(%init : tensor<3xf32>) -> tensor<3xf32>
  // CHECK: tensor.insert_slice %[[ELEMENT]] into %{{.*}}[0] [1] [1]
  // CHECK: tensor.insert_slice %[[SCALED]] into %{{.*}}[1] [1] [1]
  %pair = tensor.from_elements %element, %scaled : tensor<2xf32>
  return %y, %filled, %pair : tensor<4xf32>, tensor<3xf32>, tensor<2xf32>
}

// -----

// A slice whose place is data is a gather.
// CHECK-LABEL: func.func @slice
func.func @slice(%x: tensor<8x4xf32>, %at: tensor<i64>) -> tensor<3xf32> {
  %place = tensor.extract %at[] : tensor<i64>
  %row = arith.index_cast %place : i64 to index
  // CHECK-NOT: tensor.extract_slice
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]} outs(%{{.*}} : tensor<3xf32>)
  // CHECK: %[[J:.*]] = linalg.index 0
  // CHECK: tensor.extract %arg0[%{{.*}}, %{{.*}}] : tensor<8x4xf32>
  %y = tensor.extract_slice %x[%row, 1] [1, 3] [1, 1] : tensor<8x4xf32> to tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// In bodies, what an assertion keeps inside is moved inside.
// CHECK-LABEL: func.func @gather
// CHECK-NOT: cf.assert
func.func @gather(%x: tensor<8xf32>, %at: tensor<3xi64>) -> tensor<3xf32> {
  %empty = tensor.empty() : tensor<3xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%at : tensor<3xi64>) outs(%empty : tensor<3xf32>) {
  ^bb0(%in: i64, %out: f32):
    %c8 = arith.constant 8 : i64
    %isInside = arith.cmpi slt, %in, %c8 : i64
    cf.assert %isInside, "index must be smaller than dim size"
    %index = arith.index_cast %in : i64 to index
    %element = tensor.extract %x[%index] : tensor<8xf32>
    linalg.yield %element : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @checked_data(%at: tensor<i64>) -> tensor<i64> {
  %c8 = arith.constant 8 : i64
  %value = tensor.extract %at[] : tensor<i64>
  %isInside = arith.cmpi slt, %value, %c8 : i64
  // expected-warning @+1 {{'less than 8' is not checked: it depends on data, and a launch cannot fail half-way}}
  cf.assert %isInside, "less than 8"
  return %at : tensor<i64>
}

// -----

func.func @never(%x: tensor<4xf32>) -> tensor<4xf32> {
  %false = arith.constant false
  // expected-error @+1 {{'cf.assert' fails whatever the inputs are: 'no'}}
  cf.assert %false, "no"
  return %x : tensor<4xf32>
}

// -----

func.func @either(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %isSquare = arith.cmpi eq, %rows, %columns : index
  %isRow = arith.cmpi eq, %rows, %c1 : index
  %isEither = arith.ori %isSquare, %isRow : i1
  // expected-error @+1 {{'cf.assert' of a condition that is no comparison of sizes ('square or a row'); expected ==, <, <=, > or >= of two sizes}}
  cf.assert %isEither, "square or a row"
  return %x : tensor<?x?xf32>
}

// -----

func.func @size_of_data(%x: tensor<6xf32>, %n: tensor<i64>) -> tensor<?xf32> {
  %value = tensor.extract %n[] : tensor<i64>
  %size = arith.index_cast %value : i64 to index
  // expected-error @+1 {{operand 1 of 'tensor.extract_slice' is computed of the data of a tensor; expected sizes that constants and the sizes of inputs decide}}
  %y = tensor.extract_slice %x[0] [%size] [1] : tensor<6xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// What is put at a place of data, a choice between tensors, and a pad by an element.
// CHECK-LABEL: func.func @at_data
// CHECK-SAME: %[[X:.*]]: tensor<6xf32>, %[[U:.*]]: tensor<2xf32>, %[[I:.*]]: tensor<1xi64>
func.func @at_data(%x: tensor<6xf32>, %u: tensor<2xf32>, %i: tensor<1xi64>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %n = tensor.extract %i[%c0] : tensor<1xi64>
  %place = arith.index_cast %n : i64 to index
  // CHECK: array.dynamic_update_slice %[[X]][%{{.*}}] = %[[U]]
  %a = tensor.insert_slice %u into %x[%place] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %e = tensor.extract %u[%c0] : tensor<2xf32>
  // CHECK: %[[ELEMENT:.*]] = array.reshape %{{.*}} : tensor<f32> -> tensor<1xf32>
  // CHECK: array.dynamic_update_slice %[[X]][%{{.*}}] = %[[ELEMENT]]
  %b = tensor.insert %e into %x[%place] : tensor<6xf32>
  %isLess = arith.cmpi slt, %n, %zero : i64
  // CHECK: array.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<i1>, tensor<6xf32>, tensor<6xf32>)
  %c = arith.select %isLess, %a, %b : tensor<6xf32>
  // CHECK: %[[FILLED:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8xf32>)
  // CHECK: tensor.insert_slice %[[X]] into %[[FILLED]][2] [6] [1]
  %d = tensor.pad %x low[2] high[0] {
  ^bb0(%p: index):
    tensor.yield %e : f32
  } : tensor<6xf32> to tensor<8xf32>
  return %a, %b, %c, %d : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<8xf32>
}

// -----

// Regions are treated like functions, with what they see of outside.
// CHECK-LABEL: func.func @loop
func.func @loop(%x: tensor<4xf32>, %n: tensor<i64>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %first = tensor.extract %x[%c0] : tensor<4xf32>
  %start = tensor.from_elements %first : tensor<f32>
  %one = arith.constant dense<1> : tensor<i64>
  %zero = arith.constant dense<0> : tensor<i64>
  // CHECK: array.while
  %y:2 = array.while %zero, %start : (tensor<i64>, tensor<f32>) -> (tensor<i64>, tensor<f32>) condition {
  ^bb0(%i: tensor<i64>, %s: tensor<f32>):
    %goesOn = array.compare lt, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    array.yield %goesOn : tensor<i1>
  } body {
  // CHECK: ^bb0(%[[I:.*]]: tensor<i64>, %[[S:.*]]: tensor<f32>):
  ^bb0(%i: tensor<i64>, %s: tensor<f32>):
    // CHECK: linalg.generic
    // CHECK: tensor.extract %[[I]][]
    %k = tensor.extract %i[] : tensor<i64>
    %place = arith.index_cast %k : i64 to index
    %e = tensor.extract %x[%place] : tensor<4xf32>
    %t = tensor.extract %s[] : tensor<f32>
    %u = arith.addf %e, %t : f32
    // CHECK: arith.addf
    // CHECK: %[[NEXT:.*]] = array.add %[[I]]
    // CHECK: array.yield %[[NEXT]]
    %next = array.add %i, %one : tensor<i64>
    %sum = tensor.from_elements %u : tensor<f32>
    array.yield %next, %sum : tensor<i64>, tensor<f32>
  }
  return %y#1 : tensor<f32>
}

// -----

// The lowest number of a wider type is -infinity here, which no folder says.
// CHECK-LABEL: func.func @narrowed
func.func @narrowed(%x: tensor<4xf32>) -> tensor<5xf32> {
  // CHECK: %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
  // CHECK: tensor.yield %[[LOWEST]]
  %lowest = arith.constant -1.7976931348623157E+308 : f64
  %narrow = arith.truncf %lowest : f64 to f32
  %y = tensor.pad %x low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %narrow : f32
  } : tensor<4xf32> to tensor<5xf32>
  return %y : tensor<5xf32>
}
