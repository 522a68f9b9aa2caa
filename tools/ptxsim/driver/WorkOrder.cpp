//===- WorkOrder.cpp - What happened before an operation ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkOrder.h"

namespace xc::cudasim {

WorkOrder *&currentOrder() {
  thread_local WorkOrder *order = nullptr;
  return order;
}

void HostOrder::learn(const TaskKnowledge &more) {
  std::lock_guard<std::mutex> lock(mutex_);
  ptxsim::joinTasks(known_, more);
}

TaskKnowledge HostOrder::known() {
  std::lock_guard<std::mutex> lock(mutex_);
  return known_;
}

void HostOrder::publish(uint64_t address, const TaskKnowledge &known) {
  std::lock_guard<std::mutex> lock(mutex_);
  ptxsim::joinTasks(values_[address], known);
}

TaskKnowledge HostOrder::published(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = values_.find(address);
  return found == values_.end() ? TaskKnowledge() : found->second;
}

} // namespace xc::cudasim
