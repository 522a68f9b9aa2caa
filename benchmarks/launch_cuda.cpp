//===- launch_cuda.cpp - What launching costs, beside the bare driver -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   xc-bench-launch DIR [EFFORT]
//
// DIR holds the modules that peers_cuda_launch.py --compile makes; EFFORT, 100 at first, scales the
// number of rounds. Prints one JSON object: times in
// microseconds, medians of rounds in which ours and the bare driver's take turns. The bare calls
// are those that the runtime made, on the same graph, nodes and stream: it calls the driver through
// a table of functions, in which the two of interest are replaced by ones that take notes.
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_symbols.h"
#include "xcr/xcr.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

using namespace xc;
using namespace xc::cuda;
using Clock = std::chrono::steady_clock;

namespace {

void require(xcr_status_t status) {
  if (xcr_is_ok(status))
    return;
  fprintf(stderr, "xc-bench-launch: %s\n", xcr_status_message(status).data);
  exit(1);
}

void require(CUresult result, const char *call) {
  if (result == CUDA_SUCCESS)
    return;
  fprintf(stderr, "xc-bench-launch: %s returned %u\n", call, unsigned(result));
  exit(1);
}

double microsecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double median(std::vector<double> samples) {
  std::nth_element(samples.begin(), samples.begin() + long(samples.size() / 2), samples.end());
  return samples[samples.size() / 2];
}

//===----------------------------------------------------------------------===//
// The driver's calls, noted
//===----------------------------------------------------------------------===//

/// Per cent of the usual number of rounds.
int effort = 100;

int rounds(int usual) { return std::max(1, usual * effort / 100); }

struct NotedLaunch {
  CUgraphExec exec = nullptr;
  CUstream stream = nullptr;
};

/// A call of cuGraphExecKernelNodeSetParams with copies of the kernel's parameters.
struct NotedPatch {
  CUgraphExec exec;
  CUgraphNode node;
  CUDA_KERNEL_NODE_PARAMS params;
  std::vector<std::vector<unsigned char>> values;
  std::vector<void *> pointers;
};

Symbols *cu = nullptr;
decltype(Symbols::cuGraphLaunch) launchGraph = nullptr;
decltype(Symbols::cuGraphExecKernelNodeSetParams) setParams = nullptr;
NotedLaunch lastLaunch;
CUcontext lastContext = nullptr;
std::vector<std::unique_ptr<NotedPatch>> *notedPatches = nullptr;

CUresult noteLaunch(CUgraphExec exec, CUstream stream) {
  lastLaunch = {exec, stream};
  cu->cuCtxGetCurrent(&lastContext);
  return launchGraph(exec, stream);
}

CUresult notePatch(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params) {
  auto patch = std::make_unique<NotedPatch>();
  cu->cuCtxGetCurrent(&lastContext);
  patch->exec = exec;
  patch->node = node;
  patch->params = *params;
  size_t offset = 0, bytes = 0;
  for (size_t i = 0; cu->cuFuncGetParamInfo(params->func, i, &offset, &bytes) == CUDA_SUCCESS;
       ++i) {
    auto *value = static_cast<unsigned char *>(params->kernelParams[i]);
    patch->values.emplace_back(value, value + bytes);
  }
  for (std::vector<unsigned char> &value : patch->values)
    patch->pointers.push_back(value.data());
  patch->params.kernelParams = patch->pointers.data();
  notedPatches->push_back(std::move(patch));
  return setParams(exec, node, params);
}

/// The runtime's context, current while bare calls are made. Ours finds it not current, as in a
/// program that does not use the driver itself.
struct BareScope {
  BareScope() { require(cu->cuCtxSetCurrent(lastContext), "cuCtxSetCurrent"); }
  ~BareScope() { cu->cuCtxSetCurrent(nullptr); }
};

//===----------------------------------------------------------------------===//
// Ours
//===----------------------------------------------------------------------===//

/// A bound call with inputs of random numbers.
struct Model {
  Model(xcr_device_t *device, const std::string &path) : device(device) {
    require(xcr_module_load_file(xcr_string(path.c_str()), nullptr, &module));
    require(xcr_instance_create(device, module, nullptr, &instance));
    require(xcr_call_create(instance, xcr_string("main"), nullptr, &call));
    require(xcr_stream_create(device, nullptr, &stream));
    input = makeInput();
    require(xcr_call_set_input(call, 0, input));
  }
  ~Model() {
    xcr_stream_release(stream);
    xcr_call_release(call);
    xcr_instance_release(instance);
    xcr_module_release(module);
    xcr_buffer_release(input);
  }
  xcr_buffer_t *makeInput() {
    std::vector<float> values(1024);
    for (float &value : values)
      value = float(rand()) / float(RAND_MAX);
    int64_t shape = int64_t(values.size());
    xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
    options.dtype = XCR_DTYPE_F32;
    options.rank = 1;
    options.shape = &shape;
    xcr_buffer_t *buffer = nullptr;
    require(
        xcr_buffer_create_from_host(device, &options, values.data(), 4 * values.size(), &buffer));
    return buffer;
  }
  void launch() { require(xcr_call_launch(call, stream)); }
  void synchronize() { require(xcr_stream_synchronize(stream)); }

