//===- Session.cpp - Opens devices and modules for the tools ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Session.h"

#include "tools/common/Table.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace xc::tools {

Error toError(xcr_status_t status) {
  if (xcr_is_ok(status))
    return Error::success();
  std::string message = toString(xcr_status_message(status));
  if (message.empty())
    message = toString(xcr_status_code_name(xcr_status_code(status)));
  xcr_status_release(status);
  return Error(std::move(message));
}

Error flushOutput() {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return Error::success();
  return Error(std::string("cannot write to standard output: ") + strerror(errno));
}

//===----------------------------------------------------------------------===//
// Devices, modules, functions
//===----------------------------------------------------------------------===//

Result<Session> openSession(const std::string &modulePath, const SessionOptions &options) {
  std::vector<xcr_parameter_source_t> sources;
  for (const std::string &source : options.parameters) {
    size_t equals = source.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error("expected --parameters=SCOPE=PATH, got '" + source + "'");
    std::string_view text = source;
    sources.push_back({toView(text.substr(0, equals)), toView(text.substr(equals + 1))});
  }
  Session session;
  if (Error error =
          toError(xcr_module_load_file(toView(modulePath), nullptr, session.module.out())))
    return error;
  if (Error error =
          toError(xcr_device_create(toView(options.device), nullptr, session.device.out())))
    return error;
  xcr_instance_options_t instanceOptions = XCR_INSTANCE_OPTIONS_INIT;
  instanceOptions.sources = sources.data();
  instanceOptions.source_count = sources.size();
  if (Error error = toError(xcr_instance_create(session.device.get(), session.module.get(),
                                                &instanceOptions, session.instance.out())))
    return Error(modulePath + ": " + error.message());
  return session;
}

std::string deviceUri(const xcr_device_t *device) {
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  xcr_device_get_info(device, &info);
  return toString(info.uri);
}

std::string describeDevice(const xcr_device_t *device) {
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  xcr_device_get_info(device, &info);
  std::string text = toString(info.uri);
  if (info.description.size)
    text += ": " + toString(info.description);
  return text;
}

static void addToJson(JsonWriter &json, const xcr_device_info_t &info) {
  json.beginObject();
  json.field("uri", view(info.uri));
  json.field("name", view(info.name));
  json.field("arch", view(info.arch));
  json.field("description", view(info.description));
  json.field("total_memory", uint64_t(info.total_memory));
  json.field("processor_count", info.processor_count);
  json.field("driver_version", info.driver_version);
  json.endObject();
}

Result<std::string> listDevices(JsonWriter *json) {
  xcr_device_list_t *list = nullptr;
  if (Error error = toError(xcr_device_list_create(nullptr, &list)))
    return error;
  Table devices({"device", "name", "arch", ">memory"});
  if (json) {
    json->beginObject();
    json->key("devices");
    json->beginArray();
  }
  for (size_t i = 0; i < xcr_device_list_device_count(list); ++i) {
    xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
    if (toError(xcr_device_list_get_device(list, i, &info)))
      continue;
    devices.addRow({toString(info.uri), toString(info.name), toString(info.arch),
                    formatBytes(info.total_memory)});
    if (json)
      addToJson(*json, info);
  }
  std::string text = devices.str();
  if (json) {
    json->endArray();
    json->key("drivers");
    json->beginArray();
  }
  for (size_t i = 0; i < xcr_device_list_driver_count(list); ++i) {
    xcr_driver_info_t info = XCR_DRIVER_INFO_INIT;
    if (toError(xcr_device_list_get_driver(list, i, &info)))
      continue;
    if (!info.available)
      text += "no " + toString(info.name) + " device: " + toString(info.reason) + "\n";
    if (json) {
      json->beginObject();
      json->field("name", view(info.name));
      json->field("available", info.available);
      json->field("reason", view(info.reason));
      json->endObject();
    }
  }
  if (json) {
    json->endArray();
    json->endObject();
  }
  xcr_device_list_release(list);
  return text;
}

