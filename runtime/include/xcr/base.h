/*===- base.h - Strings, status, element types, objects --------------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * What all parts of the C API use. Programs include xcr.h, which says how the API
 * is to be read.
 *
 *===----------------------------------------------------------------------===*/

#ifndef XCR_BASE_H
#define XCR_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define XCR_API
#else
#define XCR_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Strings and versions ----------------------------------------------===*/

typedef struct xcr_string_view {
  const char *data; /* may be NULL where size is 0 */
  size_t size;
} xcr_string_view_t;

/* Views a terminated string; NULL gives the empty view. */
static inline xcr_string_view_t xcr_string(const char *text) {
  xcr_string_view_t view = {text, 0};
  if (text)
    while (text[view.size])
      ++view.size;
  return view;
}

/* The version of this header's interface and of the library that is loaded. */
enum { XCR_VERSION_MAJOR = 0, XCR_VERSION_MINOR = 1 };

/* Version of the library as 1000 * major + minor. Thread-safe. */
XCR_API uint32_t xcr_version(void);

/*===-- Status ------------------------------------------------------------===*/

typedef enum xcr_status_code {
  XCR_STATUS_OK = 0,
  /* an argument is wrong, whatever the state */
  XCR_STATUS_INVALID_ARGUMENT = 1,
  /* an index, size or symbolic dimension is outside its bounds */
  XCR_STATUS_OUT_OF_RANGE = 2,
  /* a file, function, variable, device or driver does not exist */
  XCR_STATUS_NOT_FOUND = 3,
  /* host or device memory; the message holds the bytes */
  XCR_STATUS_OUT_OF_MEMORY = 4,
  XCR_STATUS_UNSUPPORTED = 5, /* this version of the library cannot do it */
  /* the module is for another machine or format version */
  XCR_STATUS_INCOMPATIBLE = 6,
  XCR_STATUS_CORRUPT = 7, /* a file is damaged or lies about its contents */
  XCR_STATUS_IO = 8,      /* the operating system could not read or write a file */
  /* not in this state: an input is not bound, a buffer is mapped */
  XCR_STATUS_FAILED_PRECONDITION = 9,
  /* an earlier error made the device unusable; a CUDA device is lost for the
   * process, which only releases what it has of it */
  XCR_STATUS_DEVICE_LOST = 10,
  XCR_STATUS_PERMISSION_DENIED = 11, /* a flag of the caller's forbids it */
  /* a driver or system call failed that should not have */
  XCR_STATUS_INTERNAL = 12
} xcr_status_code_t;

/* NULL is success. Anything else is owned and must be released. */
typedef struct xcr_status *xcr_status_t;

static inline bool xcr_is_ok(xcr_status_t status) { return status == NULL; }

/* XCR_STATUS_OK for NULL. Thread-safe. */
XCR_API xcr_status_code_t xcr_status_code(xcr_status_t status);
/* One sentence, terminated, lent by |status|; "ok" for NULL. Thread-safe. */
XCR_API xcr_string_view_t xcr_status_message(xcr_status_t status);
/* Out-of-memory statuses: the bytes asked for and the bytes that were to be
 * had (UINT64_MAX: not known). False and zeros for every other status. */
XCR_API bool xcr_status_memory(xcr_status_t status, uint64_t *out_bytes_asked,
                               uint64_t *out_bytes_available);
/* "INVALID_ARGUMENT" and so on; static. */
XCR_API xcr_string_view_t xcr_status_code_name(xcr_status_code_t code);
/* Accepts NULL. */
XCR_API void xcr_status_release(xcr_status_t status);

/*===-- Host memory -------------------------------------------------------===*/

/* Where the library's own host memory comes from. Functions are called from
 * any thread, may return NULL, and must outlive every object made with them.
 * Both are needed: INVALID_ARGUMENT where one is NULL. */
typedef struct xcr_host_allocator {
  size_t struct_size;
  void *user_data;
  /* |alignment| is a power of two. */
  void *(*allocate)(void *user_data, size_t size, size_t alignment);
  /* |size| and |alignment| are those of the allocation. */
  void (*deallocate)(void *user_data, void *pointer, size_t size, size_t alignment);
} xcr_host_allocator_t;

/*===-- Element types -----------------------------------------------------===*/

typedef enum xcr_dtype {
  XCR_DTYPE_NONE = 0,
  XCR_DTYPE_I1 = 1, /* one byte each, 0 or 1 */
  XCR_DTYPE_I8 = 2,
  XCR_DTYPE_I16 = 3,
  XCR_DTYPE_I32 = 4,
  XCR_DTYPE_I64 = 5,
  XCR_DTYPE_U8 = 6,
  XCR_DTYPE_U16 = 7,
  XCR_DTYPE_U32 = 8,
  XCR_DTYPE_U64 = 9,
  XCR_DTYPE_F16 = 10,
  XCR_DTYPE_BF16 = 11,
  XCR_DTYPE_F32 = 12,
  XCR_DTYPE_F64 = 13,
  XCR_DTYPE_F8E4M3 = 14,
  XCR_DTYPE_F8E5M2 = 15
} xcr_dtype_t;

/* "f32" and so on, static; "?" for what is no type. */
XCR_API xcr_string_view_t xcr_dtype_name(xcr_dtype_t dtype);
/* Bytes of one element, 0 for what is no type. */
XCR_API size_t xcr_dtype_size(xcr_dtype_t dtype);
/* The type called |name|, XCR_DTYPE_NONE if there is none. */
XCR_API xcr_dtype_t xcr_dtype_from_name(xcr_string_view_t name);

/* No buffer or argument has more dimensions. */
enum { XCR_MAX_RANK = 16 };

/*===-- Objects -----------------------------------------------------------===*/

typedef struct xcr_device_list xcr_device_list_t;
typedef struct xcr_device xcr_device_t;     /* thread-safe */
typedef struct xcr_module xcr_module_t;     /* immutable, thread-safe */
typedef struct xcr_function xcr_function_t; /* lent by its module; immutable */
typedef struct xcr_instance xcr_instance_t; /* thread-safe */
typedef struct xcr_buffer xcr_buffer_t; /* the object is immutable and thread-safe; its contents are
                                           the caller's to order */
typedef struct xcr_call xcr_call_t;     /* one thread at a time */
typedef struct xcr_stream xcr_stream_t; /* thread-safe; work from several
                                           threads is taken in some order */
typedef struct xcr_event xcr_event_t;   /* thread-safe */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* XCR_BASE_H */
