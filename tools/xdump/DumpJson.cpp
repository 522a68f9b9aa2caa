//===- DumpJson.cpp - A module's tables as JSON ---------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schema is compiled into the program, so that every field is shown under
// its own name and none can be forgotten.
//
//===----------------------------------------------------------------------===//

#include "tools/xdump/Dump.h"

#include "tools/xdump/SchemaText.h"

#include "flatbuffers/idl.h"

namespace xc::tools {

Result<std::string> dumpJson(const xcr_module_t *module, const fb::Module &tables) {
  flatbuffers::IDLOptions options;
  options.strict_json = true;
  options.output_default_scalars_in_json = true;
  options.indent_step = 1;
  flatbuffers::Parser parser(options);
  if (!parser.Parse(kModuleSchema))
    return Error("the schema inside xdump does not parse: " + parser.error_);
  std::string json;
  // The tables begin with their size; the buffer proper comes behind it.
  auto *bytes = reinterpret_cast<const uint8_t *>(xcr_module_tables(module).data);
  if (!flatbuffers::GenerateText(parser, bytes + sizeof(uint32_t), &json))
    return Error("a string of the module is not UTF-8");
  return json;
}

} // namespace xc::tools
