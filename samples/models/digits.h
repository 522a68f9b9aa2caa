//===- digits.h - Images of digits in a CSV file ----------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A line of the file is 64 numbers from 0 to 16 and a label.
//
//===----------------------------------------------------------------------===//

#ifndef XC_SAMPLES_MODELS_DIGITS_H
#define XC_SAMPLES_MODELS_DIGITS_H

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

inline constexpr size_t kPixels = 64;

/// Labels are of the type that the model takes.
template <typename Label> struct Images {
  std::vector<float> pixels; // kPixels for each image, 0 to 1
  std::vector<Label> labels;
};

/// Whether \p path was read and holds at least one image, all of them whole.
template <typename Label> bool readImages(const char *path, Images<Label> &images) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream numbers(line);
    std::string number;
    for (size_t i = 0; i <= kPixels && std::getline(numbers, number, ','); ++i)
      if (i < kPixels)
        images.pixels.push_back(std::strtof(number.c_str(), nullptr) / 16);
      else
        images.labels.push_back(Label(std::atoi(number.c_str())));
  }
  return !images.labels.empty() && images.pixels.size() == images.labels.size() * kPixels;
}

/// \p count images from number \p first on; behind the last comes the first again.
template <typename Label>
Images<Label> takeBatch(const Images<Label> &images, size_t first, size_t count) {
  Images<Label> batch;
  for (size_t i = first; i < first + count; ++i) {
    const size_t index = i % images.labels.size();
    const float *pixels = &images.pixels[index * kPixels];
    batch.pixels.insert(batch.pixels.end(), pixels, pixels + kPixels);
    batch.labels.push_back(images.labels[index]);
  }
  return batch;
}

#endif // XC_SAMPLES_MODELS_DIGITS_H
