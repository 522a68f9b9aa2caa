// RUN: xc-opt %s -xc-cuda-relax-math | FileCheck %s

// CHECK-LABEL: func.func @narrowed_exp
// CHECK-NOT:     math.exp
// CHECK:         llvm.inline_asm asm_dialect = att "ex2.approx.ftz.f32 $0, $1;", "=f,f"
func.func @narrowed_exp(%x: f32) -> bf16 {
  %one = arith.constant 1.0 : f32
  %y = math.exp %x : f32
  %z = arith.addf %y, %one : f32
  %n = arith.truncf %z : f32 to bf16
  return %n : bf16
}

// Lane by lane; a select takes the series near zero.
// CHECK-LABEL: func.func @narrowed_tanh
// CHECK-NOT:     math.tanh
// CHECK-COUNT-2: "ex2.approx.ftz.f32 $0, $1;"
// CHECK-COUNT-2: "rcp.approx.ftz.f32 $0, $1;"
// CHECK:         arith.select
func.func @narrowed_tanh(%x: vector<2xf32>) -> vector<2xf16> {
  %y = math.tanh %x : vector<2xf32>
  %n = arith.truncf %y : vector<2xf32> to vector<2xf16>
  return %n : vector<2xf16>
}

// No series is needed where nothing cancels.
// CHECK-LABEL: func.func @one_plus_tanh
// CHECK-NOT:     math.tanh
// CHECK:         %[[MINUS:.*]] = arith.constant -2.88539
// CHECK:         %[[EXPONENT:.*]] = arith.mulf %{{.*}}, %[[MINUS]]
// CHECK:         "ex2.approx.ftz.f32 $0, $1;", "=f,f" %[[EXPONENT]]
// CHECK:         "rcp.approx.ftz.f32 $0, $1;"
// CHECK-NOT:     arith.select
// CHECK:         arith.truncf
func.func @one_plus_tanh(%x: f32) -> bf16 {
  %one = arith.constant 1.0 : f32
  %y = math.tanh %x : f32
  %z = arith.addf %y, %one : f32
  %r = arith.mulf %z, %x : f32
  %n = arith.truncf %r : f32 to bf16
  return %n : bf16
}

// A factor goes into the constants of GELU's polynomial.
// CHECK-LABEL: func.func @one_plus_tanh_of_polynomial
// CHECK-SAME:    (%[[X:.*]]: f32)
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK:         %[[SLOPE:.*]] = arith.constant -0.721347
// CHECK:         %[[START:.*]] = arith.constant -2.16404
// CHECK:         %[[SUM:.*]] = math.fma %[[SQUARE]], %[[SLOPE]], %[[START]]
// CHECK:         %[[EXPONENT:.*]] = arith.mulf %[[SUM]], %[[X]]
// CHECK:         "ex2.approx.ftz.f32 $0, $1;", "=f,f" %[[EXPONENT]]
func.func @one_plus_tanh_of_polynomial(%x: f32) -> bf16 {
  %one = arith.constant 1.0 : f32
  %slope = arith.constant 0.25 : f32
  %start = arith.constant 0.75 : f32
  %square = arith.mulf %x, %x : f32
  %sum = math.fma %square, %slope, %start : f32
  %inner = arith.mulf %x, %sum : f32
  %y = math.tanh %inner : f32
  %z = arith.addf %y, %one : f32
  %r = arith.mulf %z, %x : f32
  %n = arith.truncf %r : f32 to bf16
  return %n : bf16
}

// The 2 of 2 / (1 + ...) and a half cancel.
// CHECK-LABEL: func.func @half_times_one_plus_tanh
// CHECK-SAME:    (%[[X:.*]]: f32)
// CHECK:         %[[HALF:.*]] = llvm.inline_asm{{.*}} "rcp.approx.ftz.f32 $0, $1;"
// CHECK:         %[[PRODUCT:.*]] = arith.mulf %[[HALF]], %[[X]]
// CHECK-NEXT:    arith.truncf %[[PRODUCT]]
func.func @half_times_one_plus_tanh(%x: f32) -> bf16 {
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %y = math.tanh %x : f32
  %z = arith.addf %y, %one : f32
  %h = arith.mulf %x, %half : f32
  %r = arith.mulf %h, %z : f32
  %n = arith.truncf %r : f32 to bf16
  return %n : bf16
}

