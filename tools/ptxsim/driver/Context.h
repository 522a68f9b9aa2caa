//===- Context.h - Contexts, and the calling thread's stack of them -------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_CONTEXT_H
#define PTXSIM_DRIVER_CONTEXT_H

#include "Stream.h"
#include "cuda_abi/cuda_abi.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace xc::cudasim {

class Device;

/// A context: its streams, its limits, and the error that ended it. Created by
/// `Context::create`; alive until `destroy`, though objects that outlive it may
/// keep it in memory. Thread-safe.
class Context : public std::enable_shared_from_this<Context> {
public:
  static std::shared_ptr<Context> create(Device &device, unsigned flags, bool primary);

  CUcontext handle() const { return handle_; }
  Device &device() const { return device_; }
  bool isPrimary() const { return primary_; }
  std::atomic<unsigned> flags;

  /// The error that has ended this context, or CUDA_SUCCESS.
  CUresult sticky() const { return sticky_.load(); }
  /// Ends the context; the first error stays.
  void fail(CUresult error);
  /// True once waits inside operations must give up.
  bool isCancelled() const { return cancelled_.load() || sticky() != CUDA_SUCCESS; }

  //===--------------------------------------------------------------------===//
  // Streams
  //===--------------------------------------------------------------------===//

  std::shared_ptr<Stream> createStream(unsigned flags, int priority);
  /// The stream's work continues; it is forgotten when that is done.
  void releaseStream(const std::shared_ptr<Stream> &stream);
  /// Resolves a handle as an argument of a call: null and the two special handles
  /// too. Null if it names no stream of this context.
  std::shared_ptr<Stream> findStream(CUstream handle);

  /// Appends work to `stream`, after what the default stream's rules demand and
  /// after `waits`.
  CompletionRef submit(const std::shared_ptr<Stream> &stream, Stream::Work work,
                       std::vector<CompletionRef> waits = {});
  /// Waits for all work of the context.
  void synchronize();

  std::atomic<size_t> stackSize{1024};
  std::atomic<size_t> printfFifoSize{1 << 20};
  std::atomic<size_t> mallocHeapSize{8 << 20};

  /// Waits for the work (giving up on waits for memory), then frees everything
  /// that belongs to the context. Returns the number of objects that the program
  /// had not destroyed.
  uint64_t destroy();

private:
  Context(Device &device, unsigned flags, bool primary);
  std::vector<std::shared_ptr<Stream>> streams();

  Device &device_;
  const bool primary_;
  CUcontext handle_ = nullptr;
  std::atomic<CUresult> sticky_{CUDA_SUCCESS};
  std::atomic<bool> cancelled_{false};

  /// Held while work is submitted, so that the order of the default stream among
  /// the others is one that all of them see.
  std::mutex submitMutex_;
  std::shared_ptr<Stream> legacy_;
  std::map<std::thread::id, std::shared_ptr<Stream>> perThread_;
  std::vector<std::shared_ptr<Stream>> streams_; // every one, the above included
};

/// The calling thread's stack of contexts; the last is current.
std::vector<CUcontext> &contextStack();

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_CONTEXT_H
