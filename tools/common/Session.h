//===- Session.h - Opens devices and modules for the tools ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's C API as C++ values: references are dropped by destructors and
// statuses become Errors.
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_COMMON_SESSION_H
#define XC_TOOLS_COMMON_SESSION_H

#include "tools/common/HostArray.h"
#include "tools/common/InputSpec.h"
#include "tools/common/Json.h"

#include "xcr/xcr.h"

namespace xc::tools {

/// A reference to an object of the runtime.
template <typename T, void (*release)(T *)> class Ref {
public:
  Ref() = default;
  Ref(Ref &&other) : object(other.object) { other.object = nullptr; }
  Ref &operator=(Ref &&other) {
    std::swap(object, other.object);
    return *this;
  }
  ~Ref() { release(object); }

  T *get() const { return object; }
  /// For a function that stores a new reference; drops the old one.
  T **out() {
    release(object);
    object = nullptr;
    return &object;
  }

private:
  T *object = nullptr;
};

using DeviceRef = Ref<xcr_device_t, xcr_device_release>;
using ModuleRef = Ref<xcr_module_t, xcr_module_release>;
using InstanceRef = Ref<xcr_instance_t, xcr_instance_release>;
using CallRef = Ref<xcr_call_t, xcr_call_release>;
using BufferRef = Ref<xcr_buffer_t, xcr_buffer_release>;
using StreamRef = Ref<xcr_stream_t, xcr_stream_release>;

inline xcr_string_view_t toView(std::string_view text) { return {text.data(), text.size()}; }
inline std::string toString(xcr_string_view_t text) { return std::string(view(text)); }

/// Success, or the status's message. Takes the status over.
Error toError(xcr_status_t status);

/// Writes what stdout still holds; fails where any of the output is lost (a full disk).
Error flushOutput();

/// What a tool runs a function of a module with.
struct SessionOptions {
  std::string device = "auto";
  std::vector<std::string> parameters; // SCOPE=PATH
};

/// A module put on a device.
struct Session {
  DeviceRef device;
  ModuleRef module;
  InstanceRef instance;
};

Result<Session> openSession(const std::string &modulePath, const SessionOptions &options);

/// "cuda:0".
std::string deviceUri(const xcr_device_t *device);
/// "cpu: ...", one line that names the device used.
std::string describeDevice(const xcr_device_t *device);

/// The drivers and devices of this machine, as text or into |json|.
Result<std::string> listDevices(JsonWriter *json = nullptr);

/// Picks the function called |name|; empty: "main", or the only one there is.
Result<const xcr_function_t *> selectFunction(const xcr_module_t *module, const std::string &name);

/// The output called |name|; for an empty name, the first that is not |taken| yet. Takes it.
Result<uint32_t> takeOutput(const xcr_function_t *function, const std::string &name,
                            std::vector<bool> &taken);

/// Makes the array of every input of |function|. Specs with a name go to the
/// input of that name, the others in order. Without any spec for an input:
/// an error, or, with |randomByDefault|, random numbers where the shape is
/// fixed.
Result<std::vector<HostArray>> makeInputs(const xcr_function_t *function,
                                          const std::vector<std::string> &specs,
                                          bool randomByDefault);

/// Copies an array to the device and back.
Result<BufferRef> upload(xcr_device_t *device, const HostArray &array);
Result<HostArray> download(xcr_buffer_t *buffer);

} // namespace xc::tools

#endif // XC_TOOLS_COMMON_SESSION_H
