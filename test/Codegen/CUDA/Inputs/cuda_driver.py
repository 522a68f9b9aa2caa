#===- cuda_driver.py - Launch compiled kernels through the CUDA driver API ----===#
#
# Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===--------------------------------------------------------------------------===#
"""Loads PTX and launches kernels on NumPy arrays, on a GPU or on the driver's stand-in."""
import ctypes

import numpy as np

GUARD_BYTES = 256  # on both sides of every buffer, to see stores outside


CLUSTER_DIMENSION = 4  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("pad", ctypes.c_uint32), ("value", ctypes.c_uint32 * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [*((name, ctypes.c_uint32) for name in ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared")),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint32)]


class DriverError(Exception):
    pass


class Driver:
    """One context on device 0 of the driver library at `path`."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        status = getattr(self.lib, name)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorString(status, ctypes.byref(text))
            raise DriverError(f"{name}: {status} ({(text.value or b'?').decode()})")

    def load(self, ptx):
        module = ctypes.c_void_p()
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p).value, len(log))
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), ptx.encode() + b"\0", 2, options, values)
        except DriverError as error:
            raise DriverError(f"{error}: {log.value.decode(errors='replace')}") from None
        return module

    def launch(self, module, export, grid, arrays, scalars):
        """Runs one kernel on copies of `arrays`; returns what the arrays hold after it."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, export["name"].encode())
        if export["shared"] > 48 * 1024:
            self.call("cuFuncSetAttribute", function, 8, export["shared"])
        pointers = [self.upload(array) for array in arrays]
        values = []
        for kind, ordinal in export["parameters"]:
            if kind == "binding":
                values.append(ctypes.c_uint64(pointers[ordinal].value + GUARD_BYTES))
            else:
                values.append(ctypes.c_int64(scalars[ordinal]))
        slots = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p).value for v in values])
        if all(grid):
            cluster = LaunchAttribute(CLUSTER_DIMENSION, 0, (ctypes.c_uint32 * 16)(*export["cluster"]))
            config = LaunchConfig(*grid, *export["block"], export["shared"], None, ctypes.pointer(cluster),
                                  int(export["cluster"] != [1, 1, 1]))
            self.call("cuLaunchKernelEx", ctypes.byref(config), function, slots, None)
            self.call("cuCtxSynchronize")
        results = [self.download(pointer, array) for pointer, array in zip(pointers, arrays)]
        for pointer in pointers:
            self.call("cuMemFree_v2", pointer)
        return results

    def upload(self, array):
        pointer = ctypes.c_uint64()
        data = np.full(array.nbytes + 2 * GUARD_BYTES, 0xA5, dtype=np.uint8)
        data[GUARD_BYTES:GUARD_BYTES + array.nbytes] = np.frombuffer(array.tobytes(), dtype=np.uint8)
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(data.nbytes))
        self.call("cuMemcpyHtoD_v2", pointer, data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(data.nbytes))
        return pointer

    def download(self, pointer, array):
        data = np.empty(array.nbytes + 2 * GUARD_BYTES, dtype=np.uint8)
        self.call("cuMemcpyDtoH_v2", data.ctypes.data_as(ctypes.c_void_p), pointer, ctypes.c_size_t(data.nbytes))
        end = GUARD_BYTES + array.nbytes
        if (data[:GUARD_BYTES] != 0xA5).any() or (data[end:] != 0xA5).any():
            raise DriverError("a kernel stored outside its buffers")
        return data[GUARD_BYTES:end].view(array.dtype).reshape(array.shape).copy()
