"""Tensors of other libraries through DLPack: a made-up one, JAX and PyTorch where they are installed."""
import ctypes
import gc
import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np
import programs
import xcompile


class Tensor(ctypes.Structure):
    """DLTensor, and DLManagedTensor behind it."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
ctypes.pythonapi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Producer:
    """An array of a library that nobody knows, with what a test changes of its tensor."""

    def __init__(self, host, **changes):
        self.host, self.deleted, self.streams = host, 0, []
        self.shape = (ctypes.c_int64 * max(1, host.ndim))(*host.shape)
        self.strides = (ctypes.c_int64 * max(1, host.ndim))(*(s // host.itemsize for s in host.strides))
        self.deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.delete)
        values = dict(data=host.ctypes.data, device_type=1, rank=host.ndim, code=2, bits=8 * host.itemsize, lanes=1,
                      shape=ctypes.addressof(self.shape), strides=ctypes.addressof(self.strides),
                      deleter=ctypes.cast(self.deleter, ctypes.c_void_p))
        values.update(changes)
        self.tensor = Tensor(**values)

    def delete(self, _):
        self.deleted += 1

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return ctypes.pythonapi.PyCapsule_New(ctypes.addressof(self.tensor), b"dltensor", None)


class DlpackTest(unittest.TestCase):
    def setUp(self):
        self.module = xcompile.load(programs.compiled(programs.MODEL), device="cpu:1")
        self.x = np.arange(4, dtype=np.float32)

    def test_memory_comes_in_and_goes(self):
        producer = Producer(self.x)
        twice, _ = self.module.two(producer)
        np.testing.assert_array_equal(twice.numpy(), 2 * self.x)
        self.assertIsInstance(twice, xcompile.Array)
        self.assertEqual((producer.deleted, producer.streams), (0, [None]))
        bound = self.module.two.bind(producer)
        self.module.two(self.x)
        self.assertEqual(producer.deleted, 1)
        producer.host[:] = 7
        np.testing.assert_array_equal(bound()[0].numpy(), np.full(4, 14))
        del bound
        gc.collect()
        self.assertEqual(producer.deleted, 2)

    def test_wrong_tensors(self):
        for changes, text in ((dict(device_type=2), "expected memory of device cpu, got that of DLPack device type 2"),
                              (dict(code=5), "no element type for DLPack code 5"), (dict(lanes=4), "4 lanes"), (dict(rank=-1), "rank"),
                              (dict(rank=17), "rank"), (dict(data=None), "data: expected a value, got NULL"),
                              (dict(shape=None), "shape: expected a value, got NULL"), (dict(bits=64), "f64")):
            producer = Producer(self.x, **changes)
            with self.assertRaisesRegex(xcompile.ArgumentError, text):
                self.module.two(producer)
            # On failure the tensor stays its producer's; a buffer that was made and refused is given back.
            self.assertEqual(producer.deleted, 1 if "f64" in text else 0)
        with self.assertRaisesRegex(xcompile.ArgumentError, "stride"):
            self.module.two(Producer(self.x[::-1]))

    def test_wrong_capsules(self):
        class NoCapsule:
            def __dlpack__(self, stream=None):
                return 3

        class Raises:
            def __dlpack__(self, stream=None):
                raise BufferError("deleted")
        with self.assertRaises((ValueError, TypeError)):
            self.module.two(NoCapsule())
        with self.assertRaisesRegex(BufferError, "deleted"):
            self.module.two(Raises())

    def test_arrays_go_in_and_out(self):
        a = self.module.array(self.x)
        self.assertEqual((a.shape, a.dtype, a.device, repr(a)), ((4,), "f32", "cpu", "<xcompile.Array (4,) f32 on cpu>"))
        twice, _ = self.module.two(a)
        other = xcompile.load(programs.compiled(programs.MODEL), device="cpu:2")
        np.testing.assert_array_equal(other.two(twice)[0].numpy(), 4 * self.x)
        np.testing.assert_array_equal(np.from_dlpack(twice), 2 * self.x)
        self.assertEqual(np.from_dlpack(twice).ctypes.data, twice.numpy().ctypes.data)
        self.assertEqual(a.__dlpack_device__(), (1, 0))
        with self.assertRaises(BufferError):
            a.__dlpack__(copy=True)
        with self.assertRaises(TypeError):
            xcompile.Array()

    @unittest.skipUnless(importlib.util.find_spec("jax"), "JAX is not installed")
    def test_jax_arrays(self):
        import jax
        x = jax.numpy.arange(4, dtype="float32")
        twice, total = self.module.two(x)
        self.assertIsInstance(twice, jax.Array)
        np.testing.assert_array_equal(np.asarray(twice), 2 * self.x)
        self.assertEqual(total, 6)
        x.delete()
        with self.assertRaisesRegex(Exception, "deleted"):
            self.module.two(x)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_torch_tensors(self):
        import torch
        x = torch.arange(4, dtype=torch.float32)
        twice, total = self.module.two(x)
        self.assertIsInstance(twice, torch.Tensor)
        self.assertTrue(torch.equal(twice, 2 * x))
        self.assertEqual(total.item(), 6)
        self.assertEqual(self.module.short(x).dtype, torch.bfloat16)
        out = torch.zeros(2, 4)
        bound = self.module.main.bind(x.reshape(1, 4).repeat(2, 1), torch.tensor(3.0), out=out)
        self.assertIs(bound(), out)
        self.assertTrue(torch.equal(out[1], 3 * x))
        for wrong, text in ((x.clone().requires_grad_(), "requires a gradient"), (x.double(), "f64"), (x.repeat(2)[::2], "contiguous")):
            with self.assertRaisesRegex((TypeError, ValueError), text):
                self.module.two(wrong)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_torch_memory(self):
        """No copies: results and outputs are where torch sees them, and tensors live as long as a binding reads them."""
        import torch
        x = torch.arange(4, dtype=torch.float32)
        shared = self.module.in_place(x)
        self.assertEqual((shared.data_ptr(), x.tolist()), (x.data_ptr(), [0, 2, 4, 6]))
        held = torch.ones(1, 4)
        bound = self.module.main.bind(held, torch.tensor(3.0))
        held[0, 1] = 5
        first = bound()
        del held
        gc.collect()
        self.assertEqual(bound().tolist(), [[3, 15, 3, 3]])
        self.assertEqual(bound().data_ptr(), first.data_ptr())
        with torch.inference_mode():
            self.assertEqual(self.module.two(torch.ones(4))[1].item(), 4)
        self.assertEqual(self.module.main(x.reshape(1, 4), np.float32(2)).tolist(), [[0, 4, 8, 12]])
        array = self.module.array(self.x)
        torch.from_dlpack(array).add_(1)
        np.testing.assert_array_equal(array.numpy(), self.x + 1)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_wrong_torch_tensors(self):
        import torch
        from torch._subclasses.fake_tensor import FakeTensorMode
        x = torch.arange(4, dtype=torch.float32)
        freed = x.clone()
        freed.untyped_storage().resize_(0)
        with FakeTensorMode():
            fake = torch.empty(4)
        for wrong, text in ((x.to("meta"), "no memory"), (freed, "no memory: its storage was freed"), (fake, "fake"), (x.to_sparse(), "dense tensor"),
                            (x.to(torch.complex64), "DLPack code 5"), (torch.view_as_complex(torch.ones(4, 2)).conj().imag, "resolve_conj"),
                            (torch.nn.Parameter(x), "requires a gradient"), (x[:1].expand(4), "contiguous"), (x.int(), "expected element type f32, got i32"),
                            (x.to(torch.float8_e4m3fn), "got f8e4m3"), (torch.arange(5.0)[1:], "multiple of 16"), (torch.arange(5.0), "dim 0 to be 4, got 5")):
            with self.assertRaisesRegex((TypeError, ValueError, RuntimeError), f"input 0.*{text}"):
                self.module.two(wrong)
        for wrong, text in ((torch.zeros(1, 5), "dim 1 to be 4, got 5"), (torch.zeros(1, 1).expand(1, 4), "contiguous"), (torch.zeros(1, 4).int(), "got i32")):
            with self.assertRaisesRegex(ValueError, f"output 0.*{text}"):
                self.module.main.bind(x.reshape(1, 4), torch.tensor(3.0), out=wrong)


ON_A_GPU = """
import sys
import numpy as np
import programs
import xcompile
module = xcompile.load(programs.compiled(programs.MODEL, "cuda:sm_90a"), device="cuda")
x = np.arange(4, dtype=np.float32)
a = module.array(x)
assert a.device == "cuda:0" and a.__dlpack_device__() == (2, 0), a
twice, total = module.two(a)
assert isinstance(twice, xcompile.Array) and twice.device == "cuda:0"
np.testing.assert_array_equal(twice.numpy(), 2 * x)
assert total.numpy() == 6
bound = module.main.bind(module.array(x.reshape(1, 4)), module.array(np.float32(3)))
np.testing.assert_array_equal(bound().numpy(), [3 * x])
for call, text in ((lambda: module.two(x), "Module.array(x) copies it there"), (lambda: memoryview(a), "not in host memory")):
    try:
        call()
    except (xcompile.ArgumentError, BufferError) as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)
