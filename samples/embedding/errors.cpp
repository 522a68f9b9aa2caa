//===- errors.cpp - Errors as results, without exceptions --------------------- ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: errors embedding.vmfb device
//
//===----------------------------------------------------------------------===//

// This file is compiled with -fno-exceptions; with exceptions on, define XCR_NO_EXCEPTIONS to get
// results all the same.
#include <xcr/xcr.hpp>

#include <cstdio>

static void show(const char *what, const xcr::Failure &failure) {
  xcr_string_view_t code = xcr_status_code_name(failure.code());
  std::printf("%s: %.*s: %s\n", what, int(code.size), code.data, failure.message().c_str());
}

static xcr::Result<float> firstOf(const xcr::Instance &model, int64_t batch) {
  xcr::Result<xcr::Call> call = model.call("main");
  if (!call)
    return call.error();
  std::vector<float> x(size_t(batch) * 4);
  if (xcr::Result<void> bound = call->setInput("x", x, {batch, 4}); !bound)
    return bound.error();
  if (xcr::Result<void> done = call->run(); !done)
    return done.error();
  xcr::Result<xcr::Buffer> y = call->output("y");
  if (!y)
    return y.error();
  xcr::Result<std::vector<float>> values = y->read<float>();
  if (!values)
    return values.error();
  return (*values)[0];
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 1;
  if (xcr::Result<xcr::Instance> none = xcr::Instance::load("missing.vmfb", argv[2]); !none)
    show("a file that is not there", none.error());
  xcr::Result<xcr::Instance> model = xcr::Instance::load(argv[1], argv[2]);
  if (!model) {
    show("the model", model.error());
    return 1;
  }
  if (xcr::Result<xcr::Call> call = model->call("mian"); !call)
    show("a function that is not there", call.error());
  if (xcr::Result<float> value = firstOf(*model, 2000); !value)
    show("too many rows", value.error());
  // An error leaves the instance as it was.
  xcr::Result<float> value = firstOf(*model, 2);
  if (!value) {
    show("two rows", value.error());
    return 1;
  }
  std::printf("two rows: %g\n", *value);
  return 0;
}