// Another use wants all bits.
// CHECK-LABEL: func.func @stored_too
// CHECK:         math.exp
func.func @stored_too(%x: f32, %m: memref<1xf32>) -> bf16 {
  %c0 = arith.constant 0 : index
  %y = math.exp %x : f32
  memref.store %y, %m[%c0] : memref<1xf32>
  %n = arith.truncf %y : f32 to bf16
  return %n : bf16
}

// A sum over many of them leaves the loop in f32.
// CHECK-LABEL: func.func @carried
// CHECK:         math.exp
func.func @carried(%x: f32, %n: index) -> bf16 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
    %y = math.exp %x : f32
    %t = arith.addf %s, %y : f32
    scf.yield %t : f32
  }
  %r = arith.truncf %sum : f32 to bf16
  return %r : bf16
}

// f64 has no such instructions.
// CHECK-LABEL: func.func @double
// CHECK:         math.exp
func.func @double(%x: f64) -> bf16 {
  %y = math.exp %x : f64
  %n = arith.truncf %y : f64 to bf16
  return %n : bf16
}

// As in GELU: the tail by an exponential and a quotient, on either side of zero.
// CHECK-LABEL: func.func @one_plus_erf
// CHECK-NOT:     math.erf
// CHECK:         "rcp.approx.ftz.f32 $0, $1;"
// CHECK:         "ex2.approx.ftz.f32 $0, $1;"
// CHECK-COUNT-5: math.fma
// CHECK:         %[[TAIL:.*]] = arith.mulf
// CHECK:         %[[REST:.*]] = arith.subf %{{.*}}, %{{.*}} : f32
// CHECK:         arith.select %{{.*}}, %{{.*}}, %[[REST]]
// CHECK:         arith.truncf
func.func @one_plus_erf(%x: f32) -> bf16 {
  %one = arith.constant 1.0 : f32
  %y = math.erf %x : f32
  %z = arith.addf %y, %one : f32
  %r = arith.mulf %z, %x : f32
  %n = arith.truncf %r : f32 to bf16
  return %n : bf16
}

// CHECK-LABEL: func.func @erf_alone
// CHECK:         math.erf
func.func @erf_alone(%x: f32) -> bf16 {
  %y = math.erf %x : f32
  %n = arith.truncf %y : f32 to bf16
  return %n : bf16
}

// What bf16 shows of an exponential keeps denormals; beside a constant, or in f16, none would be seen.
// CHECK-LABEL: func.func @denormal_exp
// CHECK:         "ex2.approx.f32 $0, $1;"
// CHECK:         arith.mulf
func.func @denormal_exp(%x: f32, %f: f32) -> bf16 {
  %y = math.exp %x : f32
  %z = arith.mulf %y, %f : f32
  %n = arith.truncf %z : f32 to bf16
  return %n : bf16
}

// CHECK-LABEL: func.func @half_exp
// CHECK:         "ex2.approx.ftz.f32 $0, $1;"
func.func @half_exp(%x: f32) -> f16 {
  %y = math.exp %x : f32
  %n = arith.truncf %y : f32 to f16
  return %n : f16
}

// CHECK-LABEL: func.func @exp_in_sigmoid
// CHECK:         "ex2.approx.ftz.f32 $0, $1;"
func.func @exp_in_sigmoid(%x: vector<2xf32>) -> vector<2xbf16> {
  %one = arith.constant dense<1.0> : vector<2xf32>
  %m = arith.negf %x : vector<2xf32>
  %y = math.exp %m : vector<2xf32>
  %z = arith.addf %y, %one : vector<2xf32>
  %q = arith.divf %one, %z : vector<2xf32>
  %n = arith.truncf %q : vector<2xf32> to vector<2xbf16>
  return %n : vector<2xbf16>
}

