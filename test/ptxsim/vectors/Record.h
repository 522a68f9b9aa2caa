//===- Record.h - Recorded results of the vector suite ----------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file: "XCVEC1\n", a line that names the device, then for each form
//
//   u16 length, name; u64 fingerprint; u8 status (0 recorded, 1 refused);
//   u32 cases; then per case each output, as many bytes as its kind has.
//
// All little-endian.
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_PTXSIM_VECTORS_RECORD_H
#define XC_TEST_PTXSIM_VECTORS_RECORD_H

#include "Forms.h"

#include <map>

namespace xc::vectors {

struct FormRecord {
  uint64_t fingerprint = 0;
  bool refused = false;          // the driver would not load the kernel
  std::vector<uint64_t> outputs; // case by case
};

struct Record {
  std::string device;
  std::map<std::string, FormRecord> forms;
};

bool writeRecord(const std::string &path, const Record &record);
/// Needs the forms to know the sizes of outputs; forms that are no longer in the
/// suite end the reading with an error.
bool readRecord(const std::string &path, Record &record, std::string &error);

/// Compares |got| with |recorded|. Returns the number of cases that differ and
/// describes the first few in |report|.
size_t compareForm(const Form &form, const std::vector<uint64_t> &inputs,
                   const std::vector<uint64_t> &recorded, const std::vector<uint64_t> &got,
                   std::string &report);

} // namespace xc::vectors

#endif // XC_TEST_PTXSIM_VECTORS_RECORD_H
