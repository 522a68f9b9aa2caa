//===- cuda_stream.h - Streams of a GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_STREAM_H
#define XC_RUNTIME_HAL_CUDA_CUDA_STREAM_H

#include "runtime/hal/cuda/cuda_arena.h"
#include "runtime/hal/cuda/cuda_callbacks.h"
#include "runtime/hal/cuda/cuda_lanes.h"
#include "runtime/hal/work_queue.h"

namespace xc::cuda {

/// The driver's stream, with what its work in flight needs. Objects are held in batches: a batch is
/// closed with an event, and dropped when the event is reached.
///
/// Work goes to the driver at once, but for plans whose ifs and whiles the host decides: those, and
/// what comes behind them meanwhile, are deferred: the threads that work the queue take them to the
/// driver in order. What fails there is reported by synchronize, and nothing behind it is done
/// until then.
class CudaStream final : public hal::Stream {
public:
  /// \p foreign: somebody else's stream to work on, or null for one of its own.
  static Status create(CudaDevice &device, CUstream foreign, Ref<hal::Stream> *out);

  Status launch(Ref<hal::Recording> recording, uint64_t arenaBytes, hal::LaunchMode mode) override;
  Status synchronize() override;
  Status query(bool *isDone) override;
  Status record(Ref<hal::Event> event) override;
  Status wait(Ref<hal::Event> event) override;
  Status addCallback(xcr_host_callback_t callback, void *userData) override;
  Status copy(Ref<hal::Memory> source, uint64_t sourceOffset, Ref<hal::Memory> target,
              uint64_t targetOffset, uint64_t size) override;
  Status fill(Ref<hal::Memory> target, uint64_t offset, uint64_t size, uint64_t pattern,
              uint32_t patternSize) override;
  Status read(Ref<hal::Memory> source, uint64_t offset, void *data, uint64_t size) override;
  Status write(Ref<hal::Memory> target, uint64_t offset, const void *data, uint64_t size) override;
  void releaseLater(RefCounted *object) override;
  Status follow(hal::Stream &earlier, Ref<hal::Event> event) override;
  Status reserveArena(uint64_t size, uint64_t *base, Ref<hal::Memory> *holder) override;
  /// Whether somebody captures the stream now: what is put on it becomes nodes of his graph.
  bool isCaptured();
  /// Lets go of what ended work held; gives the arena's memory back if nothing is in flight.
  void trim();

private:
  friend class xc::HostAllocator;
  friend class CudaDevice;
  struct Work;
  using Queue = hal::WorkQueue<Work, CudaStream>;
  friend Queue;

  struct Batch {
    explicit Batch(const HostAllocator &allocator) : objects(allocator) {}
    CUevent event = nullptr;
    Vector<Ref<RefCounted>> objects;
  };
  /// A piece of work that is deferred.
  struct Work {
    enum Kind : uint8_t { Launch, Record, Wait, Callback, Copy, Fill, Read, Write, Release };
    Kind kind = Release;
    uint32_t patternSize = 0;
    Ref<RefCounted> first, second; ///< what it uses
    CUdeviceptr from = 0, to = 0;
    uint64_t size = 0;            ///< Launch: bytes of the arena
    uint64_t value = 0;           ///< Fill: the pattern; Record, Wait: the turn at the event
    const void *source = nullptr; ///< Write
    void *data = nullptr;         ///< Read: where to; Callback: what to pass
    xcr_host_callback_t callback = nullptr;
  };
  /// Whether somebody captures the stream, asked of the driver once. The context is current.
  class CaptureState {
  public:
    explicit CaptureState(CudaStream &stream);
    /// Fails where the capture is invalid.
    Status status() const;
    bool isKnown() const { return result == CUDA_SUCCESS; }
    bool isCaptured() const { return state != CU_STREAM_CAPTURE_STATUS_NONE; }