// A factor of which nothing is known may lift such a number into f16's range.
// CHECK-LABEL: func.func @half_exp_times
// CHECK:         "ex2.approx.f32 $0, $1;"
func.func @half_exp_times(%x: f32, %f: f32) -> f16 {
  %y = math.exp %x : f32
  %z = arith.mulf %y, %f : f32
  %n = arith.truncf %z : f32 to f16
  return %n : f16
}

// Each value is looked at once, though squares reach the last one in 2^40 ways.
// CHECK-LABEL: func.func @squares
// CHECK:         "ex2.approx.ftz.f32 $0, $1;"
func.func @squares(%x: f32) -> f16 {
  %v0 = math.exp %x : f32
  %v1 = arith.mulf %v0, %v0 : f32
  %v2 = arith.mulf %v1, %v1 : f32
  %v3 = arith.mulf %v2, %v2 : f32
  %v4 = arith.mulf %v3, %v3 : f32
  %v5 = arith.mulf %v4, %v4 : f32
  %v6 = arith.mulf %v5, %v5 : f32
  %v7 = arith.mulf %v6, %v6 : f32
  %v8 = arith.mulf %v7, %v7 : f32
  %v9 = arith.mulf %v8, %v8 : f32
  %v10 = arith.mulf %v9, %v9 : f32
  %v11 = arith.mulf %v10, %v10 : f32
  %v12 = arith.mulf %v11, %v11 : f32
  %v13 = arith.mulf %v12, %v12 : f32
  %v14 = arith.mulf %v13, %v13 : f32
  %v15 = arith.mulf %v14, %v14 : f32
  %v16 = arith.mulf %v15, %v15 : f32
  %v17 = arith.mulf %v16, %v16 : f32
  %v18 = arith.mulf %v17, %v17 : f32
  %v19 = arith.mulf %v18, %v18 : f32
  %v20 = arith.mulf %v19, %v19 : f32
  %v21 = arith.mulf %v20, %v20 : f32
  %v22 = arith.mulf %v21, %v21 : f32
  %v23 = arith.mulf %v22, %v22 : f32
  %v24 = arith.mulf %v23, %v23 : f32
  %v25 = arith.mulf %v24, %v24 : f32
  %v26 = arith.mulf %v25, %v25 : f32
  %v27 = arith.mulf %v26, %v26 : f32
  %v28 = arith.mulf %v27, %v27 : f32
  %v29 = arith.mulf %v28, %v28 : f32
  %v30 = arith.mulf %v29, %v29 : f32
  %v31 = arith.mulf %v30, %v30 : f32
  %v32 = arith.mulf %v31, %v31 : f32
  %v33 = arith.mulf %v32, %v32 : f32
  %v34 = arith.mulf %v33, %v33 : f32
  %v35 = arith.mulf %v34, %v34 : f32
  %v36 = arith.mulf %v35, %v35 : f32
  %v37 = arith.mulf %v36, %v36 : f32
  %v38 = arith.mulf %v37, %v37 : f32
  %v39 = arith.mulf %v38, %v38 : f32
  %v40 = arith.mulf %v39, %v39 : f32
  %n = arith.truncf %v40 : f32 to f16
  return %n : f16
}

// A sigmoid's quotient: the divisor lies between 1 and 2. Narrowed it is a product.
// CHECK-LABEL: func.func @narrowed_sigmoid
// CHECK-NOT:     arith.divf
// CHECK:         %[[RECIPROCAL:.*]] = llvm.inline_asm {{.*}} "rcp.approx.ftz.f32 $0, $1;"
// CHECK:         %[[QUOTIENT:.*]] = arith.mulf %{{.*}}, %[[RECIPROCAL]]
// CHECK-NEXT:    arith.truncf %[[QUOTIENT]]
func.func @narrowed_sigmoid(%x: f32) -> bf16 {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %a = math.absf %x : f32
  %m = arith.negf %a : f32
  %e = math.exp %m : f32
  %p = arith.cmpf oge, %x, %zero : f32
  %n = arith.select %p, %one, %e : f32
  %d = arith.addf %e, %one : f32
  %q = arith.divf %n, %d : f32
  %t = arith.truncf %q : f32 to bf16
  return %t : bf16
}

