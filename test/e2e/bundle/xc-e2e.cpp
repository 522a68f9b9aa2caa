//===- xc-e2e.cpp - Runs end-to-end cases without Python ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each module runs in a process of its own, which tells its parent the outcome of every case over
// a pipe: a crash or a lost device costs one case, and the rest of the module goes on in another
// process. With --one-process they all run in this one, which is for tools that watch a process and
// are slow to start: its end costs all that is left. --shard=2/16 takes every sixteenth module. The
// last line is "N passed, N failed, N skipped".
//
//===----------------------------------------------------------------------===//

#include "test/e2e/bundle/CaseFile.h"
#include "test/e2e/bundle/Reference.h"

#include "tools/common/NpyFile.h"
#include "tools/common/Options.h"
#include "tools/common/Session.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <regex.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace xc::tools;
using namespace xc::e2e;

namespace {
/// A POSIX extended regular expression.
class Regex {
public:
  explicit Regex(const std::string &text) {
    isGood = regcomp(&compiled, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0;
  }
  ~Regex() {
    if (isGood)
      regfree(&compiled);
  }
  Regex(const Regex &) = delete;
  bool isValid() const { return isGood; }
  bool matches(const std::string &text) const {
    return isGood && regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  }

private:
  regex_t compiled;
  bool isGood;
};

struct RunnerOptions {
  std::vector<std::string> files;
  std::string device = "cuda", filter, shard = "1/1";
  uint64_t memory = 0; ///< for a case; 0: what the device has
  bool oneProcess = false;
  uint64_t limit = 300; ///< seconds for a case
};

struct Counts {
  size_t passed = 0, failed = 0, skipped = 0;

  /// Takes "+", "?REASON" or "-PROBLEM" about a case.
  void take(const char *outcome, const std::string &name) {
    ++(*outcome == '+' ? passed : *outcome == '?' ? skipped : failed);
    if (*outcome != '+')
      printf("%s %s: %s\n", *outcome == '?' ? "SKIPPED" : "FAILED", name.c_str(), outcome + 1);
  }
};

/// The instances of one module, one for each set of parameters.
class ModuleRunner {
public:
  ModuleRunner(std::string file, DeviceRef &device) : file(std::move(file)), device(device) {}
  /// Empty, or what is wrong.
  std::string run(const Case &entry);

private:
  Result<xcr_instance_t *> instanceFor(const Case &entry);
  std::string runStep(xcr_instance_t *instance, const xc::e2e::Step &step);
  Error call(xcr_instance_t *instance, const xc::e2e::Step &step, CallRef &call);

  const std::string file;
  DeviceRef &device;
  ModuleRef module;
  std::map<std::vector<std::string>, InstanceRef> instances;
};
} // namespace

Result<xcr_instance_t *> ModuleRunner::instanceFor(const Case &entry) {
  if (!module.get())
    if (Error error = toError(xcr_module_load_file(toView(file), nullptr, module.out())))
      return error;
  InstanceRef &instance = instances[entry.parameters];
  if (instance.get())
    return instance.get();
  std::vector<xcr_parameter_source_t> sources;
  for (const std::string &source : entry.parameters) {
    std::string_view text = source;
    size_t equals = text.find('=');
    sources.push_back({toView(text.substr(0, equals)), toView(text.substr(equals + 1))});
  }
  xcr_instance_options_t options = XCR_INSTANCE_OPTIONS_INIT;
  options.sources = sources.data();
  options.source_count = sources.size();
  if (Error error =
          toError(xcr_instance_create(device.get(), module.get(), &options, instance.out())))
    return error;
  return instance.get();
}

Error ModuleRunner::call(xcr_instance_t *instance, const xc::e2e::Step &step, CallRef &call) {
  if (Error error = toError(xcr_call_create(instance, toView(step.function), nullptr, call.out())))
    return error;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    Result<HostArray> array = readNpy(step.inputs[i].file);
    if (!array)
      return array.error();
    adoptType(*array, step.inputs[i].dtype);
    Result<BufferRef> buffer = upload(device.get(), *array);
    if (!buffer)
      return buffer.error();
    if (Error error = toError(xcr_call_set_input(call.get(), uint32_t(i), buffer->get())))
      return error;
  }
  for (uint64_t launch = 0; launch < step.launches; ++launch)
    if (Error error = toError(xcr_call_run(call.get())))
      return error;
  return Error::success();
}

