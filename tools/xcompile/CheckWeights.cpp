//===- CheckWeights.cpp - Do files have a module's weights? ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime checks the same when an instance is made, and stops at the first that does not fit.
// Here all are named at once, where there is no device.
//
//===----------------------------------------------------------------------===//

#include "tools/xcompile/CheckWeights.h"

#include "compiler/Input/RegularFile.h"
#include "xcr/xcr.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>

namespace xc {

namespace {

struct Array {
  std::string type; // as in the file
  std::string shape;
};

using Arrays = llvm::StringMap<Array>;

} // namespace

static llvm::StringRef toRef(xcr_string_view_t text) { return {text.data, text.size}; }

/// The name of a type in a .safetensors file; empty where there is none.
static llvm::StringRef getTypeName(xcr_dtype_t dtype) {
  switch (dtype) {
  case XCR_DTYPE_I1:
    return "BOOL";
  case XCR_DTYPE_I8:
    return "I8";
  case XCR_DTYPE_I16:
    return "I16";
  case XCR_DTYPE_I32:
    return "I32";
  case XCR_DTYPE_I64:
    return "I64";
  case XCR_DTYPE_U8:
    return "U8";
  case XCR_DTYPE_U16:
    return "U16";
  case XCR_DTYPE_U32:
    return "U32";
  case XCR_DTYPE_U64:
    return "U64";
  case XCR_DTYPE_F16:
    return "F16";
  case XCR_DTYPE_BF16:
    return "BF16";
  case XCR_DTYPE_F32:
    return "F32";
  case XCR_DTYPE_F64:
    return "F64";
  case XCR_DTYPE_F8E4M3:
    return "F8_E4M3";
  case XCR_DTYPE_F8E5M2:
    return "F8_E5M2";
  default:
    return "";
  }
}

static std::string formatShape(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [index, size] : llvm::enumerate(shape))
    text += (index ? ", " : "") + std::to_string(size);
  return text + "]";
}

/// The arrays of a file by its header; nothing, and why, where it is no .safetensors file.
static std::optional<Arrays> readHeader(const std::string &path, std::string &problem) {
  constexpr uint64_t kPrefix = 8;
  if (isPipeOrDevice(path)) {
    problem = "cannot read '" + path + "': not a regular file";
    return std::nullopt;
  }
  auto read = [&](uint64_t size, uint64_t offset) {
    auto slice = llvm::MemoryBuffer::getFileSlice(path, size, offset);
    if (!slice)
      problem = "cannot read '" + path + "': " + slice.getError().message();
    return slice ? std::move(*slice) : nullptr;
  };
  std::unique_ptr<llvm::MemoryBuffer> prefix = read(kPrefix, 0);
  if (!prefix)
    return std::nullopt;
  uint64_t size = prefix->getBufferSize() == kPrefix
                      ? llvm::support::endian::read64le(prefix->getBufferStart())
                      : UINT64_MAX;
  constexpr uint64_t kMostHeader = 100'000'000; // as the format says
  std::unique_ptr<llvm::MemoryBuffer> header;
  if (size <= kMostHeader && !(header = read(size, kPrefix)))
    return std::nullopt;
  llvm::Expected<llvm::json::Value> json =
      llvm::json::parse(header ? header->getBuffer() : llvm::StringRef());
  const llvm::json::Object *object = json ? json->getAsObject() : nullptr;
  if (!json)
    llvm::consumeError(json.takeError());
  if (!object) {
    problem = "'" + path + "' is no .safetensors file, or it is truncated";
    return std::nullopt;
  }
  Arrays arrays;
  for (const auto &[name, value] : *object) {
    const llvm::json::Object *entry = value.getAsObject();
    const llvm::json::Array *dims = entry ? entry->getArray("shape") : nullptr;
    if (!dims || !entry->getString("dtype"))
      continue; // metadata
    llvm::SmallVector<int64_t> shape;
    for (const llvm::json::Value &dim : *dims)
      shape.push_back(dim.getAsInteger().value_or(-1));
    arrays[name] = {entry->getString("dtype")->str(), formatShape(shape)};
  }
  return arrays;
}

