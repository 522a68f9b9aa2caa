/*===- step.h - Calls run command by command -------------------------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * For debuggers.
 *
 *===----------------------------------------------------------------------===*/

#ifndef XCR_STEP_H
#define XCR_STEP_H

#include "xcr/call.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* XCR_STEP_H */
