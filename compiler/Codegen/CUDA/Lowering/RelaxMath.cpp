//===- RelaxMath.cpp - Short forms of math, of which less is asked --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value that is rounded to 16 bits keeps 8 or 11 bits of what f32 has 24 of. Where all that
// becomes of the result of an exponential, a hyperbolic tangent or an error function plus 1 are
// such values, by way of arithmetic in f32, the instructions ex2.approx and rcp.approx do, whose
// errors are about 2^-22: four times those of the exact forms, and far below the rounding to come.
//
//   exp(x)      = ex2(x * log2(e)), which keeps denormal numbers where a bf16 may become one
//   tanh(x)     = 1 - 2 / (1 + ex2(2 x * log2(e))); near zero, where that cancels,
//                 x - x^3 / 3 + 2 x^5 / 15
//   1 + tanh(x) = 2 / (1 + ex2(-2 x * log2(e))), as in GELU: it cancels nowhere, and the factor of
//                 2 meets GELU's half
//   1 + erf(x)  = e for x < 0 and 2 - e else, where e = ex2(-x^2 * log2(e)) P(1 / (1 + p |x|)) is
//                 erfc(|x|): the form of Hastings, with a relative error of 2^-17 throughout
//   x / y       = x * rcp(y), where y is known to be neither small nor large
//
// Results that are narrowed by themselves, or after products, have short forms where sums might
// cancel what is right of them:
//
//   log(x)  = lg2(x) * log(2), and around 1, of which lg2 is an absolute number of bits off, a
//             series in x - 1; log1p likewise: relative errors are below 2^-17
//   sin(x)  = a polynomial of x - n pi, with the sign of n's last bit; cos(x) of x - (n - 1/2) pi:
//             those are below 2^-19. What is huge takes the exact form, in a branch
//
// A quotient that is not narrowed, of such a y and of an x that is neither large nor negative, is
// what div.rn computes for usual numbers, without the call that it has for others: rounded to
// nearest, but for results below 2^-100, which may be the next number. So is one of any x and a
// constant, as in a mean, whose reciprocal is a constant too: Markstein's theorem (Computation of
// elementary functions on the IBM RISC System/6000 processor, 1990) says that one step mends it.
//
// Kernels that have loads under way for what they compute next keep the calls of exact quotients,
// and roots in two exact steps: ptxas does not move loads behind a call, but behind all arithmetic,
// to save registers. Without, a step of logistic regression takes 6.2 us for 5.5 on an H200, and a
// layer norm's gradient of 8192x4096 70 us for 63.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Lowering/FloatBounds.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_RELAXMATH
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

/// Which values have no use but to be narrowed in the end.
class Narrowed {
public:
  /// Whether a number too small for f32's normal ones may be seen in a result of bf16, whose
  /// exponents are those of f32. Those of f16 end far above, so that a factor must enlarge it. What
  /// is added to a constant is lost beside it.
  bool showsDenormals(Value value) {
    auto [known, isNew] = denormals.try_emplace(value, false);
    if (!isNew)
      return known->second;
    bool shows = llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (isNarrowing(user))
        return getElementTypeOrSelf(user->getResult(0)).isBF16();
      if (isa<arith::AddFOp, arith::SubFOp>(user) &&
          llvm::any_of(user->getOperands(), isLargeConstant))
        return false;
      return enlarges(user, value) || showsDenormals(user->getResult(0));
    });
    denormals[value] = shows;
    return shows;
  }

  bool isNarrowed(Value value) {
    auto [known, isNew] = results.try_emplace(value, false);
    if (!isNew)
      return known->second;
    bool narrowed = !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
      return isNarrowing(user) || (passesOn(user) && isNarrowed(user->getResult(0)));
    });
    results[value] = narrowed;
    return narrowed;
  }

  /// Where nothing but products come before that.
  bool isNarrowedAfterProducts(Value value) {
    return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
      return isNarrowing(user) ||
             (isa<arith::MulFOp, arith::NegFOp, vector::ExtractOp, vector::FromElementsOp>(user) &&
              passesOn(user) && isNarrowedAfterProducts(user->getResult(0)));
    });
  }

