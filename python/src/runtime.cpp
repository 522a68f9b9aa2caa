//===- runtime.cpp - The module xcompile._runtime --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/src/xcpy.h"

#include <cstring>

using namespace xcpy;

Hooks xcpy::hooks;
PyTypeObject *xcpy::arrayType, *xcpy::instanceType, *xcpy::functionType, *xcpy::boundType;

//===----------------------------------------------------------------------===//
// Errors and small things
//===----------------------------------------------------------------------===//

PyObject *xcpy::raise(xcr_status_code_t code, const char *message, Py_ssize_t size) {
  bool isArgument = code == XCR_STATUS_INVALID_ARGUMENT || code == XCR_STATUS_OUT_OF_RANGE;
  PyObject *text = PyUnicode_DecodeUTF8(message, size, "replace");
  PyObject *error = text ? PyObject_CallFunctionObjArgs(
                               isArgument ? hooks.argumentError : hooks.error, text, nullptr)
                         : nullptr;
  PyObject *name = error ? PyUnicode_FromString(xcr_status_code_name(code).data) : nullptr;
  if (name && PyObject_SetAttrString(error, "code", name) == 0)
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error)), error);
  Py_XDECREF(name);
  Py_XDECREF(error);
  Py_XDECREF(text);
  return nullptr;
}

/// Whether it is success; sets the exception, and releases \p status, where not.
bool xcpy::succeeded(xcr_status_t status) {
  if (xcr_is_ok(status))
    return true;
  xcr_string_view_t message = xcr_status_message(status);
  raise(xcr_status_code(status), message.data, static_cast<Py_ssize_t>(message.size));
  xcr_status_release(status);
  return false;
}

/// Views a str, lent by it. False with an exception.
bool xcpy::view(PyObject *text, xcr_string_view_t *out) {
  Py_ssize_t size;
  const char *data = PyUnicode_AsUTF8AndSize(text, &size);
  *out = {data, static_cast<size_t>(size)};
  return data != nullptr;
}

PyObject *xcpy::toText(xcr_string_view_t text) {
  return PyUnicode_DecodeUTF8(text.data, static_cast<Py_ssize_t>(text.size), "replace");
}

void xcpy::deallocate(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyTypeObject *xcpy::makeType(PyObject *module, const char *name, size_t size, PyType_Slot *slots,
                             unsigned flags) {
  PyType_Spec spec = {name, static_cast<int>(size), 0, Py_TPFLAGS_DEFAULT | flags, slots};
  PyObject *type = PyType_FromSpec(&spec);
  if (type && PyModule_AddObjectRef(module, strrchr(name, '.') + 1, type) != 0)
    Py_CLEAR(type);
  return reinterpret_cast<PyTypeObject *>(type);
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

/// set_hooks(adapter_of, to_numpy, unusual_array, unusual_result, Error, ArgumentError)
static PyObject *setHooks(PyObject *, PyObject *arguments) {
  if (!PyArg_ParseTuple(arguments, "OOOOOO", &hooks.adapterOf, &hooks.toNumpy, &hooks.unusualArray,
                        &hooks.unusualResult, &hooks.error, &hooks.argumentError))
    return nullptr;
  PyObject *all[] = {hooks.adapterOf,     hooks.toNumpy, hooks.unusualArray,
                     hooks.unusualResult, hooks.error,   hooks.argumentError};
  for (PyObject *hook : all)
    Py_INCREF(hook);
  return Py_NewRef(Py_None);
}

static PyObject *version(PyObject *, PyObject *) {
  return PyUnicode_FromFormat("%u.%u", xcr_version() / 1000, xcr_version() % 1000);
}

static PyMethodDef moduleMethods[] = {
    {"set_hooks", setHooks, METH_VARARGS, "Hands in what the package does in Python."},
    {"version", version, METH_NOARGS, "The version of the runtime."},
    {nullptr, nullptr, 0, nullptr}};

extern "C" __attribute__((visibility("default"))) PyObject *PyInit__runtime() {
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                   "_runtime",
                                   "The runtime's C API.",
                                   -1,
                                   moduleMethods,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr};
  PyObject *module = PyModule_Create(&definition);
  if (module && !(addArrayType(module) && addInstanceType(module) && addFunctionType(module) &&
                  addBoundType(module)))
    Py_CLEAR(module);
  return module;
}
