//===- HostArray.h - A dense array in host memory -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_COMMON_HOSTARRAY_H
#define XC_TOOLS_COMMON_HOSTARRAY_H

#include "tools/common/Result.h"

#include "xcr/xcr.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace xc::tools {

using DType = xcr_dtype_t;

/// What kind of number a type holds.
enum class DTypeClass : uint8_t { None, Bool, Signed, Unsigned, Float };

inline std::string_view view(xcr_string_view_t text) { return {text.data, text.size}; }
/// "f32".
inline std::string_view dtypeName(DType dtype) { return view(xcr_dtype_name(dtype)); }
/// Every type's name, separated by ", ", for messages.
std::string knownDTypes();
DTypeClass dtypeClass(DType dtype);

/// "2x3xf32"; "f32" for rank 0.
std::string shapeString(DType dtype, const std::vector<int64_t> &dims);

/// The bytes of an array; an error where the product leaves 63 bits or a
/// dimension is negative.
Result<uint64_t> byteSize(DType dtype, const std::vector<int64_t> &dims);

/// A dense row-major array, aligned to 64 bytes. An i1 takes a byte, 0 or 1.
class HostArray {
public:
  HostArray() = default;
  /// The elements are not initialised. Fails when the memory is not there.
  static Result<HostArray> create(DType dtype, std::vector<int64_t> dims);

  DType dtype() const { return type; }
  const std::vector<int64_t> &dims() const { return shape; }
  int64_t elementCount() const { return count; }
  uint64_t sizeInBytes() const { return uint64_t(count) * xcr_dtype_size(type); }
  std::byte *data() { return bytes.get(); }
  const std::byte *data() const { return bytes.get(); }
  std::string shapeString() const { return tools::shapeString(type, shape); }

  /// The same bits under another type of equal size.
  void reinterpretAs(DType dtype);

  /// Element |index| of a float type. Exact for every type but f64's own.
  double floatAt(int64_t index) const;
  /// Element |index| of a bool or integer type; u64 keeps its bits.
  int64_t integerAt(int64_t index) const;
  /// Stores |number| into a float type, rounded to nearest even.
  void setFloat(int64_t index, double number);
  /// Stores the low bits of |number| into a bool or integer type.
  void setInteger(int64_t index, int64_t number);

private:
  struct Free {
    void operator()(std::byte *memory) const { free(memory); }
  };
  DType type = XCR_DTYPE_NONE;
  std::vector<int64_t> shape;
  int64_t count = 0;
  std::unique_ptr<std::byte[], Free> bytes;
};

/// The number that the bits of a 16- or 8-bit float stand for.
float decodeSmallFloat(DType dtype, uint16_t bits);
/// |number| rounded to nearest even; out of range gives infinity, or NaN for
/// f8E4M3, which has none.
uint16_t encodeSmallFloat(DType dtype, double number);

} // namespace xc::tools

#endif // XC_TOOLS_COMMON_HOSTARRAY_H
