//===- text.cpp - The text in a picture ------------------------------------ ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: text det.vmfb cls.vmfb rec.vmfb characters.txt image.ppm device
//
// Three models, compiled for pictures of any size: one finds lines of text, one says which lines
// are upside down, one reads a line. Prints each line with its place and how sure it is.
//
//===----------------------------------------------------------------------===//

#include "image.h"

#include <xcr/xcr.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>

namespace {
/// As the authors of the models advise.
constexpr float kIsText = 0.3f, kIsLine = 0.5f, kGrowth = 1.6f, kIsTurned = 0.9f;
constexpr int64_t kSmallest = 3, kLineHeight = 48, kTurnedWidth = 192, kLeastWidth = 320;

struct Line {
  std::string text;
  float score;
};
} // namespace

/// What a model of one input and one output makes of \p image.
static xcr::Buffer apply(xcr::Call &call, const char *output, const Image &image) {
  call.setInput("x", image.pixels, {1, 3, image.height, image.width});
  call.run();
  return call.output(output);
}

//===----------------------------------------------------------------------===//
// Where lines are
//===----------------------------------------------------------------------===//

/// The smallest box around the pixels of text that are neighbours of \p start, which are unset.
static Box takeRegion(std::vector<bool> &isText, int64_t width, int64_t start) {
  const auto height = int64_t(isText.size()) / width;
  Box box{width, height, 0, 0};
  std::vector<int64_t> open{start};
  isText[size_t(start)] = false;
  while (!open.empty()) {
    const int64_t row = open.back() / width, column = open.back() % width;
    open.pop_back();
    box = {std::min(box.left, column), std::min(box.top, row), std::max(box.right, column + 1),
           std::max(box.bottom, row + 1)};
    for (int64_t y = std::max<int64_t>(row - 1, 0); y < std::min(row + 2, height); ++y)
      for (int64_t x = std::max<int64_t>(column - 1, 0); x < std::min(column + 2, width); ++x)
        if (isText[size_t(y * width + x)]) {
          isText[size_t(y * width + x)] = false;
          open.push_back(y * width + x);
        }
  }
  return box;
}

static float getMean(const std::vector<float> &map, int64_t width, const Box &box) {
  float sum = 0;
  for (int64_t row = box.top; row < box.bottom; ++row)
    for (int64_t column = box.left; column < box.right; ++column)
      sum += map[size_t(row * width + column)];
  return sum / float(box.width() * box.height());
}

/// Boxes around lines, from the top to the bottom, in pixels of \p image. The model sees the core
/// of a line, so boxes grow.
static std::vector<Box> findLines(xcr::Call &detect, const Image &image) {
  auto toMultiple = [](int64_t size) { return std::max<int64_t>((size + 16) / 32, 1) * 32; };
  const int64_t width = toMultiple(image.width), height = toMultiple(image.height);
  const Image resized = resize(image, {0, 0, image.width, image.height}, width, height);
  const auto map = apply(detect, "sigmoid_0.tmp_0", resized).read<float>();
  std::vector<bool> isText(map.size());
  std::transform(map.begin(), map.end(), isText.begin(), [](float p) { return p > kIsText; });
  std::vector<Box> boxes;
  for (size_t place = 0; place < isText.size(); ++place) {
    if (!isText[place])
      continue;
    const Box core = takeRegion(isText, width, int64_t(place));
    if (std::min(core.width(), core.height()) < kSmallest || getMean(map, width, core) < kIsLine)
      continue;
    const float area = float(core.width() * core.height());
    const float more = kGrowth * area / float(2 * (core.width() + core.height()));
    auto scale = [](float at, int64_t from, int64_t to) {
      return std::clamp(int64_t(std::lround(at * float(to) / float(from))), int64_t(0), to);
    };
    boxes.push_back({scale(float(core.left) - more, width, image.width),
                     scale(float(core.top) - more, height, image.height),
                     scale(float(core.right) + more, width, image.width),
                     scale(float(core.bottom) + more, height, image.height)});
  }
  std::sort(boxes.begin(), boxes.end(), [](const Box &a, const Box &b) {
    return a.top != b.top ? a.top < b.top : a.left < b.left;
  });
  return boxes;
}

//===----------------------------------------------------------------------===//
// What a line says
//===----------------------------------------------------------------------===//

/// A line of the height that the models want, the right way up.
static Image cutLine(xcr::Call &classify, const Image &image, const Box &box) {
  const float ratio = float(box.width()) / float(box.height());
  const auto width = std::max<int64_t>(int64_t(std::ceil(float(kLineHeight) * ratio)), 1);
  Image line = resize(image, box, width, kLineHeight);
  const Image part = widen(
      width > kTurnedWidth ? resize(image, box, kTurnedWidth, kLineHeight) : line, kTurnedWidth);
  const auto scores = apply(classify, "save_infer_model/scale_0.tmp_1", part).read<float>();
  return scores[1] > kIsTurned ? rotate(line) : line;
}

/// The likeliest character of each step; one that is repeated counts once, and class 0 is none.
static Line readLine(xcr::Call &recognize, const Image &line,
                     const std::vector<std::string> &characters) {
  const xcr::Buffer output =
      apply(recognize, "softmax_11.tmp_0", widen(line, std::max(line.width, kLeastWidth)));
  const auto scores = output.read<float>();
  const auto classes = size_t(output.shape()[2]);
  if (classes != characters.size())
    throw std::runtime_error("the model knows " + std::to_string(classes) +
                             " characters, the list has " + std::to_string(characters.size()));
  Line result{"", 0};
  size_t last = 0, count = 0;
  for (size_t step = 0; step < scores.size(); step += classes) {
    const float *row = &scores[step];
    const auto best = size_t(std::max_element(row, row + classes) - row);
    if (best != 0 && best != last) {
      result.text += characters[best];
      result.score += row[best];
      ++count;
    }
    last = best;
  }
  result.score /= float(std::max<size_t>(count, 1));
  return result;
}

/// By class: none, the lines of the file, a space.
static std::vector<std::string> readCharacters(const char *path) {
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error(std::string("cannot read '") + path + "'");
  std::vector<std::string> characters{""};
  for (std::string line; std::getline(file, line);)
    characters.push_back(line);
  characters.push_back(" ");
  return characters;
}

int main(int argc, char **argv) try {
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: text det.vmfb cls.vmfb rec.vmfb characters.txt image.ppm device\n");
    return 1;
  }
  const xcr::Device device = xcr::Device::open(argv[6]);
  auto load = [&](const char *path) {
    return xcr::Instance::create(device, xcr::Module::load(path)).call("main");
  };
  xcr::Call detect = load(argv[1]), classify = load(argv[2]), recognize = load(argv[3]);
  const std::vector<std::string> characters = readCharacters(argv[4]);
  const Image image = readImage(argv[5]);
  for (const Box &box : findLines(detect, image)) {
    const Line line = readLine(recognize, cutLine(classify, image, box), characters);
    if (!line.text.empty())
      std::printf("%4lld,%-4lld %5.1f %%  %s\n", static_cast<long long>(box.left),
                  static_cast<long long>(box.top), 100 * line.score, line.text.c_str());
  }
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "text: %s\n", error.what());
  return 1;
}