// Otherwise it is rounded as div.rn rounds it.
// CHECK-LABEL: func.func @sigmoid
// CHECK-SAME:    (%[[X:.*]]: vector<2xf32>)
// CHECK:         %[[N:.*]] = arith.select
// CHECK:         %[[D:.*]] = arith.addf
// CHECK-NOT:     arith.divf
// CHECK-COUNT-2: "rcp.approx.ftz.f32 $0, $1;"
// CHECK:         %[[ROUGH:.*]] = vector.from_elements
// CHECK:         %[[MINUS:.*]] = arith.negf %[[D]]
// CHECK:         %[[ERROR:.*]] = math.fma %[[MINUS]], %[[ROUGH]]
// CHECK-NEXT:    %[[R:.*]] = math.fma %[[ERROR]], %[[ROUGH]], %[[ROUGH]]
// CHECK-NEXT:    %[[Q:.*]] = arith.mulf %[[N]], %[[R]]
// CHECK-NEXT:    %[[REST:.*]] = math.fma %[[MINUS]], %[[Q]], %[[N]]
// CHECK-NEXT:    %[[Q1:.*]] = math.fma %[[REST]], %[[R]], %[[Q]]
// CHECK-NEXT:    %[[REST1:.*]] = math.fma %[[MINUS]], %[[Q1]], %[[N]]
// CHECK-NEXT:    %[[Q2:.*]] = math.fma %[[REST1]], %[[R]], %[[Q1]]
// CHECK-NEXT:    return %[[Q2]]
func.func @sigmoid(%x: vector<2xf32>) -> vector<2xf32> {
  %one = arith.constant dense<1.0> : vector<2xf32>
  %zero = arith.constant dense<0.0> : vector<2xf32>
  %a = math.absf %x : vector<2xf32>
  %m = arith.negf %a : vector<2xf32>
  %e = math.exp %m : vector<2xf32>
  %p = arith.cmpf oge, %x, %zero : vector<2xf32>
  %n = arith.select %p, %one, %e : vector<2xi1>, vector<2xf32>
  %d = arith.addf %e, %one : vector<2xf32>
  %q = arith.divf %n, %d : vector<2xf32>
  return %q : vector<2xf32>
}

// Divisors of which nothing is known, that may be large, and a dividend that may be -0.
// CHECK-LABEL: func.func @other_quotients
// CHECK-COUNT-3: arith.divf
func.func @other_quotients(%x: f32, %y: f32) -> (f32, f32, f32) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %a = arith.divf %one, %y : f32
  %e = math.exp %y : f32
  %d = arith.addf %e, %one : f32
  %b = arith.divf %one, %d : f32
  %c = arith.divf %x, %two : f32
  return %a, %b, %c : f32, f32, f32
}

// ptxas moves no loads behind the calls that exact quotients are.
// CHECK-LABEL: func.func @loads_ahead
// CHECK:         arith.divf
// CHECK:         %[[ROOT:.*]] = math.sqrt
// CHECK:         arith.divf %{{.*}}, %[[ROOT]]
// CHECK-NOT:     math.rsqrt
func.func @loads_ahead(%x: f32) -> (f32, f32) attributes {cuda.loads_ahead} {
  %one = arith.constant 1.0 : f32
  %a = math.absf %x : f32
  %m = arith.negf %a : f32
  %e = math.exp %m : f32
  %d = arith.addf %e, %one : f32
  %q = arith.divf %one, %d : f32
  %r = math.rsqrt %x : f32
  return %q, %r : f32, f32
}

// lg2 is off by a number of absolute bits around 1, where a series takes its place.
// CHECK-LABEL: func.func @narrowed_log
// CHECK-NOT:     math.log
// CHECK:         "lg2.approx.f32 $0, $1;"
// CHECK:         arith.select
func.func @narrowed_log(%x: f32) -> bf16 {
  %y = math.log %x : f32
  %n = arith.truncf %y : f32 to bf16
  return %n : bf16
}

// CHECK-LABEL: func.func @narrowed_log1p
// CHECK-NOT:     math.log1p
// CHECK-COUNT-2: "lg2.approx.ftz.f32 $0, $1;"
// CHECK:         arith.select
func.func @narrowed_log1p(%x: vector<2xf32>) -> vector<2xf16> {
  %y = math.log1p %x : vector<2xf32>
  %n = arith.truncf %y : vector<2xf32> to vector<2xf16>
  return %n : vector<2xf16>
}

