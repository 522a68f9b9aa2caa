// RUN: xc-opt %s -verify-diagnostics -split-input-file

// expected-error @+1 {{'array.variable' op expected an initial value of 'tensor<4xf32>', got one of 'tensor<4xi32>'}}
"array.variable"() {sym_name = "w", type = tensor<4xf32>, initial_value = dense<0> : tensor<4xi32>} : () -> ()

// -----

// expected-error @+1 {{'array.variable' op expected elements or a parameter as initial value, got "zero"}}
array.variable @w : tensor<4xf32> = "zero"

// -----

// expected-error @+1 {{'array.variable' op attribute 'type' failed to satisfy constraint}}
array.variable @w : tensor<?xf32>

// -----

func.func @f() {
  // expected-error @+1 {{'array.variable.read' op expected the name of an array.variable, got @f}}
  %0 = array.variable.read @f : tensor<4xf32>
  return
}

// -----

// expected-note @+1 {{the variable is defined here}}
array.variable @w : tensor<4xf32>
func.func @f() {
  // expected-error @+1 {{'array.variable.read' op expected 'tensor<4xf32>', the type of @w, got 'tensor<5xf32>'}}
  %0 = array.variable.read @w : tensor<5xf32>
  return
}

// -----

// expected-note @+1 {{the variable is defined here}}
array.variable @w : tensor<4xf32>
func.func @f(%x: tensor<?xf32>) {
  // expected-error @+1 {{'array.variable.assign' op expected 'tensor<4xf32>', the type of @w, got 'tensor<?xf32>'}}
  array.variable.assign @w, %x : tensor<?xf32>
  return
}

// -----

// expected-error @+1 {{'func.func' op expected array.name to be a string, got 1 : i64}}
func.func private @f(tensor<4xf32> {array.name = 1})

// -----

// expected-error @+1 {{'func.func' op expected array.name to be a string, got ""}}
func.func private @f(tensor<4xf32> {array.name = ""})

// -----

// expected-error @+1 {{'func.func' op expected array.dims to be a list of strings on a ranked tensor, got 1 : i64 on 'tensor<4xf32>'}}
func.func private @f(tensor<4xf32> {array.dims = 1})

// -----

// expected-error @+1 {{'func.func' op expected array.dims to be a list of strings on a ranked tensor, got ["n"] on 'index'}}
func.func private @f(index {array.dims = ["n"]})

// -----

// expected-error @+1 {{'func.func' op expected 1 names in array.dims of 'tensor<4xf32>', got 2}}
func.func private @f(tensor<4xf32> {array.dims = ["n", "m"]})

// -----

// expected-error @+1 {{'func.func' op expected dims named "n" to be equal, got 4 and 5}}
func.func private @f(tensor<4xf32> {array.dims = ["n"]}, tensor<5xf32> {array.dims = ["n"]})

// -----

// expected-error @+1 {{'func.func' op expected array.donated to be a unit attribute of a tensor, got unit on 'index'}}
func.func private @f(index {array.donated})

// -----

// expected-error @+1 {{'func.func' op does not take argument attribute "array.alias"; known are array.name, array.dims and array.donated}}
func.func private @f(tensor<4xf32> {array.alias = 0})

// -----

// expected-error @+1 {{'func.func' op does not take result attribute "array.donated"; known are array.name, array.dims and array.alias}}
func.func private @f(tensor<4xf32>) -> (tensor<4xf32> {array.donated})

// -----

// expected-error @+1 {{'func.func' op expected array.alias to be the index of one of 1 arguments, got 1 : i64}}
func.func private @f(tensor<4xf32>) -> (tensor<4xf32> {array.alias = 1})

// -----

// expected-error @+1 {{'func.func' op expected result 0 to have the type of the argument it overwrites, got 'tensor<5xf32>' and 'tensor<4xf32>'}}
func.func private @f(tensor<4xf32>) -> (tensor<5xf32> {array.alias = 0})

// -----

// expected-error @+1 {{'func.func' op expected argument 0, which result 0 overwrites, to be array.donated}}
func.func private @f(tensor<4xf32>) -> (tensor<4xf32> {array.alias = 0})

// -----

// expected-error @+1 {{'func.func' op expected one result to overwrite argument 0, got results 0 and 1}}
func.func private @f(tensor<4xf32> {array.donated}) -> (tensor<4xf32> {array.alias = 0}, tensor<4xf32> {array.alias = 0})

// -----

// expected-error @+1 {{'func.func' op expected array.doc to be a string, got 4 : i64}}
func.func private @f(tensor<?xf32>) attributes {array.doc = 4}

// -----

// expected-error @+1 {{'func.func' op expected array.dim_range to be a dictionary, got 4 : i64}}
func.func private @f(tensor<?xf32>) attributes {array.dim_range = 4}

// -----

// expected-error @+1 {{'func.func' op expected the range of dim "n" to be [minimum, maximum, divisor], got [1, 2]}}
func.func private @f(tensor<?xf32> {array.dims = ["n"]}) attributes {array.dim_range = {n = [1, 2]}}

// -----

// expected-error @+1 {{'func.func' op expected 0 <= minimum <= maximum (or -1) and divisor >= 1 for dim "n", got [4, 2, 1]}}
func.func private @f(tensor<?xf32> {array.dims = ["n"]}) attributes {array.dim_range = {n = [4, 2, 1]}}

// -----

// expected-error @+1 {{'func.func' op expected dims named "n" within [1, 64, 8], got 12}}
func.func private @f(tensor<?xf32> {array.dims = ["n"]}, tensor<12xf32> {array.dims = ["n"]}) attributes {array.dim_range = {n = [1, 64, 8]}}

// -----

// expected-error @+1 {{'func.func' op expected a dim named "m" in array.dims of an argument or result}}
func.func private @f(tensor<?xf32> {array.dims = ["n"]}) attributes {array.dim_range = {m = [1, 2, 1]}}

// -----

// expected-error @+1 {{'func.func' op does not take attribute "array.other"}}
func.func private @f(tensor<?xf32>) attributes {array.other}

// -----

// expected-error @+1 {{'func.func' op expected array.dtype to be "i1" of i8, or "u" and the width of an integer, got "u16" of 'tensor<4xi8>'}}
func.func private @f(tensor<4xi8> {array.dtype = "u16"})

// -----

// expected-error @+1 {{'func.func' op expected array.dtype to be "i1" of i8, or "u" and the width of an integer, got "i1" of 'tensor<4xi32>'}}
func.func private @f() -> (tensor<4xi32> {array.dtype = "i1"})

// -----

// expected-error @+1 {{'array.variable' op expected array.dtype to be "i1" of i8, or "u" and the width of an integer, got unit of 'tensor<4xi8>'}}
array.variable @mask : tensor<4xi8> = dense<1> attributes {array.dtype}

// -----

func.func @f() -> tensor<4xi32> {
  // expected-error @+1 {{'array.iota' op expected array.counted to be a unit, got 1 : i64}}
  %0 = array.iota axis = 0 {array.counted = 1 : i64} : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @f(%q: tensor<2x5x8xf32>) {
  // expected-error @+1 {{'array.attention' op expected array.whole to be a unit, got false}}
  %0 = array.attention %q, %q, %q scale = 0.5 {array.whole = false} : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x5x8xf32>) {
  // expected-error @+1 {{'array.attention' op expected array.open_end to be a unit, got "yes"}}
  %0 = array.attention %q, %q, %q scale = 0.5 {array.open_end = "yes"} : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected array.first_places to be a unit, got 2 : i64}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> {array.first_places = 2 : i64} : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}
