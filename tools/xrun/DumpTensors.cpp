//===- DumpTensors.cpp - Writes every tensor that a call computes ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xrun/Steps.h"

#include "tools/common/NpyFile.h"
#include "tools/common/OutputFile.h"
#include "tools/common/Table.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

namespace xc::tools {

namespace {
class DumpTensors final : public Probe {
public:
  explicit DumpTensors(std::string directory) : directory(std::move(directory)) {}
  Error after(const Step &step) override;
  Result<bool> finish() override;

private:
  const std::string directory;
  Table index{{">command", "kernel", "source", ">binding", "in", "tensor", "file"}};
  size_t count = 0;
};
} // namespace

/// "output 0", "arena"; where a binding lives.
static std::string placeText(const xcr_binding_info_t &info) {
  static constexpr const char *spaces[] = {"arena",    "input",     "output", "constant",
                                           "variable", "parameter", "packed"};
  size_t space = size_t(info.space);
  if (info.space == XCR_SPACE_ARENA || space >= std::size(spaces))
    return spaces[0];
  return std::string(spaces[space]) + " " + std::to_string(info.ordinal);
}

Error DumpTensors::after(const Step &step) {
  if (mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST)
    return Error("cannot make the folder '" + directory + "': " + strerror(errno));
  auto arrays = step.readBindings(/*areRead=*/false);
  if (!arrays)
    return arrays.error();
  for (const BoundArray &bound : *arrays) {
    std::string file = fileStem(step) + "-" + std::to_string(bound.binding) + ".npy";
    if (Error error = writeNpy(directory + "/" + file, bound.array))
      return error;
    index.addRow({std::to_string(step.ordinal), step.name(),
                  step.info.kind == XCR_COMMAND_DISPATCH ? toString(step.info.location) : "",
                  std::to_string(bound.binding), placeText(bound.info), bound.array.shapeString(),
                  file});
    ++count;
  }
  return Error::success();
}

Result<bool> DumpTensors::finish() {
  std::string text = index.str();
  if (Error error = count ? writeFile(directory + "/index.txt", text) : Error::success())
    return error;
  printf("%zu tensors written to %s\n%s", count, directory.c_str(), count ? text.c_str() : "");
  return true;
}

std::unique_ptr<Probe> dumpTensors(std::string directory) {
  return std::make_unique<DumpTensors>(std::move(directory));
}

} // namespace xc::tools
