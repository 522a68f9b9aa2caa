/*===- module.h - Modules and what is in them ------------------------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Loading, verifying and describing a .vmfb file.
 *
 *===----------------------------------------------------------------------===*/

#ifndef XCR_MODULE_H
#define XCR_MODULE_H

#include "xcr/base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* XCR_MODULE_H */