private:
  static bool isLargeConstant(Value value) {
    llvm::APFloat number(0.0f);
    return matchPattern(value, m_ConstantFloat(&number)) &&
           std::abs(number.convertToDouble()) >= 0x1p-64;
  }
  /// Products with numbers of which nothing is known; those that were 16 bits wide are no larger
  /// than 2^16 where results are f16. A quotient counts as that of a sum that has its dividend.
  static bool enlarges(Operation *op, Value value) {
    if (!isa<arith::MulFOp, math::FmaOp>(op))
      return false;
    return llvm::any_of(op->getOperands().take_front(2), [&](Value factor) {
      return factor != value && !factor.getDefiningOp<arith::ExtFOp>() &&
             !matchPattern(factor, m_Constant());
    });
  }
  static bool isNarrowing(Operation *op) {
    return isa<arith::TruncFOp>(op) &&
           getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth() <= 16;
  }
  /// Arithmetic that does not enlarge a relative error by much, and moves of values.
  static bool passesOn(Operation *op) {
    if (op->getNumResults() != 1 || !getElementTypeOrSelf(op->getResult(0)).isF32())
      return false;
    return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
               arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
               arith::SelectOp, math::FmaOp, math::TanhOp, vector::BroadcastOp, vector::ExtractOp,
               vector::FromElementsOp>(op);
  }

  llvm::DenseMap<Value, bool> results, denormals;
};

/// Builds arithmetic on scalars or vectors of f32.
class FastMathBuilder {
public:
  FastMathBuilder(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), type(type) {}

  Value constant(double value) {
    TypedAttr attr = builder.getF32FloatAttr(static_cast<float>(value));
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  Value add(Value lhs, Value rhs) { return arith::AddFOp::create(builder, loc, lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return arith::MulFOp::create(builder, loc, lhs, rhs); }
  Value fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
  /// One of the approximate instructions, lane by lane; what is denormal counts as 0, unless
  /// `keepsDenormals`.
  Value approximate(StringRef instruction, Value x, bool keepsDenormals = false) {
    SmallVector<Value> lanes;
    for (int64_t lane = 0; lane < countLanes(x); ++lane) {
      auto call = LLVM::InlineAsmOp::create(
          builder, loc, builder.getF32Type(), getLane(builder, loc, x, lane),
          (instruction + (keepsDenormals ? ".approx" : ".approx.ftz") + ".f32 $0, $1;").str(),
          "=f,f", /*has_side_effects=*/false,
          /*is_align_stack=*/false, LLVM::TailCallKind::None,
          LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT),
          /*operand_attrs=*/ArrayAttr());
      lanes.push_back(call.getResult(0));
    }
    return fromLanes(builder, loc, lanes);
  }
  Value exp(Value x, bool keepsDenormals) {
    return approximate("ex2", mul(x, constant(1.4426950408889634)), keepsDenormals);
  }
  Value tanh(Value x) {
    Value power = approximate("ex2", mul(x, constant(2 * 1.4426950408889634)));
    Value gate = approximate("rcp", add(power, constant(1)));
    Value large = fma(gate, constant(-2), constant(1));
    Value square = mul(x, x);
    Value series = fma(square, constant(2.0 / 15), constant(-1.0 / 3));
    // A factor of x keeps the sign of zero; x plus something would not.
    Value small = mul(x, fma(square, series, constant(1)));
    Value magnitude = math::AbsFOp::create(builder, loc, x);
    Value isSmall =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, magnitude, constant(0.125));
    return arith::SelectOp::create(builder, loc, isSmall, small, large);
  }

  /// log(1 + distance), where `x` is 1 + distance, rounded.
  Value log(Value x, Value distance, bool mayBeDenormal) {
    Value far = mul(approximate("lg2", x, mayBeDenormal), constant(0.6931471805599453));
    Value series = constant(-1.0 / 6);
    for (double coefficient : {1.0 / 5, -1.0 / 4, 1.0 / 3, -1.0 / 2})
      series = fma(series, distance, constant(coefficient));
    // A factor keeps the sign of zero.
    Value near = mul(distance, fma(series, distance, constant(1)));
    Value isNear = less(magnitude(distance), constant(0x1p-4));
    return arith::SelectOp::create(builder, loc, isNear, near, far);
  }
  Value log(Value x) { return log(x, add(x, constant(-1)), /*mayBeDenormal=*/true); }
  Value log1p(Value x) { return log(add(x, constant(1)), x, /*mayBeDenormal=*/false); }

