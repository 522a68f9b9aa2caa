//===- make_seeds.cpp - Writes good modules as a first corpus -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/SeedModules.h"

#include <cstdio>
#include <string>

using namespace xc::test;

static bool write(const std::string &path, const std::vector<uint8_t> &bytes) {
  FILE *file = fopen(path.c_str(), "wb");
  if (!file)
    return false;
  bool isWritten = fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return fclose(file) == 0 && isWritten;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s directory\n", argv[0]);
    return 1;
  }
  for (const SeedModule &seed : makeSeedModules())
    if (!write(std::string(argv[1]) + "/" + seed.name + ".vmfb", seed.spec.finish())) {
      fprintf(stderr, "cannot write to %s\n", argv[1]);
      return 1;
    }
  return 0;
}
