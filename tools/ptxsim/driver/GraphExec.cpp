//===- GraphExec.cpp - Executable graphs and how they run -----------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch is one operation of its stream. It runs the nodes whose dependencies
// have ended concurrently, on threads that are kept for that, or, with a seed,
// one after another in a random order that the edges allow.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Graph.h"
#include "HostCall.h"

#include <condition_variable>
#include <deque>
#include <random>
#include <thread>

namespace xc::cudasim {
namespace {

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Threads that run independent nodes: as many as are busy at once, since a node
/// may block (a host function, an event) until another one has run.
class NodeThreads {
public:
  static NodeThreads &instance() {
    static auto *threads = new NodeThreads; // lives as long as its threads do
    return *threads;
  }

  void post(std::function<void()> task) {
    std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(std::move(task));
    if (tasks_.size() > idle_)
      std::thread([this] { run(); }).detach();
    else
      changed_.notify_one();
  }

private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      ++idle_;
      changed_.wait(lock, [this] { return !tasks_.empty(); });
      --idle_;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  size_t idle_ = 0;
};

//===----------------------------------------------------------------------===//
// One launch
//===----------------------------------------------------------------------===//

/// What belongs to one launch: the events that its nodes record and wait for.
struct LaunchEvents {
  std::unordered_map<const PlanNode *, CompletionRef> completions;
  std::vector<CompletionRef> recorded;

  /// A launch that did not get to its record nodes leaves nobody waiting.
  ~LaunchEvents() {
    for (const CompletionRef &completion : recorded)
      if (!completion->isDone())
        completion->signal({});
  }
};

/// Gives the events their meaning at the time of the launch, like the driver: a
/// record node is what the event stands for from now on, a wait node waits for
/// what it stood for before.
void bindEvents(const Plan &plan, LaunchEvents &events) {
  for (const PlanNode &node : plan.nodes) {
    if (const auto *wait = std::get_if<EventWaitPayload>(&node.payload))
      events.completions[&node] = wait->event->recorded();
    if (const auto *record = std::get_if<EventRecordPayload>(&node.payload)) {
      auto completion = std::make_shared<Completion>();
      events.completions[&node] = completion;
      events.recorded.push_back(completion);
      record->event->record(completion);
    }
    for (const std::shared_ptr<Plan> &body : node.bodies)
      bindEvents(*body, events);
  }
}

/// What the nodes of a plan that is running know at their start and their end.
struct PlanOrder {
  TaskKnowledge before; // the plan
  std::vector<TaskKnowledge> ends;
  std::vector<KnowledgeRef> kernels; // what happened before a kernel

  PlanOrder(const Plan &plan, TaskKnowledge known)
      : before(std::move(known)), ends(plan.nodes.size()), kernels(plan.nodes.size()) {}
  WorkOrder startOf(const Plan &plan, unsigned index) const;
  TaskKnowledge end() const;
};

WorkOrder PlanOrder::startOf(const Plan &plan, unsigned index) const {
  const PlanNode &node = plan.nodes[index];
  WorkOrder order;
  TaskKnowledge early = before;
  order.known = before;
  for (size_t i = 0; i < node.dependencies.size(); ++i) {
    unsigned from = node.dependencies[i];
    bool isEarly = node.programmatic[i] && kernels[from];
    order.hasProgrammaticEdge |= isEarly;
    order.learn(ends[from]);
    ptxsim::joinTasks(early, isEarly ? *kernels[from] : ends[from]);
  }
  if (order.hasProgrammaticEdge)
    order.early = std::make_shared<const TaskKnowledge>(std::move(early));
  return order;
}

TaskKnowledge PlanOrder::end() const {
  TaskKnowledge all = before;
  for (const TaskKnowledge &node : ends)
    ptxsim::joinTasks(all, node);
  return all;
}

/// Runs plans, each after what the calling thread's current order knows, which knows of
/// the end of all its nodes then.
struct Launcher {
  const LaunchEvents &events;
  uint64_t seed;

