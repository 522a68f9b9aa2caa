/*===- nvtx_tool.c - A profiler that takes NVTX ranges ---------------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * What a tool does when a process that uses NVTX 3 opens it: it asks for the
 * table of callbacks, then for each module's functions, and fills in its own.
 *
 *===----------------------------------------------------------------------===*/

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void (*function_t)(void);

struct callbacks_table {
  size_t size;
  int (*get_module_table)(unsigned module, function_t ***out, unsigned *size);
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char text[1 << 16];

static void note(const char *line) {
  pthread_mutex_lock(&mutex);
  size_t used = strlen(text);
  snprintf(text + used, sizeof(text) - used, "%s\n", line);
  pthread_mutex_unlock(&mutex);
}

static int push(const char *message) {
  char line[256];
  snprintf(line, sizeof(line), "push %s", message);
  note(line);
  return 0;
}

static int pop(void) {
  note("pop");
  return 0;
}

/* The lines so far. */
__attribute__((visibility("default"))) const char *nvtx_tool_text(void) { return text; }

__attribute__((visibility("default"))) int
InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id)) {
  const struct callbacks_table *callbacks = get_export_table(1);
  if (!callbacks || callbacks->size < sizeof(*callbacks) || get_export_table(77))
    return 0;
  function_t **table = NULL;
  unsigned size = 0;
  /* Tools write to slots of every module that there is. */
  for (unsigned module = 2; module <= 6; ++module) {
    if (!callbacks->get_module_table(module, &table, &size))
      return 0;
    for (unsigned i = 1; i < size; ++i)
      *table[i] = (function_t)pop;
  }
  if (callbacks->get_module_table(99, &table, &size) ||
      !callbacks->get_module_table(1, &table, &size) || size <= 11)
    return 0;
  *table[9] = (function_t)push; /* RangePushA */
  *table[11] = (function_t)pop; /* RangePop */
  return 1;
}
