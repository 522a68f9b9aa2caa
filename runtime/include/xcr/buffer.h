/*===- buffer.h - Buffers --------------------------------------------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Memory of a device with a shape and a type, and its exchange with frameworks.
 *
 *===----------------------------------------------------------------------===*/

#ifndef XCR_BUFFER_H
#define XCR_BUFFER_H

#include "xcr/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Buffers -----------------------------------------------------------===*/

typedef struct xcr_buffer_options {
  size_t struct_size;
  xcr_dtype_t dtype;
  uint32_t rank;
  const int64_t *shape; /* rank values, each >= 0; may be NULL for rank 0 */
  /* elements; NULL: contiguous, row-major. Only for wrap and view */
  const int64_t *strides;
} xcr_buffer_options_t;
#define XCR_BUFFER_OPTIONS_INIT {sizeof(xcr_buffer_options_t), XCR_DTYPE_NONE, 0, NULL, NULL}

typedef struct xcr_buffer_info {
  size_t struct_size;
  xcr_dtype_t dtype;
  uint32_t rank;
  const int64_t *shape;
  const int64_t *strides; /* elements */
  uint64_t element_count;
  uint64_t byte_length; /* from the first to the end of the last element */
  bool is_contiguous;
  /* on its device; on the CPU device a pointer of this process */
  uint64_t address;
  bool is_host_visible;
} xcr_buffer_info_t;
#define XCR_BUFFER_INFO_INIT                                                                       \
  {sizeof(xcr_buffer_info_t), XCR_DTYPE_NONE, 0, NULL, NULL, 0, 0, false, 0, false}

typedef enum xcr_map_access {
  XCR_MAP_READ = 1,
  XCR_MAP_WRITE = 2,
  XCR_MAP_READ_WRITE = 3
} xcr_map_access_t;

/* Creates a contiguous buffer on |device| whose contents are not defined.
 * Thread-safe. OUT_OF_MEMORY if the device or its limit is exhausted,
 * OUT_OF_RANGE if the size overflows 64 bits. */
XCR_API xcr_status_t xcr_buffer_create(xcr_device_t *device, const xcr_buffer_options_t *options,
                                       xcr_buffer_t **out_buffer);
/* As above, filled from |data| (|size| bytes, which must be the buffer's). */
XCR_API xcr_status_t xcr_buffer_create_from_host(xcr_device_t *device,
                                                 const xcr_buffer_options_t *options,
                                                 const void *data, size_t size,
                                                 xcr_buffer_t **out_buffer);
/* Wraps memory that |device| can address (for the CPU device: any memory of
 * this process) without a copy. It must hold |size| bytes until |release| is
 * called with |user_data| (NULL: until the buffer is gone), which is when the
 * last reference goes; on failure |release| is not called. */
XCR_API xcr_status_t xcr_buffer_wrap(xcr_device_t *device, const xcr_buffer_options_t *options,
                                     void *data, size_t size, void (*release)(void *user_data),
                                     void *user_data, xcr_buffer_t **out_buffer);
/* Another shape, type or part of the same memory, beginning |byte_offset|
 * bytes in. Keeps |buffer|'s memory alive. OUT_OF_RANGE if it does not fit. */
XCR_API xcr_status_t xcr_buffer_view(xcr_buffer_t *buffer, const xcr_buffer_options_t *options,
                                     uint64_t byte_offset, xcr_buffer_t **out_view);
XCR_API void xcr_buffer_retain(xcr_buffer_t *buffer);
XCR_API void xcr_buffer_release(xcr_buffer_t *buffer);
XCR_API void xcr_buffer_get_info(const xcr_buffer_t *buffer, xcr_buffer_info_t *out_info);
/* Lent by |buffer|. */
XCR_API xcr_device_t *xcr_buffer_device(const xcr_buffer_t *buffer);

/* Blocking copies of |size| bytes at |byte_offset| to and from host memory.
 * They are not ordered with streams: synchronize first with work that uses the
 * buffer (XCR_CHECK=1 tells where that is missing, see xcr_device_create). OUT_OF_RANGE outside the
 * buffer. */
XCR_API xcr_status_t xcr_buffer_read(xcr_buffer_t *buffer, uint64_t byte_offset, void *data,
                                     size_t size);
XCR_API xcr_status_t xcr_buffer_write(xcr_buffer_t *buffer, uint64_t byte_offset, const void *data,
                                      size_t size);
/* Gives a host pointer to the whole buffer until xcr_buffer_unmap: the memory
 * itself where the host can see it, else a copy that unmap writes back (where
 * that fails, the mapping has ended and what was written is lost). One mapping
 * at a time. Not ordered with streams, as above. */
XCR_API xcr_status_t xcr_buffer_map(xcr_buffer_t *buffer, xcr_map_access_t access, void **out_data);
XCR_API xcr_status_t xcr_buffer_unmap(xcr_buffer_t *buffer);

/*===-- DLPack ------------------------------------------------------------===*/

/* As <dlpack/dlpack.h> declares it; the layout of DLPack 0.2 to 0.8. */
struct DLManagedTensor;

/* Takes over |tensor| without a copy: its deleter is called when the buffer's
 * memory is not used any more. Work of its producer that is in flight must be
 * waited for first. On failure |tensor| stays the caller's. INVALID_ARGUMENT:
 * on another device than |device|, an element type that there is none for, or
 * strides that run backwards. */
XCR_API xcr_status_t xcr_buffer_from_dlpack(xcr_device_t *device, struct DLManagedTensor *tensor,
                                            xcr_buffer_t **out_buffer);
/* A tensor over the buffer's memory, which it keeps alive until its deleter is
 * called. Work in flight must be waited for first. */
XCR_API xcr_status_t xcr_buffer_to_dlpack(xcr_buffer_t *buffer,
                                          struct DLManagedTensor **out_tensor);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* XCR_BUFFER_H */
