//===- Options.h - Command lines of the tools -----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `--name=value`, `--name value` and `--flag`; `-n value` for a name of one
// letter, which must take a value; everything else is positional.
// An unknown option's message lists the known ones.
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_COMMON_OPTIONS_H
#define XC_TOOLS_COMMON_OPTIONS_H

#include "tools/common/Result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace xc::tools {

class OptionParser {
public:
  /// |usage| is the line after "usage: "; |overview| says what the tool does.
  OptionParser(std::string usage, std::string overview);

  /// Options store into |out|, which must outlive parse().
  void addFlag(std::string name, std::string help, bool *out);
  void addString(std::string name, std::string metavar, std::string help, std::string *out);
  void addList(std::string name, std::string metavar, std::string help,
               std::vector<std::string> *out);
  void addDouble(std::string name, std::string metavar, std::string help, double *out);
  void addUnsigned(std::string name, std::string metavar, std::string help, uint64_t *out);
  void addPositional(std::vector<std::string> *out) { positional = out; }

  /// Goes through the command line. `--help` and `--version` are known to every tool; they
  /// end the parse, and textRequested() is what to print then.
  Error parse(int argc, const char *const *argv);
  const std::string &textRequested() const { return text; }
  std::string helpText() const;

private:
  struct Option {
    std::string name;
    std::string metavar; // empty: a flag without a value
    std::string help;
    std::function<Error(const std::string &)> store;
  };
  const Option *find(std::string_view name) const;
  Error unknown(const std::string &name) const;
  std::string versionText() const;

  std::string usage;
  std::string overview;
  std::vector<Option> options;
  std::vector<std::string> *positional = nullptr;
  std::string text;
};

} // namespace xc::tools

#endif // XC_TOOLS_COMMON_OPTIONS_H
