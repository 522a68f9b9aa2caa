//===- Runner.cpp - Run the vector suite through a CUDA driver ------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   ptxsim-vectors record FILE [LIBRARY]          records the forms that FILE lacks
//   ptxsim-vectors check FILE [LIBRARY]           compares results with a recording
//   ptxsim-vectors record-tiles FILE [LIBRARY]    the same for the tile forms
//   ptxsim-vectors check-tiles FILE [LIBRARY]
//   ptxsim-vectors whole-tiles FILE [LIBRARY]     records all of every output
//   ptxsim-vectors dump FORM|all                  prints the kernel of a form
//
// LIBRARY is a CUDA driver: libcuda.so.1, or libcuda_sim.so.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Record.h"

#include <cstdio>
#include <cstring>

using namespace xc::vectors;

namespace {

int recordAll(const Driver &driver, const char *path) {
  Record record;
  std::string error;
  readRecord(path, record, error); // none yet: all is recorded
  record.device = driver.deviceName;
  size_t refused = 0, kept = 0;
  for (const Form &form : allForms()) {
    std::vector<uint64_t> inputs = makeInputs(form);
    uint64_t print = fingerprint(form, inputs);
    FormRecord &r = record.forms[form.name];
    if (r.fingerprint == print && !r.outputs.empty()) {
      ++kept;
      continue;
    }
    r = FormRecord();
    r.fingerprint = print;
    switch (runForm(driver, form, inputs, r.outputs)) {
    case RunStatus::Done:
      break;
    case RunStatus::Refused:
      r.refused = true;
      ++refused;
      std::printf("refused: %s\n", form.name.c_str());
      break;
    case RunStatus::Failed:
      std::fprintf(stderr, "error: form '%s' failed\n", form.name.c_str());
      return 1;
    }
  }
  if (!writeRecord(path, record)) {
    std::fprintf(stderr, "error: cannot write %s\n", path);
    return 1;
  }
  std::printf("%zu forms on %s, %zu refused, %zu recorded before\n", allForms().size(),
              driver.deviceName.c_str(), refused, kept);
  return 0;
}

int checkAll(const Driver &driver, const char *path) {
  Record record;
  std::string error;
  if (!readRecord(path, record, error)) {
    std::fprintf(stderr, "error: %s\n", error.c_str());
    return 1;
  }
  size_t bad = 0;
  for (const Form &form : allForms()) {
    auto it = record.forms.find(form.name);
    std::vector<uint64_t> inputs = makeInputs(form), outputs;
    if (it == record.forms.end() || it->second.fingerprint != fingerprint(form, inputs)) {
      std::printf("%s: not recorded\n", form.name.c_str());
      ++bad;
      continue;
    }
    if (it->second.refused)
      continue;
    std::string report;
    RunStatus status = runForm(driver, form, inputs, outputs);
    bool done = status == RunStatus::Done;
    size_t different = done ? compareForm(form, inputs, it->second.outputs, outputs, report) : 1;
    if (!done)
      report = form.name + (status == RunStatus::Refused ? ": refused\n" : ": a call failed\n");
    bad += different != 0;
    std::fputs(report.c_str(), stdout);
  }
  std::printf("%zu of %zu forms differ from %s\n", bad, allForms().size(), record.device.c_str());
  return bad != 0;
}

/// Forms of |path| stay as they are. What is being run counts as refused until it
/// has answered, so that a kernel that hangs or loses the context is passed over
/// when the program is started again.
int recordTiles(Driver &driver, const char *path, bool whole) {
  TileRecords records;
  std::string error;
  readTileRecords(path, records, error); // none yet: all is recorded
  size_t refused = 0;
  for (const TileForm &form : allTileForms()) {
    TileRecord &r = records.forms[form.name];
    if (r.fingerprint != fingerprint(form)) {
      records.device = driver.deviceName;
      r = TileRecord();
      r.fingerprint = fingerprint(form);
      r.refused = true;
      if (!writeTileRecords(path, records, whole)) {
        std::fprintf(stderr, "error: cannot write %s\n", path);
        return 1;
      }
      RunStatus status = runTileForm(driver, form, r.output);
      r.refused = status == RunStatus::Refused;
      r.failed = status == RunStatus::Failed;
      if (r.failed) {
        std::printf("failed: %s\n", form.name.c_str());
        writeTileRecords(path, records, whole);
        if (!driver.renew())
          return 1;
      }
    }
    if (r.refused)
      std::printf("refused: %s\n", form.name.c_str());
    refused += r.refused;
  }
  writeTileRecords(path, records, whole);
  std::printf("%zu tile forms on %s, %zu refused\n", allTileForms().size(),
              driver.deviceName.c_str(), refused);
  return 0;
}

int checkTiles(Driver &driver, const char *path) {
  TileRecords records;
  std::string error;
  if (!readTileRecords(path, records, error)) {
    std::fprintf(stderr, "error: %s\n", error.c_str());
    return 1;
  }
  size_t bad = 0;
  for (const TileForm &form : allTileForms()) {
    auto it = records.forms.find(form.name);
    std::string problem;
    std::vector<uint8_t> output;
    if (it == records.forms.end() || it->second.fingerprint != fingerprint(form)) {
      problem = "not recorded";
    } else if (!it->second.refused) {
      RunStatus status = runTileForm(driver, form, output);
      bool same = (status == RunStatus::Failed) == it->second.failed;
      problem = status == RunStatus::Refused ? "refused"
                : same                       ? compareTile(it->second, output)
                                             : "one of the launches failed";
      if (status == RunStatus::Failed && !driver.renew()) {
        std::printf("%s: the device is lost, as it should be; the rest has not run\n",
                    form.name.c_str());
        return 1;
      }
    }
    bad += !problem.empty();
    if (!problem.empty())
      std::printf("%s: %s\n", form.name.c_str(), problem.c_str());
  }
  std::printf("%zu of %zu tile forms differ from %s\n", bad, allTileForms().size(),
              records.device.c_str());
  return bad != 0;
}

int dump(const std::string &name) {
  for (const Form &form : allForms())
    if (form.name == name || name == "all")
      std::printf("// %s\n%s", form.name.c_str(), kernelText(form).c_str());
  for (const TileForm &form : allTileForms())
    if (form.name == name || name == "all")
      std::printf("// %s\n%s", form.name.c_str(), form.text.c_str());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  std::string command = argc >= 2 ? argv[1] : "";
  if (argc == 3 && command == "dump")
    return dump(argv[2]);
  bool known = command == "record" || command == "check" || command == "record-tiles" ||
               command == "check-tiles" || command == "whole-tiles";
  if (!known || argc < 3 || argc > 4) {
    std::fprintf(stderr,
                 "usage: %s record|check|record-tiles|check-tiles|whole-tiles FILE [LIBRARY]\n"
                 "       %s dump FORM|all\n",
                 argv[0], argv[0]);
    return 2;
  }
  Driver driver;
  if (!driver.load(argc == 4 ? argv[3] : "libcuda.so.1"))
    return 1;
  if (command == "record")
    return recordAll(driver, argv[2]);
  if (command == "check")
    return checkAll(driver, argv[2]);
  if (command == "check-tiles")
    return checkTiles(driver, argv[2]);
  return recordTiles(driver, argv[2], command == "whole-tiles");
}
