//===- NpyFile.h - Reads and writes .npy files ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NumPy's array files, versions 1 to 3, either byte order, C or Fortran order.
// NumPy has no bfloat16: a bf16 array is written as two-byte voids ('|V2'), as
// ml_dtypes does, and read from '|V2'; numpy.load(f).view(numpy.uint16) gives
// its bits. An fp8 array is written as its bits, '|u1'. See docs of xrun for
// how an unsigned array becomes a bf16 or fp8 input.
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_COMMON_NPYFILE_H
#define XC_TOOLS_COMMON_NPYFILE_H

#include "tools/common/HostArray.h"

namespace xc::tools {

/// The array in |path|. The file must hold exactly the bytes its header says.
Result<HostArray> readNpy(const std::string &path);

/// Writes |array| to |path|, as OutputFile does.
Error writeNpy(const std::string &path, const HostArray &array);

/// The header of a version 1 file (version 2 where it is long) for |array|.
std::string npyHeader(const HostArray &array);

} // namespace xc::tools

#endif // XC_TOOLS_COMMON_NPYFILE_H
