//===- Stream.h - Work in order, on a thread of its own --------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_STREAM_H
#define PTXSIM_DRIVER_STREAM_H

#include "WorkOrder.h"
#include "cuda_abi/cuda_abi.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace xc::cudasim {

class Context;

/// The end of one piece of work, which others may wait for.
class Completion {
public:
  using Clock = std::chrono::steady_clock;

  /// `known`: what has happened then.
  void signal(const TaskKnowledge &known);
  bool isDone() const;
  /// Whoever waits knows what has happened from then on: the operation that the calling
  /// thread runs, or the host.
  void wait() const;
  /// The same without waiting, if it is done.
  bool poll() const;
  /// When it was signalled; only once it is done.
  Clock::time_point time() const { return time_; }

private:
  void pass() const;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  Clock::time_point time_;
  TaskKnowledge known_; // not changed once it is done
};

using CompletionRef = std::shared_ptr<Completion>;

/// A stream: operations run one after another on a thread that starts with the
/// first of them. An operation first waits for the completions it was given; that
/// is the only order between streams. Thread-safe.
class Stream : public std::enable_shared_from_this<Stream> {
public:
  using Work = std::function<void()>;

  Stream(std::shared_ptr<Context> context, unsigned flags, int priority)
      : context_(std::move(context)), flags_(flags), priority_(priority) {}

  Context &context() const { return *context_; }
  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }
  bool isBlocking() const { return !(flags_ & CU_STREAM_NON_BLOCKING); }

  /// Appends an operation. `Context::submit` calls it, with the dependencies on
  /// the default stream added.
  CompletionRef submit(std::vector<CompletionRef> waits, Work work);
  /// The end of what has been submitted so far; null if that is nothing.
  CompletionRef last() const;
  bool isIdle() const;
  /// No operation follows: the thread ends after the last one.
  void close();

private:
  struct Operation {
    std::vector<CompletionRef> waits;
    Work work;
    CompletionRef completion;
    TaskKnowledge host; // what the host knew when it submitted it
  };
  void run();

  const std::shared_ptr<Context> context_;
  const unsigned flags_;
  const int priority_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Operation> queue_;
  CompletionRef last_;
  bool started_ = false;
  bool closed_ = false;
};

/// An event: the completion it was last recorded to.
class Event {
public:
  Event(std::shared_ptr<Context> context, unsigned flags)
      : context_(std::move(context)), flags_(flags) {}

  Context &context() const { return *context_; }
  unsigned flags() const { return flags_; }
  bool hasTiming() const { return !(flags_ & CU_EVENT_DISABLE_TIMING); }

  void record(CompletionRef completion) {
    std::lock_guard<std::mutex> lock(mutex_);
    recorded_ = std::move(completion);
  }
  /// Of an event that stands for nodes of a capture; guarded by `Captures`.
  std::shared_ptr<struct Capture> capture;
  std::vector<CUgraphNode> captured;

  /// Null if it was never recorded.
  CompletionRef recorded() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return recorded_;
  }

private:
  const std::shared_ptr<Context> context_;
  const unsigned flags_;
  mutable std::mutex mutex_;
  CompletionRef recorded_;
};

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_STREAM_H
