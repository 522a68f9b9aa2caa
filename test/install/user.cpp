//===- user.cpp - A user's C++ program against an installed runtime -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: user MODULE.vmfb; prints what user.c prints, in either mode of xcr.hpp.
//
//===----------------------------------------------------------------------===//

#include <xcr/xcr.hpp>

#include <cstdio>

static const float kA[] = {1, 2, 3}, kB[] = {10, 20, 30};

static void print(const std::vector<float> &sum) {
  std::printf("%u: %g %g %g\n", unsigned(xcr_version()), sum[0], sum[1], sum[2]);
}

#ifdef XCR_NO_EXCEPTIONS
static xcr::Result<std::vector<float>> add(const char *path) {
  xcr::Result<xcr::Instance> instance = xcr::Instance::load(path, "cpu");
  if (!instance)
    return instance.error();
  xcr::Result<xcr::Call> call = instance->call();
  if (!call)
    return call.error();
  for (xcr::Result<void> done :
       {call->setInput("a", kA, {3}), call->setInput("b", kB, {3}), call->run()})
    if (!done)
      return done.error();
  xcr::Result<xcr::Buffer> sum = call->output("sum");
  if (!sum)
    return sum.error();
  return sum->read<float>();
}

int main(int argc, char **argv) {
  xcr::Result<std::vector<float>> sum = add(argc == 2 ? argv[1] : "");
  if (!sum) {
    std::fprintf(stderr, "user: %s\n", sum.error().message().c_str());
    return 1;
  }
  print(*sum);
  return 0;
}
#else
int main(int argc, char **argv) try {
  xcr::Call call = xcr::Instance::load(argc == 2 ? argv[1] : "", "cpu").call();
  call.setInput("a", kA, {3});
  call.setInput("b", kB, {3});
  call.run();
  print(call.output("sum").read<float>());
  return 0;
} catch (const xcr::Error &error) {
  std::fprintf(stderr, "user: %s\n", error.what());
  return 1;
}
#endif
