//===- embeddings.cpp - Sentences as vectors ------------------------------ ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: embeddings minilm.vmfb model.safetensors vocab.txt device [vectors.txt] < sentences
//
// Reads one sentence from each line, and says for each which other one is nearest. The vectors are
// written to the file, if there is one, a line of 384 numbers for each sentence.
//
//===----------------------------------------------------------------------===//

#include "wordpiece.h"

#include <xcr/xcr.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <numeric>

static constexpr int64_t kWidth = 384;
/// The model was trained for as many.
static constexpr size_t kMostTokens = 256;

/// One vector of length 1 for each sentence, one after the other. All sentences are one batch: rows
/// are padded to the longest, and `lengths` says what counts.
static std::vector<float> embed(xcr::Call &encoder, const WordPiece &tokenizer,
                                const std::vector<std::string> &sentences) {
  std::vector<std::vector<int32_t>> rows;
  std::vector<int32_t> lengths;
  for (const std::string &sentence : sentences) {
    rows.push_back(tokenizer.encode(sentence, kMostTokens));
    lengths.push_back(int32_t(rows.back().size()));
  }
  const size_t places = size_t(*std::max_element(lengths.begin(), lengths.end()));
  std::vector<int32_t> ids(rows.size() * places);
  for (size_t row = 0; row < rows.size(); ++row)
    std::copy(rows[row].begin(), rows[row].end(), &ids[row * places]);
  const int64_t batch = int64_t(rows.size());
  encoder.setInput("ids", ids, {batch, int64_t(places)});
  encoder.setInput("lengths", lengths, {batch});
  encoder.run();
  return encoder.output("vectors").read<float>();
}

/// The cosine of the angle between two vectors of length 1.
static float compare(const float *a, const float *b) {
  return std::inner_product(a, a + kWidth, b, 0.0f);
}

static void printNearest(const std::vector<std::string> &sentences,
                         const std::vector<float> &vectors) {
  for (size_t i = 0; i < sentences.size(); ++i) {
    size_t nearest = i;
    float best = -2;
    for (size_t j = 0; j < sentences.size(); ++j) {
      const float cosine = compare(&vectors[i * kWidth], &vectors[j * kWidth]);
      if (j != i && cosine > best) {
        best = cosine;
        nearest = j;
      }
    }
    std::printf("%s\n  %.4f  %s\n", sentences[i].c_str(), best, sentences[nearest].c_str());
  }
}

static void write(const char *path, const std::vector<float> &vectors) {
  std::ofstream file(path);
  file << std::setprecision(9);
  for (size_t i = 0; i < vectors.size(); ++i)
    file << vectors[i] << ((i + 1) % kWidth == 0 ? '\n' : ' ');
}

int main(int argc, char **argv) try {
  if (argc < 5) {
    std::fprintf(stderr, "usage: embeddings minilm.vmfb model.safetensors vocab.txt device "
                         "[vectors.txt] < sentences\n");
    return 1;
  }
  const auto model =
      xcr::Instance::load(argv[1], argv[4], xcr::Parameters().file("weights", argv[2]));
  const WordPiece tokenizer(argv[3]);
  std::vector<std::string> sentences;
  for (std::string line; std::getline(std::cin, line);)
    sentences.push_back(line);
  if (sentences.empty())
    return 0;
  xcr::Call encoder = model.call("main");
  const std::vector<float> vectors = embed(encoder, tokenizer, sentences);
  if (argc > 5)
    write(argv[5], vectors);
  printNearest(sentences, vectors);
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "embeddings: %s\n", error.what());
  return 1;
}
