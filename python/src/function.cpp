//===- function.cpp - Functions that are called with arrays ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/src/xcpy.h"

#include <cstdlib>
#include <cstring>

using namespace xcpy;

/// Type -> what hooks.adapterOf said of it.
static PyObject *adapters;

/// The adapter for the type of \p object, in \p out, lent by a cache. False with an exception.
static bool findAdapter(PyObject *object, Adapter *out) {
  PyObject *type = reinterpret_cast<PyObject *>(Py_TYPE(object));
  PyObject *found = PyDict_GetItemWithError(adapters, type);
  if (!found) {
    if (PyErr_Occurred())
      return false;
    found = PyObject_CallFunctionObjArgs(hooks.adapterOf, object, nullptr);
    if (!found || PyDict_SetItem(adapters, type, found) != 0) {
      Py_XDECREF(found);
      return false;
    }
    Py_DECREF(found);
  }
  *out = {PyTuple_GetItem(found, 0), PyTuple_GetItem(found, 1), PyTuple_GetItem(found, 2),
          PyTuple_GetItem(found, 3)};
  return true;
}

/// A buffer over the memory of any array, with a reference for the caller. \p stream: the CUstream
/// that reads it, as a Python number, or None. Null with an exception.
static xcr_buffer_t *importArray(InstanceObject *instance, PyObject *object, bool isWritten,
                                 PyObject *stream) {
  if (Py_TYPE(object) == arrayType) {
    xcr_buffer_t *buffer = bufferOf(object);
    xcr_buffer_t *view = nullptr;
    if (xcr_buffer_device(buffer) == instance->device || !instance->isOnHost ||
        !infoOf(buffer).is_host_visible) {
      xcr_buffer_retain(buffer);
      return buffer;
    }
    // Of another instance on the CPU: its memory is the same.
    struct DLManagedTensor *tensor = nullptr;
    if (!succeeded(xcr_buffer_to_dlpack(buffer, &tensor)))
      return nullptr;
    if (!succeeded(xcr_buffer_from_dlpack(instance->device, tensor, &view)))
      tensor->deleter(tensor);
    return view;
  }
  Adapter adapter;
  if (!findAdapter(object, &adapter))
    return nullptr;
  if (adapter.capsule == Py_None)
    return importMemory(instance->device, object, XCR_DTYPE_NONE, isWritten);
  PyObject *capsule = PyObject_CallFunctionObjArgs(adapter.capsule, object, stream, nullptr);
  if (!capsule)
    return nullptr;
  xcr_buffer_t *buffer = importCapsule(instance->device, capsule);
  Py_DECREF(capsule);
  return buffer;
}

/// Puts the name of the argument in front of the exception's text.
static void addContext(const char *kind, xcr_string_view_t name, uint32_t ordinal) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  bool isOurs = PyErr_GivenExceptionMatches(value, hooks.error) ||
                PyErr_GivenExceptionMatches(value, PyExc_TypeError);
  PyObject *text = isOurs ? PyObject_Str(value) : nullptr;
  PyObject *label = toText(name);
  PyObject *full =
      text && label ? PyUnicode_FromFormat("%s %u '%U': %U", kind, ordinal, label, text) : nullptr;
  PyObject *arguments = full ? PyTuple_Pack(1, full) : nullptr;
  if (arguments)
    PyObject_SetAttrString(value, "args", arguments);
  Py_XDECREF(arguments);
  Py_XDECREF(full);
  Py_XDECREF(label);
  Py_XDECREF(text);
  PyErr_Restore(type, value, trace);
}

bool xcpy::bind(FunctionObject *self, xcr_call_t *call, bool isInput, uint32_t ordinal,
                PyObject *object, PyObject *stream) {
  xcr_argument_info_t argument = XCR_ARGUMENT_INFO_INIT;
  if (!succeeded(isInput ? xcr_function_get_input(self->function, ordinal, &argument)
                         : xcr_function_get_output(self->function, ordinal, &argument)))
    return false;
  xcr_buffer_t *buffer =
      importArray(asInstance(self->instance), object, argument.donated || !isInput, stream);
  if (!buffer) {
    addContext(isInput ? "input" : "output", argument.name, ordinal);
    return false;
  }
  bool isGood = succeeded(isInput ? xcr_call_set_input(call, ordinal, buffer)
                                  : xcr_call_set_output(call, ordinal, buffer));
  xcr_buffer_release(buffer);
  return isGood;
}

