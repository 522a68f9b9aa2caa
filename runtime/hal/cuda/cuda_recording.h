//===- cuda_recording.h - A plan as a CUDA graph, or as launches on a stream ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_RECORDING_H
#define XC_RUNTIME_HAL_CUDA_CUDA_RECORDING_H

#include "runtime/hal/cuda/cuda_executable.h"
#include "runtime/hal/recording.h"

namespace xc::cuda {

/// One fill, as a memset where the driver has one for it, else as a kernel.
struct FillLaunch {
  bool isKernel = false;
  CUDA_MEMSET_NODE_PARAMS memset = {};
  CUfunction function = nullptr;
  uint64_t arguments[4] = {}; ///< target, bytes, pattern, mask
  unsigned grid = 1;

  Status prepare(CudaDevice &device, uint64_t target, uint64_t bytes, uint64_t pattern,
                 uint32_t patternSize);
  Status launch(CudaDevice &device, CUstream stream) const;
  /// The kernel as a graph's node; \p pointers has room for four.
  CUDA_KERNEL_NODE_PARAMS getKernelParams(void **pointers) const;
};

/// Graph mode: one node for each command and the plan's own edges, instantiated once. Changed
/// pointers, scalars, grids and lengths are set node by node; empty commands are disabled nodes.
/// What a node cannot take (another cluster size, a command that was empty when the graph was made
/// and had no code) instantiates anew. Stream mode: the same commands one after another.
class CudaRecording final : public hal::Recording {
public:
  static Status create(CudaDevice &device, const hal::CommandList &list,
                       const hal::RecordingOptions &options, Ref<hal::Recording> *out);

  Status update(const hal::CommandList &list, Span<const hal::CommandChange> changes,
                hal::UpdateCost *cost) override;
  hal::CommandTimes times(uint32_t command) const override;

  /// The device's context is current, and launches are ordered by the caller.
  Status launch(CUstream stream);

private:
  friend class xc::HostAllocator;

  enum class NodeKind : uint8_t { Empty, Kernel, Copy, Memset, FillKernel };
  struct Node {
    CUgraphNode handle = nullptr;
    NodeKind kind = NodeKind::Empty;
    bool isEnabled = true;
  };
  /// Start and end of a command in the last launch, for profiles.
  struct Timer {
    CUevent begin = nullptr, end = nullptr;
    bool isPending = false;
    hal::CommandTimes times;
  };

  CudaRecording(CudaDevice &device, bool isGraph)
      : device(device), isGraph(isGraph), commands(device.allocator), edges(device.allocator),
        addresses(device.allocator), scalars(device.allocator), executables(device.allocator),
        nodes(device.allocator), pointers(device.allocator), timers(device.allocator) {}
  ~CudaRecording() override = default;
  void destroy() override;

  Status copyList(const hal::CommandList &list);
  Status apply(const hal::CommandList &list, const hal::CommandChange &change);
  const Kernel &getKernel(const hal::Command &command) const;
  Status getKernelParams(const hal::Command &command, CUDA_KERNEL_NODE_PARAMS *out);
  CUDA_MEMCPY3D getCopyParams(const hal::Command &command) const;
  Status getFill(const hal::Command &command, FillLaunch *out);

  Status buildGraph();
  Status addNode(CUgraph graph, uint32_t ordinal);
  Status addKernelNode(CUgraph graph, uint32_t ordinal, const Vector<CUgraphNode> &before);
  Status patchNode(uint32_t ordinal, uint8_t bits, bool *needsGraph);
  Status setNodeParams(uint32_t ordinal, bool *needsGraph);
  void destroyGraph();

  Status launchCommand(const hal::Command &command, CUstream stream);
  Status launchKernel(const hal::Command &command, CUstream stream);
  Status launchTimed(CUstream stream);
  void collectTimes();

  CudaDevice &device;
  const bool isGraph;
  Vector<hal::Command> commands;
  Vector<uint32_t> edges;
  Vector<uint64_t> addresses;
  Vector<int64_t> scalars;
  Vector<Ref<hal::Executable>> executables; ///< of each command
  Vector<Node> nodes;
  Vector<void *> pointers; ///< to the parameters of the kernel at hand
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  Vector<Timer> timers;
};

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_RECORDING_H
