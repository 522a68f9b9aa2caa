//===- RecognizeFunctions.cpp - Functions of one number, by their values --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GELU and SiLU are written in many ways: by erf, by a rational approximation of erfc, by tanh,
// with products in any order. So it is not the ops that are compared but the values: the expression
// is evaluated at numbers all over the range where the function bends. What agrees at all of them,
// to as many digits as constants of its element types have, is the function; of two that do, the
// nearer.
//
// The variable is a value that the expression reads twice at least. Everything else that it reads
// has to be constant.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/Recognizers.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace xc::array {

/// Expressions of more ops are none of these functions.
static constexpr unsigned kMostOps = 96;

namespace {

struct Function {
  double (*value)(double x);
  Value (*build)(Value x, ExpressionBuilder &e);
};

/// An expression of one variable, evaluated in double precision.
class Evaluator {
public:
  Evaluator(Value variable, double number) { known[variable] = number; }
  /// Nothing where a value is no number, or made of another variable.
  std::optional<double> evaluate(Value value);

private:
  std::optional<double> compute(Operation *op, ArrayRef<double> x);
  llvm::DenseMap<Value, std::optional<double>> known;
};

} // namespace

static double computeGelu(double x) { return 0.5 * x * std::erfc(-x * M_SQRT1_2); }
static double computeGeluByTanh(double x) {
  return 0.5 * x * (1 + std::tanh(M_2_SQRTPI * M_SQRT1_2 * (x + 0.044715 * x * x * x)));
}
static double computeSilu(double x) { return x / (1 + std::exp(-x)); }

static constexpr Function kFunctions[] = {
    {computeGelu, [](Value x, ExpressionBuilder &e) { return e.make<GeluOp>(x, GeluForm::Erf); }},
    {computeGeluByTanh,
     [](Value x, ExpressionBuilder &e) { return e.make<GeluOp>(x, GeluForm::Tanh); }},
    {computeSilu, [](Value x, ExpressionBuilder &e) { return e.make<SiluOp>(x); }},
};

static bool compareNumbers(CompareDirection direction, double lhs, double rhs) {
  switch (direction) {
  case CompareDirection::Eq:
    return lhs == rhs;
  case CompareDirection::Ne:
    return lhs != rhs;
  case CompareDirection::Lt:
    return lhs < rhs;
  case CompareDirection::Le:
    return lhs <= rhs;
  case CompareDirection::Gt:
    return lhs > rhs;
  case CompareDirection::Ge:
    return lhs >= rhs;
  }
  llvm_unreachable("all directions are named above");
}

