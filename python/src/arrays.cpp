//===- arrays.cpp - Arrays of this library and of others -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arrays come in through the buffer protocol or DLPack and are not copied. The library may drop the
// last reference to one on any thread, with locks of its own held, so dropping takes no GIL: it
// puts the array on a list, which the next call, or the interpreter, works off.
//
//===----------------------------------------------------------------------===//

#include "python/src/xcpy.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

using namespace xcpy;

namespace {
/// An array that the library uses.
struct Held {
  Held *next;
  bool isBuffer;
  Py_buffer view;          ///< where it came through the buffer protocol
  DLManagedTensor shim;    ///< what the library gets of a DLPack tensor
  DLManagedTensor *tensor; ///< the tensor itself
};
} // namespace

/// All zeros. Null with an exception.
static Held *makeHeld() {
  auto *held = static_cast<Held *>(calloc(1, sizeof(Held)));
  if (!held)
    PyErr_NoMemory();
  return held;
}

/// Those that the library has dropped.
static std::atomic<Held *> dropped{nullptr};

int xcpy::releaseDropped(void *) {
  Held *held = dropped.exchange(nullptr);
  if (!held)
    return 0;
  // Deleters may be Python code, and this may be on the way out of an error.
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  while (held) {
    Held *next = held->next;
    if (held->isBuffer)
      PyBuffer_Release(&held->view);
    else if (held->tensor->deleter)
      held->tensor->deleter(held->tensor);
    free(held);
    held = next;
  }
  PyErr_Restore(type, value, trace);
  return 0;
}

static void drop(void *data) {
  Held *held = static_cast<Held *>(data);
  held->next = dropped.load();
  while (!dropped.compare_exchange_weak(held->next, held)) {
  }
  // Where the queue of the interpreter is full, a later call does it.
  if (!held->next && Py_IsInitialized())
    Py_AddPendingCall(releaseDropped, nullptr);
}

static xcr_dtype_t dtypeOfFormat(const char *format, Py_ssize_t size) {
  if (!format)
    return XCR_DTYPE_U8;
  if (*format == '@' || *format == '=' || *format == '<')
    ++format;
  if (!format[0] || format[1])
    return XCR_DTYPE_NONE;
  static constexpr xcr_dtype_t kSigned[] = {XCR_DTYPE_I8, XCR_DTYPE_I16, XCR_DTYPE_I32,
                                            XCR_DTYPE_I64};
  static constexpr xcr_dtype_t kUnsigned[] = {XCR_DTYPE_U8, XCR_DTYPE_U16, XCR_DTYPE_U32,
                                              XCR_DTYPE_U64};
  int width = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
  if (width >= 0 && strchr("bhilq", format[0]))
    return kSigned[width];
  if (width >= 0 && strchr("BHILQ", format[0]))
    return kUnsigned[width];
  switch (format[0]) {
  case '?':
    return XCR_DTYPE_I1;
  case 'e':
    return XCR_DTYPE_F16;
  case 'f':
    return XCR_DTYPE_F32;
  case 'd':
    return XCR_DTYPE_F64;
  default:
    return XCR_DTYPE_NONE;
  }
}

/// The format of \p dtype in the buffer protocol, or null.
const char *xcpy::formatOf(xcr_dtype_t dtype) {
  static constexpr const char *kFormats[] = {nullptr, "?", "b", "h", "i",     "q", "B",
                                             "H",     "I", "Q", "e", nullptr, "f", "d"};
  return static_cast<size_t>(dtype) < sizeof(kFormats) / sizeof(*kFormats) ? kFormats[dtype]
                                                                           : nullptr;
}

bool xcpy::isOnHost(xcr_device_t *device) {
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  xcr_device_get_info(device, &info);
  return info.driver.size == 3 && memcmp(info.driver.data, "cpu", 3) == 0;
}

/// Element types that the buffer protocol does not know, such as those of ml_dtypes.
static xcr_buffer_t *importUnusual(xcr_device_t *device, PyObject *object, bool isWritten) {
  PyObject *pair = PyObject_CallFunctionObjArgs(hooks.unusualArray, object, nullptr);
  xcr_string_view_t name;
  xcr_buffer_t *buffer = nullptr;
  if (pair && view(PyTuple_GetItem(pair, 1), &name))
    buffer = importMemory(device, PyTuple_GetItem(pair, 0), xcr_dtype_from_name(name), isWritten);
  Py_XDECREF(pair);
  return buffer;
}

