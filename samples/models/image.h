//===- image.h - Pictures for the model of text -------------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_SAMPLES_MODELS_IMAGE_H
#define XC_SAMPLES_MODELS_IMAGE_H

#include <cstdint>
#include <string>
#include <vector>

/// From the left and the top, exclusive at the right and the bottom.
struct Box {
  int64_t left, top, right, bottom;
  int64_t width() const { return right - left; }
  int64_t height() const { return bottom - top; }
};

/// Three channels one after the other, blue, green and red, from -1 to 1.
struct Image {
  Image(int64_t width, int64_t height)
      : width(width), height(height), pixels(size_t(3 * width * height)) {}
  float &at(int64_t channel, int64_t row, int64_t column) {
    return pixels[size_t((channel * height + row) * width + column)];
  }
  float at(int64_t channel, int64_t row, int64_t column) const {
    return pixels[size_t((channel * height + row) * width + column)];
  }

  int64_t width, height;
  std::vector<float> pixels;
};

/// Reads a binary PPM file of 8 bits ("P6"); throws std::runtime_error where it cannot.
Image readImage(const std::string &path);

/// The part of \p image within \p box, in another size: linear between pixels.
Image resize(const Image &image, const Box &box, int64_t width, int64_t height);

/// Turned upside down.
Image rotate(const Image &image);

/// With zeros at the right, \p width wide.
Image widen(const Image &image, int64_t width);

#endif // XC_SAMPLES_MODELS_IMAGE_H