Result<const xcr_function_t *> selectFunction(const xcr_module_t *module, const std::string &name) {
  const xcr_function_t *function = nullptr;
  xcr_module_info_t info = XCR_MODULE_INFO_INIT;
  xcr_module_get_info(module, &info);
  if (name.empty() && info.function_count == 1) {
    if (Error error = toError(xcr_module_get_function(module, 0, &function)))
      return error;
    return function;
  }
  std::string wanted = name.empty() ? "main" : name;
  if (Error error = toError(xcr_module_find_function(module, toView(wanted), &function)))
    return error;
  return function;
}

//===----------------------------------------------------------------------===//
// Signatures and inputs
//===----------------------------------------------------------------------===//

/// "3", "[rows]"; "?" for a dim that is a formula.
static std::string dimText(const xcr_function_t *function, const xcr_dim_t &dim) {
  if (dim.value >= 0)
    return std::to_string(dim.value);
  xcr_symbol_info_t symbol = XCR_SYMBOL_INFO_INIT;
  if (dim.symbol < 0 || toError(xcr_function_get_symbol(function, uint32_t(dim.symbol), &symbol)) ||
      !symbol.name.size)
    return "?";
  return "[" + toString(symbol.name) + "]";
}

static std::string signature(const xcr_function_t *function, const xcr_argument_info_t &info) {
  std::string text;
  for (uint32_t d = 0; d < info.rank; ++d)
    text += dimText(function, info.dims[d]) + "x";
  text += dtypeName(info.dtype);
  if (info.name.size)
    text += " " + toString(info.name);
  return text;
}

/// "[rows]x3xf32 x" of input |index|; symbolic dims go by their names.
static std::string inputSignature(const xcr_function_t *function, uint32_t index) {
  xcr_argument_info_t info = XCR_ARGUMENT_INFO_INIT;
  if (toError(xcr_function_get_input(function, index, &info)))
    return "?";
  return signature(function, info);
}

static std::string outputSignature(const xcr_function_t *function, uint32_t index) {
  xcr_argument_info_t info = XCR_ARGUMENT_INFO_INIT;
  if (toError(xcr_function_get_output(function, index, &info)))
    return "?";
  return signature(function, info);
}

using SignatureOf = std::string(const xcr_function_t *, uint32_t);

/// "2 inputs: 3xf32 x, f32 y"; of many, the first ones.
static std::string listSignatures(const xcr_function_t *function, uint32_t count, const char *kind,
                                  SignatureOf *signatureOf) {
  constexpr uint32_t kMost = 8;
  std::string text = std::to_string(count) + " " + kind + (count == 1 ? "" : "s");
  for (uint32_t i = 0; i < std::min(count, kMost); ++i)
    text += (i ? ", " : ": ") + signatureOf(function, i);
  if (count > kMost)
    text += " and " + std::to_string(count - kMost) + " more";
  return text;
}

static std::string listInputs(const xcr_function_t *function) {
  xcr_function_info_t info = XCR_FUNCTION_INFO_INIT;
  xcr_function_get_info(function, &info);
  return "'" + toString(info.name) + "' takes " +
         listSignatures(function, info.input_count, "input", inputSignature);
}

static std::string listOutputs(const xcr_function_t *function) {
  xcr_function_info_t info = XCR_FUNCTION_INFO_INIT;
  xcr_function_get_info(function, &info);
  return "'" + toString(info.name) + "' gives " +
         listSignatures(function, info.output_count, "output", outputSignature);
}

/// The argument that |find| finds by |name|; without a name, the first that is not taken.
static Result<uint32_t> takeArgument(const xcr_function_t *function, const std::string &name,
                                     const std::string &kind,
                                     decltype(xcr_function_find_input) *find,
                                     std::string (*list)(const xcr_function_t *),
                                     std::vector<bool> &taken) {
  uint32_t place = uint32_t(std::find(taken.begin(), taken.end(), false) - taken.begin());
  if (!name.empty())
    if (Error error = toError(find(function, toView(name), &place)))
      return error;
  if (place == taken.size())
    return Error("too many " + kind + "s; " + list(function));
  if (taken[place])
    return Error(kind + " '" + name + "' is given twice");
  taken[place] = true;
  return place;
}

