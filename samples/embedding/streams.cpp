//===- streams.cpp - Two streams and an event -------------------------------- ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: streams embedding.vmfb device
//
//===----------------------------------------------------------------------===//

#include <xcr/xcr.hpp>

#include <atomic>
#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 3)
    return 1;
  xcr::Instance model = xcr::Instance::load(argv[1], argv[2]);
  xcr::Device device = model.device();
  xcr::Stream producer = xcr::Stream::create(device), consumer = xcr::Stream::create(device);
  xcr::Event written = xcr::Event::create(device);

  // The second call reads what the first one writes: a buffer that both have bound.
  xcr::Buffer between = xcr::Buffer::create(device, XCR_DTYPE_F32, {3, 4});
  xcr::Call first = model.call("main"), second = model.call("main");
  first.setInput("x", std::vector<float>(12, 2.0f), {3, 4});
  first.setOutput("y", between);
  second.setInput("x", between);

  // Nothing here waits: the launches return, and the event keeps the order between the streams.
  first.launch(producer);
  producer.record(written);
  consumer.wait(written);
  second.launch(consumer);
  std::atomic<bool> told{false};
  consumer.onDone([&told](bool failed) { told = !failed; });

  // The host waits once, before it reads. What went wrong on a stream is told here.
  producer.synchronize();
  consumer.synchronize();
  std::vector<float> y = second.output("y").read<float>();
  std::printf("%g %g, callback %s\n", y.front(), y.back(), told ? "ran" : "missing");
  return told ? 0 : 1;
}
