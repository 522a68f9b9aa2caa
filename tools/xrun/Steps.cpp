//===- Steps.cpp - A call, command by command -----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xrun/Steps.h"

#include <cctype>

namespace xc::tools {

Error Step::initialise() { return toError(xcr_call_get_command(call, ordinal, &info)); }

std::string Step::describe() const {
  if (info.kind != XCR_COMMAND_DISPATCH)
    return name();
  xcr_export_info_t entry = XCR_EXPORT_INFO_INIT;
  std::string places;
  if (!toError(xcr_module_get_export(module, info.executable, info.export_ordinal, &entry)))
    for (uint32_t i = 0; i < entry.location_count; ++i) {
      xcr_string_view_t place = {nullptr, 0};
      if (!toError(xcr_module_get_export_location(module, info.executable, info.export_ordinal, i,
                                                  &place)))
        places += (places.empty() ? "" : ", ") + toString(place);
    }
  return "kernel " + name() + " of " + (places.empty() ? toString(info.location) : places);
}

/// Type and shape of a whole input, output or variable that a copy or fill uses.
static void typeByBuffer(const xcr_call_t *call, const xcr_binding_info_t &info, DType &dtype,
                         std::vector<int64_t> &dims) {
  const xcr_buffer_t *buffer = nullptr;
  if (info.space == XCR_SPACE_INPUT)
    buffer = xcr_call_input(call, info.ordinal);
  else if (info.space == XCR_SPACE_OUTPUT)
    buffer = xcr_call_output(call, info.ordinal);
  if (!buffer)
    return;
  xcr_buffer_info_t whole = XCR_BUFFER_INFO_INIT;
  xcr_buffer_get_info(buffer, &whole);
  if (info.byte_offset != 0 || whole.byte_length != info.byte_length)
    return;
  dtype = whole.dtype;
  dims.assign(whole.shape, whole.shape + whole.rank);
}

Result<HostArray> Step::readBinding(uint32_t binding, const xcr_binding_info_t &range) const {
  DType dtype = range.dtype;
  std::vector<int64_t> dims(range.shape, range.shape + range.rank);
  if (dtype == XCR_DTYPE_NONE)
    typeByBuffer(call, range, dtype, dims);
  Result<uint64_t> size = dtype == XCR_DTYPE_NONE ? Error("no type") : byteSize(dtype, dims);
  if (!size || *size != range.byte_length) {
    // Some dims are known to the kernel only; or nothing is known.
    uint64_t element = dtype == XCR_DTYPE_NONE ? 1 : xcr_dtype_size(dtype);
    if (dtype == XCR_DTYPE_NONE || range.byte_length % element != 0) {
      dtype = XCR_DTYPE_U8;
      element = 1;
    }
    dims = {int64_t(range.byte_length / element)};
  }
  Result<HostArray> array = HostArray::create(dtype, std::move(dims));
  if (!array)
    return array;
  if (Error error = toError(
          xcr_call_read_binding(call, ordinal, binding, 0, array->data(), array->sizeInBytes())))
    return error;
  return array;
}

Result<std::vector<BoundArray>> Step::readBindings(bool areRead) const {
  std::vector<BoundArray> arrays;
  for (uint32_t i = 0; i < info.binding_count; ++i) {
    xcr_binding_info_t range = XCR_BINDING_INFO_INIT;
    if (Error error = toError(xcr_call_get_binding(call, ordinal, i, &range)))
      return error;
    if (!(areRead ? range.is_read : range.is_written))
      continue;
    Result<HostArray> array = readBinding(i, range);
    if (!array)
      return array.error();
    arrays.push_back({i, range, std::move(*array)});
  }
  return arrays;
}

Error runSteps(const Session &session, xcr_call_t *call,
               const std::vector<std::unique_ptr<Probe>> &probes) {
  uint32_t count = 0;
  if (Error error = toError(xcr_call_begin_steps(call, &count)))
    return error;
  uint32_t ordinal;
  for (uint32_t number = 0; (ordinal = xcr_call_next_step(call)) < count; ++number) {
    Step step(session.module.get(), call, ordinal, number);
    if (Error error = step.initialise())
      return error;
    for (const std::unique_ptr<Probe> &probe : probes)
      if (Error error = step.info.is_empty ? Error::success() : probe->before(step))
        return error;
    if (Error error = toError(xcr_call_step(call)))
      return Error("command " + std::to_string(ordinal) + ", " + step.describe() + ": " +
                   error.message());
    for (const std::unique_ptr<Probe> &probe : probes)
      if (Error error = step.info.is_empty ? Error::success() : probe->after(step))
        return error;
  }
  return Error::success();
}

std::string fileStem(const Step &step) {
  std::string number = std::to_string(step.number);
  std::string text =
      std::string(number.size() < 4 ? 4 - number.size() : 0, '0') + number + "-" + step.name();
  if (step.info.kind == XCR_COMMAND_DISPATCH)
    text += "-" + toString(step.info.location);
  for (char &c : text)
    if (!isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_')
      c = '.';
  return text;
}

} // namespace xc::tools
