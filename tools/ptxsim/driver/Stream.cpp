//===- Stream.cpp - Work in order, on a thread of its own -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stream.h"

#include "Context.h"
#include "Driver.h"

#include <thread>

namespace xc::cudasim {

void Completion::signal(const TaskKnowledge &known) {
  std::lock_guard<std::mutex> lock(mutex_);
  done_ = true;
  known_ = known;
  time_ = Clock::now();
  changed_.notify_all();
}

bool Completion::isDone() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return done_;
}

void Completion::wait() const {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }
  pass();
}

bool Completion::poll() const {
  if (!isDone())
    return false;
  pass();
  return true;
}

void Completion::pass() const {
  if (WorkOrder *order = currentOrder())
    order->learn(known_);
  else
    driver().hostOrder.learn(known_);
}

CompletionRef Stream::submit(std::vector<CompletionRef> waits, Work work) {
  auto completion = std::make_shared<Completion>();
  std::lock_guard<std::mutex> lock(mutex_);
  queue_.push_back({std::move(waits), std::move(work), completion, driver().hostOrder.known()});
  last_ = completion;
  if (!started_) {
    started_ = true;
    std::thread([self = shared_from_this()] { self->run(); }).detach();
  }
  changed_.notify_one();
  return completion;
}

CompletionRef Stream::last() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return last_;
}

bool Stream::isIdle() const {
  CompletionRef end = last();
  return !end || end->isDone();
}

void Stream::close() {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

void Stream::run() {
  WorkOrder order; // of the operation, after all those before it
  OrderScope scope(order);
  for (;;) {
    Operation operation;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
      if (queue_.empty())
        return;
      operation = std::move(queue_.front());
      queue_.pop_front();
    }
    WorkOrder waited;
    waited.known = std::move(operation.host);
    {
      OrderScope waiting(waited);
      for (const CompletionRef &completion : operation.waits)
        completion->wait();
    }
    order.learn(waited.known);
    // Only directly behind a kernel may another one start before its end.
    order.early = nullptr;
    if (KnowledgeRef before = std::move(order.beforeKernel)) {
      ptxsim::joinTasks(waited.known, *before);
      order.early = std::make_shared<const TaskKnowledge>(std::move(waited.known));
    }
    order.beforeKernel = nullptr;
    driver().delayStream();
    // A lost context runs nothing more, but whoever waits for it shall not hang.
    if (context_->sticky() == CUDA_SUCCESS)
      operation.work();
    // What the work holds on to must be gone when its end is known: a program may
    // look at the live objects, or start the driver afresh, right after.
    operation.work = nullptr;
    operation.completion->signal(order.known);
  }
}

} // namespace xc::cudasim
