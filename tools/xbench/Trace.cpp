//===- Trace.cpp - A timeline of a few calls for Perfetto -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xbench/Trace.h"

#include "tools/common/Json.h"
#include "tools/common/OutputFile.h"
#include "tools/common/Session.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace xc::tools;
using Clock = std::chrono::steady_clock;

namespace {

enum Track { kHost = 1, kDevice = 2 };

/// Events in the format of Chrome's tracing: microseconds from the begin of the trace.
class Timeline {
public:
  Timeline() : begin(Clock::now()) {
    json.beginObject();
    json.field("displayTimeUnit", "ns");
    json.key("traceEvents");
    json.beginArray();
    nameTrack(kHost, "host");
    nameTrack(kDevice, "device");
  }
  double now() const {
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  }
  /// Left open for arguments; endRange closes it.
  void beginRange(Track track, const std::string &name, double from, double duration) {
    json.beginObject();
    json.field("name", name);
    json.field("ph", "X");
    json.field("ts", from);
    json.field("dur", duration);
    json.field("pid", 1);
    json.field("tid", int(track));
    json.key("args");
    json.beginObject();
  }
  void endRange() {
    json.endObject();
    json.endObject();
  }
  void addHostRange(const std::string &name, double from, double to) {
    beginRange(kHost, name, from, to - from);
    endRange();
  }
  void addCommand(const xcr_profile_entry_t &entry, double launchBegin);
  std::string finish() {
    json.endArray();
    json.endObject();
    return json.str() + "\n";
  }

private:
  void nameTrack(Track track, const char *name) {
    json.beginObject();
    json.field("name", "thread_name");
    json.field("ph", "M");
    json.field("pid", 1);
    json.field("tid", int(track));
    json.key("args");
    json.beginObject();
    json.field("name", name);
    json.endObject();
    json.endObject();
  }

  Clock::time_point begin;
  JsonWriter json;
};

} // namespace

void Timeline::addCommand(const xcr_profile_entry_t &entry, double launchBegin) {
  beginRange(kDevice, toString(entry.name), launchBegin + double(entry.last_begin_ns) * 1e-3,
             double(entry.last_ns) * 1e-3);
  json.field("source", toString(entry.location));
  json.field("strategy", toString(entry.strategy));
  json.field("bytes", entry.bytes);
  json.field("flops", entry.flops);
  json.key("grid");
  json.beginArray();
  for (uint32_t count : entry.grid)
    json.value(count);
  json.endArray();
  endRange();
}

/// Launches and waits; when the wait was over.
static Result<double> runOnce(Timeline &timeline, const std::string &name, xcr_call_t *call,
                              xcr_stream_t *stream) {
  double begin = timeline.now();
  if (Error error = toError(xcr_call_launch(call, stream)))
    return error;
  double launched = timeline.now();
  if (Error error = toError(xcr_stream_synchronize(stream)))
    return error;
  double end = timeline.now();
  timeline.addHostRange("launch " + name, begin, launched);
  timeline.addHostRange("synchronize", launched, end);
  return end;
}

/// The commands of the last launch of \p call, which the host saw end at \p end.
static Error addCommands(Timeline &timeline, const xcr_call_t *call, double end) {
  std::vector<xcr_profile_entry_t> entries;
  double span = 0;
  for (uint32_t i = 0; i < xcr_call_profile_count(call); ++i) {
    xcr_profile_entry_t entry = XCR_PROFILE_ENTRY_INIT;
    if (Error error = toError(xcr_call_get_profile(call, i, &entry)))
      return error;
    if (entry.launches == 0)
      continue;
    span = std::max(span, double(entry.last_begin_ns + entry.last_ns) * 1e-3);
    entries.push_back(entry);
  }
  for (const xcr_profile_entry_t &entry : entries)
    timeline.addCommand(entry, end - span);
  return Error::success();
}

Error xc::tools::writeTrace(const std::string &path, const std::string &function, xcr_call_t *plain,
                            xcr_call_t *profiled, xcr_stream_t *stream) {
  Timeline timeline;
  for (int i = 0; i < kTracedCalls; ++i)
    if (Result<double> end = runOnce(timeline, function, plain, stream); !end)
      return end.error();
  for (int i = 0; i < kTracedCalls; ++i) {
    Result<double> end = runOnce(timeline, function + ", timed", profiled, stream);
    if (!end)
      return end.error();
    if (Error error = addCommands(timeline, profiled, *end))
      return error;
  }
  return writeFile(path, timeline.finish());
}
