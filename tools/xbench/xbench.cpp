//===- xbench.cpp - Times a function of a module --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four measurements of one bound call: blocking runs (latency), the time until
// a launch returns (host), launches back to back (throughput), and a profiled
// call (kernels). No input is changed between calls, so caches are as warm as
// the working set lets them be; with --rotate, throughput is that of several
// calls in turn, each with memory of its own, which caches cannot hold.
//
//===----------------------------------------------------------------------===//

#include "tools/common/Options.h"
#include "tools/common/Printable.h"
#include "tools/common/Session.h"
#include "tools/common/Statistics.h"
#include "tools/common/Table.h"
#include "tools/xbench/SimulatorCounters.h"
#include "tools/xbench/Trace.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <tuple>

using namespace xc::tools;
using Clock = std::chrono::steady_clock;

namespace {
struct BenchOptions {
  SessionOptions session;
  std::vector<std::string> files, inputs;
  std::string function, trace;
  double warmUp = 0.5, duration = 2;
  uint64_t top = 20, rotate = 1;
  bool json = false, listDevices = false;
};

/// All commands of a call that run one kernel (or copy, or fill) under one
/// strategy; times are means of one call.
struct KernelRow {
  std::string name, location, strategy;
  uint64_t commands = 0;
  double seconds = 0;
  int64_t bytes = 0, flops = 0; // of one call; -1: not known
};

/// A call with everything that it needs to be launched.
struct BoundCall {
  Session session;
  std::string function;
  std::vector<BufferRef> inputs;
  CallRef plain, profiled;
  StreamRef stream;
  std::vector<CallRef> others; // like `plain`, on other inputs and outputs
};

struct Report {
  Measurement measurement;
  std::vector<KernelRow> kernels; // the slowest first
};
} // namespace

