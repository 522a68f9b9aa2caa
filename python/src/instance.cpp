//===- instance.cpp - Modules on a device, from Python ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/src/xcpy.h"

#include <cstdlib>
#include <cstring>

using namespace xcpy;

static void instanceDeallocate(PyObject *object) {
  InstanceObject *self = asInstance(object);
  for (uint32_t i = 0; i < self->streamCount; ++i)
    xcr_stream_release(self->streams[i].stream);
  xcr_instance_release(self->instance);
  xcr_device_release(self->device);
  deallocate(object);
  releaseDropped();
}

/// The stream over a CUstream, lent. Null with an exception.
xcr_stream_t *xcpy::streamOf(InstanceObject *self, uintptr_t native) {
  for (uint32_t i = 0; i < self->streamCount; ++i)
    if (self->streams[i].native == native)
      return self->streams[i].stream;
  xcr_stream_options_t options = XCR_STREAM_OPTIONS_INIT;
  options.native_stream = reinterpret_cast<void *>(native);
  xcr_stream_t *stream = nullptr;
  if (!succeeded(xcr_stream_create(self->device, &options, &stream)))
    return nullptr;
  const uint32_t room = sizeof(self->streams) / sizeof(*self->streams);
  if (self->streamCount == room) {
    // Programs have few streams. Waits for the oldest one's work.
    xcr_stream_release(self->streams[0].stream);
    memmove(self->streams, self->streams + 1, (room - 1) * sizeof(*self->streams));
    --self->streamCount;
  }
  self->streams[self->streamCount++] = {native, stream};
  return stream;
}

static PyObject *instanceNew(PyTypeObject *type, PyObject *arguments, PyObject *) {
  PyObject *path, *uri, *sources, *memories;
  if (!PyArg_ParseTuple(arguments, "UUO!O!", &path, &uri, &PyList_Type, &sources, &PyList_Type,
                        &memories))
    return nullptr;
  xcr_string_view_t pathText, uriText;
  if (!view(path, &pathText) || !view(uri, &uriText))
    return nullptr;
  const Py_ssize_t sourceCount = PyList_Size(sources), memoryCount = PyList_Size(memories);
  auto *files = static_cast<xcr_parameter_source_t *>(
      calloc(static_cast<size_t>(sourceCount) + 1, sizeof(xcr_parameter_source_t)));
  auto *blobs = static_cast<xcr_parameter_memory_t *>(
      calloc(static_cast<size_t>(memoryCount) + 1, sizeof(xcr_parameter_memory_t)));
  bool isGood = files && blobs;
  for (Py_ssize_t i = 0; isGood && i < sourceCount; ++i) {
    PyObject *pair = PyList_GetItem(sources, i);
    isGood = view(PyTuple_GetItem(pair, 0), &files[i].scope) &&
             view(PyTuple_GetItem(pair, 1), &files[i].path);
  }
  for (Py_ssize_t i = 0; isGood && i < memoryCount; ++i) {
    PyObject *pair = PyList_GetItem(memories, i);
    char *data = nullptr;
    Py_ssize_t size = 0;
    isGood = view(PyTuple_GetItem(pair, 0), &blobs[i].scope) &&
             PyBytes_AsStringAndSize(PyTuple_GetItem(pair, 1), &data, &size) == 0;
    blobs[i].data = data;
    blobs[i].size = static_cast<size_t>(size);
  }
  xcr_device_t *device = nullptr;
  xcr_module_t *module = nullptr;
  xcr_instance_t *instance = nullptr;
  xcr_instance_options_t options = XCR_INSTANCE_OPTIONS_INIT;
  options.sources = files;
  options.source_count = static_cast<size_t>(sourceCount);
  options.memories = blobs;
  options.memory_count = static_cast<size_t>(memoryCount);
  isGood = isGood && runUnlocked([&] {
             xcr_status_t status = xcr_device_create(uriText, nullptr, &device);
             if (xcr_is_ok(status))
               status = xcr_module_load_file(pathText, nullptr, &module);
             if (xcr_is_ok(status))
               status = xcr_instance_create(device, module, &options, &instance);
             return status;
           });
  free(files);
  free(blobs);
  xcr_module_release(module);
  auto *self = isGood ? allocate<InstanceObject>(type) : nullptr;
  if (!self) {
    xcr_instance_release(instance);
    xcr_device_release(device);
    return nullptr;
  }
  self->device = device;
  self->instance = instance;
  self->isOnHost = isOnHost(device);
  return reinterpret_cast<PyObject *>(self);
}

static PyObject *instanceDescription(PyObject *self, void *) {
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  xcr_device_get_info(asInstance(self)->device, &info);
  return toText(info.description);
}
static PyObject *instanceDevice(PyObject *self, void *) {
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  xcr_device_get_info(asInstance(self)->device, &info);
  return toText(info.uri);
}

