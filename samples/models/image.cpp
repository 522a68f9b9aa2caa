//===- image.cpp - Pictures for the model of text --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "image.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>

Image readImage(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string kind;
  int64_t numbers[3]; // width, height, largest value
  file >> kind;
  for (int64_t &number : numbers) {
    while (file >> std::ws && file.peek() == '#')
      file.ignore(1 << 20, '\n');
    file >> number;
  }
  file.get();
  constexpr int64_t kMost = 1 << 14;
  if (!file || kind != "P6" || numbers[2] != 255 || numbers[0] < 1 || numbers[0] > kMost ||
      numbers[1] < 1 || numbers[1] > kMost)
    throw std::runtime_error("'" + path + "' is no PPM image (P6) of 8 bits");
  Image image(numbers[0], numbers[1]);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (bytes.size() < image.pixels.size())
    throw std::runtime_error("'" + path + "' ends within the image");
  size_t next = 0;
  for (int64_t row = 0; row < image.height; ++row)
    for (int64_t column = 0; column < image.width; ++column)
      for (int64_t channel : {2, 1, 0})
        image.at(channel, row, column) = float(uint8_t(bytes[next++])) / 127.5f - 1;
  return image;
}

namespace {
/// A position between two pixels of a dim.
struct Between {
  int64_t low, high;
  float weight; // of the second
};
} // namespace

/// Where pixel \p place of \p count is among those from \p first, \p size of them.
static Between find(int64_t place, int64_t count, int64_t first, int64_t size) {
  float at = (float(place) + 0.5f) * float(size) / float(count) - 0.5f;
  at = std::clamp(at, 0.0f, float(size - 1));
  const auto low = int64_t(at);
  return {first + low, first + std::min(low + 1, size - 1), at - float(low)};
}

Image resize(const Image &image, const Box &box, int64_t width, int64_t height) {
  Image result(width, height);
  for (int64_t row = 0; row < height; ++row) {
    const Between y = find(row, height, box.top, box.height());
    for (int64_t column = 0; column < width; ++column) {
      const Between x = find(column, width, box.left, box.width());
      for (int64_t channel = 0; channel < 3; ++channel) {
        auto line = [&](int64_t at) {
          return image.at(channel, at, x.low) * (1 - x.weight) +
                 image.at(channel, at, x.high) * x.weight;
        };
        result.at(channel, row, column) = line(y.low) * (1 - y.weight) + line(y.high) * y.weight;
      }
    }
  }
  return result;
}

Image rotate(const Image &image) {
  Image result = image;
  const auto size = std::ptrdiff_t(image.width * image.height);
  for (int64_t channel = 0; channel < 3; ++channel)
    std::reverse(result.pixels.begin() + channel * size,
                 result.pixels.begin() + (channel + 1) * size);
  return result;
}

Image widen(const Image &image, int64_t width) {
  Image result(width, image.height);
  for (int64_t channel = 0; channel < 3; ++channel)
    for (int64_t row = 0; row < image.height; ++row)
      for (int64_t column = 0; column < std::min(width, image.width); ++column)
        result.at(channel, row, column) = image.at(channel, row, column);
  return result;
}
