/*===- device.h - Devices and their memory ---------------------------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Which devices there are, and how they are opened.
 *
 *===----------------------------------------------------------------------===*/

#ifndef XCR_DEVICE_H
#define XCR_DEVICE_H

#include "xcr/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xcr_device_options {
  size_t struct_size;
  /* NULL: malloc and free. Copied */
  const xcr_host_allocator_t *host_allocator;
  uint64_t memory_limit; /* bytes of device memory; 0: what the device has */
  /* CPU: threads that run kernels, the caller's included; 0:
   * XCR_CPU_THREADS, else every core */
  uint32_t cpu_threads;
  uint32_t flags; /* 0 */
  /* CUDA: a CUcontext of the device to work in, which must outlive the device
   * object; NULL: the device's primary context. Other devices take NULL only */
  void *native_context;
} xcr_device_options_t;
#define XCR_DEVICE_OPTIONS_INIT {sizeof(xcr_device_options_t), NULL, 0, 0, 0, NULL}

typedef struct xcr_device_info {
  size_t struct_size;
  xcr_string_view_t uri;    /* "cpu", "cuda:0" */
  xcr_string_view_t driver; /* "cpu", "cuda" */
  xcr_string_view_t name;   /* "NVIDIA H200", or the processor's name */
  xcr_string_view_t arch;   /* "sm_90", "x86-64-v3" */
  /* one sentence; for "auto" also why this device was chosen */
  xcr_string_view_t description;
  uint64_t total_memory;    /* bytes */
  uint32_t processor_count; /* CPU: threads; CUDA: SMs */
  uint32_t driver_version;  /* CUDA: as cuDriverGetVersion counts; else 0 */
} xcr_device_info_t;
#define XCR_DEVICE_INFO_INIT                                                                       \
  {sizeof(xcr_device_info_t), {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, 0, 0, 0}

typedef struct xcr_driver_info {
  size_t struct_size;
  xcr_string_view_t name;   /* "cpu", "cuda" */
  bool available;           /* it can make at least one device */
  xcr_string_view_t reason; /* why not, or the driver's version */
} xcr_driver_info_t;
#define XCR_DRIVER_INFO_INIT {sizeof(xcr_driver_info_t), {0, 0}, false, {0, 0}}

/* Bytes of device memory that the library holds, and what it did. */
typedef struct xcr_device_statistics {
  size_t struct_size;
  uint64_t bytes_in_use; /* buffers, arenas, constants, variables */
  /* the most bytes_in_use has been since creation or reset */
  uint64_t bytes_peak;
  uint64_t bytes_limit;      /* UINT64_MAX where there is none */
  uint64_t bytes_arena;      /* the part of bytes_in_use that arenas take */
  uint64_t allocation_count; /* calls of the allocator of the device, ever */
  uint64_t launch_count;     /* calls launched, ever */
} xcr_device_statistics_t;
#define XCR_DEVICE_STATISTICS_INIT {sizeof(xcr_device_statistics_t), 0, 0, 0, 0, 0, 0}

/* Lists what drivers and devices there are. Only lack of memory makes it fail:
 * a driver that cannot be used is listed with the reason. Thread-safe. */
XCR_API xcr_status_t xcr_device_list_create(const xcr_host_allocator_t *host_allocator,
                                            xcr_device_list_t **out_list);
XCR_API size_t xcr_device_list_driver_count(const xcr_device_list_t *list);
XCR_API size_t xcr_device_list_device_count(const xcr_device_list_t *list);
/* OUT_OF_RANGE if there is no such ordinal. Strings are lent by |list|. */
XCR_API xcr_status_t xcr_device_list_get_driver(const xcr_device_list_t *list, size_t ordinal,
                                                xcr_driver_info_t *out_info);
XCR_API xcr_status_t xcr_device_list_get_device(const xcr_device_list_t *list, size_t ordinal,
                                                xcr_device_info_t *out_info);
XCR_API void xcr_device_list_release(xcr_device_list_t *list);

/* Opens a device: "cpu", "cpu:4" (four threads), "cuda", "cuda:1", or "auto",
 * which is the first CUDA device if there is one, else the CPU; the device's
 * description says which and why. "cuda:0?launch=graph" runs every plan as a
 * CUDA graph, "?launch=stream" as launches on streams, several where a plan has
 * use for them; "?launch=auto", which
 * the environment variable XCR_CUDA_LAUNCH can change, chooses. With the environment variable
 * XCR_TEMPORARIES=separate, which is for debugging, each temporary of a plan is an allocation of
 * its own, new for each launch (a graph that such a launch was captured into may run until the
 * call's next launch or release). XCR_CHECK=1, for debugging as well, makes xcr_buffer_read, write,
 * map and to_dlpack give FAILED_PRECONDITION while work on a stream that has not ended writes to
 * the buffer, or reads what the host would write. |options| may be NULL. Thread-safe.
 * INVALID_ARGUMENT: malformed uri; NOT_FOUND: no such driver or device. */
XCR_API xcr_status_t xcr_device_create(xcr_string_view_t uri, const xcr_device_options_t *options,
                                       xcr_device_t **out_device);
XCR_API void xcr_device_retain(xcr_device_t *device);
XCR_API void xcr_device_release(xcr_device_t *device);
XCR_API void xcr_device_get_info(const xcr_device_t *device, xcr_device_info_t *out_info);
XCR_API void xcr_device_get_statistics(const xcr_device_t *device,
                                       xcr_device_statistics_t *out_statistics);
/* Sets bytes_peak to what is in use now. */
XCR_API void xcr_device_reset_peak(xcr_device_t *device);
/* Gives memory that no object uses back to the system. */
XCR_API xcr_status_t xcr_device_trim(xcr_device_t *device);
/* Waits for everything launched on every stream of the device. */
XCR_API xcr_status_t xcr_device_synchronize(xcr_device_t *device);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* XCR_DEVICE_H */