  xcr_device_t *device;
  xcr_module_t *module = nullptr;
  xcr_instance_t *instance = nullptr;
  xcr_call_t *call = nullptr;
  xcr_stream_t *stream = nullptr;
  xcr_buffer_t *input = nullptr;
};

//===----------------------------------------------------------------------===//
// Measurements
//===----------------------------------------------------------------------===//

/// From a file to the first result on the host, in milliseconds; the context exists.
double measureFirstResult(xcr_device_t *device, const std::string &path) {
  Clock::time_point begin = Clock::now();
  Model model(device, path);
  model.launch();
  model.synchronize();
  std::vector<float> result(1024);
  require(xcr_buffer_read(xcr_call_output(model.call, 0), 0, result.data(), 4 * result.size()));
  return microsecondsSince(begin) / 1e3;
}

/// One launch after another, waiting now and then.
double measureThroughput(Model &model) {
  std::vector<double> samples;
  for (int round = 0; round < rounds(40); ++round) {
    Clock::time_point begin = Clock::now();
    for (int i = 0; i < 50; ++i)
      model.launch();
    model.synchronize();
    samples.push_back(microsecondsSince(begin) / 50);
  }
  return median(samples);
}

struct Pair {
  double ours = 0, bare = 0;
};

/// Until a launch returns, with nothing else under way.
Pair measureHostCost(Model &model) {
  cu->cuGraphLaunch = noteLaunch;
  model.launch();
  cu->cuGraphLaunch = launchGraph;
  model.synchronize();
  const NotedLaunch noted = lastLaunch;
  std::vector<double> ours, bare;
  for (int i = 0; i < rounds(3000); ++i) {
    Clock::time_point begin = Clock::now();
    model.launch();
    ours.push_back(microsecondsSince(begin));
    model.synchronize();
    {
      BareScope scope;
      begin = Clock::now();
      require(launchGraph(noted.exec, noted.stream), "cuGraphLaunch");
      bare.push_back(microsecondsSince(begin));
    }
    model.synchronize();
  }
  return {median(ours), median(bare)};
}

/// Another input for a function whose every kernel reads it, and the driver's calls alone.
Pair measurePatches(Model &model, size_t *count) {
  xcr_buffer_t *inputs[2] = {model.input, model.makeInput()};
  require(xcr_call_prepare(model.call, model.stream));
  std::vector<std::unique_ptr<NotedPatch>> patches[2];
  cu->cuGraphExecKernelNodeSetParams = notePatch;
  for (int i : {1, 0}) {
    notedPatches = &patches[i];
    require(xcr_call_set_input(model.call, 0, inputs[i]));
    require(xcr_call_prepare(model.call, model.stream));
  }
  cu->cuGraphExecKernelNodeSetParams = setParams;
  *count = patches[0].size();
  xcr_call_statistics_t before = XCR_CALL_STATISTICS_INIT, after = XCR_CALL_STATISTICS_INIT;
  xcr_call_get_statistics(model.call, &before);
  std::vector<double> ours, bare;
  const int roundCount = rounds(400);
  for (int round = 1; round <= roundCount; ++round) {
    Clock::time_point begin = Clock::now();
    require(xcr_call_set_input(model.call, 0, inputs[round % 2]));
    require(xcr_call_prepare(model.call, model.stream));
    ours.push_back(microsecondsSince(begin));
    BareScope scope;
    begin = Clock::now();
    for (std::unique_ptr<NotedPatch> &patch : patches[(round + 1) % 2])
      require(setParams(patch->exec, patch->node, &patch->params),
              "cuGraphExecKernelNodeSetParams");
    bare.push_back(microsecondsSince(begin));
    for (std::unique_ptr<NotedPatch> &patch : patches[round % 2])
      require(setParams(patch->exec, patch->node, &patch->params),
              "cuGraphExecKernelNodeSetParams");
  }
  xcr_call_get_statistics(model.call, &after);
  if (after.patches - before.patches != uint64_t(roundCount) * *count || after.instantiations != 1)
    fprintf(stderr, "xc-bench-launch: the runtime did not patch %zu nodes a round\n", *count);
  xcr_buffer_release(inputs[1]);
  return {median(ours), median(bare)};
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: xc-bench-launch DIR [EFFORT]\n");
    return 2;
  }
  effort = argc == 3 ? atoi(argv[2]) : effort;
  const std::string directory = argv[1];
  const Symbols *table = nullptr;
  if (Status status = loadSymbols(HostAllocator(), &table); status.failed()) {
    fprintf(stderr, "xc-bench-launch: %s\n", status.message().data);
    return 1;
  }
  cu = const_cast<Symbols *>(table); // the process's own, which no other thread uses now
  launchGraph = cu->cuGraphLaunch;
  setParams = cu->cuGraphExecKernelNodeSetParams;
  if (!cu->cuFuncGetParamInfo) {
    fprintf(stderr, "xc-bench-launch: the driver has no cuFuncGetParamInfo (CUDA 12.4)\n");
    return 1;
  }
  xcr_device_t *device = nullptr;
  require(xcr_device_create(xcr_string("cuda:0?launch=graph"), nullptr, &device));

  std::vector<double> loads;
  for (int i = 0; i < rounds(10); ++i)
    loads.push_back(measureFirstResult(device, directory + "/twenty.vmfb"));
  printf("{\"first_result_ms\": %.3f, \"first_result_again_ms\": %.3f", loads[0], median(loads));
  for (const char *name : {"chain_add", "chain_sin", "chain_add_sm80", "chain_sin_sm80"}) {
    Model model(device, directory + "/" + name + ".vmfb");
    printf(", \"%s_us\": %.3f", name, measureThroughput(model));
  }
  for (const char *name : {"twenty", "chain_add"}) {
    Model model(device, directory + "/" + name + ".vmfb");
    Pair host = measureHostCost(model);
    printf(", \"host_%s_us\": %.3f, \"host_%s_bare_us\": %.3f", name, host.ours, name, host.bare);
  }
  {
    Model model(device, directory + "/fan.vmfb");
    size_t count = 0;
    Pair patches = measurePatches(model, &count);
    printf(", \"patches\": %zu, \"patch_us\": %.3f, \"patch_bare_us\": %.3f", count, patches.ours,
           patches.bare);
  }
  printf("}\n");
  xcr_device_release(device);
  return 0;
}
