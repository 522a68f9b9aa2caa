/*===- xcr.h - The C API of the xcompile runtime ---------------------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Runs modules (.vmfb) that xcompile made. The one-line form:
 *
 *   xcr_device_create(xcr_string("auto"), NULL, &device);
 *   xcr_module_load_file(xcr_string("model.vmfb"), NULL, &module);
 *   xcr_instance_create(device, module, NULL, &instance);
 *   xcr_invoke(instance, xcr_string("main"), 1, &input, 1, &output);
 *
 * Conventions:
 * - A function that can fail returns xcr_status_t, which is NULL for success;
 *   any other value is owned by the caller, who hands it to
 *   xcr_status_release. Results go to trailing out_* arguments, which are set
 *   to NULL or zero on failure.
 * - Pointers are not NULL unless the comment says so. A function that returns a
 *   status then gives INVALID_ARGUMENT and names the argument; others must not
 *   be called so. An array or range without elements may be NULL.
 * - `create` and `load` return an object with one reference owned by the
 *   caller; `retain` adds one, `release` drops one; both accept NULL. An object
 *   keeps alive what it was made from (a call its instance, an instance its
 *   device and module). Accessors lend: what they return lives as long as the
 *   object asked, unless the comment says more.
 * - retain and release are thread-safe everywhere. What else is thread-safe is
 *   said at each object; without a word, calls on one object must not overlap.
 * - Structures that cross the API begin with struct_size and have an
 *   XCR_*_INIT value; they grow only at their end. For structures that the
 *   library fills in, fields beyond the caller's struct_size are not written.
 * - Strings are pointer and length, need no terminator and hold no zero byte;
 *   lent strings happen to be UTF-8. Strides are counted in elements, every other size in bytes.
 * - No function throws, ends the process, or writes to stdout or stderr.
 * - Where a tool asks for NVTX ranges (by NVTX_INJECTION64_PATH, as Nsight
 *   Systems does), launches, preparations, synchronisations and instances show
 *   as ranges.
 *
 *===----------------------------------------------------------------------===*/

#ifndef XCR_XCR_H
#define XCR_XCR_H

#include "xcr/base.h"
#include "xcr/buffer.h"
#include "xcr/call.h"
#include "xcr/device.h"
#include "xcr/function.h"
#include "xcr/instance.h"
#include "xcr/module.h"
#include "xcr/step.h"
#include "xcr/stream.h"

#endif /* XCR_XCR_H */
