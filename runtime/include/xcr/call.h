/*===- call.h - Calls ------------------------------------------------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A function with its buffers: binding, launching, profiling.
 *
 *===----------------------------------------------------------------------===*/

#ifndef XCR_CALL_H
#define XCR_CALL_H

#include "xcr/base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/*===-- The one-line form -------------------------------------------------===*/

/* Runs |function| once and waits. |outputs| holds the buffers to write to;
 * where one is NULL a new one is made and put there with a reference owned by
 * the caller. Reuses what an earlier invocation prepared. Thread-safe. */
XCR_API xcr_status_t xcr_invoke(xcr_instance_t *instance, xcr_string_view_t function,
                                uint32_t input_count, xcr_buffer_t *const *inputs,
                                uint32_t output_count, xcr_buffer_t **outputs);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* XCR_CALL_H */