  void runPlan(const std::shared_ptr<Plan> &plan);
  void runNode(const Plan &plan, unsigned index, PlanOrder &order);

private:
  void runPayload(const PlanNode &node, const CompletionRef &event);
  void runConditional(const PlanNode &node, const ConditionalPayload &payload);
  void runShuffled(const Plan &plan, PlanOrder &order);
  void runConcurrently(const std::shared_ptr<Plan> &plan, PlanOrder &order);
};

void Launcher::runConditional(const PlanNode &node, const ConditionalPayload &payload) {
  auto value = [&] {
    unsigned current = 0;
    driver().conditions.get(payload.handle, current);
    return current;
  };
  switch (payload.type) {
  case CU_GRAPH_COND_TYPE_IF:
    if (value())
      runPlan(node.bodies[0]);
    else if (node.bodies.size() > 1)
      runPlan(node.bodies[1]);
    return;
  case CU_GRAPH_COND_TYPE_WHILE:
    while (value() && !node.context->isCancelled())
      runPlan(node.bodies[0]);
    return;
  case CU_GRAPH_COND_TYPE_SWITCH:
    if (value() < node.bodies.size())
      runPlan(node.bodies[value()]);
    return;
  }
}

void Launcher::runNode(const Plan &plan, unsigned index, PlanOrder &planOrder) {
  const PlanNode &node = plan.nodes[index];
  WorkOrder order = planOrder.startOf(plan, index);
  OrderScope scope(order);
  CompletionRef event;
  if (auto found = events.completions.find(&node); found != events.completions.end())
    event = found->second;
  runPayload(node, event);
  if (std::get_if<EventRecordPayload>(&node.payload) && event)
    event->signal(order.known);
  planOrder.ends[index] = std::move(order.known);
  planOrder.kernels[index] = std::move(order.beforeKernel);
}

void Launcher::runPayload(const PlanNode &node, const CompletionRef &event) {
  // A lost context does nothing more, but what waits for its events goes on.
  if (node.context->sticky() == CUDA_SUCCESS && node.enabled) {
    driver().delayStream();
    if (const auto *kernel = std::get_if<KernelPayload>(&node.payload))
      runLaunch(*node.context, kernel->launch);
    else if (const auto *copy = std::get_if<CopyPayload>(&node.payload))
      runCopy(*node.context, copy->copy);
    else if (const auto *fill = std::get_if<FillPayload>(&node.payload))
      runFill(*node.context, fill->fill);
    else if (const auto *host = std::get_if<HostPayload>(&node.payload))
      callHost(host->function, host->userData);
    else if (std::get_if<ChildPayload>(&node.payload))
      runPlan(node.bodies[0]);
    else if (const auto *conditional = std::get_if<ConditionalPayload>(&node.payload))
      runConditional(node, *conditional);
    else if (std::get_if<EventWaitPayload>(&node.payload) && event)
      event->wait();
  }
}

void Launcher::runPlan(const std::shared_ptr<Plan> &plan) {
  PlanOrder order(*plan, currentOrder()->known);
  if (seed)
    runShuffled(*plan, order);
  else
    runConcurrently(plan, order);
  currentOrder()->learn(order.end());
}

void Launcher::runShuffled(const Plan &plan, PlanOrder &order) {
  std::mt19937_64 random(seed);
  std::vector<size_t> missing;
  std::vector<unsigned> ready;
  for (unsigned i = 0; i < plan.nodes.size(); ++i) {
    missing.push_back(plan.nodes[i].dependencies.size());
    if (!missing.back())
      ready.push_back(i);
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    unsigned index = ready.back();
    ready.pop_back();
    runNode(plan, index, order);
    for (unsigned successor : plan.nodes[index].successors)
      if (!--missing[successor])
        ready.push_back(successor);
  }
}

/// One plan that is running.
struct Progress {
  std::shared_ptr<Plan> plan;
  PlanOrder &order; // lives as long as the launcher does
  std::vector<std::atomic<size_t>> missing;
  std::mutex mutex;
  std::condition_variable changed;
  size_t remaining;

