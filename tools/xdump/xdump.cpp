//===- xdump.cpp - Shows what is in a module ------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads the module with its code left alone: nothing of it runs here.
//
//===----------------------------------------------------------------------===//

#include "tools/xdump/Dump.h"

#include "tools/common/Options.h"
#include "tools/common/Printable.h"
#include "tools/common/Session.h"

#include <csignal>
#include <cstdio>

using namespace xc;
using namespace xc::tools;

namespace {
struct DumpOptions {
  std::vector<std::string> files;
  std::string device;
  bool json = false, ptx = false, sass = false, assembly = false, check = false;
  bool verify = false;
};
} // namespace

/// Prints what every target needs of a machine; the result says on which |uri| has it.
static Result<std::string> checkMachine(const xcr_module_t *module, const std::string &uri) {
  xcr_module_info_t info = XCR_MODULE_INFO_INIT;
  xcr_module_get_info(module, &info);
  for (uint32_t i = 0; i < info.target_count; ++i) {
    xcr_target_info_t target = XCR_TARGET_INFO_INIT;
    if (Error error = toError(xcr_module_get_target(module, i, &target)))
      return error;
    std::string text = "target " + toString(target.kind) + ":" + toString(target.arch);
    if (target.has_cubin)
      text += ", cubin";
    if (target.has_ptx)
      text += ", PTX";
    if (target.has_native_code)
      text += ", native code";
    if (target.min_driver)
      text += ", driver " + std::to_string(target.min_driver / 1000) + "." +
              std::to_string(target.min_driver % 1000 / 10) + " or later";
    puts(text.c_str());
  }
  DeviceRef device;
  if (Error error = toError(xcr_device_create(toView(uri), nullptr, device.out())))
    return error;
  uint32_t chosen = 0;
  if (Error error = toError(xcr_module_check_device(module, device.get(), &chosen)))
    return Error("does not run on " + describeDevice(device.get()) + ": " + error.message());
  xcr_target_info_t target = XCR_TARGET_INFO_INIT;
  if (Error error = toError(xcr_module_get_target(module, chosen, &target)))
    return error;
  return "runs on " + describeDevice(device.get()) + ", as target " + toString(target.kind) + ":" +
         toString(target.arch) + "\n";
}

static Result<std::string> dump(const DumpOptions &options) {
  xcr_module_options_t moduleOptions = XCR_MODULE_OPTIONS_INIT;
  bool needsCode = options.ptx || options.sass || options.assembly || options.verify;
  moduleOptions.flags = options.verify ? XCR_MODULE_VERIFY_BLOBS
                        : needsCode    ? 0
                                       : XCR_MODULE_METADATA_ONLY;
  ModuleRef module;
  if (Error error =
          toError(xcr_module_load_file(toView(options.files[0]), &moduleOptions, module.out())))
    return error;
  if (options.check)
    return checkMachine(module.get(), options.device.empty() ? "auto" : options.device);
  const fb::Module &tables = *fb::GetSizePrefixedModule(xcr_module_tables(module.get()).data);
  if (options.ptx)
    return dumpPtx(module.get(), tables);
  if (options.sass)
    return dumpSass(module.get(), tables);
  if (options.assembly)
    return dumpAssembly(module.get(), tables);
  if (options.json)
    return dumpJson(module.get(), tables);
  return dumpText(module.get(), tables);
}

int main(int argc, char **argv) {
  signal(SIGXFSZ, SIG_IGN); // a write beyond the limit of file sizes then fails like any other
  DumpOptions options;
  OptionParser parser("xdump MODULE.vmfb [options]", "Shows what is in a compiled module.");
  parser.addPositional(&options.files);
  parser.addFlag("json", "every field of the tables, as JSON", &options.json);
  parser.addFlag("ptx", "the PTX of the module's CUDA targets", &options.ptx);
  parser.addFlag("sass",
                 "the machine code of its CUDA targets (needs nvdisasm or\n"
                 "cuobjdump, and a module compiled where ptxas was found)",
                 &options.sass);
  parser.addFlag("asm",
                 "the disassembly of its CPU targets (needs llvm-objdump or "
                 "objdump)",
                 &options.assembly);
  parser.addFlag("check",
                 "what the module needs of a machine, and whether this one\n"
                 "has it (exit code 1 if not); reads header and tables only",
                 &options.check);
  parser.addString("device", "DEVICE", "the device that --check asks (auto)", &options.device);
  parser.addFlag("verify", "also check the checksum of all code and constants", &options.verify);
  auto fail = [](const Error &error) {
    fprintf(stderr, "xdump: error: %s\n", printable(error.message(), /*keepsLines=*/true).c_str());
    return 1;
  };
  if (Error error = parser.parse(argc, argv))
    return fail(error);
  if (!parser.textRequested().empty()) {
    fputs(parser.textRequested().c_str(), stdout);
    return 0;
  }
  if (options.files.size() != 1)
    return fail(Error("expected one module, got " + std::to_string(options.files.size())));
  if (options.json + options.ptx + options.sass + options.assembly + options.check > 1)
    return fail(Error("expected one of --json, --ptx, --sass, --asm and --check"));
  if (!options.device.empty() && !options.check)
    return fail(Error("--device goes with --check"));
  Result<std::string> text = dump(options);
  if (!text)
    return fail(text.error());
  fwrite(text->data(), 1, text->size(), stdout);
  if (Error error = flushOutput())
    return fail(error);
  return 0;
}