/// A TypeError that says which inputs were probably meant.
static void reportUnknownInput(FunctionObject *self, PyObject *key) {
  xcr_string_view_t name;
  uint32_t ordinal;
  if (!view(key, &name))
    return;
  xcr_status_t status = xcr_function_find_input(self->function, name, &ordinal);
  PyObject *text = toText(xcr_status_message(status));
  if (text)
    PyErr_Format(PyExc_TypeError, "%U(): %U", self->name, text);
  Py_XDECREF(text);
  xcr_status_release(status);
}

/// A TypeError that says which input was not given.
static void reportMissingInput(FunctionObject *self, uint32_t ordinal) {
  xcr_argument_info_t argument = XCR_ARGUMENT_INFO_INIT;
  if (!succeeded(xcr_function_get_input(self->function, ordinal, &argument)))
    return;
  PyObject *name = toText(argument.name);
  if (name)
    PyErr_Format(PyExc_TypeError, "%U() takes %u array%s; input %u ('%U') is missing", self->name,
                 self->inputCount, self->inputCount == 1 ? "" : "s", ordinal, name);
  Py_XDECREF(name);
}

/// The arguments in the order of inputs, lent. False with an exception.
bool xcpy::orderArguments(FunctionObject *self, PyObject *positional, PyObject *keywords,
                          PyObject **out) {
  const Py_ssize_t given = PyTuple_Size(positional);
  if (given > static_cast<Py_ssize_t>(self->inputCount)) {
    PyErr_Format(PyExc_TypeError, "%U() takes %u array%s, got %zd", self->name, self->inputCount,
                 self->inputCount == 1 ? "" : "s", given);
    return false;
  }
  for (uint32_t i = 0; i < self->inputCount; ++i)
    out[i] = i < given ? PyTuple_GetItem(positional, i) : nullptr;
  PyObject *key, *value;
  for (Py_ssize_t position = 0; keywords && PyDict_Next(keywords, &position, &key, &value);) {
    PyObject *ordinal = PyDict_GetItemWithError(self->inputNames, key);
    if (!ordinal) {
      if (!PyErr_Occurred())
        reportUnknownInput(self, key);
      return false;
    }
    PyObject *&place = out[PyLong_AsLong(ordinal)];
    if (place) {
      PyErr_Format(PyExc_TypeError, "%U() got input '%U' twice", self->name, key);
      return false;
    }
    place = value;
  }
  for (uint32_t i = 0; i < self->inputCount; ++i)
    if (!out[i]) {
      reportMissingInput(self, i);
      return false;
    }
  return true;
}

/// The first argument of a library that says where results belong.
bool xcpy::chooseAdapter(PyObject **arguments, uint32_t count, Adapter *out) {
  *out = {Py_None, nullptr, Py_None, Py_None};
  for (uint32_t i = 0; i < count; ++i) {
    Adapter adapter;
    if (Py_TYPE(arguments[i]) == arrayType)
      continue;
    if (!findAdapter(arguments[i], &adapter))
      return false;
    if (!out->convert || (out->stream == Py_None && adapter.stream != Py_None))
      *out = adapter;
  }
  return true;
}

/// The stream that the caller's library works on now, as a number with a reference for the caller.
PyObject *xcpy::currentStream(InstanceObject *instance, const Adapter &adapter) {
  if (instance->isOnHost)
    return Py_NewRef(Py_None);
  if (adapter.stream == Py_None)
    return PyLong_FromLong(1); // the legacy stream
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  xcr_device_get_info(instance->device, &info);
  const char *colon = static_cast<const char *>(memchr(info.uri.data, ':', info.uri.size));
  PyObject *ordinal = PyLong_FromLong(colon ? strtol(colon + 1, nullptr, 10) : 0);
  PyObject *stream =
      ordinal ? PyObject_CallFunctionObjArgs(adapter.stream, ordinal, nullptr) : nullptr;
  Py_XDECREF(ordinal);
  return stream;
}

