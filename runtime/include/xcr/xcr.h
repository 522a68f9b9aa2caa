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

/*===-- Devices -----------------------------------------------------------===*/

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

/*===-- Modules -----------------------------------------------------------===*/

typedef enum xcr_module_flags {
  /* Refuse a module that holds native CPU code: such code runs in this process
   * unchecked, so load it from trusted sources only. */
  XCR_MODULE_REFUSE_NATIVE_CODE = 1u << 0,
  /* Read and verify header and tables only; blobs (code, constants) are left
   * alone, so the module can be asked but not instantiated. */
  XCR_MODULE_METADATA_ONLY = 1u << 1,
  /* Check the checksum of every blob at once, not before its first use. */
  XCR_MODULE_VERIFY_BLOBS = 1u << 2
} xcr_module_flags_t;

typedef struct xcr_module_options {
  size_t struct_size;
  /* NULL: malloc and free. Copied */
  const xcr_host_allocator_t *host_allocator;
  uint32_t flags; /* xcr_module_flags_t */
} xcr_module_options_t;
#define XCR_MODULE_OPTIONS_INIT {sizeof(xcr_module_options_t), NULL, 0}

typedef struct xcr_module_info {
  size_t struct_size;
  xcr_string_view_t path; /* as given; empty for a module from memory */
  uint64_t file_size;
  uint32_t format_major, format_minor;
  xcr_string_view_t compiler; /* provenance, as the compiler wrote it */
  xcr_string_view_t flags;
  xcr_string_view_t source_name;
  uint64_t source_hash;
  xcr_string_view_t ptxas; /* its version, empty where none was used */
  uint32_t target_count, function_count, executable_count, constant_count, parameter_count,
      variable_count;
  uint64_t constant_bytes, parameter_bytes, variable_bytes;
} xcr_module_info_t;
#define XCR_MODULE_INFO_INIT                                                                       \
  {sizeof(xcr_module_info_t),                                                                      \
   {0, 0},                                                                                         \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   {0, 0},                                                                                         \
   {0, 0},                                                                                         \
   {0, 0},                                                                                         \
   0,                                                                                              \
   {0, 0},                                                                                         \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0}

typedef struct xcr_target_info {
  size_t struct_size;
  xcr_string_view_t kind; /* "cpu", "cuda" */
  xcr_string_view_t arch; /* "x86-64-v3", "sm_90a" */
  bool has_native_code;   /* shared objects that would run in this process */
  bool has_ptx, has_cubin;
  /* CUDA: the oldest driver that takes it, as cuDriverGetVersion counts */
  uint32_t min_driver;
  uint64_t code_bytes;
} xcr_target_info_t;
#define XCR_TARGET_INFO_INIT {sizeof(xcr_target_info_t), {0, 0}, {0, 0}, false, false, false, 0, 0}

typedef enum xcr_code_kind {
  XCR_CODE_SHARED_OBJECT = 0,
  XCR_CODE_PTX = 1,
  XCR_CODE_CUBIN = 2
} xcr_code_kind_t;

typedef struct xcr_executable_info {
  size_t struct_size;
  uint32_t target; /* ordinal of its target */
  xcr_code_kind_t kind;
  xcr_string_view_t arch;
  uint32_t cpu_feature_count; /* xcr_module_get_cpu_feature */
  uint32_t min_driver;
  uint64_t image_bytes;
  uint32_t export_count;
} xcr_executable_info_t;
#define XCR_EXECUTABLE_INFO_INIT                                                                   \
  {sizeof(xcr_executable_info_t), 0, XCR_CODE_SHARED_OBJECT, {0, 0}, 0, 0, 0, 0}