/// What is wrong with one parameter; empty where nothing is.
static std::string checkParameter(const xcr_data_info_t &parameter, const Arrays &arrays) {
  auto found = arrays.find(toRef(parameter.name));
  if (found == arrays.end())
    return "is not there";
  std::string type = getTypeName(parameter.dtype).str(),
              shape = formatShape({parameter.shape, parameter.rank});
  const Array &array = found->second;
  if (array.type == type && array.shape == shape)
    return "";
  return "is " + array.type + " " + array.shape + "; expected " + type + " " + shape;
}

namespace {

/// A module's tables, and what it says of its parameters.
class Parameters {
public:
  explicit Parameters(llvm::StringRef bytes);
  ~Parameters() { xcr_module_release(module); }
  Parameters(const Parameters &) = delete;
  Parameters &operator=(const Parameters &) = delete;

  /// Why there are none to look at; empty where there are.
  const std::string &getProblem() const { return problem; }
  void forEach(llvm::StringRef scope,
               llvm::function_ref<void(const xcr_data_info_t &parameter)> visit) const;

private:
  xcr_module_t *module = nullptr;
  std::string problem;
};

} // namespace

Parameters::Parameters(llvm::StringRef bytes) {
  xcr_module_options_t options = XCR_MODULE_OPTIONS_INIT;
  options.flags = XCR_MODULE_METADATA_ONLY;
  xcr_status_t status =
      xcr_module_load_memory(bytes.data(), bytes.size(), &options, nullptr, nullptr, &module);
  if (!status)
    return;
  problem = toRef(xcr_status_message(status)).str();
  xcr_status_release(status);
}

void Parameters::forEach(llvm::StringRef scope,
                         llvm::function_ref<void(const xcr_data_info_t &)> visit) const {
  xcr_module_info_t info = XCR_MODULE_INFO_INIT;
  xcr_module_get_info(module, &info);
  for (uint32_t i = 0; i < info.parameter_count; ++i) {
    xcr_data_info_t parameter = XCR_DATA_INFO_INIT;
    if (xcr_status_t status = xcr_module_get_parameter(module, i, &parameter)) {
      xcr_status_release(status);
      continue; // out of range: it is not
    }
    if (toRef(parameter.scope) == scope)
      visit(parameter);
  }
}

llvm::StringMap<std::string> getParameterTypes(llvm::StringRef bytes, llvm::StringRef scope) {
  llvm::StringMap<std::string> types;
  Parameters parameters(bytes);
  if (parameters.getProblem().empty())
    parameters.forEach(scope, [&](const xcr_data_info_t &parameter) {
      types[toRef(parameter.name)] = getTypeName(parameter.dtype).str();
    });
  return types;
}

std::string checkWeights(llvm::StringRef bytes, llvm::ArrayRef<WeightsFile> files) {
  Parameters parameters(bytes);
  if (!parameters.getProblem().empty())
    return parameters.getProblem();
  std::string problems;
  for (const WeightsFile &file : files) {
    std::string problem;
    std::optional<Arrays> arrays = readHeader(file.path, problem);
    if (!arrays)
      return problem;
    uint32_t count = 0, wrong = 0;
    std::string lines;
    parameters.forEach(file.scope, [&](const xcr_data_info_t &parameter) {
      ++count;
      if (std::string why = checkParameter(parameter, *arrays); !why.empty()) {
        lines += "\n  '" + toRef(parameter.name).str() + "' " + why;
        ++wrong;
      }
    });
    if (count == 0)
      lines = "\n  the program has no parameters of scope '" + file.scope + "'";
    if (!lines.empty())
      problems += (problems.empty() ? "" : "\n") + ("'" + file.path + "' does not fit: ") +
                  std::to_string(wrong) + " of " + std::to_string(count) + " parameters" + lines;
  }
  return problems;
}

} // namespace xc
