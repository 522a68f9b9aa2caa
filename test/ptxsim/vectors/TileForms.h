//===- TileForms.h - Forms of whole blocks in the vector suite --*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Form (Forms.h) is for instructions of single threads, TileForm is for those
// that work on tiles: a kernel of its own, run once, with bytes in and bytes out.
// The kernel is called "form"; its parameters are the addresses of the input and
// of the output and, if the form has a tensor, the tensor's map.
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_PTXSIM_VECTORS_TILEFORMS_H
#define XC_TEST_PTXSIM_VECTORS_TILEFORMS_H

#include "Random.h"

#include <map>
#include <string>
#include <vector>

namespace xc::vectors {

/// The arguments of cuTensorMapEncodeTiled. The address is that of the input, or of
/// the output if `overOutput`, plus `offset`.
struct TensorSpec {
  unsigned type = 0; // a CUtensorMapDataType
  unsigned rank = 2;
  uint64_t dims[5] = {1, 1, 1, 1, 1};
  uint64_t strides[4] = {};
  uint32_t box[5] = {1, 1, 1, 1, 1};
  uint32_t elementStrides[5] = {1, 1, 1, 1, 1};
  unsigned interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  uint64_t offset = 0;
  bool overOutput = false;
};

struct TileForm {
  std::string name;
  std::string text; // PTX; empty: only the encoding of the tensor is tried
  std::vector<uint8_t> input;
  std::vector<uint8_t> initialOutput;
  unsigned threads = 128, blocks = 1, cluster = 1;
  bool hasTensor = false;
  TensorSpec tensor;
};

/// All tile forms, in a fixed order.
const std::vector<TileForm> &allTileForms();

/// The parts of allTileForms().
void addMatrixTileForms(std::vector<TileForm> &forms);
void addTensorTileForms(std::vector<TileForm> &forms);
void addBulkTileForms(std::vector<TileForm> &forms);
void addSyncTileForms(std::vector<TileForm> &forms);
void addMapForms(std::vector<TileForm> &forms);

uint64_t fingerprint(const TileForm &form);

/// One form's result. Long outputs are recorded as hashes of their chunks.
struct TileRecord {
  uint64_t fingerprint = 0;
  bool refused = false;
  bool hashed = false;
  bool failed = false; // the output is the launch's CUresult
  std::vector<uint8_t> output;
};

struct TileRecords {
  std::string device;
  std::map<std::string, TileRecord> forms;
};

/// |whole|: without hashing, to look at differences.
bool writeTileRecords(const std::string &path, const TileRecords &records, bool whole);
bool readTileRecords(const std::string &path, TileRecords &records, std::string &error);

/// Compares |got| with the recording: "" or what differs.
std::string compareTile(const TileRecord &recorded, const std::vector<uint8_t> &got);

} // namespace xc::vectors

#endif // XC_TEST_PTXSIM_VECTORS_TILEFORMS_H
