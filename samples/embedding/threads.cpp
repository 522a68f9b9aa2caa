//===- threads.cpp - One model, many threads ------------------------------ ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: threads embedding.vmfb device
//
//===----------------------------------------------------------------------===//

#include <xcr/xcr.hpp>

#include <cstdio>
#include <thread>

/// One thread's work: a call of its own, in which buffers are bound once and written again for each
/// request. Returns how many answers were right.
static int serve(const xcr::Instance &model, int requests) {
  xcr::Call call = model.call("main");
  xcr::Stream stream = xcr::Stream::create(model.device());
  xcr::Buffer x = xcr::Buffer::create(model.device(), XCR_DTYPE_F32, {2, 4});
  call.setInput("x", x);
  int right = 0;
  for (int i = 0; i < requests; ++i) {
    x.write(std::vector<float>(8, float(i)));
    call.launch(stream);
    stream.synchronize();
    right += call.output("y").read<float>() == std::vector<float>(8, 0.25f);
  }
  return right;
}

int main(int argc, char **argv) {
  constexpr int kThreads = 4, kRequests = 25;
  if (argc != 3)
    return 1;
  xcr::Instance model = xcr::Instance::load(argv[1], argv[2]);
  std::vector<int> right(kThreads);
  std::vector<std::thread> threads;
  for (int &count : right)
    threads.emplace_back([&model, &count] {
      // An exception that leaves a thread ends the program.
      try {
        count = serve(model, kRequests);
      } catch (const xcr::Error &error) {
        std::fprintf(stderr, "threads: %s\n", error.what());
      }
    });
  int sum = 0;
  for (int i = 0; i < kThreads; ++i) {
    threads[size_t(i)].join();
    sum += right[size_t(i)];
  }
  std::printf("%d of %d answers are right\n", sum, kThreads * kRequests);
  return sum == kThreads * kRequests ? 0 : 1;
}