module.variables["total"] = x
module.observe(a)
np.testing.assert_array_equal(module.variables["total"].numpy(), 2 * x)

# A library with streams, as PyTorch has them, of which the current one is the default stream.
class Tensor:
    requires_grad, layout = False, "strided"
    def __init__(self, array):
        self.array = array
    def is_conj(self):
        return False
    is_neg = is_conj
    def data_ptr(self):
        return 1

class Library:
    Tensor, strided, made = Tensor, "strided", []
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return name  # element types
    class utils:
        class dlpack:
            to_dlpack = staticmethod(lambda tensor: tensor.array.__dlpack__())
    class _C:
        streams = []
        @classmethod
        def _cuda_getCurrentRawStream(cls, ordinal):
            cls.streams.append(ordinal)
            return 0
    class cuda:
        current_device = staticmethod(lambda: 0)
    device = staticmethod(lambda *place: place)
    def from_dlpack(self, array):
        return Tensor(array)
    def empty(self, shape, dtype, device):
        assert device == ("cuda", 0)
        self.made.append((shape, dtype))
        return Tensor(module._instance.array({"float32": "f32"}[dtype], shape))

sys.modules["torch"] = library = Library()
twice, total = module.two(Tensor(a))
assert isinstance(twice, Tensor) and library.made == [((4,), "float32"), ((), "float32")], library.made
assert library._C.streams == [0]
np.testing.assert_array_equal(module.two(twice.array)[0].numpy(), 4 * x)  # waits for the same stream
print("as expected")
"""


class GpuTest(unittest.TestCase):
    def test_stand_in(self):
        """On the stand-in for the CUDA driver, whose library is beside the package."""
        package = pathlib.Path(xcompile.__file__).parent
        library = package.parent.parent / "lib" / "libcuda_sim.so"
        self.assertTrue(library.exists())
        environment = dict(os.environ, XCR_CUDA_LIBRARY=str(library), PTXSIM_ARCH="sm_90a", PYTHONDONTWRITEBYTECODE="1",
                           PYTHONPATH=os.pathsep.join([str(package.parent), str(pathlib.Path(__file__).parent)]))
        done = subprocess.run([sys.executable, "-c", ON_A_GPU], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (0, "as expected\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
