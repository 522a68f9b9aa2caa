//===- BlobArea.h - Large data of a module file ---------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TARGET_BLOBAREA_H
#define XC_TARGET_BLOBAREA_H

#include "schemas/module_generated.h"

#include "llvm/ADT/DenseMap.h"

#include <string>
#include <vector>

namespace xc::target {

/// Bytes after the tables, each at a multiple of 64.
class BlobArea {
public:
  /// Equal bytes are kept once.
  unsigned add(std::string bytes);
  /// Where blob `index` is, if the area begins at `base` in the file.
  fb::BlobRef getRef(unsigned index, uint64_t base) const;
  void appendTo(std::string &file) const;

private:
  struct Blob {
    std::string bytes;
    uint64_t hash;
    uint64_t offset;
  };
  std::vector<Blob> blobs;
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, unsigned> byHash;
  uint64_t size = 0;
};

} // namespace xc::target

#endif // XC_TARGET_BLOBAREA_H
