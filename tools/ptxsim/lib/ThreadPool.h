//===- ThreadPool.h - Host threads that execute blocks ----------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_THREADPOOL_H
#define PTXSIM_LIB_THREADPOOL_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace xc::ptxsim {

class ThreadPool {
public:
  explicit ThreadPool(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i)
      workers.emplace_back([this] { work(); });
  }

  ~ThreadPool() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      closing = true;
    }
    wake.notify_all();
    for (std::thread &worker : workers)
      worker.join();
  }

  /// Runs |task| on the calling thread and on up to |helpers| others; returns
  /// when all that started have finished. Helpers that are busy elsewhere are
  /// not waited for, so |task| must get everything done even alone.
  void runWith(unsigned helpers, const std::function<void()> &task) {
    auto job = std::make_shared<Job>();
    job->task = task;
    {
      std::lock_guard<std::mutex> lock(mutex);
      for (unsigned i = 0; i < helpers && i < workers.size(); ++i)
        jobs.push_back(job);
    }
    wake.notify_all();
    task();
    std::unique_lock<std::mutex> lock(mutex);
    job->closed = true;
    finished.wait(lock, [&] { return job->running == 0; });
  }

private:
  struct Job {
    std::function<void()> task;
    unsigned running = 0;
    bool closed = false;
  };

  void work() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      wake.wait(lock, [this] { return closing || !jobs.empty(); });
      if (closing)
        return;
      std::shared_ptr<Job> job = std::move(jobs.front());
      jobs.pop_front();
      if (job->closed)
        continue;
      ++job->running;
      lock.unlock();
      job->task();
      lock.lock();
      --job->running;
      finished.notify_all();
    }
  }

  std::mutex mutex;
  std::condition_variable wake, finished;
  std::deque<std::shared_ptr<Job>> jobs;
  std::vector<std::thread> workers;
  bool closing = false;
};

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_THREADPOOL_H
