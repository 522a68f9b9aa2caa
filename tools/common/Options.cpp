//===- Options.cpp - Command lines of the tools ---------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Options.h"

#include "xcr/xcr.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace xc::tools {

OptionParser::OptionParser(std::string usageLine, std::string overviewText)
    : usage(std::move(usageLine)), overview(std::move(overviewText)) {}

void OptionParser::addFlag(std::string name, std::string text, bool *out) {
  options.push_back({name, "", std::move(text), [=](const std::string &) {
                       *out = true;
                       return Error::success();
                     }});
}

void OptionParser::addString(std::string name, std::string metavar, std::string text,
                             std::string *out) {
  options.push_back({name, std::move(metavar), std::move(text), [=](const std::string &value) {
                       *out = value;
                       return Error::success();
                     }});
}

void OptionParser::addList(std::string name, std::string metavar, std::string text,
                           std::vector<std::string> *out) {
  options.push_back({name, std::move(metavar), std::move(text), [=](const std::string &value) {
                       out->push_back(value);
                       return Error::success();
                     }});
}

void OptionParser::addDouble(std::string name, std::string metavar, std::string text, double *out) {
  auto store = [=](const std::string &value) {
    char *end = nullptr;
    *out = strtod(value.c_str(), &end);
    if (value.empty() || *end || !(*out >= 0))
      return Error("expected a number that is not negative for --" + name + ", got '" + value +
                   "'");
    return Error::success();
  };
  options.push_back({name, std::move(metavar), std::move(text), store});
}

void OptionParser::addUnsigned(std::string name, std::string metavar, std::string text,
                               uint64_t *out) {
  auto store = [=](const std::string &value) {
    const char *end = value.data() + value.size();
    auto parsed = std::from_chars(value.data(), end, *out);
    if (parsed.ec != std::errc() || parsed.ptr != end)
      return Error("expected a whole number for --" + name + ", got '" + value + "'");
    return Error::success();
  };
  options.push_back({name, std::move(metavar), std::move(text), store});
}

const OptionParser::Option *OptionParser::find(std::string_view name) const {
  auto it = std::find_if(options.begin(), options.end(),
                         [&](const Option &option) { return option.name == name; });
  return it == options.end() ? nullptr : &*it;
}

/// "--name", or "-n" for a name of one letter.
static std::string spell(const std::string &name) { return (name.size() == 1 ? "-" : "--") + name; }

Error OptionParser::unknown(const std::string &name) const {
  std::string known = "--help, --version";
  for (const Option &option : options)
    known += ", " + spell(option.name);
  return Error("unknown option '" + name + "'; known are " + known);
}

Error OptionParser::parse(int argc, const char *const *argv) {
  bool optionsEnded = false;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (optionsEnded || argument.size() < 2 || argument[0] != '-') {
      if (!positional)
        return Error("unexpected argument '" + argument + "'");
      positional->push_back(std::move(argument));
      continue;
    }
    if (argument == "--") {
      optionsEnded = true;
      continue;
    }
    if (argument == "--help" || argument == "-h") {
      text = helpText();
      return Error::success();
    }
    if (argument == "--version") {
      text = versionText();
      return Error::success();
    }
    bool isLong = argument.compare(0, 2, "--") == 0;
    size_t equals = isLong ? argument.find('=') : std::string::npos;
    std::string name = isLong ? argument.substr(2, equals - 2) : argument.substr(1, 1);
    if (equals != std::string::npos && (name == "help" || name == "version"))
      return Error("option " + spell(name) + " takes no value, got '" +
                   argument.substr(equals + 1) + "'");
    const Option *option = find(name);
    if (!option || (name.size() == 1) == isLong)
      return unknown(argument.substr(0, equals));
    std::string value;
    if (!isLong && argument.size() > 2) {
      value = argument.substr(2);
    } else if (equals != std::string::npos) {
      if (option->metavar.empty())
        return Error("option " + spell(name) + " takes no value, got '" +
                     argument.substr(equals + 1) + "'");
      value = argument.substr(equals + 1);
    } else if (!option->metavar.empty()) {
      if (i + 1 == argc)
        return Error("option " + spell(name) + " needs a value: " + option->metavar);
      value = argv[++i];
    }
    if (!option->metavar.empty() && value.empty())
      return Error("option " + spell(name) +
                   " needs a value, got an empty one: " + option->metavar);
    if (Error error = option->store(value))
      return error;
  }
  return Error::success();
}

/// The tool's name is the first word of its usage line.
std::string OptionParser::versionText() const {
  return usage.substr(0, usage.find(' ')) + " " + XC_VERSION + ", runtime library " +
         std::to_string(xcr_version() / 1000) + "." + std::to_string(xcr_version() % 1000) + "\n";
}

std::string OptionParser::helpText() const {
  std::string help = overview + "\n\nusage: " + usage + "\n\noptions:\n";
  size_t width = 6;
  auto spelling = [](const Option &option) {
    const char *separator = option.name.size() == 1 ? " " : "=";
    return spell(option.name) + (option.metavar.empty() ? "" : separator + option.metavar);
  };
  for (const Option &option : options)
    width = std::max(width, spelling(option).size());
  // Long explanations go on over indented lines of their own.
  auto add = [&](std::string name, const std::string &explanation) {
    name.resize(width, ' ');
    help += "  " + name + "  ";
    for (char c : explanation) {
      help += c;
      if (c == '\n')
        help.append(width + 4, ' ');
    }
    help += '\n';
  };
  for (const Option &option : options)
    add(spelling(option), option.help);
  add("--help", "print this text");
  add("--version", "print the version of the tool and of the runtime library");
  return help;
}

} // namespace xc::tools
