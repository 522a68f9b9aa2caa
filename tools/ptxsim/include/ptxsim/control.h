//===- control.h - Steering the CUDA driver stand-in ------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What libcuda_sim.so exports beside the CUDA driver's own interface: faults on
// demand, call counts, the live-object report, checker reports and kernel
// counters. Plain C; a test finds the functions with dlsym, by name. All of
// them may be called from any thread, before cuInit too, and none of them
// counts as a driver call.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_CONTROL_H
#define PTXSIM_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Starts the stand-in afresh, as if the process had just begun: every context,
// object, fault, count and report is gone, and handles of before are invalid.
// |settings| is a list of "key=value" separated by blanks that are applied on
// top of the environment, with the keys of the README in lower case and without
// their prefix ("arch=sm_80 devices=2 features=-pools"). NULL: environment
// only. Returns a CUresult: CUDA_ERROR_INVALID_VALUE (and a line in the report)
// for a setting that cannot be used. No other driver call may be running.
int ptxsimConfigure(const char *settings);

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

enum {
  // Fail every call from the |nth| on, not that one only.
  PTXSIM_FAULT_REPEAT = 1
};

// Makes the |nth| call from now (1 = the next) of driver function |function|
// return |result|, a CUresult other than CUDA_SUCCESS. |function| is the plain
// name ("cuMemAlloc" for all its versions), or "*" for a call of any function;
// the look-ups of error names never count for "*". The call has no effect,
// except for calls that release something: those release it first, since the
// driver's own failures there are those of earlier work. A result that destroys
// a context (CUDA_ERROR_ILLEGAL_ADDRESS, ...) also destroys the one current to
// the caller. Returns a CUresult: CUDA_ERROR_INVALID_VALUE (and a line in the
// report that lists what there is) for a function or result that is not known.
// Any number of faults may be set; each fires once, unless it repeats.
int ptxsimSetFault(const char *function, uint64_t nth, int result, unsigned flags);

// Takes back all faults that have not fired.
void ptxsimClearFaults(void);

// The number of faults that have fired since the last ptxsimConfigure.
uint64_t ptxsimFaultsFired(void);

// Copies the plain name of the function that the latest fault struck, empty if
// none has; as ptxsimLeakReport otherwise.
size_t ptxsimLastFault(char *function, size_t size);

// A context that a fault has ended takes its device along: like hardware, the
// stand-in makes no other context on it in this process. After this call it
// does again, as for a new process. Contexts that were lost stay lost.
void ptxsimReviveDevices(void);

// Allocations of more than |bytes| fail with CUDA_ERROR_OUT_OF_MEMORY: of device,
// pool, managed, physical and pinned host memory, host memory that is registered
// included. UINT64_MAX: no such limit.
void ptxsimSetMaxAllocation(uint64_t bytes);

// Delays every operation of every stream by up to |microseconds| (a seeded
// random time), so that missing dependencies show. 0: no delay.
void ptxsimSetStreamDelay(unsigned microseconds, uint64_t seed);

// Runs the nodes of a graph one after another, in an order that its edges allow
// and that |seed| chooses. 0: concurrently where the edges allow it.
void ptxsimSetGraphSeed(uint64_t seed);

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

// Calls of driver function |function| (plain name) since the last reset; NULL:
// of all functions.
uint64_t ptxsimCallCount(const char *function);
void ptxsimResetCallCounts(void);

// Objects that the program has created and not destroyed.
typedef struct PtxsimLive {
  uint64_t contexts; // including primary contexts that are retained
  uint64_t modules;
  uint64_t streams;
  uint64_t events;
  uint64_t graphs;
  uint64_t graphExecs;
  uint64_t pools;
  uint64_t deviceAllocations; // cuMemAlloc, pools, managed
  uint64_t deviceBytes;
  uint64_t hostAllocations; // cuMemHostAlloc and cuMemHostRegister
  uint64_t hostBytes;
  uint64_t physicalAllocations; // cuMemCreate
  uint64_t physicalBytes;
  uint64_t reservations; // cuMemAddressReserve
  uint64_t reservedBytes;
  // Objects that were still alive when a healthy context of theirs was
  // destroyed.
  uint64_t abandoned;
} PtxsimLive;

void ptxsimGetLive(PtxsimLive *live);

// Writes the live objects as text, one kind a line with sizes and names where
// they have some, empty if there is none; always ends it with a NUL. Returns
// the length of the whole text.
size_t ptxsimLeakReport(char *text, size_t size);

//===----------------------------------------------------------------------===//
// Reports and kernels
//===----------------------------------------------------------------------===//

// The number of reports (faults of kernels, misuse of the driver) so far.
uint64_t ptxsimReportCount(void);

// Copies the latest report; as ptxsimLeakReport otherwise.
size_t ptxsimLastReport(char *text, size_t size);

// What all launches of kernels of one name did, together. The meaning of the
// fields is that of Counters in ptxsim.h.
typedef struct PtxsimKernelCounters {
  uint64_t launches;
  uint64_t threadInstructions;
  uint64_t warpInstructions;
  uint64_t integer;
  uint64_t floating;
  uint64_t conversion;
  uint64_t control;
  uint64_t memory;
  uint64_t sync;
  uint64_t matrix;
  uint64_t globalLoadRequests;
  uint64_t globalLoadSectors;
  uint64_t globalStoreRequests;
  uint64_t globalStoreSectors;
  uint64_t sharedRequests;
  uint64_t sharedBankConflicts;
  uint64_t atomicRequests;
  uint64_t barriers;
  uint64_t sharedRaceBytes;
  uint64_t sharedRaceOf;
} PtxsimKernelCounters;

// Fills |counters| for kernel |name|; returns 0 if no kernel of that name ran.
int ptxsimGetKernelCounters(const char *name, PtxsimKernelCounters *counters);

// Copies the name of the |index|-th kernel that ran, in alphabetical order.
// Returns the length of the name, 0 past the last one.
size_t ptxsimKernelName(size_t index, char *name, size_t size);

void ptxsimResetKernelCounters(void);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // PTXSIM_CONTROL_H