/// A buffer over the memory of an object with the buffer protocol. \p dtype: NONE for what its
/// format says. Null with an exception.
xcr_buffer_t *xcpy::importMemory(xcr_device_t *device, PyObject *object, xcr_dtype_t dtype,
                                 bool isWritten) {
  if (!isOnHost(device)) {
    static const char kMessage[] = "expected an array on the module's device, got one in host "
                                   "memory; Module.array(x) copies it there";
    raise(XCR_STATUS_INVALID_ARGUMENT, kMessage, sizeof(kMessage) - 1);
    return nullptr;
  }
  Held *held = makeHeld();
  if (!held)
    return nullptr;
  held->isBuffer = true;
  if (PyObject_GetBuffer(object, &held->view,
                         isWritten ? PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE
                                   : PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    free(held);
    if (PyErr_ExceptionMatches(PyExc_ValueError) && !isWritten) {
      PyErr_Clear(); // NumPy's for a type without a format
      return importUnusual(device, object, isWritten);
    }
    return nullptr;
  }
  if (!dtype && held->view.format && held->view.format[0] == 'Z') { // complex numbers
    PyBuffer_Release(&held->view);
    free(held);
    return importUnusual(device, object, isWritten);
  }
  const Py_buffer &memory = held->view;
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  int64_t shape[XCR_MAX_RANK], strides[XCR_MAX_RANK];
  options.dtype = dtype ? dtype : dtypeOfFormat(memory.format, memory.itemsize);
  options.rank = static_cast<uint32_t>(memory.ndim);
  options.shape = shape;
  options.strides = strides;
  xcr_buffer_t *buffer = nullptr;
  bool isGood = true, isEmpty = false;
  int64_t last = 0;
  if (options.dtype == XCR_DTYPE_NONE) {
    PyErr_Format(PyExc_TypeError, "no element type for arrays of format '%s'", memory.format);
    isGood = false;
  } else if (memory.ndim > XCR_MAX_RANK) {
    PyErr_Format(hooks.argumentError, "expected at most %d dims, got %d", XCR_MAX_RANK,
                 memory.ndim);
    isGood = false;
  }
  for (int i = 0; isGood && i < memory.ndim; ++i) {
    shape[i] = memory.shape[i];
    isEmpty |= shape[i] == 0;
    int64_t stride = memory.strides ? memory.strides[i] : 0;
    if (shape[i] > 1 && (stride < 0 || stride % memory.itemsize != 0)) {
      PyErr_Format(hooks.argumentError,
                   "strides that run backwards or between elements are not supported: dim %d has "
                   "%lld bytes; "
                   "numpy.ascontiguousarray(x) copies it",
                   i, static_cast<long long>(stride));
      isGood = false;
    }
    strides[i] = shape[i] > 1 ? stride / memory.itemsize : 1;
    last += shape[i] > 1 ? (shape[i] - 1) * strides[i] : 0;
  }
  if (isEmpty || PyBuffer_IsContiguous(&memory, 'C'))
    options.strides = nullptr;
  if (isGood) {
    size_t size = isEmpty ? 0 : static_cast<size_t>((last + 1) * memory.itemsize);
    isGood = succeeded(xcr_buffer_wrap(device, &options, memory.buf, size, drop, held, &buffer));
  }
  if (!isGood) {
    PyBuffer_Release(&held->view);
    free(held);
  }
  return buffer;
}

/// A buffer over the memory of a DLPack capsule, which it uses up. Null with an exception.
xcr_buffer_t *xcpy::importCapsule(xcr_device_t *device, PyObject *capsule) {
  auto *tensor = static_cast<DLManagedTensor *>(PyCapsule_GetPointer(capsule, "dltensor"));
  if (!tensor)
    return nullptr;
  Held *held = makeHeld();
  if (!held)
    return nullptr;
  held->tensor = tensor;
  held->shim = {tensor->tensor, held, [](DLManagedTensor *shim) { drop(shim->context); }};
  xcr_buffer_t *buffer = nullptr;
  if (!succeeded(xcr_buffer_from_dlpack(
          device, reinterpret_cast<struct ::DLManagedTensor *>(&held->shim), &buffer))) {
    free(held);
    return nullptr;
  }
  PyCapsule_SetName(capsule, "used_dltensor");
  return buffer;
}

//===----------------------------------------------------------------------===//
// Array
//===----------------------------------------------------------------------===//

/// Takes over \p buffer.
PyObject *xcpy::makeArray(xcr_buffer_t *buffer) {
  auto *self = allocate<ArrayObject>(arrayType);
  if (!self) {
    xcr_buffer_release(buffer);
    return nullptr;
  }
  self->buffer = buffer;
  xcr_buffer_info_t info = infoOf(buffer);
  Py_ssize_t size = static_cast<Py_ssize_t>(xcr_dtype_size(info.dtype));
  for (uint32_t i = 0; i < info.rank; ++i) {
    self->shape[i] = info.shape[i];
    self->strides[i] = info.strides[i] * size;
  }
  return reinterpret_cast<PyObject *>(self);
}

static void arrayDeallocate(PyObject *self) {
  xcr_buffer_release(reinterpret_cast<ArrayObject *>(self)->buffer);
  deallocate(self);
  releaseDropped();
}

static int arrayGetBuffer(PyObject *self, Py_buffer *out, int flags) {
  auto *array = reinterpret_cast<ArrayObject *>(self);
  xcr_buffer_info_t info = infoOf(array->buffer);
  xcr_string_view_t name = xcr_dtype_name(info.dtype);
  out->obj = nullptr;
  if (!info.is_host_visible) {
    PyErr_SetString(PyExc_BufferError, "the array is not in host memory; numpy() copies it");
    return -1;
  }
  const char *format = formatOf(info.dtype);
  if (!format) {
    PyErr_Format(PyExc_BufferError, "elements of type %s have no format here; use DLPack",
                 name.data);
    return -1;
  }
  Py_INCREF(self);
  *out = {};
  out->buf = reinterpret_cast<void *>(static_cast<uintptr_t>(info.address));
  out->obj = self;
  out->itemsize = static_cast<Py_ssize_t>(xcr_dtype_size(info.dtype));
  out->len = static_cast<Py_ssize_t>(info.element_count) * out->itemsize;
  out->ndim = static_cast<int>(info.rank);
  out->format = flags & PyBUF_FORMAT ? const_cast<char *>(format) : nullptr;
  out->shape = array->shape;
  out->strides = array->strides;
  return 0;
}

static void deleteCapsule(PyObject *capsule) {
  // Consumers rename it.
  if (!PyCapsule_IsValid(capsule, "dltensor"))
    return;
  auto *tensor = static_cast<DLManagedTensor *>(PyCapsule_GetPointer(capsule, "dltensor"));
  tensor->deleter(tensor);
}

static PyObject *arrayDlpack(PyObject *self, PyObject *, PyObject *keywords) {
  PyObject *copy = keywords ? PyDict_GetItemString(keywords, "copy") : nullptr;
  if (copy == Py_True) {
    PyErr_SetString(PyExc_BufferError, "an array is lent, not copied");
    return nullptr;
  }
  struct DLManagedTensor *tensor = nullptr;
  if (!succeeded(xcr_buffer_to_dlpack(bufferOf(self), &tensor)))
    return nullptr;
  PyObject *capsule = PyCapsule_New(tensor, "dltensor", deleteCapsule);
  if (!capsule)
    tensor->deleter(tensor);
  return capsule;
}

static PyObject *arrayDlpackDevice(PyObject *self, PyObject *) {
  struct DLManagedTensor *tensor = nullptr;
  if (!succeeded(xcr_buffer_to_dlpack(bufferOf(self), &tensor)))
    return nullptr;
  PyObject *device = Py_BuildValue("(ii)", tensor->tensor.deviceType, tensor->tensor.deviceId);
  tensor->deleter(tensor);
  return device;
}

static PyObject *arrayNumpy(PyObject *self, PyObject *) {
  return PyObject_CallFunctionObjArgs(hooks.toNumpy, self, nullptr);
}

/// Copies to or from host memory.
static PyObject *transfer(PyObject *self, PyObject *host, bool isRead) {
  Py_buffer memory;
  if (PyObject_GetBuffer(host, &memory, isRead ? PyBUF_CONTIG : PyBUF_CONTIG_RO) != 0)
    return nullptr;
  xcr_buffer_t *buffer = bufferOf(self);
  xcr_buffer_info_t info = infoOf(buffer);
  uint64_t expected = info.element_count * xcr_dtype_size(info.dtype);
  bool isGood = info.is_contiguous && static_cast<uint64_t>(memory.len) == expected;
  if (!isGood)
    PyErr_Format(hooks.argumentError, "expected %lld bytes of a contiguous array, got %lld",
                 static_cast<long long>(expected), static_cast<long long>(memory.len));
  else
    isGood = runUnlocked([&] {
      return isRead ? xcr_buffer_read(buffer, 0, memory.buf, expected)
                    : xcr_buffer_write(buffer, 0, memory.buf, expected);
    });
  PyBuffer_Release(&memory);
  return isGood ? Py_NewRef(Py_None) : nullptr;
}

static PyObject *arrayReadInto(PyObject *self, PyObject *host) {
  return transfer(self, host, true);
}
static PyObject *arrayWriteFrom(PyObject *self, PyObject *host) {
  return transfer(self, host, false);
}

static PyObject *arrayAs(PyObject *self, PyObject *name) {
  xcr_string_view_t text;
  xcr_buffer_info_t info = infoOf(bufferOf(self));
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  xcr_buffer_t *made = nullptr;
  if (!view(name, &text))
    return nullptr;
  options.dtype = xcr_dtype_from_name(text);
  options.rank = info.rank;
  options.shape = info.shape;
  options.strides = info.strides;
  if (!succeeded(xcr_buffer_view(bufferOf(self), &options, 0, &made)))
    return nullptr;
  return makeArray(made);
}

static PyObject *arrayShape(PyObject *self, void *) {
  xcr_buffer_info_t info = infoOf(bufferOf(self));
  PyObject *shape = PyTuple_New(static_cast<Py_ssize_t>(info.rank));
  for (uint32_t i = 0; shape && i < info.rank; ++i)
    PyTuple_SetItem(shape, i, PyLong_FromLongLong(info.shape[i]));
  return shape;
}
static PyObject *arrayDtype(PyObject *self, void *) {
  return toText(xcr_dtype_name(infoOf(bufferOf(self)).dtype));
}
static PyObject *arrayDevice(PyObject *self, void *) {
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  xcr_device_get_info(xcr_buffer_device(bufferOf(self)), &info);
  return toText(info.uri);
}
static PyObject *arrayRepr(PyObject *self) {
  PyObject *shape = arrayShape(self, nullptr), *dtype = arrayDtype(self, nullptr),
           *device = arrayDevice(self, nullptr);
  PyObject *text = shape && dtype && device
                       ? PyUnicode_FromFormat("<xcompile.Array %S %U on %U>", shape, dtype, device)
                       : nullptr;
  Py_XDECREF(shape);
  Py_XDECREF(dtype);
  Py_XDECREF(device);
  return text;
}

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

static PyMethodDef arrayMethods[] = {
    {"__dlpack__", method(arrayDlpack), METH_VARARGS | METH_KEYWORDS,
     "A DLPack capsule over the memory, which it keeps."},
    {"__dlpack_device__", arrayDlpackDevice, METH_NOARGS, "DLPack's device type and number."},
    {"numpy", arrayNumpy, METH_NOARGS,
     "As a NumPy array: the memory itself on the CPU device, a copy of it else."},
    {"_read_into", arrayReadInto, METH_O, "Copies the elements into a contiguous buffer."},
    {"_write_from", arrayWriteFrom, METH_O, "Copies the elements from a contiguous buffer."},
    {"_as", arrayAs, METH_O, "The same memory as elements of another type of that size."},
    {nullptr, nullptr, 0, nullptr}};
static PyGetSetDef arrayAttributes[] = {
    {"shape", arrayShape, nullptr, "The size of each dim.", nullptr},
    {"dtype", arrayDtype, nullptr, "The element type: 'f32', 'bf16', 'i1', ...", nullptr},
    {"device", arrayDevice, nullptr, "The device's URI: 'cpu', 'cuda:0'.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

bool xcpy::addArrayType(PyObject *module) {
  PyType_Slot array[] = {
      {Py_tp_dealloc, slot(arrayDeallocate)},
      {Py_tp_methods, arrayMethods},
      {Py_tp_getset, arrayAttributes},
      {Py_tp_repr, slot(arrayRepr)},
      {Py_bf_getbuffer, slot(arrayGetBuffer)},
      {Py_tp_doc, const_cast<char *>("A typed array in the memory of a device. It has DLPack's "
                                     "protocol, and the buffer protocol on the CPU device.")},
      {0, nullptr}};
  arrayType = makeType(module, "xcompile.Array", sizeof(ArrayObject), array,
                       Py_TPFLAGS_DISALLOW_INSTANTIATION);
  return arrayType != nullptr;
}
