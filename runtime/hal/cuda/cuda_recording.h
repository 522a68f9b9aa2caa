//===- cuda_recording.h - A plan as CUDA graphs, or as launches on a stream ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_RECORDING_H
#define XC_RUNTIME_HAL_CUDA_CUDA_RECORDING_H

#include "runtime/base/threads.h"
#include "runtime/hal/cuda/cuda_executable.h"
#include "runtime/hal/cuda/cuda_graph.h"
#include "runtime/hal/cuda/cuda_lanes.h"
#include "runtime/hal/recording.h"

namespace xc::cuda {

/// Graphs that a recording keeps; the one that was not used for longest makes room.
inline constexpr size_t kMaxGraphs = 4;

/// Graph mode: one node for each command and the plan's own edges, instantiated once. Changed
/// pointers, scalars, grids and lengths are set node by node; empty commands are disabled nodes.
/// What a node cannot take (see NodeForm) needs another graph; the last few are kept. Stream mode:
/// the same commands on as many streams as their edges have use for, with events between them; one
/// after another where they are timed.
class CudaRecording final : public hal::Recording {
public:
  static Status create(CudaDevice &device, const hal::CommandList &list,
                       const hal::RecordingOptions &options, Ref<hal::Recording> *out);

  Status update(const hal::CommandList &list, Span<const hal::CommandChange> changes,
                hal::UpdateCost *cost) override;
  bool hasHostLoop() const override { return hasControl() && !isGraph; }
  hal::CommandTimes times(uint32_t command) const override;

  uint32_t streamCount() const override { return laneCount(/*isCaptured=*/false); }
  /// The streams that launch takes: the caller's, and others that nothing else uses meanwhile.
  uint32_t laneCount(bool isCaptured) const {
    return (isGraph && !isCaptured) || lanes.laneCount() == 0 ? 1 : lanes.laneCount();
  }
  /// A launch that a stream has deferred takes what is there when it comes to the driver: changes
  /// and questions wait for it.
  void beginPutOff();
  void endPutOff();
  /// For launches into a graph that somebody captures: their nodes are those of launches on
  /// streams, whatever the mode is, and conditional nodes for the plan's ifs and whiles.
  Status prepareCapture();
  /// On \p streams[0], behind what that has and before what comes. The device's context is current,
  /// and launches are ordered by the caller.
  Status launch(const CUstream *streams, bool isCaptured);

private:
  friend class xc::HostAllocator;

  /// Start and end of a command in the last launch, for profiles.
  struct Timer {
    CUevent begin = nullptr, end = nullptr;
    bool isPending = false;
    hal::CommandTimes times;
  };

  CudaRecording(CudaDevice &device, bool isGraph, bool hasNestedControl)
      : device(device), isGraph(isGraph), hasNestedControl(hasNestedControl),
        commands(device.allocator), edges(device.allocator), addresses(device.allocator),
        scalars(device.allocator), executables(device.allocator), forms(device.allocator),
        maps(device.allocator), pointers(device.allocator), kernels(device.allocator),
        regions(device.allocator), graphs(device.allocator), lanes(device.allocator),
        marks(device.allocator), timers(device.allocator) {}
  ~CudaRecording() override = default;
  void destroy() override;

  void awaitPutOff() const;
  Status copyList(const hal::CommandList &list);
  Status createTimers();
  Status createLanes();
  Status createMarks();
  Status apply(const hal::CommandList &list, hal::CommandChange change);
  Status adopt(uint32_t ordinal);
  Status keep(hal::Executable *executable);
  Status makeRoom(const Kernel &kernel);
  void pointAt(uint32_t ordinal);
  const Kernel &getKernel(const hal::Command &command) const;
  NodeForm getForm(const hal::Command &command) const;
  Status encodeMaps(uint32_t ordinal);
  Status encodeMap(const hal::Command &command, const TensorMapSpec &spec, CUtensorMap *out) const;
  CUDA_MEMCPY3D getCopyParams(const hal::Command &command) const;
  Status getFill(const hal::Command &command, FillLaunch *out) const;
  Status getWork(uint32_t ordinal, NodeWork *out);

  Status updateGraphs(Span<const hal::CommandChange> changes, hal::UpdateCost *cost);
  bool isMove(const hal::CommandChange &change) const;
  bool accepts(const CudaGraph &graph, uint32_t ordinal) const;
  size_t findGraph(Span<const hal::CommandChange> changes) const;
  Status patch(CudaGraph &graph, uint32_t ordinal, bool *isRejected);
  Status patchAll(size_t ordinal, Span<const hal::CommandChange> changes, hal::UpdateCost *cost,
                  bool *isRejected);
  Status addGraph();

  //===--- cuda_control.cpp -----------------------------------------------===//

  bool hasControl() const { return regions.size() > 1; }
  Status addControlGraph(CudaGraph &graph);
  Status addToCapture(CUstream stream);
  /// A graph, or the body of a conditional node, that nodes are added to.
  struct GraphBody {
    explicit GraphBody(CUgraph graph) : graph(graph) {}
    CUgraph graph;
    CUgraphNode lastConditional = nullptr; ///< of those in it
  };
  Status addRegion(CudaGraph &graph, GraphBody &into, uint32_t region, CUgraphNode start,
                   CUgraphNode *end);
  Status addControl(CudaGraph &graph, GraphBody &into, uint32_t ordinal,
                    Span<const CUgraphNode> before, CUgraphNode *out);
  Status launchRegion(uint32_t region, CUstream stream);
  Status launchControl(const hal::Command &command, CUstream stream);

  Status launchCommand(uint32_t ordinal, CUstream stream, bool isBehindKernel);
  Status launchKernel(uint32_t ordinal, CUstream stream, bool isBehindKernel);
  Status launchLanes(const CUstream *streams);
  Status launchTimed(uint32_t ordinal, CUstream stream);
  void collectTimes();

  CudaDevice &device;
  const bool isGraph;
  const bool hasNestedControl;
  bool isBroken = false; ///< the last update failed
  /// A kernel that is or was in it does: launches begin in order.
  bool readsInputsEarly = false;
  Vector<hal::Command> commands;
  Vector<uint32_t> edges;
  Vector<uint64_t> addresses;
  Vector<int64_t> scalars;
  /// All that were ever used: those of before an update may still run.
  Vector<Ref<hal::Executable>> executables;
  Vector<NodeForm> forms;
  /// Of the dispatches, as the driver wants them: parameters that point into the arrays here, so
  /// that another address needs nothing but to be written. mapStride and pointerStride elements
  /// for each command.
  Vector<CUtensorMap> maps;
  Vector<void *> pointers;
  Vector<CUDA_KERNEL_NODE_PARAMS> kernels;
  size_t mapStride = 0, pointerStride = 0;
  Vector<hal::Range> regions;
  Vector<CudaGraph> graphs;
  size_t current = 0; ///< the graph that is launched; kMaxGraphs: none
  uint64_t useCount = 0;
  LanePlan lanes;
  /// Of the commands that other lanes wait for, and, in the end, of the start; else null.
  Vector<CUevent> marks;
  Vector<Timer> timers;
  CUevent launchBegin = nullptr; ///< of the last launch, for profiles
  mutable Mutex putOffMutex;
  mutable Condition putOffChanged;
  uint32_t putOff = 0; ///< launches
};

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_RECORDING_H
