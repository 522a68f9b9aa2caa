//===- bound.cpp - Functions with arrays bound to them ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/src/xcpy.h"

using namespace xcpy;

namespace {
struct BoundObject {
  PyObject_HEAD PyObject *function;
  xcr_call_t *call;
  PyObject *results; ///< of every call: the same arrays
  Adapter adapter;   ///< lent by the cache of adapters, which stays
  bool isRunning;    ///< a call is one thread's at a time
};
} // namespace

static BoundObject *asBound(PyObject *self) { return reinterpret_cast<BoundObject *>(self); }

/// bind(*arrays, out=None, **arrays)
PyObject *xcpy::bindFunction(PyObject *object, PyObject *positional, PyObject *keywords) {
  FunctionObject *self = asFunction(object);
  InstanceObject *instance = asInstance(self->instance);
  PyObject *arguments[kMaxArguments], *outputs[kMaxArguments];
  PyObject *names = keywords ? PyDict_Copy(keywords) : nullptr;
  PyObject *out = names ? PyDict_GetItemString(names, "out") : nullptr;
  Py_XINCREF(out);
  bool isGood = !out || PyDict_DelItemString(names, "out") == 0;
  if (out && out != Py_None && self->outputCount != 1 &&
      !(PyTuple_Check(out) && PyTuple_Size(out) == static_cast<Py_ssize_t>(self->outputCount))) {
    PyErr_Format(PyExc_TypeError, "%U() has %u outputs: expected a tuple of as many as out",
                 self->name, self->outputCount);
    isGood = false;
  }
  isGood = isGood && orderArguments(self, positional, names, arguments);
  Adapter adapter = {};
  isGood = isGood && chooseAdapter(arguments, self->inputCount, &adapter);
  xcr_call_t *call = nullptr;
  xcr_string_view_t name;
  isGood = isGood && view(self->name, &name) &&
           succeeded(xcr_call_create(instance->instance, name, nullptr, &call));
  PyObject *stream = isGood ? currentStream(instance, adapter) : nullptr;
  isGood = isGood && stream;
  for (uint32_t i = 0; isGood && i < self->inputCount; ++i)
    isGood = bind(self, call, true, i, arguments[i], stream);
  uint32_t made = 0;
  while (isGood && made < self->outputCount) {
    PyObject *given = !out || out == Py_None ? nullptr
                      : PyTuple_Check(out)   ? PyTuple_GetItem(out, made)
                                             : out;
    if (given)
      outputs[made] = bind(self, call, false, made, given, stream) ? Py_NewRef(given) : nullptr;
    else
      outputs[made] = allocateOutput(self, call, made, adapter, stream);
    if (!(isGood = outputs[made] != nullptr))
      break;
    // What takes an input's memory is that input.
    if (outputs[made] == Py_None) {
      xcr_argument_info_t argument = XCR_ARGUMENT_INFO_INIT;
      xcr_status_release(xcr_function_get_output(self->function, made, &argument));
      Py_DECREF(outputs[made]);
      outputs[made] = Py_NewRef(arguments[argument.alias]);
    } else if (!given) {
      outputs[made] = convertOutput(call, made, adapter, outputs[made]);
      isGood = outputs[made] != nullptr;
    }
    ++made;
  }
  BoundObject *bound = isGood ? allocate<BoundObject>(boundType) : nullptr;
  if (bound) {
    bound->function = Py_NewRef(object);
    bound->call = call;
    bound->adapter = adapter;
    bound->results = packOutputs(outputs, made);
    if (!bound->results)
      Py_CLEAR(bound);
  } else {
    for (uint32_t i = 0; i < made; ++i)
      Py_XDECREF(outputs[i]);
    xcr_call_release(call);
  }
  Py_XDECREF(stream);
  Py_XDECREF(names);
  Py_XDECREF(out);
  releaseDropped();
  return reinterpret_cast<PyObject *>(bound);
}

static void boundDeallocate(PyObject *object) {
  BoundObject *self = asBound(object);
  xcr_call_release(self->call);
  Py_XDECREF(self->results);
  Py_XDECREF(self->function);
  deallocate(object);
  releaseDropped();
}

static PyObject *boundCall(PyObject *object, PyObject *positional, PyObject *keywords) {
  BoundObject *self = asBound(object);
  if (PyTuple_Size(positional) || (keywords && PyDict_Size(keywords))) {
    PyErr_SetString(PyExc_TypeError, "a bound call takes no arguments; write to its arrays");
    return nullptr;
  }
  if (self->isRunning) {
    PyErr_SetString(hooks.error, "another thread runs this bound call; bind one for each thread");
    return nullptr;
  }
  InstanceObject *instance = asInstance(asFunction(self->function)->instance);
  PyObject *stream = currentStream(instance, self->adapter);
  if (!stream)
    return nullptr;
  self->isRunning = true;
  bool isGood = launch(instance, self->call, self->adapter, stream);
  self->isRunning = false;
  Py_DECREF(stream);
  return isGood ? Py_NewRef(self->results) : nullptr;
}

static PyObject *boundOutputs(PyObject *self, void *) { return Py_NewRef(asBound(self)->results); }

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

static PyGetSetDef boundAttributes[] = {
    {"outputs", boundOutputs, nullptr, "What every call writes to and returns.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

bool xcpy::addBoundType(PyObject *module) {
  PyType_Slot bound[] = {
      {Py_tp_dealloc, slot(boundDeallocate)},
      {Py_tp_call, slot(boundCall)},
      {Py_tp_getset, boundAttributes},
      {Py_tp_doc, const_cast<char *>("A function with arrays bound to it. One thread at a time.")},
      {0, nullptr}};
  boundType = makeType(module, "xcompile.BoundCall", sizeof(BoundObject), bound,
                       Py_TPFLAGS_DISALLOW_INSTANTIATION);
  return boundType != nullptr;
}
