/*===- stream.h - Streams and events ---------------------------------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * The order of work on a device.
 *
 *===----------------------------------------------------------------------===*/

#ifndef XCR_STREAM_H
#define XCR_STREAM_H

#include "xcr/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is put on a CUDA stream that its owner captures into a graph
 * (cuStreamBeginCapture, torch.cuda.graph) becomes nodes of that graph: calls,
 * whatever "launch=" says, with what is bound to them then; copies and fills;
 * events, which take other streams along. What a graph cannot hold (waiting,
 * queries, callbacks, host memory, calls made with XCR_CALL_PROFILE) is FAILED_PRECONDITION, and
 * the capture goes on. A plan's ifs and whiles become conditional nodes, which the GPU decides
 * whenever the graph runs; with drivers before 12.8, which lack them, such a call is
 * FAILED_PRECONDITION. Code and scratch memory that the graph uses stay until the stream object is
 * released, which waits for what was on the stream before the capture; the buffers bound are the
 * caller's to keep. Also the caller's is the order of the graph's launches: one after another, and
 * not beside other work of these streams or calls that touch the same variables. */

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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* XCR_STREAM_H */