std::string ModuleRunner::runStep(xcr_instance_t *instance, const xc::e2e::Step &step) {
  CallRef bound;
  Error failure = call(instance, step, bound);
  if (!step.error.empty()) {
    if (!failure)
      return "expected an error like '" + step.error + "', got none";
    return Regex(step.error).matches(failure.message())
               ? ""
               : "expected an error like '" + step.error + "', got '" + failure.message() + "'";
  }
  if (failure)
    return "failed: " + failure.message();
  xcr_function_info_t info = XCR_FUNCTION_INFO_INIT;
  xcr_function_get_info(xcr_call_function(bound.get()), &info);
  if (info.output_count != step.outputs.size())
    return "expected " + std::to_string(step.outputs.size()) + " outputs, got " +
           std::to_string(info.output_count);
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    Result<HostArray> got = download(xcr_call_output(bound.get(), uint32_t(i)));
    if (!got)
      return got.error().message();
    Result<HostArray> reference = readNpy(step.outputs[i].file);
    if (!reference)
      return reference.error().message();
    std::string problem = compareWithReference(*got, step.outputs[i], *reference);
    if (!problem.empty())
      return "output " + std::to_string(i) + ": " + problem;
  }
  return "";
}

std::string ModuleRunner::run(const Case &entry) {
  Result<xcr_instance_t *> instance = instanceFor(entry);
  if (!instance)
    return "cannot be loaded: " + instance.error().message();
  for (size_t i = 0; i < entry.steps.size(); ++i) {
    std::string problem = runStep(*instance, entry.steps[i]);
    if (!problem.empty())
      return (entry.steps.size() > 1 ? "call " + std::to_string(i) + ": " : "") + problem;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

/// Calls report(case, outcome) for each case from |begin| on: "+", "?REASON" (skipped) or
/// "-PROBLEM".
template <typename Report>
static void runCases(const ModuleCases &cases, size_t begin, const RunnerOptions &options,
                     Report report) {
  DeviceRef device;
  alarm(static_cast<unsigned>(options.limit));
  Error broken = toError(xcr_device_create(toView(options.device), nullptr, device.out()));
  alarm(0);
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  if (!broken)
    xcr_device_get_info(device.get(), &info);
  uint64_t memory =
      options.memory ? std::min(options.memory, info.total_memory) : info.total_memory;
  ModuleRunner runner(cases.file, device);
  for (size_t i = begin; i < cases.cases.size(); ++i) {
    const Case &entry = cases.cases[i];
    if (!broken && entry.memory > memory) {
      report(entry, "?needs " + std::to_string(entry.memory) + " bytes of memory, it has " +
                        std::to_string(memory));
      continue;
    }
    // What hangs on the device cannot be stopped but with its process.
    alarm(static_cast<unsigned>(options.limit));
    std::string problem = broken ? broken.message() : runner.run(entry);
    alarm(0);
    std::replace(problem.begin(), problem.end(), '\n', ' ');
    report(entry, (problem.empty() ? "+" : "-") + problem);
  }
}

/// The child.
static int runCasesForParent(const ModuleCases &cases, size_t begin, const RunnerOptions &options,
                             int output) {
  FILE *stream = fdopen(output, "w");
  runCases(cases, begin, options, [&](const Case &, const std::string &outcome) {
    fprintf(stream, "%s\n", outcome.c_str());
    fflush(stream);
  });
  fclose(stream);
  return 0;
}

/// Takes what the child says of the cases from |begin| on; returns the first that it says nothing
/// about.
static size_t takeOutcomes(FILE *stream, const ModuleCases &cases, size_t begin, Counts &counts) {
  char *line = nullptr;
  size_t room = 0;
  for (; begin < cases.cases.size() && getline(&line, &room, stream) > 0; ++begin) {
    line[strcspn(line, "\n")] = 0;
    counts.take(line, cases.cases[begin].name);
  }
  free(line);
  return begin;
}

static Error runModule(const ModuleCases &cases, const RunnerOptions &options, Counts &counts) {
  for (size_t begin = 0; begin < cases.cases.size();) {
    int ends[2];
    fflush(stdout);
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0)
      return Error(std::string("cannot start a process: ") + strerror(errno));
    if (child == 0) {
      close(ends[0]);
      _exit(runCasesForParent(cases, begin, options, ends[1]));
    }
    close(ends[1]);
    FILE *stream = fdopen(ends[0], "r");
    begin = takeOutcomes(stream, cases, begin, counts);
    fclose(stream);
    int status = 0;
    waitpid(child, &status, 0);
    if (begin == cases.cases.size())
      break;
    const char *name = cases.cases[begin].name.c_str();
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
      printf("FAILED %s: it had not ended after %llu seconds\n", name,
             static_cast<unsigned long long>(options.limit));
    else
      printf("FAILED %s: ended the process with %s %d\n", name,
             WIFSIGNALED(status) ? "signal" : "code",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    ++counts.failed;
    ++begin;
  }
  return Error::success();
}

/// "2/16": the second of sixteen.
static bool parseShard(const std::string &text, size_t &index, size_t &count) {
  int end = 0;
  return sscanf(text.c_str(), "%zu/%zu%n", &index, &count, &end) == 2 &&
         size_t(end) == text.size() && index >= 1 && index <= count;
}

static Result<Counts> run(const RunnerOptions &options) {
  auto modules = readCaseFile(options.files[0]);
  if (!modules)
    return modules.error();
  Regex filter(options.filter);
  if (!filter.isValid())
    return Error("expected a regular expression for --filter, got '" + options.filter + "'");
  size_t shard = 0, shards = 0, next = 0;
  if (!parseShard(options.shard, shard, shards))
    return Error("expected --shard=INDEX/COUNT from 1/COUNT on, got '" + options.shard + "'");
  // So that the modules' devices share one context, which takes long to make.
  DeviceRef context;
  if (options.oneProcess)
    if (Error error = toError(xcr_device_create(toView(options.device), nullptr, context.out())))
      return error;
  Counts counts;
  for (ModuleCases &module : *modules) {
    if (next++ % shards != shard - 1)
      continue;
    auto isUnwanted = [&](const Case &entry) { return !filter.matches(entry.name); };
    module.cases.erase(std::remove_if(module.cases.begin(), module.cases.end(), isUnwanted),
                       module.cases.end());
    if (module.cases.empty())
      continue;
    if (options.oneProcess)
      runCases(module, 0, options, [&](const Case &entry, const std::string &outcome) {
        counts.take(outcome.c_str(), entry.name);
      });
    else if (Error error = runModule(module, options, counts))
      return error;
  }
  return counts;
}

int main(int argc, char **argv) {
  RunnerOptions options;
  OptionParser parser("xc-e2e CASES.txt [options]", "Runs end-to-end cases of a bundle.");
  parser.addPositional(&options.files);
  parser.addString("device", "DEVICE", "the device (cuda)", &options.device);
  parser.addString("filter", "REGEX", "only cases whose names match", &options.filter);
  parser.addString("shard", "INDEX/COUNT", "only every COUNTth module (1/1: all)", &options.shard);
  parser.addUnsigned("memory", "BYTES", "skip cases that need more (what the device has)",
                     &options.memory);
  parser.addUnsigned("limit", "SECONDS",
                     "count a case as failed that has not ended by then, and go on with\n"
                     "the next in a new process (300; 0: never)",
                     &options.limit);
  parser.addFlag("one-process", "start no process for each module", &options.oneProcess);
  Error error = parser.parse(argc, argv);
  if (!error && !parser.textRequested().empty()) {
    fputs(parser.textRequested().c_str(), stdout);
    return 0;
  }
  if (!error && options.files.size() != 1)
    error = Error("expected one file of cases, got " + std::to_string(options.files.size()));
  Result<Counts> counts = error ? Result<Counts>(error) : run(options);
  if (!counts) {
    fprintf(stderr, "xc-e2e: error: %s\n", counts.error().message().c_str());
    return 1;
  }
  printf("%zu passed, %zu failed, %zu skipped\n", counts->passed, counts->failed, counts->skipped);
  return counts->failed != 0;
}