// A sum may cancel what is right of it.
// CHECK-LABEL: func.func @log_in_sum
// CHECK:         math.log
func.func @log_in_sum(%x: f32) -> bf16 {
  %y = math.log %x : f32
  %z = arith.subf %x, %y : f32
  %n = arith.truncf %z : f32 to bf16
  return %n : bf16
}

// The exact form is left to huge angles.
// CHECK-LABEL: func.func @narrowed_sin
// CHECK-NOT:     math.sin
// CHECK:         %[[ANY:.*]] = llvm.intr.expect %{{.*}}, %false
// CHECK:         scf.if %[[ANY]]
// CHECK:           %[[EXACT:.*]] = math.sin
// CHECK:           arith.select %{{.*}}, %[[EXACT]]
// CHECK:         else
// CHECK:         arith.truncf
func.func @narrowed_sin(%x: vector<4xf32>) -> vector<4xbf16> {
  %y = math.sin %x : vector<4xf32>
  %n = arith.truncf %y : vector<4xf32> to vector<4xbf16>
  return %n : vector<4xbf16>
}

// CHECK-LABEL: func.func @narrowed_cos
// CHECK:         scf.if
// CHECK:           math.cos
func.func @narrowed_cos(%x: f32) -> f16 {
  %y = math.cos %x : f32
  %n = arith.truncf %y : f32 to f16
  return %n : f16
}

// The reciprocal of a constant is a constant: the quotient is mended once, and what is infinite does no harm.
// CHECK-LABEL: func.func @constant_divisor
// CHECK-SAME:    (%[[X:.*]]: vector<2xf32>)
// CHECK-NOT:     arith.divf
// CHECK:         %[[RECIPROCAL:.*]] = arith.constant dense<0.111111112> : vector<2xf32>
// CHECK:         %[[ROUGH:.*]] = arith.mulf %[[X]], %[[RECIPROCAL]]
// CHECK:         %[[MINUS:.*]] = arith.negf %[[X]]
// CHECK:         %[[NINE:.*]] = arith.constant dense<9.000000e+00>
// CHECK:         %[[DISTANCE:.*]] = math.fma %[[ROUGH]], %[[NINE]], %[[MINUS]]
// CHECK:         %[[MOST:.*]] = arith.constant dense<3.40282347E+38>
// CHECK:         %[[FINITE:.*]] = arith.minnumf %[[DISTANCE]], %[[MOST]]
// CHECK:         %[[TURNED:.*]] = arith.constant dense<-0.111111112>
// CHECK:         math.fma %[[FINITE]], %[[TURNED]], %[[ROUGH]]
func.func @constant_divisor(%x: vector<2xf32>) -> vector<2xf32> {
  %nine = arith.constant dense<9.0> : vector<2xf32>
  %y = arith.divf %x, %nine : vector<2xf32>
  return %y : vector<2xf32>
}

// CHECK-LABEL: func.func @narrowed_constant_divisor
// CHECK-NOT:     arith.divf
// CHECK:         arith.mulf
// CHECK-NOT:     math.fma
// CHECK:         arith.truncf
func.func @narrowed_constant_divisor(%x: f32) -> bf16 {
  %nine = arith.constant 9.0 : f32
  %y = arith.divf %x, %nine : f32
  %n = arith.truncf %y : f32 to bf16
  return %n : bf16
}

// Powers of 2 divide exactly as they are; what is less than 1, or negative, might overflow or lose a sign.
// CHECK-LABEL: func.func @other_constant_divisors
// CHECK-COUNT-3: arith.divf
func.func @other_constant_divisors(%x: f32) -> (f32, f32, f32) {
  %eight = arith.constant 8.0 : f32
  %small = arith.constant 0.3 : f32
  %negative = arith.constant -9.0 : f32
  %a = arith.divf %x, %eight : f32
  %b = arith.divf %x, %small : f32
  %c = arith.divf %x, %negative : f32
  return %a, %b, %c : f32, f32, f32
}
