//===- xcpy.h - What the files of xcompile._runtime share ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The path of a call from Python, over the C API and Python's stable ABI. Package `xcompile`
// documents it; what is slow or about other libraries is Python there and is handed in by
// set_hooks().
//
// Functions that return a PyObject or another pointer give null with an exception set; those that
// return bool are false then.
//
//===----------------------------------------------------------------------===//

#ifndef XC_PYTHON_XCPY_H
#define XC_PYTHON_XCPY_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "xcr/xcr.h"

#include <cstdint>

// DLPack's declarations, of the versions without a version.
enum : int32_t { kDLCPU = 1, kDLCUDA = 2 };
struct DLTensor {
  void *data;
  int32_t deviceType, deviceId;
  int32_t rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void *context;
  void (*deleter)(DLManagedTensor *self);
};

namespace xcpy {

//===----------------------------------------------------------------------===//
// Errors and small things
//===----------------------------------------------------------------------===//

/// What Python code does for this module: see setHooks.
struct Hooks {
  PyObject *adapterOf, *toNumpy, *unusualArray, *unusualResult, *error, *argumentError;
};
extern Hooks hooks;

extern PyTypeObject *arrayType, *instanceType, *functionType, *boundType;
bool addArrayType(PyObject *module);
bool addInstanceType(PyObject *module);
bool addFunctionType(PyObject *module);
bool addBoundType(PyObject *module);
/// A new type, also as an attribute of \p module. \p name: "xcompile.Array".
PyTypeObject *makeType(PyObject *module, const char *name, size_t size, PyType_Slot *slots,
                       unsigned flags = 0);

PyObject *raise(xcr_status_code_t code, const char *message, Py_ssize_t size);
/// Whether it is success; sets the exception, and releases \p status, where not.
bool succeeded(xcr_status_t status);
/// The same for work without the GIL.
template <typename F> bool runUnlocked(F work) {
  PyThreadState *state = PyEval_SaveThread();
  xcr_status_t status = work();
  PyEval_RestoreThread(state);
  return succeeded(status);
}
/// Views a str, lent by it.
bool view(PyObject *text, xcr_string_view_t *out);
PyObject *toText(xcr_string_view_t text);

/// Frees an object of a type of this module.
void deallocate(PyObject *self);
template <typename T> T *allocate(PyTypeObject *type) {
  return reinterpret_cast<T *>(
      reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0));
}

template <typename F> PyCFunction method(F *function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
template <typename F> void *slot(F *function) { return reinterpret_cast<void *>(function); }

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Lets go of the arrays that the library has dropped.
int releaseDropped(void * = nullptr);
bool isOnHost(xcr_device_t *device);
/// The format of \p dtype in the buffer protocol, or null.
const char *formatOf(xcr_dtype_t dtype);
/// A buffer over the memory of an object with the buffer protocol. \p dtype: NONE for what its
/// format says.
xcr_buffer_t *importMemory(xcr_device_t *device, PyObject *object, xcr_dtype_t dtype,
                           bool isWritten);
/// A buffer over the memory of a DLPack capsule, which it uses up.
xcr_buffer_t *importCapsule(xcr_device_t *device, PyObject *capsule);

struct ArrayObject {
  PyObject_HEAD xcr_buffer_t *buffer;
  Py_ssize_t shape[XCR_MAX_RANK], strides[XCR_MAX_RANK]; ///< bytes, for the buffer protocol
};
inline xcr_buffer_info_t infoOf(xcr_buffer_t *buffer) {
  xcr_buffer_info_t info = XCR_BUFFER_INFO_INIT;
  xcr_buffer_get_info(buffer, &info);
  return info;
}

inline xcr_buffer_t *bufferOf(PyObject *self) {
  return reinterpret_cast<ArrayObject *>(self)->buffer;
}

/// Takes over \p buffer.
PyObject *makeArray(xcr_buffer_t *buffer);

//===----------------------------------------------------------------------===//
// Instances and functions
//===----------------------------------------------------------------------===//

struct NativeStream {
  uintptr_t native;
  xcr_stream_t *stream;
};
struct InstanceObject {
  PyObject_HEAD xcr_device_t *device;
  xcr_instance_t *instance;
  bool isOnHost;
  /// Streams of the caller's, wrapped when they are first used.
  NativeStream streams[16];
  uint32_t streamCount;
};
inline InstanceObject *asInstance(PyObject *self) {
  return reinterpret_cast<InstanceObject *>(self);
}

/// The stream over a CUstream, lent.
xcr_stream_t *streamOf(InstanceObject *self, uintptr_t native);

constexpr uint32_t kMaxArguments = 1024;

struct FunctionObject {
  PyObject_HEAD PyObject *instance;
  const xcr_function_t *function; ///< lent by the module
  PyObject *name;
  uint32_t inputCount, outputCount;
  PyObject *inputNames;    ///< name -> ordinal
  uint64_t aliasedOutputs; ///< of the first 64: they take an input's memory
  /// Calls that no thread uses, so that threads run side by side.
  xcr_call_t *calls[8];
  uint32_t callCount;
};

/// How arrays of one library come in and go out.
struct Adapter {
  PyObject *capsule;  ///< f(array, stream) -> DLPack capsule; None: the buffer protocol
  PyObject *convert;  ///< f(Array) -> array
  PyObject *stream;   ///< f(ordinal) -> CUstream as a number; None: there is none
  PyObject *allocate; ///< f(dtype, shape, ordinal) -> array on a CUDA device; or None
};
inline FunctionObject *asFunction(PyObject *self) {
  return reinterpret_cast<FunctionObject *>(self);
}

/// The arguments in the order of inputs, lent.
bool orderArguments(FunctionObject *self, PyObject *positional, PyObject *keywords, PyObject **out);
/// The first argument of a library that says where results belong.
bool chooseAdapter(PyObject **arguments, uint32_t count, Adapter *out);
/// The stream that the caller's library works on now, as a number with a reference for the caller.
PyObject *currentStream(InstanceObject *instance, const Adapter &adapter);
/// Binds an array to an input or output.
bool bind(FunctionObject *self, xcr_call_t *call, bool isInput, uint32_t ordinal, PyObject *object,
          PyObject *stream);
/// Gives output \p ordinal memory of its own, since the caller keeps it. None where it takes an
/// input's memory.
PyObject *allocateOutput(FunctionObject *self, xcr_call_t *call, uint32_t ordinal,
                         const Adapter &adapter, PyObject *stream);
/// What the caller gets of what allocateOutput gave. Takes over \p made.
PyObject *convertOutput(xcr_call_t *call, uint32_t ordinal, const Adapter &adapter, PyObject *made);
/// Results as a function gives them: None, one, or a tuple. Takes over the elements.
PyObject *packOutputs(PyObject **outputs, uint32_t count);
/// Launches on the caller's stream, where he has one, else waits for the end.
bool launch(InstanceObject *instance, xcr_call_t *call, const Adapter &adapter, PyObject *stream);
/// Function.bind, which makes a bound call.
PyObject *bindFunction(PyObject *self, PyObject *positional, PyObject *keywords);

} // namespace xcpy

#endif // XC_PYTHON_XCPY_H