  private:
    CudaStream &stream;
    CUresult result = CUDA_SUCCESS;
    CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
  };
  /// The stream, locked, with the context current. What has ended is dropped when the lock is gone:
  /// that may run code of the caller's.
  struct Entry {
    explicit Entry(CudaStream &stream);
    Vector<Batch> ended;
    Ref<RefCounted> released;
    Lock lock;
    ContextScope scope;
    CaptureState capture;
  };

  CudaStream(CudaDevice &device, CUstream foreign)
      : hal::Stream(device), cudaDevice(device), allocator(device.allocator), stream(foreign),
        isForeign(foreign != nullptr), mayBeCaptured(isForeign), arena(device),
        open(device.allocator), closed(device.allocator), freeEvents(device.allocator),
        captured(device.allocator), queue(device.allocator, mutex, *this) {}
  ~CudaStream() override = default;
  void destroy() override;
  void finish();
  void finishWork();

  Status enter(Entry &entry);
  Status queryLocked(bool *isDone);
  Status refuseCapture(const Entry &entry, const char *what) const;
  Status keepForGraph(Ref<hal::Recording> recording);
  Status hold(Entry &entry, Ref<RefCounted> object);
  Status closeBatch(Entry &entry);
  void dropReached(Entry &entry);
  void dropAll(Entry &entry);
  Status takeEvent(CUevent *out);
  void pruneCallbacks();
  void failCallbacks(const Status &status);
  Status prepareLanes(uint32_t laneCount, CUstream *out);

  //===--- cuda_stream_work.cpp -------------------------------------------===//

  /// Whether what comes now is deferred, since something before it is. The stream is locked.
  bool isBehind() const { return !queue.isIdle(); }
  Status submit(Work work);
  Status submitTurn(Work work);
  Status perform(Entry &entry, Work &work);
  Status performLaunch(Entry &entry, Ref<hal::Recording> recording, uint64_t arenaBytes);
  Status performRelease(Entry &entry, Ref<RefCounted> object);
  Status performRecord(Entry &entry, Ref<RefCounted> event);
  Status performWait(Entry &entry, Ref<RefCounted> event);
  Status performCallback(Entry &entry, const Work &work);
  Status markTail(const Entry &entry);
  Status putOff(Work work, hal::LaunchMode mode);
  void run(Work &work);
  Status take(Work &work);
  Status runLaunch(Ref<hal::Recording> recording, uint64_t arenaBytes);

  CudaDevice &cudaDevice;
  const HostAllocator allocator;
  Mutex mutex;
  CUstream stream = nullptr;
  const bool isForeign;
  /// Somebody else's stream, or one that has waited for an event of a capture: the driver is asked.
  std::atomic<bool> mayBeCaptured;
  /// For plans that are launched over several streams; their work begins and ends within that of
  /// `stream`.
  CUstream sideStreams[kMaxLanes - 1] = {};
  /// Signals callbacks, so that the driver's cost of one is not on the compute stream.
  CUstream callbackStream = nullptr;
  /// In the order in which they were added; the stream holds a reference to each.
  HostCallback *firstCallback = nullptr, *lastCallback = nullptr;
  HostCallback *failedCallbacks = nullptr; ///< the driver may still know them
  bool isFailingCallbacks = false;         ///< a thread is in failCallbacks
  Condition callbacksFailed;
  CudaArena arena;
  Batch open;
  Vector<Batch> closed;
  Vector<CUevent> freeEvents;
  Vector<Ref<hal::Recording>> captured; ///< whose code graphs of somebody else's use
  uint64_t submissions = 0;
  /// Behind what was put on a stream before somebody began to capture it: nothing else can tell
  /// then when that has ended. Null on streams that nobody has captured.
  CUevent tail = nullptr;

  //===--- What is deferred; guarded by the mutex --------------------------===//

  Queue queue;
  Status failure; ///< of a piece; not reported yet

  /// Of the device's list.
  CudaStream *next = nullptr, **link = nullptr;
};

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_STREAM_H
