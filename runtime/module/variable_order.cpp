//===- variable_order.cpp - Launches of several streams that share variables ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/variable_order.h"

#include "runtime/hal/device.h"

using namespace xc;

Status VariableOrder::create(hal::Device &device) { return device.createEvent(&event); }

Status VariableOrder::synchronize() {
  Lock lock(mutex);
  if (lastWriter)
    XCR_RETURN_IF_ERROR(lastWriter->synchronize());
  for (Ref<hal::Stream> &reader : readers)
    XCR_RETURN_IF_ERROR(reader->synchronize());
  return Status();
}

Status VariableOrder::followEarlier(hal::Stream &stream, bool writes) {
  // A wait keeps the record that it is for, so that one event serves all.
  if (lastWriter && lastWriter.get() != &stream)
    XCR_RETURN_IF_ERROR(stream.follow(*lastWriter, event));
  if (!writes)
    return Status();
  for (Ref<hal::Stream> &reader : readers)
    if (reader.get() != &stream)
      XCR_RETURN_IF_ERROR(stream.follow(*reader, event));
  return Status();
}

Status VariableOrder::launch(hal::Stream &stream, bool writes, Ref<hal::Recording> recording,
                             uint64_t arenaBytes, hal::LaunchMode mode) {
  Lock lock(mutex);
  XCR_RETURN_IF_ERROR(followEarlier(stream, writes));
  if (!writes) {
    bool isListed = false;
    for (Ref<hal::Stream> &reader : readers)
      isListed |= reader.get() == &stream;
    if (!isListed)
      XCR_RETURN_IF_ERROR(readers.push(Ref<hal::Stream>::share(&stream)));
  }
  XCR_RETURN_IF_ERROR(stream.launch(std::move(recording), arenaBytes, mode));
  if (writes) {
    if (lastWriter.get() != &stream)
      lastWriter = Ref<hal::Stream>::share(&stream);
    readers.clear();
  }
  return Status();
}
