//===- speech.cpp - When somebody speaks ----------------------------------- ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: speech vad.vmfb audio.wav device [probabilities.txt]
//
// vad.vmfb is silero_vad.onnx, compiled with --fix-input=sr=16000.
// Reads 16-bit mono sound of 16 kHz and says from when to when there is speech. The model hears 32
// ms at a time, as it would from a microphone, and remembers what it has heard: its state stays on
// the device. The probabilities are written to the file, if there is one.
//
//===----------------------------------------------------------------------===//

#include <xcr/xcr.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

static constexpr int64_t kRate = 16000, kWindow = 512, kContext = 64;
/// As the authors of the model advise: speech begins at one probability, and ends after as many
/// samples below another one.
static constexpr float kBegins = 0.5f, kEnds = 0.35f;
static constexpr int64_t kPause = kRate / 10;

//===----------------------------------------------------------------------===//
// Sound
//===----------------------------------------------------------------------===//

template <typename T> static T readNumber(const std::string &bytes, size_t place) {
  T number = 0; // WAV files and the machines that this runs on are little-endian
  if (place + sizeof(T) > bytes.size())
    throw std::runtime_error("the sound ends within its header");
  std::memcpy(&number, &bytes[place], sizeof(T));
  return number;
}

/// Samples from -1 to 1.
static std::vector<float> readSound(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (bytes.size() < 12 || bytes.compare(0, 4, "RIFF") != 0 || bytes.compare(8, 4, "WAVE") != 0)
    throw std::runtime_error("'" + path + "' is no WAV file");
  std::vector<float> samples;
  bool isKnown = false;
  for (size_t place = 12; place + 8 <= bytes.size();) {
    const std::string name = bytes.substr(place, 4);
    const size_t size = readNumber<uint32_t>(bytes, place + 4), begin = place + 8;
    if (name == "fmt ")
      isKnown = readNumber<uint16_t>(bytes, begin) == 1 &&
                readNumber<uint16_t>(bytes, begin + 2) == 1 &&
                readNumber<uint32_t>(bytes, begin + 4) == kRate &&
                readNumber<uint16_t>(bytes, begin + 14) == 16;
    if (name == "data")
      for (size_t at = begin; at + 2 <= std::min(begin + size, bytes.size()); at += 2)
        samples.push_back(float(readNumber<int16_t>(bytes, at)) / 32768);
    place = begin + size + size % 2;
  }
  if (!isKnown)
    throw std::runtime_error("'" + path + "' is not 16-bit mono sound of 16 kHz");
  return samples;
}

//===----------------------------------------------------------------------===//
// The detector
//===----------------------------------------------------------------------===//

namespace {
class Detector {
public:
  explicit Detector(const xcr::Instance &model)
      : call(model.call("main")), window(kContext + kWindow) {
    // A call reads one of the states and writes the other.
    const std::vector<float> silence(2 * 128);
    for (xcr::Buffer &state : states)
      state = xcr::Buffer::copy(model.device(), silence, {2, 1, 128});
  }

  /// The probability that the next 512 samples are speech.
  float hear(const float *samples) {
    // The end of the window before is heard once more.
    std::copy(window.end() - kContext, window.end(), window.begin());
    std::copy(samples, samples + kWindow, window.begin() + kContext);
    call.setInput("input", window, {1, kContext + kWindow});
    call.setInput("state", states[0]);
    call.setOutput("stateN", states[1]);
    call.run();
    std::swap(states[0], states[1]);
    return call.output("output").read<float>()[0];
  }

private:
  xcr::Call call;
  std::vector<float> window;
  xcr::Buffer states[2];
};
} // namespace

static void printSpeech(int64_t begin, int64_t end) {
  std::printf("%.2f s to %.2f s\n", double(begin) / kRate, double(end) / kRate);
}

/// Prints where speech begins and ends in windows of these probabilities.
static void printAll(const std::vector<float> &probabilities) {
  int64_t begin = -1, end = -1, now = 0;
  for (float probability : probabilities) {
    if (probability >= kBegins) {
      begin = begin < 0 ? now : begin;
      end = -1;
    } else if (begin >= 0 && probability < kEnds) {
      end = end < 0 ? now : end;
      if (now + kWindow - end >= kPause) {
        printSpeech(begin, end);
        begin = end = -1;
      }
    }
    now += kWindow;
  }
  if (begin >= 0)
    printSpeech(begin, end < 0 ? now : end);
}

int main(int argc, char **argv) try {
  if (argc < 4) {
    std::fprintf(stderr, "usage: speech vad.vmfb audio.wav device [probabilities.txt]\n");
    return 1;
  }
  Detector detector(xcr::Instance::load(argv[1], argv[3]));
  std::vector<float> samples = readSound(argv[2]);
  samples.resize((samples.size() + kWindow - 1) / kWindow * kWindow); // the rest is silence
  std::vector<float> probabilities;
  for (size_t place = 0; place < samples.size(); place += kWindow)
    probabilities.push_back(detector.hear(&samples[place]));
  if (argc > 4) {
    std::ofstream file(argv[4]);
    for (float probability : probabilities)
      file << probability << '\n';
  }
  printAll(probabilities);
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "speech: %s\n", error.what());
  return 1;
}
