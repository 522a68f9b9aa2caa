//===- call_api.cpp - The C API of calls ---------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/api_struct.h"
#include "runtime/module/call.h"

using namespace xc;

static Status createCall(xcr_instance_t *instance, xcr_string_view_t name,
                         const xcr_call_options_t *given, Ref<xcr_call> *out) {
  XCR_RETURN_IF_ERROR(requireArgument(instance, "instance"));
  const xcr_call_options_t defaults = XCR_CALL_OPTIONS_INIT;
  xcr_call_options_t options;
  XCR_RETURN_IF_ERROR(readOptions(given, defaults, &options));
  if (options.flags & ~static_cast<uint32_t>(XCR_CALL_PROFILE))
    return makeStatus(instance->allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "options.flags: 0x%x holds bits that are no flags", options.flags);
  XCR_RETURN_IF_ERROR(requireText(name, "function"));
  const xcr_function *function = nullptr;
  XCR_RETURN_IF_ERROR(instance->module().findFunction(name, &function));
  return xcr_call::create(*instance, *function, options.flags,
                          /*retainsInstance=*/true, out);
}

xcr_status_t xcr_call_create(xcr_instance_t *instance, xcr_string_view_t function,
                             const xcr_call_options_t *options, xcr_call_t **out_call) {
  XCR_REQUIRE(out_call);
  *out_call = nullptr;
  Ref<xcr_call> call;
  Status status = createCall(instance, function, options, &call);
  if (status.succeeded())
    *out_call = call.take();
  return status.release();
}

void xcr_call_retain(xcr_call_t *call) {
  if (call)
    call->retain();
}

void xcr_call_release(xcr_call_t *call) {
  if (call)
    call->release();
}

const xcr_function_t *xcr_call_function(const xcr_call_t *call) { return &call->function(); }

xcr_status_t xcr_call_set_input(xcr_call_t *call, uint32_t input, xcr_buffer_t *buffer) {
  Status status = requireArgument(call, "call");
  if (status.succeeded())
    status = call->setInput(input, buffer);
  return status.release();
}

xcr_status_t xcr_call_set_output(xcr_call_t *call, uint32_t output, xcr_buffer_t *buffer) {
  Status status = requireArgument(call, "call");
  if (status.succeeded())
    status = call->setOutput(output, buffer);
  return status.release();
}

xcr_buffer_t *xcr_call_input(const xcr_call_t *call, uint32_t input) { return call->input(input); }

xcr_buffer_t *xcr_call_output(const xcr_call_t *call, uint32_t output) {
  return call->output(output);
}

xcr_status_t xcr_call_query_output_shape(xcr_call_t *call, uint32_t output, int64_t *out_shape) {
  Status status = requireArgument(call, "call");
  if (status.succeeded())
    status = call->queryOutputShape(output, out_shape);
  return status.release();
}

/// The stream and the call belong to one device.
static Status checkStream(xcr_call_t *call, xcr_stream_t *stream) {
  XCR_RETURN_IF_ERROR(requireArgument(call, "call"));
  XCR_RETURN_IF_ERROR(requireArgument(stream, "stream"));
  if (&stream->device() != &call->device())
    return makeStatus(call->allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "stream: it is of device object %p (%s), the call of %p (%s)",
                      static_cast<void *>(&stream->device()), stream->device().info.uri.c_str(),
                      static_cast<void *>(&call->device()), call->device().info.uri.c_str());
  return Status();
}

xcr_status_t xcr_call_prepare(xcr_call_t *call, xcr_stream_t *stream) {
  Status status = checkStream(call, stream);
  if (status.succeeded())
    status = call->prepare(*stream);
  return status.release();
}

xcr_status_t xcr_call_launch(xcr_call_t *call, xcr_stream_t *stream) {
  Status status = checkStream(call, stream);
  if (status.succeeded())
    status = call->launch(*stream, hal::LaunchMode::Asynchronous);
  return status.release();
}

xcr_status_t xcr_call_run(xcr_call_t *call) {
  Status status = requireArgument(call, "call");
  if (status.succeeded())
    status = call->run();
  return status.release();
}

void xcr_call_get_statistics(const xcr_call_t *call, xcr_call_statistics_t *out_statistics) {
  xcr_call_statistics_t statistics = XCR_CALL_STATISTICS_INIT;
  call->statistics(&statistics);
  writeInfo(statistics, out_statistics);
}

uint32_t xcr_call_profile_count(const xcr_call_t *call) { return call->profileCount(); }

xcr_status_t xcr_call_get_profile(const xcr_call_t *call, uint32_t entry,
                                  xcr_profile_entry_t *out_entry) {
  XCR_REQUIRE(call, out_entry);
  xcr_profile_entry_t result = XCR_PROFILE_ENTRY_INIT;
  Status status = call->profile(entry, &result);
  if (status.succeeded())
    writeInfo(result, out_entry);
  return status.release();
}

//===----------------------------------------------------------------------===//
// The one-line form
//===----------------------------------------------------------------------===//

static Status runOnce(xcr_call &call, uint32_t inputCount, xcr_buffer_t *const *inputs,
                      uint32_t outputCount, xcr_buffer_t **outputs) {
  for (uint32_t i = 0; i < inputCount; ++i)
    XCR_RETURN_IF_ERROR(call.setInput(i, inputs[i]));
  for (uint32_t i = 0; i < outputCount; ++i)
    XCR_RETURN_IF_ERROR(call.setOutput(i, outputs[i]));
  XCR_RETURN_IF_ERROR(call.run());
  for (uint32_t i = 0; i < outputCount; ++i)
    if (!outputs[i])
      outputs[i] = call.takeOutput(i).take();
  return Status();
}

static Status invoke(xcr_instance_t *instance, xcr_string_view_t name, uint32_t inputCount,
                     xcr_buffer_t *const *inputs, uint32_t outputCount, xcr_buffer_t **outputs) {
  XCR_RETURN_IF_ERROR(requireArgument(instance, "instance"));
  XCR_RETURN_IF_ERROR(requireText(name, "function"));
  const xcr_function *function = nullptr;
  XCR_RETURN_IF_ERROR(instance->module().findFunction(name, &function));
  uint32_t inputsExpected = count(function->table->inputs());
  uint32_t outputsExpected = count(function->table->outputs());
  if (inputCount != inputsExpected || outputCount != outputsExpected)
    return makeStatus(instance->allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "'%s' takes %u inputs and %u outputs, got %u and %u",
                      function->table->name()->c_str(), inputsExpected, outputsExpected, inputCount,
                      outputCount);
  if (inputCount)
    XCR_RETURN_IF_ERROR(requireArgument(inputs, "inputs"));
  if (outputCount)
    XCR_RETURN_IF_ERROR(requireArgument(outputs, "outputs"));
  xcr_call *call = nullptr;
  XCR_RETURN_IF_ERROR(instance->borrowCall(*function, &call));
  Status status = runOnce(*call, inputCount, inputs, outputCount, outputs);
  // The caller's buffers are his again.
  call->unbind();
  instance->returnCall(call);
  return status;
}

xcr_status_t xcr_invoke(xcr_instance_t *instance, xcr_string_view_t function, uint32_t input_count,
                        xcr_buffer_t *const *inputs, uint32_t output_count,
                        xcr_buffer_t **outputs) {
  return invoke(instance, function, input_count, inputs, output_count, outputs).release();
}