typedef struct xcr_export_info {
  size_t struct_size;
  xcr_string_view_t name;     /* symbol in the image */
  xcr_string_view_t strategy; /* how the compiler made it, and why */
  xcr_string_view_t reason;
  uint32_t block[3], cluster[3];
  uint32_t static_shared_memory, dynamic_shared_memory; /* CUDA, bytes */
  uint32_t scratch;                                     /* CPU, bytes a workgroup */
  int32_t registers, spill_bytes;                       /* a thread; -1: not known */
  uint32_t location_count;                              /* xcr_module_get_export_location */
} xcr_export_info_t;
#define XCR_EXPORT_INFO_INIT                                                                       \
  {sizeof(xcr_export_info_t), {0, 0}, {0, 0}, {0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 0, 0, -1, -1, 0}

/* A variable or an external parameter. */
typedef struct xcr_data_info {
  size_t struct_size;
  /* variables: the name; parameters: the key in the file */
  xcr_string_view_t name;
  xcr_string_view_t scope; /* parameters: which file; empty for variables */
  xcr_dtype_t dtype;
  uint32_t rank;
  const int64_t *shape;
  uint64_t byte_length;
} xcr_data_info_t;
#define XCR_DATA_INFO_INIT {sizeof(xcr_data_info_t), {0, 0}, {0, 0}, XCR_DTYPE_NONE, 0, NULL, 0}

/* Loads and verifies a module. |options| may be NULL. Thread-safe. NOT_FOUND
 * or IO: the file cannot be read; CORRUPT: it is truncated, damaged or
 * inconsistent; INCOMPATIBLE: not a module, or of another format version;
 * PERMISSION_DENIED: it holds what a flag refuses.
 *
 * The file stays open: its tables are read here, code and constants when the
 * first instance on a device is created. Nothing is mapped, so an instance
 * keeps what it has read whatever becomes of the file. A file that is written
 * or truncated between loading and reading makes that read fail with CORRUPT;
 * one that is deleted, or replaced by another of its name, is read on. Files of
 * parameters are treated alike. */
XCR_API xcr_status_t xcr_module_load_file(xcr_string_view_t path,
                                          const xcr_module_options_t *options,
                                          xcr_module_t **out_module);
/* As above from memory, which must stay unchanged until |release| is called
 * with |user_data| (NULL: until the module is gone). On failure |release| is
 * not called. Blobs are used in place where |data| is 64-byte aligned. */
XCR_API xcr_status_t xcr_module_load_memory(const void *data, size_t size,
                                            const xcr_module_options_t *options,
                                            void (*release)(void *user_data), void *user_data,
                                            xcr_module_t **out_module);
XCR_API void xcr_module_retain(xcr_module_t *module);
XCR_API void xcr_module_release(xcr_module_t *module);

XCR_API void xcr_module_get_info(const xcr_module_t *module, xcr_module_info_t *out_info);
/* The accessors by ordinal fail with OUT_OF_RANGE. All are lent by |module|. */
XCR_API xcr_status_t xcr_module_get_target(const xcr_module_t *module, uint32_t target,
                                           xcr_target_info_t *out_info);
XCR_API xcr_status_t xcr_module_get_executable(const xcr_module_t *module, uint32_t executable,
                                               xcr_executable_info_t *out_info);
XCR_API xcr_status_t xcr_module_get_cpu_feature(const xcr_module_t *module, uint32_t executable,
                                                uint32_t feature, xcr_string_view_t *out_name);
XCR_API xcr_status_t xcr_module_get_export(const xcr_module_t *module, uint32_t executable,
                                           uint32_t export_ordinal, xcr_export_info_t *out_info);
XCR_API xcr_status_t xcr_module_get_export_location(const xcr_module_t *module, uint32_t executable,
                                                    uint32_t export_ordinal, uint32_t location,
                                                    xcr_string_view_t *out_location);
/* The code itself, its checksum checked. CORRUPT if that fails,
 * FAILED_PRECONDITION for a module loaded with METADATA_ONLY. */
XCR_API xcr_status_t xcr_module_get_image(const xcr_module_t *module, uint32_t executable,
                                          xcr_string_view_t *out_image);
XCR_API xcr_status_t xcr_module_get_variable(const xcr_module_t *module, uint32_t variable,
                                             xcr_data_info_t *out_info);
XCR_API xcr_status_t xcr_module_get_parameter(const xcr_module_t *module, uint32_t parameter,
                                              xcr_data_info_t *out_info);
/* The verified tables: a size-prefixed FlatBuffer of schemas/module.fbs, for
 * tools that show everything. */
XCR_API xcr_string_view_t xcr_module_tables(const xcr_module_t *module);

/* Finds the target that an instance on |device| would use. INCOMPATIBLE if
 * there is none; the message says for every target what it needs and what the
 * device has. Reads no blobs. Thread-safe. */
XCR_API xcr_status_t xcr_module_check_device(const xcr_module_t *module, const xcr_device_t *device,
                                             uint32_t *out_target);

/*===-- Functions ---------------------------------------------------------===*/

typedef struct xcr_function_info {
  size_t struct_size;
  xcr_string_view_t name;
  xcr_string_view_t doc;
  uint32_t ordinal;
  uint32_t input_count, output_count, symbol_count;
} xcr_function_info_t;
#define XCR_FUNCTION_INFO_INIT {sizeof(xcr_function_info_t), {0, 0}, {0, 0}, 0, 0, 0, 0}

/* One dimension of an argument: |value| where it is a number, else -1 and
 * |symbol| (the symbol that it equals) or both -1 (a formula over symbols). */
typedef struct xcr_dim {
  int64_t value;
  int32_t symbol;
} xcr_dim_t;

typedef struct xcr_argument_info {
  size_t struct_size;
  xcr_string_view_t name; /* may be empty */
  xcr_dtype_t dtype;
  uint32_t rank;
  const xcr_dim_t *dims;
  uint32_t alignment; /* bytes that the address must be a multiple of */
  bool donated;       /* inputs: a launch may overwrite the buffer */
  int32_t alias;      /* outputs: the input whose buffer holds this output, or -1 */
} xcr_argument_info_t;
#define XCR_ARGUMENT_INFO_INIT                                                                     \
  {sizeof(xcr_argument_info_t), {0, 0}, XCR_DTYPE_NONE, 0, NULL, 1, false, -1}

/* A symbolic dimension: min <= value <= max, a multiple of divisor. */
typedef struct xcr_symbol_info {
  size_t struct_size;
  xcr_string_view_t name;
  uint32_t input, dim; /* where its value comes from */
  int64_t min, max, divisor;
} xcr_symbol_info_t;
#define XCR_SYMBOL_INFO_INIT {sizeof(xcr_symbol_info_t), {0, 0}, 0, 0, 0, INT64_MAX, 1}

/* Device memory for one call with given sizes. */
typedef struct xcr_memory_need {
  size_t struct_size;
  /* outputs that alias inputs count once, as inputs */
  uint64_t input_bytes, output_bytes;
  /* temporaries, shared by the calls of a stream; mapped in steps, of 2 MiB as a rule */
  uint64_t arena_bytes;
  /* constants, parameters, variables and packed weights: once an instance */
  uint64_t constant_bytes;
  /* of these: packed weights, which the init plan computes of parameters and constants; and
   * parameters and constants that it alone reads, given back once it has run */
  uint64_t packed_bytes, released_bytes;
} xcr_memory_need_t;
#define XCR_MEMORY_NEED_INIT {sizeof(xcr_memory_need_t), 0, 0, 0, 0, 0, 0}

/* OUT_OF_RANGE / NOT_FOUND (the message names the three nearest). */
XCR_API xcr_status_t xcr_module_get_function(const xcr_module_t *module, uint32_t ordinal,
                                             const xcr_function_t **out_function);
XCR_API xcr_status_t xcr_module_find_function(const xcr_module_t *module, xcr_string_view_t name,
                                              const xcr_function_t **out_function);
XCR_API void xcr_function_get_info(const xcr_function_t *function, xcr_function_info_t *out_info);
XCR_API xcr_status_t xcr_function_get_input(const xcr_function_t *function, uint32_t input,
                                            xcr_argument_info_t *out_info);
XCR_API xcr_status_t xcr_function_get_output(const xcr_function_t *function, uint32_t output,
                                             xcr_argument_info_t *out_info);
/* The number of the input or output called |name|; those without a name are not found.
 * NOT_FOUND: the message names the three nearest. */
XCR_API xcr_status_t xcr_function_find_input(const xcr_function_t *function, xcr_string_view_t name,
                                             uint32_t *out_input);
XCR_API xcr_status_t xcr_function_find_output(const xcr_function_t *function,
                                              xcr_string_view_t name, uint32_t *out_output);
XCR_API xcr_status_t xcr_function_get_symbol(const xcr_function_t *function, uint32_t symbol,
                                             xcr_symbol_info_t *out_info);
/* Evaluates the shape of an output for values of all the function's symbols
 * into |out_shape|, which has room for the output's rank. OUT_OF_RANGE: a value
 * is outside its bounds, or something overflows. */
XCR_API xcr_status_t xcr_function_get_output_shape(const xcr_function_t *function, uint32_t output,
                                                   const int64_t *symbol_values,
                                                   uint32_t symbol_count, int64_t *out_shape);
/* What one call on |target| takes for values of all the symbols. */
XCR_API xcr_status_t xcr_function_get_memory_need(const xcr_function_t *function, uint32_t target,
                                                  const int64_t *symbol_values,
                                                  uint32_t symbol_count,
                                                  xcr_memory_need_t *out_need);

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

/*===-- Streams and events ------------------------------------------------===*/

/* What is put on a CUDA stream that its owner captures into a graph
 * (cuStreamBeginCapture, torch.cuda.graph) becomes nodes of that graph: calls,
 * whatever "launch=" says, with what is bound to them then; copies and fills;
 * events, which take other streams along. What a graph cannot hold (waiting,
 * queries, callbacks, host memory, calls made with XCR_CALL_PROFILE or whose plan
 * has an if or a while) is FAILED_PRECONDITION, and the capture goes on. Code and scratch memory
 * that the graph uses stay until the stream object is released, which waits for what was on the
 * stream before the capture; the buffers bound are the caller's to keep. Also the caller's is the
 * order of the graph's launches: one after another, and not beside other work of these streams or
 * calls that touch the same variables. */

typedef struct xcr_stream_options {
  size_t struct_size;
  uint32_t flags; /* 0 */
  /* CUDA: a CUstream of the device's context to put work on, in order with what
   * its owner puts there; it must outlive the stream object. CU_STREAM_LEGACY
   * and CU_STREAM_PER_THREAD are streams, too; NULL: a new one. Other devices
   * take NULL only */
  void *native_stream;
} xcr_stream_options_t;
#define XCR_STREAM_OPTIONS_INIT {sizeof(xcr_stream_options_t), 0, NULL}

/* Runs when the work before it has ended, on a thread of the library or on one
 * that waits for the stream; |status| is NULL or what went wrong, lent. It must
 * not block, nor call the library except to release objects. */
typedef void (*xcr_host_callback_t)(void *user_data, xcr_status_t status);

/* A queue of work: what is launched on it runs in order, asynchronously.
 * |options| may be NULL. */
XCR_API xcr_status_t xcr_stream_create(xcr_device_t *device, const xcr_stream_options_t *options,
                                       xcr_stream_t **out_stream);
XCR_API void xcr_stream_retain(xcr_stream_t *stream);
/* Dropping the last reference waits for the stream's work. */
XCR_API void xcr_stream_release(xcr_stream_t *stream);
/* Waits until everything on the stream has ended and reports what went wrong
 * on it since the last call, once. */
XCR_API xcr_status_t xcr_stream_synchronize(xcr_stream_t *stream);
/* Whether everything on the stream has ended; does not wait. */
XCR_API xcr_status_t xcr_stream_query(xcr_stream_t *stream, bool *out_done);
/* Records |event| behind the work on the stream now. */
XCR_API xcr_status_t xcr_stream_record(xcr_stream_t *stream, xcr_event_t *event);
/* Later work on the stream waits for what |event| records now; nothing is
 * recorded: does nothing. The event may be of another stream of the device. */
XCR_API xcr_status_t xcr_stream_wait(xcr_stream_t *stream, xcr_event_t *event);
XCR_API xcr_status_t xcr_stream_add_callback(xcr_stream_t *stream, xcr_host_callback_t callback,
                                             void *user_data);
/* Stream-ordered copies and fills; buffers are retained until they are done,
 * host memory must stay valid until then. |pattern_size| is 1, 2, 4 or 8;
 * offset and size of a fill are multiples of it. INVALID_ARGUMENT: source and
 * target of a copy overlap. */
XCR_API xcr_status_t xcr_stream_copy(xcr_stream_t *stream, xcr_buffer_t *source,
                                     uint64_t source_offset, xcr_buffer_t *target,
                                     uint64_t target_offset, uint64_t size);
XCR_API xcr_status_t xcr_stream_fill(xcr_stream_t *stream, xcr_buffer_t *target,
                                     uint64_t byte_offset, uint64_t size, uint64_t pattern,
                                     uint32_t pattern_size);
XCR_API xcr_status_t xcr_stream_read(xcr_stream_t *stream, xcr_buffer_t *source,
                                     uint64_t byte_offset, void *data, size_t size);
XCR_API xcr_status_t xcr_stream_write(xcr_stream_t *stream, xcr_buffer_t *target,
                                      uint64_t byte_offset, const void *data, size_t size);

XCR_API xcr_status_t xcr_event_create(xcr_device_t *device, xcr_event_t **out_event);
XCR_API void xcr_event_retain(xcr_event_t *event);
XCR_API void xcr_event_release(xcr_event_t *event);
/* Waits for what the event records now. Nothing recorded: returns at once. */
XCR_API xcr_status_t xcr_event_synchronize(xcr_event_t *event);
XCR_API xcr_status_t xcr_event_query(xcr_event_t *event, bool *out_done);

/*===-- Instances ---------------------------------------------------------===*/

/* Where the external parameters of one scope are: a .npy or .safetensors file.
 */
typedef struct xcr_parameter_source {
  xcr_string_view_t scope;
  xcr_string_view_t path;
} xcr_parameter_source_t;

/* The external parameters of one scope, in memory: the bytes of a .npy or
 * .safetensors file. They are read while the instance is created and copied,
 * so that they need not stay. */
typedef struct xcr_parameter_memory {
  xcr_string_view_t scope;
  const void *data;
  size_t size;
} xcr_parameter_memory_t;

typedef struct xcr_instance_options {
  size_t struct_size;
  /* A scope that is neither here nor in |memories| is a path relative to the
   * module file's directory. */
  const xcr_parameter_source_t *sources;
  size_t source_count;
  /* Instances made with these share code and constants with no other. */
  const xcr_parameter_memory_t *memories;
  size_t memory_count;
} xcr_instance_options_t;
#define XCR_INSTANCE_OPTIONS_INIT {sizeof(xcr_instance_options_t), NULL, 0, NULL, 0}

/* Puts |module| on |device|: loads code, uploads constants and parameters,
 * makes the variables with their initial values, runs the init plan. |options|
 * may be NULL. Blocking, thread-safe. INCOMPATIBLE: no target of the module
 * runs on the device; NOT_FOUND, CORRUPT: a parameter's file. */
XCR_API xcr_status_t xcr_instance_create(xcr_device_t *device, xcr_module_t *module,
                                         const xcr_instance_options_t *options,
                                         xcr_instance_t **out_instance);
XCR_API void xcr_instance_retain(xcr_instance_t *instance);
XCR_API void xcr_instance_release(xcr_instance_t *instance);
/* All lent by |instance|. */
XCR_API xcr_device_t *xcr_instance_device(const xcr_instance_t *instance);
XCR_API xcr_module_t *xcr_instance_module(const xcr_instance_t *instance);
/* Ordinal of the module's target that it runs. */
XCR_API uint32_t xcr_instance_target(const xcr_instance_t *instance);
/* The buffer of a variable, lent until it is replaced. Reading and writing it
 * changes the variable. NOT_FOUND lists the variables there are. */
XCR_API xcr_status_t xcr_instance_get_variable(xcr_instance_t *instance, xcr_string_view_t name,
                                               xcr_buffer_t **out_buffer);
/* Puts |buffer| in the place of the variable's own from the next launch on.
 * INVALID_ARGUMENT unless dtype, shape, device and contiguity fit. */
XCR_API xcr_status_t xcr_instance_set_variable(xcr_instance_t *instance, xcr_string_view_t name,
                                               xcr_buffer_t *buffer);

/* Writes all variables to a .safetensors file at |path|, which other programs
 * read as well. Waits for the launches so far that touch variables; launches by
 * other threads meanwhile are the caller's to keep out. The file is complete
 * under another name beside |path| before it takes that name, so an error, or
 * the end of the process, leaves a checkpoint that was there as it was.
 * NOT_FOUND: there is no such directory; IO: the system cannot write.
 * Thread-safe. */
XCR_API xcr_status_t xcr_instance_save_variables(xcr_instance_t *instance, xcr_string_view_t path);

typedef enum xcr_restore_flags {
  /* A variable that the file does not have keeps its value. */
  XCR_RESTORE_PARTIAL = 1u << 0
} xcr_restore_flags_t;

/* Sets every variable to the array of its name in the .safetensors file at
 * |path|; arrays that are no variable are ignored. |flags|: xcr_restore_flags_t.
 * Waits as xcr_instance_save_variables does. All is checked before the first
 * variable changes: NOT_FOUND: no such file, or an array is missing (with
 * PARTIAL: all are); INVALID_ARGUMENT: an array has another type or shape;
 * CORRUPT: the file is damaged. Only a file that changes or cannot be read
 * meanwhile leaves some variables set and others not. Thread-safe. */
XCR_API xcr_status_t xcr_instance_restore_variables(xcr_instance_t *instance,
                                                    xcr_string_view_t path, uint32_t flags);

/*===-- Calls -------------------------------------------------------------===*/

typedef enum xcr_call_flags {
  /* Time every command of every launch; commands then run one after another. */
  XCR_CALL_PROFILE = 1u << 0
} xcr_call_flags_t;

typedef struct xcr_call_options {
  size_t struct_size;
  uint32_t flags; /* xcr_call_flags_t */
} xcr_call_options_t;
#define XCR_CALL_OPTIONS_INIT {sizeof(xcr_call_options_t), 0}

typedef struct xcr_call_statistics {
  size_t struct_size;
  uint64_t launches;
  /* launches before which inputs were checked and sizes evaluated again */
  uint64_t checks;
  uint64_t instantiations; /* plans recorded (a CUDA graph instantiated) */
  uint64_t patches;        /* commands changed in a recorded plan */
  /* dispatches, copies, fills, ifs and whiles, where sizes choose among some: of those chosen */
  uint32_t command_count;
  uint32_t dispatch_count;
  /* of them, with nothing to do for the sizes bound now */
  uint32_t empty_count;
  uint64_t arena_bytes; /* for the sizes bound now */
  /* The host decides ifs and whiles of the plan: always on the CPU; on CUDA where the driver has no
     conditional nodes (before 12.8), where graphs are off, and where the call is profiled. A thread
     of the stream's does it; on an imported stream the launch returns when the last decision has
     been made. What fails there is told by the stream's next synchronisation. False before the
     first launch. */
  bool has_host_loop;
  /* that a launch is spread over, the caller's included; 0: not recorded yet */
  uint32_t stream_count;
} xcr_call_statistics_t;
#define XCR_CALL_STATISTICS_INIT {sizeof(xcr_call_statistics_t), 0, 0, 0, 0, 0, 0, 0, 0, false, 0}

typedef enum xcr_command_kind {
  XCR_COMMAND_DISPATCH = 0,
  XCR_COMMAND_COPY = 1,
  XCR_COMMAND_FILL = 2,
  XCR_COMMAND_CONTROL =
      3 /* an if or while; on the CPU its time is that of what it ran, on CUDA it has none */
} xcr_command_kind_t;

/* What one command of the plan has cost so far, over all profiled launches. */
typedef struct xcr_profile_entry {
  size_t struct_size;
  xcr_command_kind_t kind;
  xcr_string_view_t name;     /* the kernel's, "copy", "fill", "if" or "while" */
  xcr_string_view_t location; /* in the source of the model */
  xcr_string_view_t strategy;
  /* of one launch with the sizes bound now; -1: not known */
  int64_t bytes, flops;
  uint32_t grid[3];
  uint64_t launches;
  uint64_t total_ns, min_ns;
  /* of the last launch: from its begin to the command's, and what that took */
  uint64_t last_begin_ns, last_ns;
} xcr_profile_entry_t;
#define XCR_PROFILE_ENTRY_INIT                                                                     \
  {sizeof(xcr_profile_entry_t),                                                                    \
   XCR_COMMAND_DISPATCH,                                                                           \
   {0, 0},                                                                                         \
   {0, 0},                                                                                         \
   {0, 0},                                                                                         \
   -1,                                                                                             \
   -1,                                                                                             \
   {0, 0, 0},                                                                                      \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0}

/* Makes a call of |function| with nothing bound. |options| may be NULL.
 * NOT_FOUND lists the functions there are. */
XCR_API xcr_status_t xcr_call_create(xcr_instance_t *instance, xcr_string_view_t function,
                                     const xcr_call_options_t *options, xcr_call_t **out_call);
XCR_API void xcr_call_retain(xcr_call_t *call);
/* May be dropped while launches are in flight. */
XCR_API void xcr_call_release(xcr_call_t *call);
XCR_API const xcr_function_t *xcr_call_function(const xcr_call_t *call);

/* Binds and retains |buffer|. INVALID_ARGUMENT or OUT_OF_RANGE, naming the
 * argument, what it takes and what came: ordinal, dtype, rank, fixed dims,
 * alignment, device, contiguity. Symbolic dims are checked by the next launch.
 */
XCR_API xcr_status_t xcr_call_set_input(xcr_call_t *call, uint32_t input, xcr_buffer_t *buffer);
/* As above. NULL (the state at first): the call allocates the output when it
 * is launched, and again when its shape grows. An output that aliases an
 * input cannot be set. */
XCR_API xcr_status_t xcr_call_set_output(xcr_call_t *call, uint32_t output, xcr_buffer_t *buffer);
/* What is bound, lent until it is replaced; NULL where nothing is. */
XCR_API xcr_buffer_t *xcr_call_input(const xcr_call_t *call, uint32_t input);
/* Of an output that the call allocates: the buffer of the last launch (or
 * prepare), overwritten by the next one; retain does not change that. */
XCR_API xcr_buffer_t *xcr_call_output(const xcr_call_t *call, uint32_t output);
/* The shape that an output will have for the inputs bound now, into
 * |out_shape|, which has room for its rank. */
XCR_API xcr_status_t xcr_call_query_output_shape(xcr_call_t *call, uint32_t output,
                                                 int64_t *out_shape);
/* Does all that a first launch does, but the launch. */
XCR_API xcr_status_t xcr_call_prepare(xcr_call_t *call, xcr_stream_t *stream);
/* Launches on |stream| and returns. Buffers bound are retained until it has
 * ended. Launching again with nothing changed checks and allocates nothing. A
 * call may be launched again before an earlier launch has ended; launches of
 * one call, and of calls that touch one variable, run one after another
 * whatever their streams. FAILED_PRECONDITION: an input is not bound;
 * OUT_OF_RANGE: a symbolic dim disagrees or is out of its range. What
 * goes wrong later is reported by the stream's synchronize. */
XCR_API xcr_status_t xcr_call_launch(xcr_call_t *call, xcr_stream_t *stream);
/* Launches and waits; on the CPU device the calling thread takes part. */
XCR_API xcr_status_t xcr_call_run(xcr_call_t *call);
XCR_API void xcr_call_get_statistics(const xcr_call_t *call, xcr_call_statistics_t *out_statistics);
/* Commands in plan order, for calls made with XCR_CALL_PROFILE (else 0). Read
 * it when no launch is in flight. */
XCR_API uint32_t xcr_call_profile_count(const xcr_call_t *call);
XCR_API xcr_status_t xcr_call_get_profile(const xcr_call_t *call, uint32_t entry,
                                          xcr_profile_entry_t *out_entry);

/*===-- Steps -------------------------------------------------------------===*/

/* A call run command by command, for debuggers: what a command reads can be
 * looked at before it runs and what it wrote after it, though the plan gives
 * the same memory to something else later. The tools' probes are built on it. */

typedef enum xcr_space {
  XCR_SPACE_ARENA = 0, /* temporaries */
  XCR_SPACE_INPUT = 1,
  XCR_SPACE_OUTPUT = 2,
  XCR_SPACE_CONSTANT = 3,
  XCR_SPACE_VARIABLE = 4,
  XCR_SPACE_PARAMETER = 5,
  XCR_SPACE_PACKED = 6 /* made from constants and parameters once an instance */
} xcr_space_t;

/* A command for the sizes and buffers bound now. */
typedef struct xcr_command_info {
  size_t struct_size;
  xcr_command_kind_t kind;
  bool is_empty;              /* nothing to do; a step skips it */
  xcr_string_view_t name;     /* the kernel's, "copy", "fill", "if" or "while" */
  xcr_string_view_t location; /* in the source of the model */
  /* dispatches: the code in the module (xcr_module_get_export); executables of
   * one target that follow one another and have equal exports are alternatives,
   * of which the device runs the one that fits it best */
  uint32_t executable, export_ordinal;
  uint32_t grid[3];
  const int64_t *scalars; /* what the kernel gets besides the bindings */
  uint32_t scalar_count;
  uint64_t workspace_bytes;
  /* dispatches: in the kernel's order; copies: source, target; fills: target; ifs and whiles:
   * the byte that decides */
  uint32_t binding_count;
} xcr_command_info_t;
#define XCR_COMMAND_INFO_INIT                                                                      \
  {sizeof(xcr_command_info_t),                                                                     \
   XCR_COMMAND_DISPATCH,                                                                           \
   false,                                                                                          \
   {0, 0},                                                                                         \
   {0, 0},                                                                                         \
   0,                                                                                              \
   0,                                                                                              \
   {0, 0, 0},                                                                                      \
   NULL,                                                                                           \
   0,                                                                                              \
   0,                                                                                              \
   0}

typedef struct xcr_binding_info {
  size_t struct_size;
  bool is_read, is_written;
  xcr_space_t space;
  uint32_t ordinal;     /* which input, output, ... */
  uint64_t byte_offset; /* in that buffer */
  uint64_t byte_length;
  /* What the kernel takes it for, as it is stored: truth values and unsigned
   * integers are i8 to i64. NONE and rank 0 where the module does not tell. */
  xcr_dtype_t dtype;
  uint32_t rank;
  int64_t shape[XCR_MAX_RANK];
} xcr_binding_info_t;
#define XCR_BINDING_INFO_INIT                                                                      \
  {sizeof(xcr_binding_info_t), false, false, XCR_SPACE_ARENA, 0, 0, 0, XCR_DTYPE_NONE, 0, {0}}

/* Does what a launch does before its first command, and sets |out_count| to the
 * number of commands, those inside ifs and whiles among them. Inputs must be
 * bound. */
XCR_API xcr_status_t xcr_call_begin_steps(xcr_call_t *call, uint32_t *out_count);
/* The command that the next xcr_call_step runs; the number of commands after
 * the last one. Without ifs and whiles they come in order; an if is a step of
 * its own before what it chooses, a while after each run of its condition. */
XCR_API uint32_t xcr_call_next_step(const xcr_call_t *call);
/* Runs the next command and waits for it. After the last one the outputs are
 * as after xcr_call_run; OUT_OF_RANGE then. FAILED_PRECONDITION: not between
 * xcr_call_begin_steps and the next change of a binding or launch; the same for
 * the functions below. */
XCR_API xcr_status_t xcr_call_step(xcr_call_t *call);
/* |scalars| are lent until the next begin_steps, binding or launch. */
XCR_API xcr_status_t xcr_call_get_command(const xcr_call_t *call, uint32_t command,
                                          xcr_command_info_t *out_info);
XCR_API xcr_status_t xcr_call_get_binding(const xcr_call_t *call, uint32_t command,
                                          uint32_t binding, xcr_binding_info_t *out_info);
/* Reads |size| bytes at |byte_offset| of a binding as they are now. */
XCR_API xcr_status_t xcr_call_read_binding(xcr_call_t *call, uint32_t command, uint32_t binding,
                                           uint64_t byte_offset, void *data, size_t size);

/*===-- The one-line form -------------------------------------------------===*/

/* Runs |function| once and waits. |outputs| holds the buffers to write to;
 * where one is NULL a new one is made and put there with a reference owned by
 * the caller. Reuses what an earlier invocation prepared. Thread-safe. */
XCR_API xcr_status_t xcr_invoke(xcr_instance_t *instance, xcr_string_view_t function,
                                uint32_t input_count, xcr_buffer_t *const *inputs,
                                uint32_t output_count, xcr_buffer_t **outputs);

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

#endif /* XCR_XCR_H */