static void addOptions(OptionParser &parser, BenchOptions &options) {
  parser.addPositional(&options.files);
  parser.addString("function", "NAME", "the function to time; by default main, or the only one",
                   &options.function);
  parser.addList("input", "[NAME=]VALUE",
                 "an input, as for xrun; random numbers where none is given\n"
                 "and the shape is fixed",
                 &options.inputs);
  parser.addList("parameters", "SCOPE=PATH", "the .npy or .safetensors file of external parameters",
                 &options.session.parameters);
  parser.addString("device", "DEVICE", "auto, cpu, cpu:THREADS, cuda or cuda:N",
                   &options.session.device);
  parser.addDouble("warm-up", "SECONDS", "time before anything is timed (0.5)", &options.warmUp);
  parser.addDouble("duration", "SECONDS", "time of all measurements (2)", &options.duration);
  parser.addUnsigned("rotate", "N",
                     "sets of inputs and outputs that throughput is measured on, called in\n"
                     "turn, so that caches do not hold what the next call needs (1)",
                     &options.rotate);
  parser.addUnsigned("top", "N", "rows of the kernel table (20)", &options.top);
  parser.addString("trace", "FILE",
                   "write a timeline of a few calls, for ui.perfetto.dev or chrome://tracing",
                   &options.trace);
  parser.addFlag("json", "print one JSON object instead of text", &options.json);
  parser.addFlag("list-devices", "list drivers and devices, and end", &options.listDevices);
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Of inputs and outputs: each is a call of its own, with what that keeps.
static constexpr uint64_t kMostSets = 1u << 16;

/// Makes the calls that --rotate asks for beside the first one.
static Error bindOthers(BoundCall &bound, const std::vector<HostArray> &arrays, uint64_t count) {
  for (uint64_t set = 0; set < count; ++set) {
    CallRef call;
    if (Error error = toError(xcr_call_create(bound.session.instance.get(),
                                              {bound.function.data(), bound.function.size()},
                                              nullptr, call.out())))
      return error;
    for (uint32_t i = 0; i < arrays.size(); ++i) {
      Result<BufferRef> buffer = upload(bound.session.device.get(), arrays[i]);
      if (!buffer)
        return buffer.error();
      if (Error error = toError(xcr_call_set_input(call.get(), i, buffer->get())))
        return error;
      bound.inputs.push_back(std::move(*buffer));
    }
    if (Error error = toError(xcr_call_prepare(call.get(), bound.stream.get())))
      return error;
    bound.others.push_back(std::move(call));
  }
  return Error::success();
}

static Result<BoundCall> bind(const BenchOptions &options) {
  BoundCall bound;
  Result<Session> session = openSession(options.files[0], options.session);
  if (!session)
    return session.error();
  bound.session = std::move(*session);
  Result<const xcr_function_t *> function =
      selectFunction(bound.session.module.get(), options.function);
  if (!function)
    return function.error();
  xcr_function_info_t info = XCR_FUNCTION_INFO_INIT;
  xcr_function_get_info(*function, &info);
  bound.function = toString(info.name);
  auto arrays = makeInputs(*function, options.inputs, /*randomByDefault=*/true);
  if (!arrays)
    return arrays.error();

  xcr_instance_t *instance = bound.session.instance.get();
  xcr_call_options_t profile = XCR_CALL_OPTIONS_INIT;
  profile.flags = XCR_CALL_PROFILE;
  if (Error error =
          toError(xcr_stream_create(bound.session.device.get(), nullptr, bound.stream.out())))
    return error;
  if (Error error = toError(xcr_call_create(instance, info.name, nullptr, bound.plain.out())))
    return error;
  if (Error error = toError(xcr_call_create(instance, info.name, &profile, bound.profiled.out())))
    return error;
  for (uint32_t i = 0; i < arrays->size(); ++i) {
    Result<BufferRef> buffer = upload(bound.session.device.get(), (*arrays)[i]);
    if (!buffer)
      return buffer.error();
    for (xcr_call_t *call : {bound.plain.get(), bound.profiled.get()})
      if (Error error = toError(xcr_call_set_input(call, i, buffer->get())))
        return error;
    bound.inputs.push_back(std::move(*buffer));
  }
  for (xcr_call_t *call : {bound.plain.get(), bound.profiled.get()})
    if (Error error = toError(xcr_call_prepare(call, bound.stream.get())))
      return error;
  if (options.rotate > 1)
    if (Error error = bindOthers(bound, *arrays, options.rotate - 1))
      return error;
  return bound;
}

/// Calls |step| for |seconds|, at least once.
template <typename Step> static Error repeatFor(double seconds, Step step) {
  Clock::time_point begin = Clock::now();
  do {
    if (Error error = step())
      return error;
  } while (secondsSince(begin) < seconds);
  return Error::success();
}

static Error measureLatency(BoundCall &bound, double seconds, Measurement &result) {
  std::vector<double> samples;
  Error error = repeatFor(seconds, [&] {
    Clock::time_point begin = Clock::now();
    Error failure = toError(xcr_call_run(bound.plain.get()));
    samples.push_back(secondsSince(begin));
    return failure;
  });
  result.latency = summarise(std::move(samples));
  return error;
}

static Error measureHost(BoundCall &bound, double seconds, Measurement &result) {
  std::vector<double> samples;
  Error error = repeatFor(seconds, [&] {
    Clock::time_point begin = Clock::now();
    Error failure = toError(xcr_call_launch(bound.plain.get(), bound.stream.get()));
    samples.push_back(secondsSince(begin));
    if (failure)
      return failure;
    return toError(xcr_stream_synchronize(bound.stream.get()));
  });
  result.host = summarise(std::move(samples));
  return error;
}

static Error measureThroughput(BoundCall &bound, double seconds, Measurement &result) {
  // Waiting now and then keeps the queue short; its cost is shared by the
  // batch.
  double guess = std::max(result.latency.median, 1e-7);
  uint64_t batch = uint64_t(std::clamp(0.1 * seconds / guess, 1.0, 10000.0));
  std::vector<xcr_call_t *> calls = {bound.plain.get()};
  for (const CallRef &other : bound.others)
    calls.push_back(other.get());
  uint64_t next = 0;
  std::vector<double> samples; // the first one, not counted, warms up what --rotate added
  Error error = repeatFor(seconds, [&] {
    Clock::time_point begin = Clock::now();
    for (uint64_t i = 0; i < batch; ++i)
      if (Error failure =
              toError(xcr_call_launch(calls[next++ % calls.size()], bound.stream.get())))
        return failure;
    Error failure = toError(xcr_stream_synchronize(bound.stream.get()));
    samples.push_back(secondsSince(begin) / double(batch));
    return failure;
  });
  if (samples.size() > 1)
    samples.erase(samples.begin());
  result.perCall = summarise(std::move(samples)).median;
  return error;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static Result<std::vector<KernelRow>> readProfile(const xcr_call_t *call) {
  std::map<std::pair<std::string, std::string>, KernelRow> rows;
  for (uint32_t i = 0; i < xcr_call_profile_count(call); ++i) {
    xcr_profile_entry_t entry = XCR_PROFILE_ENTRY_INIT;
    if (Error error = toError(xcr_call_get_profile(call, i, &entry)))
      return error;
    if (entry.launches == 0)
      continue;
    KernelRow &row = rows[{toString(entry.name), toString(entry.strategy)}];
    row.name = toString(entry.name);
    row.strategy = toString(entry.strategy);
    if (row.commands++ == 0)
      row.location = toString(entry.location);
    row.seconds += double(entry.total_ns) / double(entry.launches) * 1e-9;
    row.bytes = row.bytes < 0 || entry.bytes < 0 ? -1 : row.bytes + entry.bytes;
    row.flops = row.flops < 0 || entry.flops < 0 ? -1 : row.flops + entry.flops;
  }
  std::vector<KernelRow> sorted;
  for (auto &item : rows)
    sorted.push_back(std::move(item.second));
  std::sort(sorted.begin(), sorted.end(), [](const KernelRow &a, const KernelRow &b) {
    return std::tie(b.seconds, a.name, a.strategy) < std::tie(a.seconds, b.name, b.strategy);
  });
  return sorted;
}

static Result<Report> measure(BoundCall &bound, const BenchOptions &options) {
  Report report;
  Error error = repeatFor(options.warmUp, [&] { return toError(xcr_call_run(bound.plain.get())); });
  if (!error)
    error = measureLatency(bound, 0.4 * options.duration, report.measurement);
  if (!error)
    error = measureHost(bound, 0.2 * options.duration, report.measurement);
  if (!error)
    error = measureThroughput(bound, 0.2 * options.duration, report.measurement);
  if (!error)
    error = repeatFor(0.2 * options.duration,
                      [&] { return toError(xcr_call_run(bound.profiled.get())); });
  if (error)
    return error;
  Result<std::vector<KernelRow>> kernels = readProfile(bound.profiled.get());
  if (!kernels)
    return kernels.error();
  report.kernels = std::move(*kernels);
  report.measurement.kernelTime = report.kernels.empty() ? -1 : 0;
  for (const KernelRow &row : report.kernels)
    report.measurement.kernelTime += row.seconds;
  return report;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Amount a second in units of 1e9; "-" where the amount is not known.
static std::string giga(int64_t amount, double seconds) {
  if (amount < 0 || seconds <= 0)
    return "-";
  return formatSignificant(double(amount) / seconds * 1e-9, 4);
}

static void printText(const BoundCall &bound, const Report &report, const BenchOptions &options) {
  const Measurement &m = report.measurement;
  printf("device: %s\nfunction: %s\n", describeDevice(bound.session.device.get()).c_str(),
         bound.function.c_str());
  Table times({"", ">min", ">mean", ">median", ">p90", ">p95", ">p99", ">calls"});
  auto add = [&](const char *name, const Summary &s) {
    times.addRow({name, formatSeconds(s.min), formatSeconds(s.mean), formatSeconds(s.median),
                  formatSeconds(s.p90), formatSeconds(s.p95), formatSeconds(s.p99),
                  std::to_string(s.count)});
  };
  add("latency", m.latency);
  add("host", m.host);
  printf("%sthroughput: %s calls/s (%s a call)\n", times.str().c_str(),
         formatSignificant(1 / m.perCall, 4).c_str(), formatSeconds(m.perCall).c_str());
  Table kernels(
      {"kernel", ">commands", ">time", ">share", ">GB/s", ">GFLOP/s", "strategy", "source"});
  for (size_t i = 0; i < report.kernels.size() && i < options.top; ++i) {
    const KernelRow &row = report.kernels[i];
    char share[32];
    snprintf(share, sizeof(share), "%.1f %%",
             m.kernelTime > 0 ? 100 * row.seconds / m.kernelTime : 0);
    kernels.addRow({row.name, std::to_string(row.commands), formatSeconds(row.seconds), share,
                    giga(row.bytes, row.seconds), giga(row.flops, row.seconds), row.strategy,
                    row.location});
  }
  if (!kernels.empty())
    printf("\nkernels, one after another: %s a call\n%s", formatSeconds(m.kernelTime).c_str(),
           kernels.str().c_str());
  if (report.kernels.size() > options.top)
    printf("and %zu more (--top)\n", report.kernels.size() - options.top);
  if (std::vector<SimulatedKernel> simulated = readSimulatorCounters(); !simulated.empty())
    printf("\ncounted by the driver's stand-in over all launches, classes in instructions of "
           "threads:\n%s",
           formatSimulatorCounters(simulated).c_str());
  for (const std::string &doubt : findDoubts(m))
    printf("not to be trusted: %s\n", doubt.c_str());
}

static void printJson(const BoundCall &bound, const Report &report) {
  const Measurement &m = report.measurement;
  xcr_device_info_t device = XCR_DEVICE_INFO_INIT;
  xcr_device_get_info(bound.session.device.get(), &device);
  JsonWriter json;
  json.beginObject();
  json.field("device", view(device.uri));
  json.field("device_name", view(device.name));
  json.field("function", bound.function);
  json.key("latency_s");
  writeSummary(json, m.latency);
  json.key("host_s");
  writeSummary(json, m.host);
  json.field("calls_per_s", 1 / m.perCall);
  json.field("kernel_s", m.kernelTime < 0 ? 0.0 : m.kernelTime);
  json.key("kernels");
  json.beginArray();
  for (const KernelRow &row : report.kernels) {
    json.beginObject();
    json.field("name", row.name);
    json.field("commands", row.commands);
    json.field("seconds", row.seconds);
    json.field("share", m.kernelTime > 0 ? row.seconds / m.kernelTime : 0.0);
    json.field("bytes", row.bytes);
    json.field("flops", row.flops);
    json.field("strategy", row.strategy);
    json.field("source", row.location);
    json.endObject();
  }
  json.endArray();
  // Empty on a real driver, which counts nothing of this.
  json.key("simulated");
  writeSimulatorCounters(json, readSimulatorCounters());
  json.key("doubts");
  json.beginArray();
  for (const std::string &doubt : findDoubts(m))
    json.value(doubt);
  json.endArray();
  json.endObject();
  printf("%s\n", json.str().c_str());
}

int main(int argc, char **argv) {
  signal(SIGXFSZ, SIG_IGN); // a write beyond the limit of file sizes then fails like any other
  BenchOptions options;
  OptionParser parser("xbench MODULE.vmfb [options]", "Times a function of a compiled module.");
  addOptions(parser, options);
  auto fail = [](const Error &error) {
    fflush(stdout);
    fprintf(stderr, "xbench: error: %s\n", printable(error.message(), /*keepsLines=*/true).c_str());
    return 1;
  };
  if (Error error = parser.parse(argc, argv))
    return fail(error);
  if (!parser.textRequested().empty()) {
    fputs(parser.textRequested().c_str(), stdout);
    return 0;
  }
  if (options.listDevices) {
    JsonWriter json;
    Result<std::string> text = listDevices(options.json ? &json : nullptr);
    if (text && options.json)
      text = json.str() + "\n";
    fputs(text ? text->c_str() : text.error().message().c_str(), stdout);
    return 0;
  }
  if (options.files.size() != 1)
    return fail(Error("expected one module, got " + std::to_string(options.files.size())));
  if (options.rotate < 1 || options.rotate > kMostSets)
    return fail(Error("expected --rotate=N of 1 to " + std::to_string(kMostSets) + ", got " +
                      std::to_string(options.rotate)));
  Result<BoundCall> bound = bind(options);
  if (!bound)
    return fail(bound.error());
  Result<Report> report = measure(*bound, options);
  if (!report)
    return fail(report.error());
  if (!options.trace.empty())
    if (Error error = writeTrace(options.trace, bound->function, bound->plain.get(),
                                 bound->profiled.get(), bound->stream.get()))
      return fail(error);
  if (options.json)
    printJson(*bound, *report);
  else
    printText(*bound, *report, options);
  if (Error error = flushOutput())
    return fail(error);
  return 0;
}