static PyObject *instanceFunctions(PyObject *self, PyObject *) {
  xcr_module_t *module = xcr_instance_module(asInstance(self)->instance);
  xcr_module_info_t info = XCR_MODULE_INFO_INIT;
  xcr_module_get_info(module, &info);
  PyObject *names = PyList_New(0);
  for (uint32_t i = 0; names && i < info.function_count; ++i) {
    const xcr_function_t *function = nullptr;
    xcr_function_info_t about = XCR_FUNCTION_INFO_INIT;
    xcr_status_release(xcr_module_get_function(module, i, &function));
    xcr_function_get_info(function, &about);
    PyObject *name = toText(about.name);
    if (!name || PyList_Append(names, name) != 0)
      Py_CLEAR(names);
    Py_XDECREF(name);
  }
  return names;
}

static PyObject *instanceVariables(PyObject *self, PyObject *) {
  xcr_module_t *module = xcr_instance_module(asInstance(self)->instance);
  xcr_module_info_t info = XCR_MODULE_INFO_INIT;
  xcr_module_get_info(module, &info);
  PyObject *names = PyList_New(0);
  for (uint32_t i = 0; names && i < info.variable_count; ++i) {
    xcr_data_info_t about = XCR_DATA_INFO_INIT;
    xcr_status_release(xcr_module_get_variable(module, i, &about));
    PyObject *name = toText(about.name);
    if (!name || PyList_Append(names, name) != 0)
      Py_CLEAR(names);
    Py_XDECREF(name);
  }
  return names;
}

static PyObject *instanceVariable(PyObject *self, PyObject *name) {
  xcr_string_view_t text;
  xcr_buffer_t *buffer = nullptr;
  if (!view(name, &text) ||
      !succeeded(xcr_instance_get_variable(asInstance(self)->instance, text, &buffer)))
    return nullptr;
  xcr_buffer_retain(buffer);
  return makeArray(buffer);
}

static PyObject *instanceSave(PyObject *self, PyObject *path) {
  xcr_string_view_t text;
  if (!view(path, &text) ||
      !runUnlocked([&] { return xcr_instance_save_variables(asInstance(self)->instance, text); }))
    return nullptr;
  return Py_NewRef(Py_None);
}

static PyObject *instanceRestore(PyObject *self, PyObject *arguments) {
  PyObject *path;
  int isPartial;
  xcr_string_view_t text;
  if (!PyArg_ParseTuple(arguments, "Up", &path, &isPartial) || !view(path, &text) ||
      !runUnlocked([&] {
        return xcr_instance_restore_variables(asInstance(self)->instance, text,
                                              isPartial ? XCR_RESTORE_PARTIAL : 0);
      }))
    return nullptr;
  return Py_NewRef(Py_None);
}

/// array(dtype, shape): an array on the instance's device.
static PyObject *instanceArray(PyObject *self, PyObject *arguments) {
  PyObject *name, *dims;
  xcr_string_view_t text;
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  int64_t shape[XCR_MAX_RANK];
  if (!PyArg_ParseTuple(arguments, "UO!", &name, &PyTuple_Type, &dims) || !view(name, &text))
    return nullptr;
  if (PyTuple_Size(dims) > XCR_MAX_RANK) {
    PyErr_Format(hooks.argumentError, "expected at most %d dims, got %zd", XCR_MAX_RANK,
                 PyTuple_Size(dims));
    return nullptr;
  }
  options.dtype = xcr_dtype_from_name(text);
  options.rank = static_cast<uint32_t>(PyTuple_Size(dims));
  options.shape = shape;
  for (uint32_t i = 0; i < options.rank; ++i)
    shape[i] = PyLong_AsLongLong(PyTuple_GetItem(dims, i));
  xcr_buffer_t *buffer = nullptr;
  if (PyErr_Occurred() ||
      !succeeded(xcr_buffer_create(asInstance(self)->device, &options, &buffer)))
    return nullptr;
  return makeArray(buffer);
}

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

static PyMethodDef instanceMethods[] = {
    {"functions", instanceFunctions, METH_NOARGS, "The names of the functions."},
    {"variables", instanceVariables, METH_NOARGS, "The names of the variables."},
    {"variable", instanceVariable, METH_O, "The array of a variable."},
    {"save", instanceSave, METH_O, "Writes all variables to a .safetensors file."},
    {"restore", instanceRestore, METH_VARARGS, "Sets variables from such a file."},
    {"array", instanceArray, METH_VARARGS, "A new array on the device."},
    {nullptr, nullptr, 0, nullptr}};
static PyGetSetDef instanceAttributes[] = {
    {"device", instanceDevice, nullptr, "The device's URI.", nullptr},
    {"description", instanceDescription, nullptr, "One sentence about the device.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

bool xcpy::addInstanceType(PyObject *module) {
  PyType_Slot instance[] = {{Py_tp_dealloc, slot(instanceDeallocate)},
                            {Py_tp_new, slot(instanceNew)},
                            {Py_tp_methods, instanceMethods},
                            {Py_tp_getset, instanceAttributes},
                            {0, nullptr}};
  instanceType = makeType(module, "xcompile.Instance", sizeof(InstanceObject), instance, 0);
  return instanceType != nullptr;
}
