//===- Tasks.cpp - The order of launches, copies and fills ----------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tasks are partly ordered. They are laid on chains, each totally ordered, so that
// what happened before a task is one number per chain: a vector clock. A task goes
// on the first chain whose last task happened before it, so there are as many chains
// as tasks were ever unordered at once, about.
//
//===----------------------------------------------------------------------===//

#include "ptxsim/ptxsim.h"

#include <algorithm>
#include <map>
#include <mutex>

using namespace xc::ptxsim;

namespace xc::ptxsim {
class TaskOrderImpl {
public:
  std::mutex mutex;
  std::vector<std::vector<uint32_t>> chains; // the name of each task
  std::map<std::string, uint32_t> numbers;
  std::vector<std::string> names;
};
} // namespace xc::ptxsim

void xc::ptxsim::joinTasks(TaskKnowledge &into, const TaskKnowledge &from) {
  if (into.size() < from.size())
    into.resize(from.size(), 0);
  for (size_t i = 0; i < from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

TaskKnowledge Task::after() const {
  TaskKnowledge result = *before;
  if (result.size() <= id.chain)
    result.resize(id.chain + 1u, 0);
  result[id.chain] = std::max(result[id.chain], id.seq);
  return result;
}

TaskOrder::TaskOrder() : impl_(std::make_unique<TaskOrderImpl>()) {}
TaskOrder::~TaskOrder() = default;

Task TaskOrder::begin(const std::string &name, TaskKnowledge before,
                      std::shared_ptr<const TaskKnowledge> early) {
  Task task;
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    auto [found, isNew] = impl_->numbers.emplace(name, impl_->names.size());
    if (isNew)
      impl_->names.push_back(name);
    // A programmatic launch may run beside the task before it, so it must not go on
    // that one's chain, where it would be taken as ordered.
    const TaskKnowledge &known = early ? *early : before;
    size_t chain = 0;
    while (chain < impl_->chains.size() &&
           (chain < known.size() ? known[chain] : 0) < impl_->chains[chain].size())
      ++chain;
    if (chain == impl_->chains.size() && chain < UINT16_MAX)
      impl_->chains.emplace_back();
    chain = std::min<size_t>(chain, UINT16_MAX - 1);
    impl_->chains[chain].push_back(found->second);
    task.id.chain = static_cast<uint16_t>(chain);
    task.id.seq = static_cast<uint32_t>(impl_->chains[chain].size());
  }
  task.before = std::make_shared<const TaskKnowledge>(std::move(before));
  task.early = std::move(early);
  return task;
}

Task TaskOrder::beginLast(const std::string &name) {
  TaskKnowledge all;
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    for (const auto &chain : impl_->chains)
      all.push_back(static_cast<uint32_t>(chain.size()));
  }
  return begin(name, std::move(all));
}

std::string TaskOrder::nameOf(const TaskId &id) const {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  if (id.chain >= impl_->chains.size() || id.seq == 0 || id.seq > impl_->chains[id.chain].size())
    return "another task";
  return impl_->names[impl_->chains[id.chain][id.seq - 1]];
}
