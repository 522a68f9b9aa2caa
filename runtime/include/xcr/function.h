/*===- function.h - Functions, their arguments and sizes -------------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * What a function of a module takes and gives, and the device memory of a call.
 *
 *===----------------------------------------------------------------------===*/

#ifndef XCR_FUNCTION_H
#define XCR_FUNCTION_H

#include "xcr/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xcr_function_info {
  size_t struct_size;
  xcr_string_view_t name;
  xcr_string_view_t doc; /* what its program says it computes; may be empty */
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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* XCR_FUNCTION_H */