/// Launches on the caller's stream, where he has one, else waits for the end.
bool xcpy::launch(InstanceObject *instance, xcr_call_t *call, const Adapter &adapter,
                  PyObject *stream) {
  if (instance->isOnHost)
    return runUnlocked([&] { return xcr_call_run(call); });
  uintptr_t native = PyLong_AsSize_t(stream);
  if (PyErr_Occurred())
    return false;
  xcr_stream_t *target = streamOf(instance, native);
  if (!target)
    return false;
  const bool waits = adapter.stream == Py_None;
  return runUnlocked([&] {
    xcr_status_t status = xcr_call_launch(call, target);
    return xcr_is_ok(status) && waits ? xcr_stream_synchronize(target) : status;
  });
}

/// Gives output \p ordinal memory of its own, since the caller keeps it. Null with an exception;
/// None where it takes an input's memory.
PyObject *xcpy::allocateOutput(FunctionObject *self, xcr_call_t *call, uint32_t ordinal,
                               const Adapter &adapter, PyObject *stream) {
  if (ordinal < 64 && (self->aliasedOutputs >> ordinal & 1) != 0)
    return Py_NewRef(Py_None);
  InstanceObject *instance = asInstance(self->instance);
  xcr_argument_info_t argument = XCR_ARGUMENT_INFO_INIT;
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  int64_t shape[XCR_MAX_RANK];
  if (!succeeded(xcr_function_get_output(self->function, ordinal, &argument)) ||
      !succeeded(xcr_call_query_output_shape(call, ordinal, shape)))
    return nullptr;
  if (!instance->isOnHost && adapter.allocate != Py_None) {
    PyObject *dims = PyTuple_New(static_cast<Py_ssize_t>(argument.rank));
    for (uint32_t i = 0; dims && i < argument.rank; ++i)
      PyTuple_SetItem(dims, i, PyLong_FromLongLong(shape[i]));
    PyObject *name = toText(xcr_dtype_name(argument.dtype));
    PyObject *made = dims && name
                         ? PyObject_CallFunctionObjArgs(adapter.allocate, name, dims, nullptr)
                         : nullptr;
    Py_XDECREF(name);
    Py_XDECREF(dims);
    if (made && !bind(self, call, false, ordinal, made, stream))
      Py_CLEAR(made);
    return made;
  }
  options.dtype = argument.dtype;
  options.rank = argument.rank;
  options.shape = shape;
  xcr_buffer_t *buffer = nullptr;
  if (!succeeded(xcr_buffer_create(instance->device, &options, &buffer)))
    return nullptr;
  if (!succeeded(xcr_call_set_output(call, ordinal, buffer))) {
    xcr_buffer_release(buffer);
    return nullptr;
  }
  return makeArray(buffer);
}

/// What the caller gets of what allocateOutput gave. Takes over \p made.
PyObject *xcpy::convertOutput(xcr_call_t *call, uint32_t ordinal, const Adapter &adapter,
                              PyObject *made) {
  if (made == Py_None) {
    Py_DECREF(made);
    xcr_buffer_t *buffer = xcr_call_output(call, ordinal);
    xcr_buffer_retain(buffer);
    made = makeArray(buffer);
  }
  if (!made || Py_TYPE(made) != arrayType || !adapter.convert)
    return made;
  // What the buffer protocol cannot show is up to Python code.
  xcr_buffer_info_t info = infoOf(bufferOf(made));
  bool isUsual = adapter.capsule != Py_None || (info.is_host_visible && formatOf(info.dtype));
  PyObject *converted =
      PyObject_CallFunctionObjArgs(isUsual ? adapter.convert : hooks.unusualResult, made, nullptr);
  Py_DECREF(made);
  return converted;
}

/// Results as a function gives them: None, one, or a tuple. Takes over the elements.
PyObject *xcpy::packOutputs(PyObject **outputs, uint32_t count) {
  if (count == 1)
    return outputs[0];
  if (count == 0)
    return Py_NewRef(Py_None);
  PyObject *tuple = PyTuple_New(static_cast<Py_ssize_t>(count));
  for (uint32_t i = 0; i < count; ++i)
    if (tuple)
      PyTuple_SetItem(tuple, i, outputs[i]);
    else
      Py_DECREF(outputs[i]);
  return tuple;
}

