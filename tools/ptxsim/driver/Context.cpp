//===- Context.cpp - Contexts, and the calling thread's stack of them -----===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"

#include "Driver.h"

#include <algorithm>

namespace xc::cudasim {

std::vector<CUcontext> &contextStack() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

Context::Context(Device &device, unsigned contextFlags, bool primary)
    : flags(contextFlags), device_(device), primary_(primary) {}

std::shared_ptr<Context> Context::create(Device &device, unsigned flags, bool primary) {
  std::shared_ptr<Context> context(new Context(device, flags, primary));
  context->handle_ = driver().contexts.insert(context);
  context->legacy_ = context->createStream(CU_STREAM_DEFAULT, 0);
  return context;
}

void Context::fail(CUresult error) {
  CUresult none = CUDA_SUCCESS;
  sticky_.compare_exchange_strong(none, error);
  device_.lose(error);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

std::shared_ptr<Stream> Context::createStream(unsigned streamFlags, int priority) {
  auto stream = std::make_shared<Stream>(shared_from_this(), streamFlags, priority);
  std::lock_guard<std::mutex> lock(submitMutex_);
  streams_.push_back(stream);
  return stream;
}

void Context::releaseStream(const std::shared_ptr<Stream> &stream) {
  stream->close();
  if (!stream->isIdle())
    return; // stays in the list, since the default stream waits for it
  std::lock_guard<std::mutex> lock(submitMutex_);
  streams_.erase(std::remove(streams_.begin(), streams_.end(), stream), streams_.end());
}

std::shared_ptr<Stream> Context::findStream(CUstream handle) {
  if (!handle || handle == cuStreamLegacy()) {
    std::lock_guard<std::mutex> lock(submitMutex_);
    return legacy_;
  }
  if (handle == cuStreamPerThread()) {
    {
      std::lock_guard<std::mutex> lock(submitMutex_);
      auto found = perThread_.find(std::this_thread::get_id());
      if (found != perThread_.end())
        return found->second;
    }
    std::shared_ptr<Stream> stream = createStream(CU_STREAM_DEFAULT, 0);
    std::lock_guard<std::mutex> lock(submitMutex_);
    perThread_[std::this_thread::get_id()] = stream;
    return stream;
  }
  std::shared_ptr<Stream> stream = driver().streams.find(handle);
  return stream && &stream->context() == this ? stream : nullptr;
}

CompletionRef Context::submit(const std::shared_ptr<Stream> &stream, Stream::Work work,
                              std::vector<CompletionRef> waits) {
  std::lock_guard<std::mutex> lock(submitMutex_);
  if (stream == legacy_) {
    for (const std::shared_ptr<Stream> &other : streams_)
      if (CompletionRef last = other->last(); last && other != legacy_ && other->isBlocking())
        waits.push_back(std::move(last));
  } else if (legacy_ && stream->isBlocking()) {
    if (CompletionRef last = legacy_->last())
      waits.push_back(std::move(last));
  }
  return stream->submit(std::move(waits), std::move(work));
}

std::vector<std::shared_ptr<Stream>> Context::streams() {
  std::lock_guard<std::mutex> lock(submitMutex_);
  return streams_;
}

void Context::synchronize() {
  for (const std::shared_ptr<Stream> &stream : streams())
    if (CompletionRef last = stream->last())
      last->wait();
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

uint64_t Context::destroy() {
  Driver &state = driver();
  cancelled_ = true;
  synchronize();
  uint64_t abandoned = 0;
  for (const auto &[handle, stream] : state.streams.all())
    if (&stream->context() == this && state.streams.erase(handle))
      ++abandoned;
  for (const auto &[handle, event] : state.events.all())
    if (&event->context() == this && state.events.erase(handle))
      ++abandoned;
  for (const auto &[handle, module] : state.modules.all())
    if (&module->context() == this && unloadModule(handle))
      ++abandoned;
  for (const Range &range : state.memory.all()) {
    if (range.context != handle_ || range.kind == RangeKind::ModuleVariable ||
        !state.memory.erase(range.base))
      continue;
    releaseRange(range);
    ++abandoned;
  }
  state.contexts.erase(handle_);
  std::vector<std::shared_ptr<Stream>> streams;
  {
    std::lock_guard<std::mutex> lock(submitMutex_);
    streams.swap(streams_);
    legacy_ = nullptr;
    perThread_.clear();
  }
  for (const std::shared_ptr<Stream> &stream : streams)
    stream->close();
  return abandoned;
}

} // namespace xc::cudasim
