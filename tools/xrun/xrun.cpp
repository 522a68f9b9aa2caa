//===- xrun.cpp - Runs a function of a module -----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exit code: 0, or 1 when something failed or an output was not as expected.
//
//===----------------------------------------------------------------------===//

#include "tools/common/ArrayPrinter.h"
#include "tools/common/Compare.h"
#include "tools/common/NpyFile.h"
#include "tools/common/Options.h"
#include "tools/common/Printable.h"
#include "tools/common/Session.h"
#include "tools/common/Table.h"
#include "tools/xrun/Steps.h"

#include <algorithm>
#include <csignal>
#include <cstdio>

using namespace xc::tools;

namespace {
struct RunOptions {
  SessionOptions session;
  std::vector<std::string> files, inputs, outputs, expected, variables;
  std::string function;
  std::string dumpDirectory, kernel, kernelPath;
  double absolute = -1, relative = -1; // negative: the type's default
  bool listDevices = false, printStatistics = false, findNonFinite = false;
};
} // namespace

static void addOptions(OptionParser &parser, RunOptions &options) {
  parser.addPositional(&options.files);
  parser.addString("function", "NAME", "the function to run; by default main, or the only one",
                   &options.function);
  parser.addList("input", "[NAME=]VALUE",
                 "an input: @x.npy, \"2x3xf32=1 2 3 4 5 6\",\n"
                 "random:2x3xf32:SEED[:LOW:HIGH] or zeros:2x3xf32;\n"
                 "u16 (or two-byte void) data is taken as bits for bf16 and f16",
                 &options.inputs);
  parser.addList("output", "[NAME=]@FILE.npy",
                 "write an output instead of printing it; bf16 is written as\n"
                 "two-byte voids: numpy.load(f).view(numpy.uint16)",
                 &options.outputs);
  parser.addList("expect", "[NAME=]VALUE", "compare an output with this (written as for --input)",
                 &options.expected);
  parser.addDouble("atol", "X", "absolute tolerance of --expect", &options.absolute);
  parser.addDouble("rtol", "X",
                   "relative tolerance of --expect; without either, what\n"
                   "suits the type: exact for integers",
                   &options.relative);
  parser.addList("variable", "NAME=VALUE",
                 "set a variable before the run, or, as NAME=>@FILE.npy,\n"
                 "write it after the run",
                 &options.variables);
  parser.addList("parameters", "SCOPE=PATH", "the .npy or .safetensors file of external parameters",
                 &options.session.parameters);
  parser.addString("device", "DEVICE", "auto, cpu, cpu:THREADS, cuda or cuda:N",
                   &options.session.device);
  parser.addFlag("list-devices", "list drivers and devices, and end", &options.listDevices);
  parser.addString("dump-tensors", "DIR",
                   "run command by command, and write what each writes to\n"
                   "DIR, as .npy files named by kernel and source location",
                   &options.dumpDirectory);
  parser.addFlag("find-nan",
                 "run command by command, and find the first ones that make\n"
                 "NaN and infinity (exit code 1 if there are any)",
                 &options.findNonFinite);
  parser.addString("extract-kernel", "NAME",
                   "write a module of this kernel alone to the file given by\n"
                   "-o, its inputs and outputs beside it",
                   &options.kernel);
  parser.addString("o", "FILE.vmfb", "the file of --extract-kernel", &options.kernelPath);
  parser.addFlag("print-stats", "print memory and what the call consists of",
                 &options.printStatistics);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// The file that each output goes to; empty: it is printed.
static Result<std::vector<std::string>> outputFiles(const xcr_function_t *function, uint32_t count,
                                                    const std::vector<std::string> &specs) {
  std::vector<std::string> files(count);
  std::vector<bool> taken(count);
  for (const std::string &text : specs) {
    size_t at = text.find('@');
    bool named = at != 0 && at != std::string::npos && text[at - 1] == '=';
    if ((at != 0 && !named) || at + 1 == text.size())
      return Error("expected --output=[NAME=]@FILE.npy, got '" + text + "'");
    std::string name = named ? text.substr(0, at - 1) : "";
    Result<uint32_t> output = takeOutput(function, name, taken);
    if (!output)
      return Error("--output=" + text + ": " + output.error().message());
    files[*output] = text.substr(at + 1);
  }
  return files;
}

namespace {
/// What output |output| should be.
struct Expectation {
  uint32_t output;
  HostArray array;
};
} // namespace

static Result<std::vector<Expectation>> readExpectations(const xcr_function_t *function,
                                                         uint32_t count,
                                                         const std::vector<std::string> &specs) {
  std::vector<Expectation> result;
  std::vector<bool> taken(count);
  for (const std::string &text : specs) {
    auto fail = [&](const Error &error) {
      return Error("--expect=" + text + ": " + error.message());
    };
    Result<InputSpec> spec = parseInputSpec(text);
    if (!spec)
      return fail(spec.error());
    Result<uint32_t> output = takeOutput(function, spec->name, taken);
    if (!output)
      return fail(output.error());
    Result<HostArray> array = makeArray(*spec);
    if (!array)
      return fail(array.error());
    xcr_argument_info_t info = XCR_ARGUMENT_INFO_INIT;
    if (Error error = toError(xcr_function_get_output(function, *output, &info)))
      return fail(error);
    adoptType(*array, info.dtype);
    result.push_back({*output, std::move(*array)});
  }
  return result;
}

static std::string indexText(const std::vector<int64_t> &index) {
  std::string text;
  for (int64_t i : index)
    text += (text.empty() ? "" : ", ") + std::to_string(i);
  return "[" + text + "]";
}

/// Prints how an output compares; returns whether it is as expected.
static Result<bool> checkOutput(const std::string &name, const HostArray &actual,
                                const HostArray &expected, const RunOptions &options) {
  Tolerance tolerance = defaultTolerance(actual.dtype());
  if (options.absolute >= 0 || options.relative >= 0)
    tolerance = {std::max(0.0, options.absolute), std::max(0.0, options.relative)};
  Result<Comparison> result = compareArrays(actual, expected, tolerance);
  if (!result)
    return Error(name + ": " + result.error().message());
  char bounds[128];
  snprintf(bounds, sizeof(bounds), "largest error %.3g absolute, %.3g relative; atol %g, rtol %g",
           result->largestAbsolute, result->largestRelative, tolerance.absolute,
           tolerance.relative);
  if (result->failures == 0) {
    printf("%s: as expected (%s)\n", name.c_str(), bounds);
    return true;
  }
  printf("%s: %lld of %lld elements are not as expected, worst at %s: %s (%s)\n", name.c_str(),
         (long long)result->failures, (long long)result->elements,
         indexText(result->worstIndex).c_str(), result->worst.c_str(), bounds);
  return false;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// NAME=VALUE sets, NAME=>@FILE writes. |after|: whether the call has run.
static Error handleVariables(const Session &session, const std::vector<std::string> &specs,
                             bool after) {
  for (const std::string &text : specs) {
    auto fail = [&](const Error &error) {
      return Error("--variable=" + text + ": " + error.message());
    };
    size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      return Error("expected --variable=NAME=VALUE or NAME=>@FILE.npy, got '" + text + "'");
    bool writes = text.compare(equals, 3, "=>@") == 0;
    std::string name = text.substr(0, equals);
    xcr_buffer_t *buffer = nullptr;
    if (Error error =
            toError(xcr_instance_get_variable(session.instance.get(), toView(name), &buffer)))
      return fail(error); // before the run also for what is written after it
    if (writes != after)
      continue;
    if (writes) {
      Result<HostArray> array = download(buffer);
      if (!array)
        return fail(array.error());
      if (Error error = writeNpy(text.substr(equals + 3), *array))
        return fail(error);
      continue;
    }
    Result<InputSpec> spec = parseInputSpec(text.substr(equals + 1));
    if (!spec)
      return fail(spec.error());
    Result<HostArray> array = makeArray(*spec);
    if (!array)
      return fail(array.error());
    xcr_buffer_info_t info = XCR_BUFFER_INFO_INIT;
    xcr_buffer_get_info(buffer, &info);
    adoptType(*array, info.dtype);
    Result<BufferRef> fresh = upload(session.device.get(), *array);
    if (!fresh)
      return fail(fresh.error());
    if (Error error =
            toError(xcr_instance_set_variable(session.instance.get(), toView(name), fresh->get())))
      return fail(error);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

static void printStatistics(const Session &session, const xcr_call_t *call) {
  xcr_call_statistics_t calls = XCR_CALL_STATISTICS_INIT;
  xcr_call_get_statistics(call, &calls);
  xcr_device_statistics_t device = XCR_DEVICE_STATISTICS_INIT;
  xcr_device_get_statistics(session.device.get(), &device);
  printf("commands: %u (%s, %u empty)\n", calls.command_count,
         formatCount(calls.dispatch_count, "dispatch", "dispatches").c_str(), calls.empty_count);
  printf("launches: %llu (%llu checked, %s, %s), each on %s\n", (unsigned long long)calls.launches,
         (unsigned long long)calls.checks,
         formatCount(calls.instantiations, "instantiation", "instantiations").c_str(),
         formatCount(calls.patches, "patch", "patches").c_str(),
         formatCount(calls.stream_count, "stream", "streams").c_str());
  printf("arena: %s\n", formatBytes(calls.arena_bytes).c_str());
  printf("device memory: %s in use, %s at most, %s\n", formatBytes(device.bytes_in_use).c_str(),
         formatBytes(device.bytes_peak).c_str(),
         formatCount(device.allocation_count, "allocation", "allocations").c_str());
}

/// Those that the command line asks for.
static std::vector<std::unique_ptr<Probe>> makeProbes(const Session &session,
                                                      const RunOptions &options) {
  std::vector<std::unique_ptr<Probe>> probes;
  if (!options.dumpDirectory.empty())
    probes.push_back(dumpTensors(options.dumpDirectory));
  if (options.findNonFinite)
    probes.push_back(findNonFinite());
  if (!options.kernel.empty())
    probes.push_back(extractKernel(session, options.kernel, options.kernelPath));
  return probes;
}

/// Runs the call command by command where there are |probes|; false if one says so.
static Result<bool> runProbed(const Session &session, xcr_call_t *call,
                              const std::vector<std::unique_ptr<Probe>> &probes) {
  if (probes.empty()) {
    if (Error error = toError(xcr_call_run(call)))
      return error;
    return true;
  }
  if (Error error = runSteps(session, call, probes))
    return error;
  bool good = true;
  for (const std::unique_ptr<Probe> &probe : probes) {
    Result<bool> result = probe->finish();
    if (!result)
      return result;
    good &= *result;
  }
  return good;
}

/// Makes the call and binds |arrays|.
static Error bindCall(const Session &session, const xcr_function_info_t &info,
                      const std::vector<HostArray> &arrays, CallRef &call) {
  if (Error error =
          toError(xcr_call_create(session.instance.get(), info.name, nullptr, call.out())))
    return error;
  for (uint32_t i = 0; i < arrays.size(); ++i) {
    Result<BufferRef> buffer = upload(session.device.get(), arrays[i]);
    if (!buffer)
      return buffer.error();
    if (Error error = toError(xcr_call_set_input(call.get(), i, buffer->get())))
      return error;
  }
  return Error::success();
}

/// Prints, writes and compares the outputs; returns whether all compare well.
static Result<bool> handleOutputs(const xcr_call_t *call, const std::vector<std::string> &files,
                                  const std::vector<Expectation> &expected,
                                  const RunOptions &options) {
  const xcr_function_t *function = xcr_call_function(call);
  bool good = true;
  for (uint32_t i = 0; i < files.size(); ++i) {
    Result<HostArray> array = download(xcr_call_output(call, i));
    if (!array)
      return array.error();
    xcr_argument_info_t info = XCR_ARGUMENT_INFO_INIT;
    if (Error error = toError(xcr_function_get_output(function, i, &info)))
      return error;
    std::string name = "output " + std::to_string(i);
    if (info.name.size)
      name += " (" + printable(view(info.name)) + ")";
    auto expectation = std::find_if(expected.begin(), expected.end(),
                                    [&](const Expectation &e) { return e.output == i; });
    if (!files[i].empty()) {
      if (Error error = writeNpy(files[i], *array))
        return error;
      printf("%s: %s written to %s\n", name.c_str(), array->shapeString().c_str(),
             files[i].c_str());
    } else if (expectation == expected.end()) {
      printf("%s: %s\n%s\n", name.c_str(), array->shapeString().c_str(),
             printArray(*array).c_str());
    }
    if (expectation == expected.end())
      continue;
    Result<bool> same = checkOutput(name, *array, expectation->array, options);
    if (!same)
      return same;
    good &= *same;
  }
  return good;
}

static Result<bool> run(const RunOptions &options) {
  Result<Session> session = openSession(options.files[0], options.session);
  if (!session)
    return session.error();
  printf("device: %s\n", describeDevice(session->device.get()).c_str());
  Result<const xcr_function_t *> function = selectFunction(session->module.get(), options.function);
  if (!function)
    return function.error();
  xcr_function_info_t info = XCR_FUNCTION_INFO_INIT;
  xcr_function_get_info(*function, &info);
  // Everything that the command line can get wrong comes before the run.
  auto files = outputFiles(*function, info.output_count, options.outputs);
  if (!files)
    return files.error();
  auto expected = readExpectations(*function, info.output_count, options.expected);
  if (!expected)
    return expected.error();
  auto arrays = makeInputs(*function, options.inputs, /*randomByDefault=*/false);
  if (!arrays)
    return arrays.error();
  if (Error error = handleVariables(*session, options.variables, false))
    return error;

  CallRef call;
  if (Error error = bindCall(*session, info, *arrays, call))
    return error;
  Result<bool> found = runProbed(*session, call.get(), makeProbes(*session, options));
  if (!found)
    return found;
  Result<bool> good = handleOutputs(call.get(), *files, *expected, options);
  if (!good)
    return good;
  if (Error error = handleVariables(*session, options.variables, true))
    return error;
  if (options.printStatistics)
    printStatistics(*session, call.get());
  return *found && *good;
}

int main(int argc, char **argv) {
  signal(SIGXFSZ, SIG_IGN); // a write beyond the limit of file sizes then fails like any other
  RunOptions options;
  OptionParser parser("xrun MODULE.vmfb [options]", "Runs a function of a compiled module.");
  addOptions(parser, options);
  auto fail = [](const Error &error) {
    fflush(stdout);
    fprintf(stderr, "xrun: error: %s\n", printable(error.message(), /*keepsLines=*/true).c_str());
    return 1;
  };
  if (Error error = parser.parse(argc, argv))
    return fail(error);
  if (!parser.textRequested().empty()) {
    fputs(parser.textRequested().c_str(), stdout);
    return 0;
  }
  if (options.listDevices) {
    // Never fails: what cannot be listed is said instead.
    Result<std::string> text = listDevices();
    fputs(text ? text->c_str() : text.error().message().c_str(), stdout);
    return 0;
  }
  if (options.files.size() != 1)
    return fail(Error("expected one module, got " + std::to_string(options.files.size())));
  if (options.kernel.empty() != options.kernelPath.empty())
    return fail(Error("--extract-kernel=NAME and -o FILE.vmfb go together"));
  Result<bool> good = run(options);
  if (!good)
    return fail(good.error());
  if (Error error = flushOutput())
    return fail(error);
  return *good ? 0 : 1;
}