std::optional<double> Evaluator::compute(Operation *op, ArrayRef<double> x) {
  using Number = std::optional<double>;
  return llvm::TypeSwitch<Operation *, Number>(op)
      .Case([&](AddOp) { return x[0] + x[1]; })
      .Case([&](SubOp) { return x[0] - x[1]; })
      .Case([&](MulOp) { return x[0] * x[1]; })
      .Case([&](DivOp) { return x[0] / x[1]; })
      .Case([&](PowOp) { return std::pow(x[0], x[1]); })
      .Case([&](MaxOp) { return std::max(x[0], x[1]); })
      .Case([&](MinOp) { return std::min(x[0], x[1]); })
      .Case([&](FmaOp) { return x[0] * x[1] + x[2]; })
      .Case([&](SelectOp) { return x[0] != 0 ? x[1] : x[2]; })
      .Case([&](ClampOp) { return std::min(std::max(x[0], x[1]), x[2]); })
      .Case([&](CompareOp compare) {
        return Number(compareNumbers(compare.getDirection(), x[0], x[1]));
      })
      .Case([&](NegOp) { return -x[0]; })
      .Case([&](AbsOp) { return std::abs(x[0]); })
      .Case([&](SquareOp) { return x[0] * x[0]; })
      .Case([&](ReciprocalOp) { return 1 / x[0]; })
      .Case([&](ExpOp) { return std::exp(x[0]); })
      .Case([&](TanhOp) { return std::tanh(x[0]); })
      .Case([&](ErfOp) { return std::erf(x[0]); })
      .Case([&](SigmoidOp) { return 1 / (1 + std::exp(-x[0])); })
      .Case([&](IsNanOp) { return Number(std::isnan(x[0])); })
      .Case([&](ConvertOp convert) {
        bool isNumber = isa<FloatType>(convert.getType().getElementType());
        return isNumber ? Number(x[0]) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<double> Evaluator::evaluate(Value value) {
  auto [place, isNew] = known.try_emplace(value, std::nullopt);
  if (!isNew)
    return place->second;
  std::optional<double> result = getSplat(value);
  Operation *op = value.getDefiningOp();
  if (!result && isa_and_nonnull<ArrayElementwiseOpInterface>(op)) {
    SmallVector<double> numbers;
    for (Value operand : op->getOperands())
      if (std::optional<double> number = evaluate(operand))
        numbers.push_back(*number);
    if (numbers.size() == op->getNumOperands())
      result = compute(op, numbers);
  }
  return known[value] = result;
}

/// Values that the expression of `root` reads twice or more, nearest first.
static SmallVector<Value> findVariables(Operation *root) {
  llvm::MapVector<Value, unsigned> reads;
  SmallVector<Operation *> worklist{root};
  for (unsigned next = 0; next < worklist.size() && next < kMostOps; ++next)
    for (Value operand : worklist[next]->getOperands()) {
      if (typeOf(operand).getShape() != typeOf(root->getResult(0)).getShape() || getSplat(operand))
        continue;
      Operation *op = operand.getDefiningOp();
      if (++reads[operand] == 1 && isa_and_nonnull<ArrayElementwiseOpInterface>(op))
        worklist.push_back(op);
    }
  SmallVector<Value> variables;
  for (auto [value, count] : reads)
    if (count > 1 && isa<FloatType>(typeOf(value).getElementType()))
      variables.push_back(value);
  return variables;
}

/// The ops between `variable` and `root`; false where something else uses them.
static bool areUsedOnlyBy(Operation *root, Value variable) {
  MatchedOps ops;
  SmallVector<Operation *> worklist{root};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty())
    for (Value operand : worklist.pop_back_val()->getOperands()) {
      Operation *op = operand.getDefiningOp();
      if (operand == variable || !op || getSplat(operand) || !seen.insert(op).second)
        continue;
      ops.add(op);
      worklist.push_back(op);
    }
  return ops.areUsedBy(root);
}

/// How far `root` is at most from `function` of `variable`, in parts of its value; nothing where it
/// is no function of that alone.
static std::optional<double> measureDistance(Operation *root, Value variable,
                                             const Function &function) {
  double worst = 0;
  for (double x = -7.3; x < 8; x += 0.61) {
    Evaluator evaluator(variable, x);
    std::optional<double> found = evaluator.evaluate(root->getResult(0));
    if (!found || std::isnan(*found))
      return std::nullopt;
    double wanted = function.value(x);
    // What is near 0 is compared with what is lost there by a sum with 1.
    worst = std::max(worst, std::abs(*found - wanted) / std::max(std::abs(wanted), 0.1));
    if (worst > 0.02)
      return worst;
  }
  return worst;
}

/// To how many digits constants of `element` make functions agree.
static double getTolerance(Type element) {
  return element.isBF16() ? 8e-3 : element.isF16() ? 2e-3 : 2e-6;
}

Value recognizeFunction(Operation *root, ExpressionBuilder &e) {
  if (!isa<MulOp, DivOp>(root) || !isa<FloatType>(typeOf(root->getResult(0)).getElementType()))
    return {};
  Type element = typeOf(root->getResult(0)).getElementType();
  for (Value variable : findVariables(root)) {
    const Function *nearest = nullptr;
    double least = getTolerance(element);
    for (const Function &function : kFunctions) {
      std::optional<double> distance = measureDistance(root, variable, function);
      if (!distance)
        break;
      if (*distance < least) {
        least = *distance;
        nearest = &function;
      }
    }
    if (nearest && areUsedOnlyBy(root, variable))
      return e.finish(nearest->build(variable, e), root->getResult(0).getType());
  }
  return {};
}

} // namespace xc::array
