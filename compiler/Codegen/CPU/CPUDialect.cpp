//===- CPUDialect.cpp - Attributes and checks of the cpu dialect ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/CPUDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

#include "compiler/Codegen/CPU/CPUDialectDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Codegen/CPU/CPUDialectAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/Codegen/CPU/CPUDialect.cpp.inc"

namespace xc::cpu {

void CPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Codegen/CPU/CPUDialectAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/Codegen/CPU/CPUDialect.cpp.inc"
      >();
}

using EmitError = function_ref<InFlightDiagnostic()>;

/// A database of decisions written for another version of an attribute must be refused, not
/// misread.
static LogicalResult checkVersion(EmitError emitError, int64_t version, int64_t expected) {
  if (version != expected)
    return emitError() << "expected version " << expected << " of the configuration, got "
                       << version;
  return success();
}

static LogicalResult checkLanes(EmitError emitError, int64_t lanes) {
  if (lanes < 1 || !llvm::isPowerOf2_64(lanes))
    return emitError() << "expected a number of lanes that is a power of two, got " << lanes;
  return success();
}

static LogicalResult checkPositive(EmitError emitError, StringRef what, ArrayRef<int64_t> values) {
  for (int64_t value : values)
    if (value < 1)
      return emitError() << "expected a positive " << what << ", got " << value;
  return success();
}

LogicalResult ElementwiseAttr::verify(EmitError emitError, int64_t version, int64_t lanes,
                                      int64_t chunk, int64_t tile) {
  return success(succeeded(checkVersion(emitError, version, kVersion)) &&
                 succeeded(checkLanes(emitError, lanes)) &&
                 succeeded(checkPositive(emitError, "chunk and tile", {chunk, tile})));
}

LogicalResult ReductionAttr::verify(EmitError emitError, int64_t version, StringRef direction,
                                    int64_t lanes, int64_t chunk, int64_t tile, int64_t strip,
                                    int64_t band) {
  if (direction != "rows" && direction != "columns" && direction != "panels" &&
      direction != "images")
    return emitError() << "expected direction \"rows\", \"columns\", \"panels\" or \"images\", "
                          "got \""
                       << direction << "\"";
  if (failed(checkVersion(emitError, version, kVersion)) || failed(checkLanes(emitError, lanes)) ||
      failed(checkPositive(emitError, "chunk, tile, strip and band", {chunk, tile, strip, band})))
    return failure();
  if (direction == "images" && (lanes < 2 || chunk % lanes != 0 || band % strip != 0))
    return emitError() << "expected a chunk of whole vectors and a band of whole strips, got "
                       << chunk << " by " << lanes << " lanes and " << band << " by " << strip;
  return success();
}

LogicalResult MatmulAttr::verify(EmitError emitError, int64_t version, ArrayRef<int64_t> tile,
                                 ArrayRef<int64_t> registers, int64_t lanes) {
  if (failed(checkVersion(emitError, version, kVersion)) || failed(checkLanes(emitError, lanes)))
    return failure();
  if (tile.size() != 3 || registers.size() != 2)
    return emitError() << "expected 3 tile and 2 register sizes, got " << tile.size() << " and "
                       << registers.size();
  if (failed(checkPositive(emitError, "tile size", tile)) ||
      failed(checkPositive(emitError, "register tile size", registers)))
    return failure();
  if (registers[1] % lanes != 0)
    return emitError() << "expected register columns that are a multiple of " << lanes
                       << " lanes, got " << registers[1];
  for (int i : {0, 1})
    if (tile[i] % registers[i] != 0)
      return emitError() << "expected tile size " << i << " to be a multiple of " << registers[i]
                         << ", got " << tile[i];
  return success();
}

LogicalResult AttentionAttr::verify(EmitError emitError, int64_t version, ArrayRef<int64_t> tile,
                                    ArrayRef<int64_t> registers, int64_t lanes) {
  if (failed(checkVersion(emitError, version, kVersion)) || failed(checkLanes(emitError, lanes)))
    return failure();
  if (tile.size() != 2 || registers.size() != 2)
    return emitError() << "expected 2 tile and 2 register sizes, got " << tile.size() << " and "
                       << registers.size();
  if (failed(checkPositive(emitError, "tile size", tile)) ||
      failed(checkPositive(emitError, "register tile size", registers)))
    return failure();
  if (tile[0] % lanes != 0)
    return emitError() << "expected queries that are a multiple of " << lanes << " lanes, got "
                       << tile[0];
  return success();
}

LogicalResult FewQueriesAttr::verify(EmitError emitError, int64_t version, ArrayRef<int64_t> tile,
                                     int64_t registers, int64_t lanes) {
  if (failed(checkVersion(emitError, version, kVersion)) || failed(checkLanes(emitError, lanes)))
    return failure();
  if (tile.size() != 2)
    return emitError() << "expected 2 tile sizes, got " << tile.size();
  return success(succeeded(checkPositive(emitError, "tile size", tile)) &&
                 succeeded(checkPositive(emitError, "number of registers", {registers})));
}

LogicalResult LinesAttr::verify(EmitError emitError, int64_t version, int64_t tile) {
  return success(succeeded(checkVersion(emitError, version, kVersion)) &&
                 succeeded(checkPositive(emitError, "tile", {tile})));
}

LogicalResult GenericAttr::verify(EmitError emitError, int64_t version) {
  return checkVersion(emitError, version, kVersion);
}

} // namespace xc::cpu