  /// sin(x), or cos(x), for |x| up to kHugeAngle.
  Value sinOrCos(Value x, bool isCos) {
    // 1.5 * 2^23 has an ulp of 1: the sum's low bits are the rounded number of half turns.
    Value magic = constant(0x1.8p23), factor = constant(kOverPi);
    Value sum = isCos ? add(fma(x, factor, constant(0.5)), magic) : fma(x, factor, magic);
    Value n = add(sum, constant(-0x1.8p23)), r = x;
    if (isCos)
      n = add(n, constant(-0.5));
    // The parts of pi have one sign, so that -0 keeps its own.
    for (double part : {-3.1415925025939941, -1.5099578831723193e-07, -1.078060505991553e-14})
      r = fma(n, constant(part), r);
    Value square = mul(r, r), series = constant(-0.0001854220999508694);
    for (double coefficient : {0.0083142743605918783, -0.1666585322795989, 1.0})
      series = fma(series, square, constant(coefficient));
    Value value = mul(series, r), parity = toBits(sum);
    Value sign = arith::ShLIOp::create(builder, loc, parity, integer(31));
    return arith::BitcastOp::create(
        builder, loc, type, arith::XOrIOp::create(builder, loc, toBits(value), sign).getResult());
  }
  /// Whether magnitudes are too large for that.
  Value isHuge(Value magnitude) {
    Value limit = constant(kHugeAngle);
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, magnitude, limit);
  }
  Value magnitude(Value x) { return math::AbsFOp::create(builder, loc, x); }
  /// The largest lane; one that is NaN does not count.
  Value largest(Value x) {
    if (!isa<VectorType>(x.getType()))
      return x;
    return vector::ReductionOp::create(builder, loc, vector::CombiningKind::MAXNUMF, x);
  }

  /// x * factor; the factor goes into the constants of x where it is a polynomial of two terms
  /// times something, as in GELU.
  Value scale(Value x, double factor) {
    if (auto product = x.getDefiningOp<arith::MulFOp>())
      for (auto [value, other] : {std::pair(product.getRhs(), product.getLhs()),
                                  std::pair(product.getLhs(), product.getRhs())}) {
        auto polynomial = value.getDefiningOp<math::FmaOp>();
        llvm::APFloat slope(0.0f), start(0.0f);
        if (!polynomial || !matchPattern(polynomial.getB(), m_ConstantFloat(&slope)) ||
            !matchPattern(polynomial.getC(), m_ConstantFloat(&start)))
          continue;
        return mul(fma(polynomial.getA(), constant(slope.convertToFloat() * factor),
                       constant(start.convertToFloat() * factor)),
                   other);
      }
    return mul(x, constant(factor));
  }

  /// (1 + tanh(x)) / 2.
  Value halfOnePlusTanh(Value x) {
    Value power = approximate("ex2", scale(x, -2 * 1.4426950408889634));
    return approximate("rcp", add(power, constant(1)));
  }

  Value onePlusErf(Value x) {
    constexpr double scale = 0.435, coefficients[] = {-0.15086437368651323, 0.3813111085563493,
                                                      0.012841738608186002, 0.2734522230527941,
                                                      0.23733274721742503,  0.24592568915037974};
    Value magnitude = math::AbsFOp::create(builder, loc, x);
    Value t = approximate("rcp", fma(magnitude, constant(scale), constant(1)));
    Value power = approximate("ex2", mul(mul(x, x), constant(-1.4426950408889634)));
    Value series = constant(coefficients[0]);
    for (double coefficient : ArrayRef(coefficients).drop_front())
      series = fma(series, t, constant(coefficient));
    Value tail = mul(mul(series, t), power);
    Value rest = arith::SubFOp::create(builder, loc, constant(2), tail);
    Value isNegative =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x, constant(0));
    return arith::SelectOp::create(builder, loc, isNegative, tail, rest);
  }

  Value roughQuotient(Value x, Value y) { return mul(x, approximate("rcp", y)); }

  /// Rounded to nearest: the reciprocal is mended once, and the quotient twice.
  Value quotient(Value x, Value y) {
    Value factor = approximate("rcp", y);
    Value minusY = arith::NegFOp::create(builder, loc, y);
    factor = fma(fma(minusY, factor, constant(1)), factor, factor);
    Value result = mul(x, factor);
    for (int step = 0; step < 2; ++step)
      result = fma(fma(minusY, result, x), factor, result);
    return result;
  }

  /// `x` / `divisor`, of a constant that getConstantDivisor takes, but for an error of one
  /// unit in the last place.
  Value roughQuotient(Value x, float divisor) { return mul(x, constant(1.0f / divisor)); }

  /// Rounded to nearest. The distance has its sign turned, so that -0 stays what it is; of an
  /// infinite x it is NaN, in whose place minnum puts a number that does no harm.
  Value quotient(Value x, float divisor) {
    Value rough = roughQuotient(x, divisor);
    Value minusX = arith::NegFOp::create(builder, loc, x);
    Value distance = fma(rough, constant(divisor), minusX);
    distance = arith::MinNumFOp::create(builder, loc, distance,
                                        constant(std::numeric_limits<float>::max()));
    return fma(distance, constant(-1.0f / divisor), rough);
  }

