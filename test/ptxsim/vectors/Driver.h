//===- Driver.h - The driver calls of the vector suite ----------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The suite uses nothing but these few calls of a CUDA driver (libcuda.so.1, or
// libcuda_sim.so), so that the same code serves hardware and the simulator.
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_PTXSIM_VECTORS_DRIVER_H
#define XC_TEST_PTXSIM_VECTORS_DRIVER_H

#include "Forms.h"
#include "TileForms.h"

namespace xc::vectors {

struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*deviceGet)(int *, int) = nullptr;
  int (*deviceGetName)(char *, int, int) = nullptr;
  int (*contextRetain)(void **, int) = nullptr;
  int (*contextSetCurrent)(void *) = nullptr;
  int (*contextSynchronize)() = nullptr;
  int (*moduleLoadData)(void **, const void *) = nullptr;
  int (*moduleUnload)(void *) = nullptr;
  int (*moduleGetFunction)(void **, void *, const char *) = nullptr;
  int (*memAlloc)(uint64_t *, size_t) = nullptr;
  int (*memFree)(uint64_t) = nullptr;
  int (*copyToDevice)(uint64_t, const void *, size_t) = nullptr;
  int (*copyToHost)(void *, uint64_t, size_t) = nullptr;
  int (*memset)(uint64_t, unsigned char, size_t) = nullptr;
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                void *, void **, void **) = nullptr;
  int (*launchEx)(const void *, void *, void **, void **) = nullptr;
  int (*encodeTiled)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                     const uint32_t *, const uint32_t *, int, int, int, int) = nullptr;
  int (*configure)(const char *) = nullptr; // the stand-in's; NULL of hardware's driver
  std::string deviceName;

  /// Opens |library|'s first device; false, with a sentence on stderr.
  bool load(const char *library);
  /// Starts anew after a fault has lost the device, which only the stand-in can.
  bool renew();

private:
  bool open();
};

/// How running a form went.
enum class RunStatus { Done, Refused, Failed };

RunStatus runForm(const Driver &driver, const Form &form, const std::vector<uint64_t> &inputs,
                  std::vector<uint64_t> &outputs);
/// If a launch fails, |output| is its CUresult.
RunStatus runTileForm(const Driver &driver, const TileForm &form, std::vector<uint8_t> &output);

} // namespace xc::vectors

#endif // XC_TEST_PTXSIM_VECTORS_DRIVER_H