  Progress(std::shared_ptr<Plan> running, PlanOrder &order)
      : plan(std::move(running)), order(order), missing(plan->nodes.size()),
        remaining(plan->nodes.size()) {
    for (size_t i = 0; i < missing.size(); ++i)
      missing[i] = plan->nodes[i].dependencies.size();
  }
};

/// Runs a node and then, on this thread, one of those it was the last dependency
/// of, and so on: a chain needs no hand-over. The others go to other threads.
void runChain(Launcher &launcher, const std::shared_ptr<Progress> &progress, unsigned index) {
  for (bool more = true; more;) {
    const PlanNode &node = progress->plan->nodes[index];
    launcher.runNode(*progress->plan, index, progress->order);
    more = false;
    for (unsigned successor : node.successors) {
      if (--progress->missing[successor])
        continue;
      if (!more) {
        index = successor;
        more = true;
      } else {
        NodeThreads::instance().post(
            [&launcher, progress, successor] { runChain(launcher, progress, successor); });
      }
    }
    // The launcher lives until this says that all nodes are done.
    std::lock_guard<std::mutex> lock(progress->mutex);
    if (!--progress->remaining)
      progress->changed.notify_all();
  }
}

void Launcher::runConcurrently(const std::shared_ptr<Plan> &plan, PlanOrder &order) {
  if (plan->nodes.empty())
    return;
  auto progress = std::make_shared<Progress>(plan, order);
  bool first = true;
  unsigned own = 0;
  for (unsigned i = 0; i < plan->nodes.size(); ++i) {
    if (!plan->nodes[i].dependencies.empty())
      continue;
    if (first)
      own = i;
    else
      NodeThreads::instance().post([this, progress, i] { runChain(*this, progress, i); });
    first = false;
  }
  runChain(*this, progress, own);
  std::unique_lock<std::mutex> lock(progress->mutex);
  progress->changed.wait(lock, [&] { return !progress->remaining; });
  // A thread that ran the last node may let go of `progress` only later; what the
  // nodes hold on to must be gone before the end of the launch is known.
  progress->plan = nullptr;
}

} // namespace

CUresult launchExec(Context &context, const std::shared_ptr<GraphExec> &exec,
                    const std::shared_ptr<Stream> &stream) {
  if (CUresult result = driver().captures.refuse(*stream); result != CUDA_SUCCESS)
    return result;
  std::lock_guard<std::mutex> lock(exec->mutex);
  std::shared_ptr<Plan> plan = exec->plan();
  auto events = std::make_shared<LaunchEvents>();
  bindEvents(*plan, *events);
  std::vector<CompletionRef> waits;
  if (exec->lastLaunch)
    waits.push_back(exec->lastLaunch);
  exec->lastLaunch = context.submit(
      stream,
      [plan, events, conditions = exec->conditions(), seed = driver().graphSeed.load()] {
        driver().conditions.assignDefaults(conditions);
        Launcher launcher{*events, seed};
        launcher.runPlan(plan);
      },
      std::move(waits));
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Executables
//===----------------------------------------------------------------------===//

std::shared_ptr<Plan> Plan::clone() const {
  auto copy = std::make_shared<Plan>(*this);
  for (PlanNode &node : copy->nodes)
    for (std::shared_ptr<Plan> &body : node.bodies)
      body = body->clone();
  return copy;
}

GraphExec::GraphExec(std::shared_ptr<Plan> plan, unsigned long long flags)
    : plan_(std::move(plan)), flags_(flags) {
  std::vector<unsigned> path;
  index(*plan_, path);
}

void GraphExec::index(const Plan &plan, std::vector<unsigned> &path) {
  for (unsigned i = 0; i < plan.nodes.size(); ++i) {
    const PlanNode &node = plan.nodes[i];
    path.push_back(i);
    paths_[node.origin] = path;
    if (const auto *conditional = std::get_if<ConditionalPayload>(&node.payload))
      conditions_.push_back(conditional->handle);
    for (unsigned body = 0; body < node.bodies.size(); ++body) {
      path.push_back(body);
      index(*node.bodies[body], path);
      path.pop_back();
    }
    path.pop_back();
  }
}

const PlanNode *GraphExec::find(CUgraphNode origin) const {
  auto found = paths_.find(origin);
  if (found == paths_.end())
    return nullptr;
  const std::vector<unsigned> &path = found->second;
  const Plan *plan = plan_.get();
  for (size_t i = 0; i + 1 < path.size(); i += 2)
    plan = plan->nodes[path[i]].bodies[path[i + 1]].get();
  return &plan->nodes[path.back()];
}

PlanNode *GraphExec::findMutable(CUgraphNode origin) {
  if (!paths_.count(origin))
    return nullptr;
  mutablePlan();
  return const_cast<PlanNode *>(find(origin));
}

Plan &GraphExec::mutablePlan() {
  if (plan_.use_count() > 1) // a launch is using it
    plan_ = plan_->clone();
  return *plan_;
}

} // namespace xc::cudasim
