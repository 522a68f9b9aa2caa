//===- Result.h - A value or a message ------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tools are built without exceptions: what can fail returns an Error, or a
// Result that is a value or an Error. Messages are one sentence for the user.
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_COMMON_RESULT_H
#define XC_TOOLS_COMMON_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace xc::tools {

/// A failure's message, or nothing. Converts to true when something failed.
class [[nodiscard]] Error {
public:
  Error() = default;
  explicit Error(std::string message) : text(std::move(message)) {
    assert(!text.empty() && "a failure needs a message");
  }
  static Error success() { return Error(); }

  explicit operator bool() const { return !text.empty(); }
  const std::string &message() const { return text; }

private:
  std::string text;
};

/// A value, or the error that came instead of it.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T result) : value(std::move(result)) {}
  Result(Error failure) : failure(std::move(failure)) {
    assert(this->failure && "a result without a value needs an error");
  }

  explicit operator bool() const { return value.has_value(); }
  const Error &error() const { return failure; }
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }

private:
  std::optional<T> value;
  Error failure;
};

} // namespace xc::tools

#endif // XC_TOOLS_COMMON_RESULT_H
