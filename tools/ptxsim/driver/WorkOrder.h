//===- WorkOrder.h - What happened before an operation ---------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For the race check between kernels, copies and fills: order comes from streams,
// events, the edges of graphs, programmatic launches' waits, and from the host, which
// knows of the end of what it has waited for. Host threads are taken as ordered
// among themselves: a program has its own means for that.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_WORKORDER_H
#define PTXSIM_DRIVER_WORKORDER_H

#include "ptxsim/ptxsim.h"

#include <map>
#include <memory>
#include <mutex>

namespace xc::cudasim {

using ptxsim::TaskKnowledge;
using KnowledgeRef = std::shared_ptr<const TaskKnowledge>;

/// The place of the operation that a thread is running.
struct WorkOrder {
  /// What happened before it, and as it goes on, its own parts.
  TaskKnowledge known;
  /// What had happened before the kernel in front of it started, if that is what it
  /// may be launched programmatically after; else null.
  KnowledgeRef early;
  /// `early` comes from edges of a graph, and holds without an attribute.
  bool hasProgrammaticEdge = false;
  /// Set by a kernel: what happened before it.
  KnowledgeRef beforeKernel;

  void learn(const TaskKnowledge &more) { ptxsim::joinTasks(known, more); }
};

/// Of the operation that the calling thread runs; null on the program's threads.
WorkOrder *&currentOrder();

/// Sets the calling thread's order for a while.
class OrderScope {
public:
  explicit OrderScope(WorkOrder &order) : outer_(currentOrder()) { currentOrder() = &order; }
  ~OrderScope() { currentOrder() = outer_; }
  OrderScope(const OrderScope &) = delete;
  OrderScope &operator=(const OrderScope &) = delete;

private:
  WorkOrder *outer_;
};

/// What the host knows, and what values in memory stand for. Thread-safe.
class HostOrder {
public:
  void learn(const TaskKnowledge &more);
  TaskKnowledge known();
  /// An operation writes a value that others may wait for.
  void publish(uint64_t address, const TaskKnowledge &known);
  TaskKnowledge published(uint64_t address);

private:
  std::mutex mutex_;
  TaskKnowledge known_;
  std::map<uint64_t, TaskKnowledge> values_;
};

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_WORKORDER_H