private:
  static constexpr double kOverPi = 0.31830988618379067, kHugeAngle = 0x1p16;

  Value less(Value lhs, Value rhs) {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, lhs, rhs);
  }
  Value toBits(Value x) { return arith::BitcastOp::create(builder, loc, getWordType(), x); }
  Value integer(int64_t value) {
    Type word = getWordType();
    TypedAttr attr = builder.getI32IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(word))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  Type getWordType() {
    Type word = builder.getI32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      word = vector.clone(word);
    return word;
  }

  OpBuilder &builder;
  Location loc;
  Type type;
};

/// True if neither the divisor, nor its reciprocal, nor what becomes of the dividend leaves the
/// range in which a reciprocal serves. Mending a quotient of -0 would change its sign.
bool isModerate(arith::DivFOp op) {
  constexpr double least = 0x1p-60, most = 0x1p60;
  FloatBounds dividend = getFloatBounds(op.getLhs()), divisor = getFloatBounds(op.getRhs());
  return divisor.low >= least && divisor.high <= most && dividend.low >= 0 &&
         dividend.high <= most && getElementTypeOrSelf(op.getType()).isF32();
}

/// The constant by which `op` divides f32, if its reciprocal serves for all dividends. Those of
/// powers of 2 are exact anyway, and found later.
std::optional<float> getConstantDivisor(arith::DivFOp op) {
  llvm::APFloat number(0.0f);
  if (!getElementTypeOrSelf(op.getType()).isF32() ||
      !matchPattern(op.getRhs(), m_ConstantFloat(&number)))
    return std::nullopt;
  float divisor = number.convertToFloat();
  bool hasReciprocal = divisor >= 1.0f && divisor <= 0x1p60f && !number.getExactInverse(nullptr);
  return hasReciprocal ? std::optional(divisor) : std::nullopt;
}

bool isHalf(Value value) {
  llvm::APFloat number(0.0f);
  return matchPattern(value, m_ConstantFloat(&number)) && number.isExactlyValue(0.5);
}

/// Replaces `sum` by twice `half`; where it scales half of something, by `half` times all of that.
void replaceByTwice(arith::AddFOp sum, Value half, FastMathBuilder &b) {
  for (Operation *user : llvm::make_early_inc_range(sum->getUsers())) {
    auto product = dyn_cast<arith::MulFOp>(user);
    if (!product)
      continue;
    Value other = product.getLhs() == sum.getResult() ? product.getRhs() : product.getLhs();
    auto scaled = other.getDefiningOp<arith::MulFOp>();
    if (!scaled || !(isHalf(scaled.getLhs()) || isHalf(scaled.getRhs())))
      continue;
    product.getLhsMutable().assign(half);
    product.getRhsMutable().assign(isHalf(scaled.getRhs()) ? scaled.getLhs() : scaled.getRhs());
  }
  if (!sum->use_empty())
    sum.replaceAllUsesWith(b.mul(half, b.constant(2)));
}

/// Replaces those uses of a hyperbolic tangent or an error function that add 1 to it.
void relaxSums(Operation *op) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
    auto sum = dyn_cast<arith::AddFOp>(user);
    if (!sum ||
        !(matchPattern(sum.getLhs(), m_OneFloat()) || matchPattern(sum.getRhs(), m_OneFloat())))
      continue;
    OpBuilder builder(sum);
    FastMathBuilder b(builder, sum.getLoc(), sum.getType());
    Value x = op->getOperand(0);
    if (isa<math::TanhOp>(op))
      replaceByTwice(sum, b.halfOnePlusTanh(x), b);
    else
      sum.replaceAllUsesWith(b.onePlusErf(x));
    sum.erase();
  }
}

