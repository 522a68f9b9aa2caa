//===- CaseFile.cpp - Reads the end-to-end cases of a bundle --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/e2e/bundle/CaseFile.h"

#include <fstream>
#include <sstream>

using namespace xc::tools;

namespace xc::e2e {

static xcr_dtype_t parseDType(const std::string &name) {
  for (int code = XCR_DTYPE_I1; code <= XCR_DTYPE_F8E5M2; ++code)
    if (dtypeName(DType(code)) == name)
      return DType(code);
  return XCR_DTYPE_NONE;
}

namespace {
/// Adds statement after statement to the modules.
class CaseFileReader {
public:
  explicit CaseFileReader(std::string folder) : folder(std::move(folder)) {}
  /// False where |line| is no statement, or not at its place.
  bool add(const std::string &line);
  std::vector<ModuleCases> modules;

private:
  bool addToCase(const std::string &word, std::istringstream &words);
  bool addToStep(const std::string &word, std::istringstream &words);
  const std::string folder;
};
} // namespace

bool CaseFileReader::add(const std::string &line) {
  std::istringstream words(line);
  std::string word, text;
  words >> word;
  if (word == "module") {
    words >> text;
    modules.push_back({folder + text, {}});
    return bool(words);
  }
  if (modules.empty())
    return false;
  if (word == "case") {
    Case entry;
    words >> entry.memory >> std::ws;
    bool isNamed = bool(std::getline(words, entry.name));
    modules.back().cases.push_back(std::move(entry));
    return isNamed;
  }
  return !modules.back().cases.empty() && addToCase(word, words);
}

bool CaseFileReader::addToCase(const std::string &word, std::istringstream &words) {
  Case &entry = modules.back().cases.back();
  if (word == "parameters") {
    std::string scope, file;
    words >> scope >> file;
    entry.parameters.push_back(scope + "=" + folder + file);
    return bool(words);
  }
  if (word == "call") {
    Step step;
    words >> step.function >> step.launches;
    entry.steps.push_back(std::move(step));
    return bool(words);
  }
  return !entry.steps.empty() && addToStep(word, words);
}

bool CaseFileReader::addToStep(const std::string &word, std::istringstream &words) {
  Step &step = modules.back().cases.back().steps.back();
  std::string dtype, file;
  if (word == "input") {
    words >> dtype >> file;
    step.inputs.push_back({parseDType(dtype), folder + file});
    return words && step.inputs.back().dtype != XCR_DTYPE_NONE;
  }
  if (word == "want") {
    Want want = {};
    words >> dtype >> want.absolute >> want.relative >> file;
    want.dtype = parseDType(dtype);
    want.file = folder + file;
    step.outputs.push_back(want);
    return words && want.dtype != XCR_DTYPE_NONE;
  }
  if (word != "error")
    return false;
  words >> std::ws;
  return bool(std::getline(words, step.error));
}

Result<std::vector<ModuleCases>> readCaseFile(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    return Error("cannot open '" + path + "'");
  size_t slash = path.rfind('/');
  CaseFileReader reader(slash == std::string::npos ? "" : path.substr(0, slash + 1));
  std::string line;
  for (unsigned number = 1; std::getline(file, line); ++number)
    if (!line.empty() && !reader.add(line))
      return Error(path + ":" + std::to_string(number) + ": unexpected '" + line + "'");
  return std::move(reader.modules);
}

} // namespace xc::e2e