static PyObject *callWith(FunctionObject *self, xcr_call_t *call, PyObject **arguments) {
  InstanceObject *instance = asInstance(self->instance);
  Adapter adapter;
  if (!chooseAdapter(arguments, self->inputCount, &adapter))
    return nullptr;
  PyObject *stream = currentStream(instance, adapter);
  bool isGood = stream != nullptr;
  for (uint32_t i = 0; isGood && i < self->inputCount; ++i)
    isGood = bind(self, call, true, i, arguments[i], stream);
  PyObject *outputs[kMaxArguments];
  uint32_t made = 0;
  for (; isGood && made < self->outputCount; ++made) {
    outputs[made] = allocateOutput(self, call, made, adapter, stream);
    if (!(isGood = outputs[made] != nullptr))
      break;
  }
  isGood = isGood && launch(instance, call, adapter, stream);
  for (uint32_t i = 0; isGood && i < made; ++i) {
    outputs[i] = convertOutput(call, i, adapter, outputs[i]);
    isGood = outputs[i] != nullptr;
  }
  Py_XDECREF(stream);
  if (isGood)
    return packOutputs(outputs, made);
  for (uint32_t i = 0; i < made; ++i)
    Py_XDECREF(outputs[i]);
  return nullptr;
}

/// A call that no other thread uses. Null with an exception.
static xcr_call_t *takeCall(FunctionObject *self) {
  if (self->callCount)
    return self->calls[--self->callCount];
  xcr_call_t *call = nullptr;
  xcr_string_view_t name;
  if (!view(self->name, &name) ||
      !succeeded(xcr_call_create(asInstance(self->instance)->instance, name, nullptr, &call)))
    return nullptr;
  return call;
}

static void returnCall(FunctionObject *self, xcr_call_t *call) {
  if (self->callCount < sizeof(self->calls) / sizeof(*self->calls))
    self->calls[self->callCount++] = call;
  else
    xcr_call_release(call);
}

static PyObject *functionCall(PyObject *object, PyObject *positional, PyObject *keywords) {
  FunctionObject *self = asFunction(object);
  PyObject *arguments[kMaxArguments];
  if (!orderArguments(self, positional, keywords, arguments))
    return nullptr;
  xcr_call_t *call = takeCall(self);
  if (!call)
    return nullptr;
  PyObject *result = callWith(self, call, arguments);
  // After an error something may be bound that fits nothing.
  if (result)
    returnCall(self, call);
  else
    xcr_call_release(call);
  releaseDropped();
  return result;
}

static void functionDeallocate(PyObject *object) {
  FunctionObject *self = asFunction(object);
  for (uint32_t i = 0; i < self->callCount; ++i)
    xcr_call_release(self->calls[i]);
  Py_XDECREF(self->instance);
  Py_XDECREF(self->name);
  Py_XDECREF(self->inputNames);
  deallocate(object);
  releaseDropped();
}

static PyObject *functionNew(PyTypeObject *type, PyObject *arguments, PyObject *) {
  PyObject *instance, *name;
  xcr_string_view_t text;
  const xcr_function_t *function = nullptr;
  if (!PyArg_ParseTuple(arguments, "O!U", instanceType, &instance, &name) || !view(name, &text) ||
      !succeeded(xcr_module_find_function(xcr_instance_module(asInstance(instance)->instance), text,
                                          &function)))
    return nullptr;
  xcr_function_info_t info = XCR_FUNCTION_INFO_INIT;
  xcr_function_get_info(function, &info);
  if (info.input_count > kMaxArguments || info.output_count > kMaxArguments) {
    PyErr_Format(hooks.error, "%U() has more than %u inputs or outputs", name, kMaxArguments);
    return nullptr;
  }
  FunctionObject *self = allocate<FunctionObject>(type);
  if (!self)
    return nullptr;
  self->instance = Py_NewRef(instance);
  self->function = function;
  self->name = Py_NewRef(name);
  self->inputCount = info.input_count;
  self->outputCount = info.output_count;
  self->inputNames = PyDict_New();
  bool isGood = self->inputNames != nullptr;
  for (uint32_t i = 0; isGood && i < info.input_count; ++i) {
    xcr_argument_info_t argument = XCR_ARGUMENT_INFO_INIT;
    isGood = succeeded(xcr_function_get_input(function, i, &argument));
    PyObject *key = isGood && argument.name.size ? toText(argument.name) : nullptr;
    PyObject *value = key ? PyLong_FromUnsignedLong(i) : nullptr;
    if (value)
      isGood = PyDict_SetItem(self->inputNames, key, value) == 0;
    Py_XDECREF(key);
    Py_XDECREF(value);
  }
  for (uint32_t i = 0; isGood && i < info.output_count && i < 64; ++i) {
    xcr_argument_info_t argument = XCR_ARGUMENT_INFO_INIT;
    isGood = succeeded(xcr_function_get_output(function, i, &argument));
    if (argument.alias >= 0)
      self->aliasedOutputs |= uint64_t(1) << i;
  }
  if (!isGood)
    Py_CLEAR(self);
  return reinterpret_cast<PyObject *>(self);
}