/// Huge angles take the exact form, in a branch that is said to be unlikely.
Value relaxSinOrCos(Operation *op, OpBuilder &builder, FastMathBuilder &b) {
  Location loc = op->getLoc();
  Value x = op->getOperand(0), usual = b.sinOrCos(x, isa<math::CosOp>(op)),
        magnitude = b.magnitude(x);
  FastMathBuilder scalar(builder, loc, builder.getF32Type());
  Value isAnyHuge =
      LLVM::ExpectOp::create(builder, loc, scalar.isHuge(b.largest(magnitude)),
                             arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false)));
  auto branch = scf::IfOp::create(
      builder, loc, isAnyHuge,
      [&](OpBuilder &then, Location) {
        Value exact = then.clone(*op)->getResult(0);
        Value isHuge = FastMathBuilder(then, loc, op->getResult(0).getType()).isHuge(magnitude);
        Value chosen = arith::SelectOp::create(then, loc, isHuge, exact, usual);
        scf::YieldOp::create(then, loc, chosen);
      },
      [&](OpBuilder &otherwise, Location) { scf::YieldOp::create(otherwise, loc, usual); });
  return branch.getResult(0);
}

void relaxAlone(Operation *op) {
  OpBuilder builder(op);
  FastMathBuilder b(builder, op->getLoc(), op->getResult(0).getType());
  Value x = op->getOperand(0);
  Value result = isa<math::LogOp>(op)     ? b.log(x)
                 : isa<math::Log1pOp>(op) ? b.log1p(x)
                                          : relaxSinOrCos(op, builder, b);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

/// A quotient, and whether it is narrowed.
struct Quotient {
  arith::DivFOp op;
  bool isNarrowed;
};

struct RelaxMath final : impl::RelaxMathBase<RelaxMath> {
  void runOnOperation() override;
};

void replaceQuotient(Quotient quotient) {
  arith::DivFOp op = quotient.op;
  OpBuilder builder(op);
  FastMathBuilder b(builder, op.getLoc(), op.getType());
  auto divideBy = [&](auto divisor) {
    return quotient.isNarrowed ? b.roughQuotient(op.getLhs(), divisor)
                               : b.quotient(op.getLhs(), divisor);
  };
  std::optional<float> constant = getConstantDivisor(op);
  op.replaceAllUsesWith(constant ? divideBy(*constant) : divideBy(op.getRhs()));
  op.erase();
}

} // namespace

/// 1 / sqrt(x), each rounded, for a root that `-xc-expand-math` would approximate.
static void makeExact(math::RsqrtOp op) {
  OpBuilder builder(op);
  FastMathBuilder b(builder, op.getLoc(), op.getType());
  Value root = math::SqrtOp::create(builder, op.getLoc(), op.getOperand());
  op.replaceAllUsesWith(
      arith::DivFOp::create(builder, op.getLoc(), b.constant(1), root).getResult());
  op.erase();
}

void RelaxMath::runOnOperation() {
  bool loadsAhead = getOperation()->hasAttr(kLoadsAheadAttr);
  if (loadsAhead)
    getOperation().walk([](math::RsqrtOp op) {
      if (getElementTypeOrSelf(op.getType()).isF32())
        makeExact(op);
    });
  Narrowed narrowed;
  SmallVector<std::pair<Operation *, bool>> found; // with whether it shows denormal numbers
  SmallVector<Operation *> alone;
  SmallVector<Quotient> quotients;
  getOperation().walk([&](Operation *op) {
    if (isa<math::LogOp, math::Log1pOp, math::SinOp, math::CosOp>(op) &&
        getElementTypeOrSelf(op->getResult(0)).isF32() &&
        narrowed.isNarrowedAfterProducts(op->getResult(0)))
      alone.push_back(op);
    if (isa<math::ExpOp, math::TanhOp, math::ErfOp>(op) &&
        getElementTypeOrSelf(op->getResult(0)).isF32() && narrowed.isNarrowed(op->getResult(0)))
      found.push_back({op, narrowed.showsDenormals(op->getResult(0))});
    if (auto quotient = dyn_cast<arith::DivFOp>(op);
        quotient && !loadsAhead && (getConstantDivisor(quotient) || isModerate(quotient)))
      quotients.push_back({quotient, narrowed.isNarrowed(quotient)});
  });
  for (auto [op, showsDenormals] : found) {
    if (!isa<math::ExpOp>(op))
      relaxSums(op);
    if (op->use_empty()) {
      op->erase();
      continue;
    }
    // Near zero, where it is small itself, it needs the exact form's polynomial.
    if (isa<math::ErfOp>(op))
      continue;
    OpBuilder builder(op);
    FastMathBuilder b(builder, op->getLoc(), op->getResult(0).getType());
    Value x = op->getOperand(0);
    op->getResult(0).replaceAllUsesWith(isa<math::TanhOp>(op) ? b.tanh(x)
                                                              : b.exp(x, showsDenormals));
    op->erase();
  }
  llvm::for_each(alone, relaxAlone);
  llvm::for_each(quotients, replaceQuotient);
}

} // namespace xc::cuda