static Result<uint32_t> takeInput(const xcr_function_t *function, const std::string &name,
                                  std::vector<bool> &taken) {
  return takeArgument(function, name, "input", xcr_function_find_input, listInputs, taken);
}

Result<uint32_t> takeOutput(const xcr_function_t *function, const std::string &name,
                            std::vector<bool> &taken) {
  return takeArgument(function, name, "output", xcr_function_find_output, listOutputs, taken);
}

/// Random numbers for an input nobody gave, if its shape says how many.
static Result<HostArray> defaultInput(const xcr_function_t *function,
                                      const xcr_argument_info_t &info, uint32_t index) {
  std::vector<int64_t> dims;
  for (uint32_t d = 0; d < info.rank; ++d)
    dims.push_back(info.dims[d].value);
  for (int64_t dim : dims)
    if (dim < 0)
      return Error("input " + std::to_string(index) + " (" + inputSignature(function, index) +
                   ") has a symbolic dimension: give it with --input");
  return makeRandomArray(info.dtype, std::move(dims), index + 1);
}

Result<std::vector<HostArray>> makeInputs(const xcr_function_t *function,
                                          const std::vector<std::string> &specs,
                                          bool randomByDefault) {
  xcr_function_info_t info = XCR_FUNCTION_INFO_INIT;
  xcr_function_get_info(function, &info);
  std::vector<HostArray> arrays(info.input_count);
  std::vector<bool> taken(info.input_count);
  for (const std::string &text : specs) {
    Result<InputSpec> spec = parseInputSpec(text);
    if (!spec)
      return Error("--input=" + text + ": " + spec.error().message());
    Result<uint32_t> place = takeInput(function, spec->name, taken);
    if (!place)
      return Error("--input=" + text + ": " + place.error().message());
    Result<HostArray> array = makeArray(*spec);
    if (!array)
      return Error("--input=" + text + ": " + array.error().message());
    arrays[*place] = std::move(*array);
  }
  for (uint32_t i = 0; i < info.input_count; ++i) {
    xcr_argument_info_t argument = XCR_ARGUMENT_INFO_INIT;
    if (Error error = toError(xcr_function_get_input(function, i, &argument)))
      return error;
    if (taken[i]) {
      adoptType(arrays[i], argument.dtype);
      continue;
    }
    if (!randomByDefault)
      return Error("input " + std::to_string(i) + " (" + inputSignature(function, i) +
                   ") is missing; " + listInputs(function));
    Result<HostArray> array = defaultInput(function, argument, i);
    if (!array)
      return array.error();
    arrays[i] = std::move(*array);
  }
  return arrays;
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

Result<BufferRef> upload(xcr_device_t *device, const HostArray &array) {
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  options.dtype = array.dtype();
  options.rank = uint32_t(array.dims().size());
  options.shape = array.dims().data();
  BufferRef buffer;
  if (Error error = toError(xcr_buffer_create_from_host(device, &options, array.data(),
                                                        array.sizeInBytes(), buffer.out())))
    return error;
  return buffer;
}

Result<HostArray> download(xcr_buffer_t *buffer) {
  xcr_buffer_info_t info = XCR_BUFFER_INFO_INIT;
  xcr_buffer_get_info(buffer, &info);
  Result<HostArray> array =
      HostArray::create(info.dtype, std::vector<int64_t>(info.shape, info.shape + info.rank));
  if (!array)
    return array;
  if (Error error = toError(xcr_buffer_read(buffer, 0, array->data(), array->sizeInBytes())))
    return error;
  return array;
}

} // namespace xc::tools