/// [(name, dtype, dims), ...]; a dim is a number, or the name of a symbol, or None.
static PyObject *describeArguments(FunctionObject *self, bool areInputs) {
  const uint32_t count = areInputs ? self->inputCount : self->outputCount;
  PyObject *list = PyList_New(static_cast<Py_ssize_t>(count));
  for (uint32_t i = 0; list && i < count; ++i) {
    xcr_argument_info_t argument = XCR_ARGUMENT_INFO_INIT;
    if (!succeeded(areInputs ? xcr_function_get_input(self->function, i, &argument)
                             : xcr_function_get_output(self->function, i, &argument))) {
      Py_CLEAR(list);
      break;
    }
    PyObject *dims = PyTuple_New(static_cast<Py_ssize_t>(argument.rank));
    for (uint32_t d = 0; dims && d < argument.rank; ++d) {
      const xcr_dim_t &dim = argument.dims[d];
      xcr_symbol_info_t symbol = XCR_SYMBOL_INFO_INIT;
      if (dim.symbol >= 0)
        xcr_status_release(
            xcr_function_get_symbol(self->function, static_cast<uint32_t>(dim.symbol), &symbol));
      PyTuple_SetItem(dims, d,
                      dim.value >= 0     ? PyLong_FromLongLong(dim.value)
                      : symbol.name.size ? toText(symbol.name)
                                         : Py_NewRef(Py_None));
    }
    PyObject *name = toText(argument.name), *dtype = toText(xcr_dtype_name(argument.dtype));
    PyObject *entry = dims && name && dtype ? PyTuple_Pack(3, name, dtype, dims) : nullptr;
    Py_XDECREF(dims);
    Py_XDECREF(name);
    Py_XDECREF(dtype);
    if (entry)
      PyList_SetItem(list, i, entry);
    else
      Py_CLEAR(list);
  }
  return list;
}

static PyObject *functionInputs(PyObject *self, void *) {
  return describeArguments(asFunction(self), true);
}
static PyObject *functionOutputs(PyObject *self, void *) {
  return describeArguments(asFunction(self), false);
}
static PyObject *functionName(PyObject *self, void *) { return Py_NewRef(asFunction(self)->name); }

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

static PyMethodDef functionMethods[] = {
    {"bind", method(bindFunction), METH_VARARGS | METH_KEYWORDS,
     "bind(*arrays, out=None, **arrays): binds arrays once, for calls that only launch."},
    {nullptr, nullptr, 0, nullptr}};
static PyGetSetDef functionAttributes[] = {
    {"name", functionName, nullptr, "The function's name.", nullptr},
    {"inputs", functionInputs, nullptr, "A list of (name, dtype, dims).", nullptr},
    {"outputs", functionOutputs, nullptr, "A list of (name, dtype, dims).", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

bool xcpy::addFunctionType(PyObject *module) {
  if (!adapters && !(adapters = PyDict_New()))
    return false;
  PyType_Slot function[] = {
      {Py_tp_dealloc, slot(functionDeallocate)},
      {Py_tp_new, slot(functionNew)},
      {Py_tp_call, slot(functionCall)},
      {Py_tp_methods, functionMethods},
      {Py_tp_getset, functionAttributes},
      {Py_tp_doc, const_cast<char *>("A function of a module; call it with arrays. Thread-safe.")},
      {0, nullptr}};
  functionType = makeType(module, "xcompile.Function", sizeof(FunctionObject), function, 0);
  return functionType != nullptr;
}
