//===- file_types.cpp - What files hold, by their bytes ------------------- ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: file_types magika.vmfb config.min.json device file...
//
// Says of each file which of some 200 types it has, and how sure that is. All files are one batch.
//
//===----------------------------------------------------------------------===//

#include <xcr/xcr.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

namespace {
/// What the model's configuration says of its input.
constexpr int64_t kPart = 1024, kPadding = 256;
constexpr size_t kBlock = 4096, kFewest = 8;

struct Configuration {
  std::vector<std::string> labels;
  std::map<std::string, float> thresholds; // of labels that need to be surer than others
  float threshold = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Configuration
//===----------------------------------------------------------------------===//

static std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read '" + path + "'");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The text between the brackets behind `"key":`. Enough JSON for a file without nested brackets.
static std::string findValue(const std::string &json, const std::string &key, char close) {
  size_t begin = json.find("\"" + key + "\":");
  if (begin == std::string::npos)
    throw std::runtime_error("the configuration has no " + key);
  begin += key.size() + 3;
  return json.substr(begin, json.find(close, begin) - begin);
}

static Configuration readConfiguration(const std::string &path) {
  const std::string json = readFile(path);
  Configuration configuration;
  const std::string labels = findValue(json, "target_labels_space", ']');
  for (size_t quote = labels.find('"'); quote != std::string::npos;) {
    const size_t end = labels.find('"', quote + 1);
    configuration.labels.push_back(labels.substr(quote + 1, end - quote - 1));
    quote = labels.find('"', end + 1);
  }
  const std::string thresholds = findValue(json, "thresholds", '}');
  for (const std::string &label : configuration.labels) {
    const std::string key = "\"" + label + "\":";
    if (const size_t place = thresholds.find(key); place != std::string::npos)
      configuration.thresholds[label] = std::stof(thresholds.substr(place + key.size()));
  }
  configuration.threshold = std::stof(findValue(json, "medium_confidence_threshold", ','));
  return configuration;
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

/// The first and the last bytes of a file, without white space at its ends: 1024 numbers each.
/// False where there are too few bytes to say anything.
static bool addFeatures(const std::string &content, std::vector<int32_t> &features) {
  constexpr const char *kSpace = " \t\n\r\v\f";
  std::string begin = content.substr(0, kBlock);
  std::string end = content.substr(content.size() - std::min(content.size(), kBlock));
  begin.erase(0, std::min(begin.find_first_not_of(kSpace), begin.size()));
  end.erase(end.find_last_not_of(kSpace) + 1);
  if (begin.size() < kFewest)
    return false;
  begin.resize(std::min<size_t>(begin.size(), kPart));
  end.erase(0, end.size() - std::min<size_t>(end.size(), kPart));
  std::vector<int32_t> row(2 * kPart, kPadding);
  auto toNumber = [](char byte) { return int32_t(uint8_t(byte)); };
  std::transform(begin.begin(), begin.end(), row.begin(), toNumber);
  std::transform(end.begin(), end.end(), row.end() - int64_t(end.size()), toNumber);
  features.insert(features.end(), row.begin(), row.end());
  return true;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

static void print(const char *path, const Configuration &configuration, const float *scores) {
  const size_t best =
      size_t(std::max_element(scores, scores + configuration.labels.size()) - scores);
  const std::string &label = configuration.labels[best];
  const auto own = configuration.thresholds.find(label);
  const float needed =
      own == configuration.thresholds.end() ? configuration.threshold : own->second;
  std::printf("%s: %s, %.1f %%%s\n", path, label.c_str(), 100 * scores[best],
              scores[best] < needed ? ", not sure" : "");
}

int main(int argc, char **argv) try {
  if (argc < 5) {
    std::fprintf(stderr, "usage: file_types magika.vmfb config.min.json device file...\n");
    return 1;
  }
  const Configuration configuration = readConfiguration(argv[2]);
  std::vector<int32_t> features;
  std::vector<const char *> paths;
  for (int i = 4; i < argc; ++i) {
    if (addFeatures(readFile(argv[i]), features))
      paths.push_back(argv[i]);
    else
      std::printf("%s: too short\n", argv[i]);
  }
  if (paths.empty())
    return 0;
  xcr::Call classify = xcr::Instance::load(argv[1], argv[3]).call("main");
  classify.setInput("bytes", features, {int64_t(paths.size()), 2 * kPart});
  classify.run();
  const auto scores = classify.output("target_label").read<float>();
  if (scores.size() != paths.size() * configuration.labels.size())
    throw std::runtime_error("the configuration has " +
                             std::to_string(configuration.labels.size()) +
                             " labels; the model has another number");
  for (size_t i = 0; i < paths.size(); ++i)
    print(paths[i], configuration, &scores[i * configuration.labels.size()]);
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "file_types: %s\n", error.what());
  return 1;
}
