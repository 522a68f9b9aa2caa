//===- ExtentEquality.h - Which extents are the same number -------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two dims that have to be equal may get their extents on different ways: set from one count, grown
// by as much, carried by a loop side by side. Extents are compared as formulas. What a loop carries
// is taken to be equal where it begins equal, until its body is known; if it then turns out not to
// be, whoever relied on it is refused.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_EXTENTEQUALITY_H
#define XC_DIALECT_ARRAY_TRANSFORMS_EXTENTEQUALITY_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace xc::array {

class ExtentEquality {
public:
  /// Under which condition: none, or that the bounds of the extents' dims are equal.
  enum Given { Nothing, EqualBounds };
  /// How an extent was made of a number: that, kept within the bound; that or the extent that the
  /// dim had before, whichever is smaller; both together, kept within the bound.
  enum class Kind { Set, Cut, Grown };

  void setOrigin(mlir::Value extent, Kind kind, mlir::Value number, mlir::Value before = {}) {
    origins[extent] = {kind, number, before};
  }
  /// `extent` is not above `bound`.
  void setLimit(mlir::Value extent, int64_t bound) { limits[extent] = bound; }
  /// The extent that `count` is, in some integer type, if it is known not to be above `bound`.
  mlir::Value getExtentWithin(mlir::Value count, int64_t bound) const;

  /// Whether both are known to hold the same number if the bounds of their dims are equal, which
  /// the meaning of `asker` asks for.
  bool areEqual(mlir::Operation *asker, mlir::Value lhs, mlir::Value rhs);

  /// What a loop carries: the values of its body, what they begin as, and what a turn makes of
  /// them.
  struct Carried {
    llvm::SmallVector<mlir::Value> arguments, inits, yielded;
  };
  /// Takes those of `arguments` to be equal that begin equal. Gives the number of uses so far.
  size_t assume(mlir::ValueRange arguments, mlir::ValueRange inits);
  /// Ends what was assumed where a turn of the loop does not keep it. An op that relied on it, of
  /// those that asked since use `first`, is an error.
  mlir::LogicalResult settle(const Carried &carried, size_t first);
  /// Those of `values` are equal that are equal among `like`.
  void follow(mlir::ValueRange values, mlir::ValueRange like);
  /// Those of `results` are equal that are equal in both branches.
  void join(mlir::ValueRange results, mlir::ValueRange first, mlir::ValueRange second);
  /// Of those carried values that always are the same number, the first.
  mlir::Value getLeader(mlir::Value carried) const { return leaders[Nothing].lookup(carried); }

private:
  struct Origin {
    Kind kind;
    mlir::Value number, before;
  };
  /// Two values of one class, which an answer rests on.
  struct Premise {
    mlir::Value lhs, rhs;
    Given given;
  };
  using Premises = llvm::SmallVector<Premise>;
  struct Use {
    mlir::Operation *asker;
    Premise premise;
  };

  bool compare(mlir::Value lhs, mlir::Value rhs, Given given, unsigned depth, Premises &premises);
  bool compareOrigins(mlir::Value lhs, mlir::Value rhs, unsigned depth, Premises &premises);
  bool compareFormulas(mlir::Value lhs, mlir::Value rhs, unsigned depth, Premises &premises);
  mlir::Value skipConversions(mlir::Value number) const;
  bool haveOneClass(const Premise &premise) const;
  void use(mlir::Operation *asker, const Premises &premises);
  using Comparison = llvm::function_ref<bool(size_t, size_t, Given, Premises &)>;
  /// Makes classes of `values`: two are in one if `compare` says so.
  void classify(mlir::ValueRange values, Comparison compare);
  /// Splits the classes of what a loop carries until each turn keeps them.
  void refine(const Carried &carried);

  llvm::DenseMap<mlir::Value, Origin> origins;
  llvm::DenseMap<mlir::Value, int64_t> limits;
  /// For each value in a class the first of the class, by what the class needs to be given.
  llvm::DenseMap<mlir::Value, mlir::Value> leaders[2];
  /// What it rests on that a value is in its class.
  llvm::DenseMap<mlir::Value, Premises> reasons;
  llvm::SmallVector<Use> uses;
};

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_EXTENTEQUALITY_H
