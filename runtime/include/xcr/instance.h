/*===- instance.h - Instances ----------------------------------------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A module on a device, with its constants, parameters and variables.
 *
 *===----------------------------------------------------------------------===*/

#ifndef XCR_INSTANCE_H
#define XCR_INSTANCE_H

#include "xcr/base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* XCR_INSTANCE_H */
