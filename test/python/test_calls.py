"""Calls of modules on NumPy arrays: values, memory, threads, and what is refused."""
import gc
import sys
import threading
import unittest

import numpy as np
import programs
import xcompile


class CallTest(unittest.TestCase):
    def setUp(self):
        self.module = xcompile.load(programs.compiled(programs.MODEL), device="cpu:2")
        self.x = np.arange(8, dtype=np.float32).reshape(2, 4)
        self.two = np.float32(2)

    def refused(self, kind, text, call, *arguments, **named):
        with self.assertRaisesRegex(kind, text):
            call(*arguments, **named)

    def test_values_for_any_batch(self):
        for batch in (2, 0, 64, 1):
            x = np.random.default_rng(batch).random((batch, 4), dtype=np.float32)
            np.testing.assert_array_equal(self.module.main(x, self.two), 2 * x)

    def test_every_element_type(self):
        module = xcompile.load(programs.compiled(programs.dtype_program()), device="cpu:1")
        for ours, name in programs.DTYPES.items():
            x = np.arange(6).reshape(2, 3).astype(name)
            y = module[ours](x)
            self.assertEqual(y.dtype, np.dtype(name))
            np.testing.assert_array_equal(y, x + x)

    def test_truth_values(self):
        np.testing.assert_array_equal(self.module.negate(np.array([True, False, True, True])), [False, True, False, False])

    def test_names_and_results(self):
        np.testing.assert_array_equal(self.module.main(scale=self.two, x=self.x), 2 * self.x)
        np.testing.assert_array_equal(self.module.main(self.x, scale=self.two), 2 * self.x)
        twice, total = self.module.two(self.x[0])
        np.testing.assert_array_equal(twice, 2 * self.x[0])
        self.assertEqual(total, self.x[0].sum())
        self.assertIsNone(self.module.observe(self.x[0]))

    def test_what_a_module_says(self):
        self.assertEqual(self.module.functions, ("main", "two", "observe", "in_place", "short", "negate"))
        self.assertEqual(self.module.main.inputs, [("x", "f32", ("batch", 4)), ("scale", "f32", ())])
        self.assertEqual(self.module.main.outputs, [("y", "f32", ("batch", 4))])
        self.assertEqual(self.module.device, "cpu")
        self.assertIn("main", dir(self.module))
        self.assertIs(self.module.main, self.module["main"])

    def test_results_are_the_callers(self):
        results = [self.module.main(np.full((2, 4), i, np.float32), self.two) for i in range(20)]
        for i, result in enumerate(results):
            np.testing.assert_array_equal(result, np.full((2, 4), 2 * i))
        results[0][:] = 7
        self.assertEqual(results[1][0, 0], 2)

    def test_results_outlive_the_module(self):
        y = self.module.main(self.x, self.two)
        del self.module
        gc.collect()
        np.testing.assert_array_equal(y, 2 * self.x)

    def test_arrays_are_let_go(self):
        x = self.x.copy()
        self.module.main(x, self.two)
        held = sys.getrefcount(x)
        self.module.main(self.x, self.two)
        self.assertEqual(sys.getrefcount(x), held - 1)
        # After an error as well.
        with self.assertRaises(xcompile.ArgumentError):
            self.module.main(x, np.float64(1))
        self.assertEqual(sys.getrefcount(x), held - 1)

    def test_read_only_arrays(self):
        self.x.flags.writeable = False
        np.testing.assert_array_equal(self.module.main(self.x, self.two), 2 * self.x)

    def test_buffers_of_python(self):
        np.testing.assert_array_equal(self.module.two(memoryview(self.x[0]))[0], 2 * self.x[0])

    def test_donated_memory(self):
        x = np.ones(4, np.float32)
        y = self.module.in_place(x)
        np.testing.assert_array_equal(x, np.full(4, 2))
        self.assertEqual(y.ctypes.data, x.ctypes.data)
        x.flags.writeable = False
        self.refused((ValueError, BufferError), "read-only|not writ", self.module.in_place, x)

    def test_short_floats(self):
        y = self.module.short(np.array([1, 2, 3, 4], np.float32))
        if "ml_dtypes" not in sys.modules:
            self.assertIsInstance(y, xcompile.Array)
            self.assertEqual((y.dtype, y.shape), ("bf16", (4,)))
            np.testing.assert_array_equal(y._as("u16").numpy(), [0x3f80, 0x4000, 0x4040, 0x4080])
            self.refused(BufferError, "bf16", memoryview, y)

    def test_wrong_arrays(self):
        main = self.module.main
        error = xcompile.ArgumentError
        self.refused(error, r"input 0 \('x'\).*expected element type f32, got f64", main, self.x.astype(np.float64), self.two)
        self.refused(error, "rank", main, self.x[0], self.two)
        self.refused(error, "dim 1", main, np.zeros((2, 5), np.float32), self.two)
        self.refused(error, "between 0 and 64, got 65", main, np.zeros((65, 4), np.float32), self.two)
        self.refused(error, "input 0 'x': strides that run backwards", main, self.x[:, ::-1], self.two)
        self.refused(error, "contiguous", main, np.asfortranarray(self.x), self.two)
        self.refused(error, "contiguous", main, np.zeros((2, 8), np.float32)[:, ::2], self.two)
        self.refused(error, "multiple of 16", main, np.frombuffer(bytearray(132), np.float32)[1:].reshape(8, 4), self.two)
        self.refused(TypeError, r"input 0 'x': no element type", main, self.x.astype(np.longdouble), self.two)
        self.refused(TypeError, r"no element type", main, self.x.astype(">f4"), self.two)
        self.refused(TypeError, r"no element type", main, self.x.astype(object), self.two)
        self.refused(TypeError, r"expected an array .* got float", main, self.x, 2.0)
        self.refused(TypeError, r"expected an array .* got list", main, [[1.0] * 4], self.two)
        self.refused(TypeError, r"expected an array .* got NoneType", main, None, self.two)
        self.refused(xcompile.Error, "dims", main, np.zeros((1,) * 20, np.float32), self.two)
        # Nothing of it stays.
        np.testing.assert_array_equal(main(self.x, self.two), 2 * self.x)

    def test_wrong_numbers_of_arrays(self):
        main = self.module.main
        self.refused(TypeError, r"main\(\) takes 2 arrays; input 1 \('scale'\) is missing", main, self.x)
        self.refused(TypeError, r"main\(\) takes 2 arrays, got 3", main, self.x, self.two, self.two)
        self.refused(TypeError, r"main\(\) got input 'x' twice", main, self.x, self.two, x=self.x)
        self.refused(TypeError, r"main\(\): no input 'y'; the function has: 'x', 'scale'", main, self.x, y=self.two)
        with self.assertRaisesRegex(AttributeError, "no function 'mian' among the 6 of the module; nearest are 'main'"):
            self.module.mian
        with self.assertRaisesRegex(xcompile.Error, "no function 'mian'") as caught:
            self.module["mian"]
        self.assertEqual(caught.exception.code, "NOT_FOUND")

    def test_bound_calls(self):
        x, out = self.x.copy(), np.zeros((2, 4), np.float32)
        bound = self.module.main.bind(x, scale=self.two, out=out)
        self.assertIs(bound(), out)
        np.testing.assert_array_equal(out, 2 * x)
        # No copies: the arrays are read and written where they are.
        x[:] = 5
        bound()
        np.testing.assert_array_equal(out, np.full((2, 4), 10))
        own = self.module.main.bind(x, self.two)
        self.assertIs(own(), own.outputs)
        np.testing.assert_array_equal(own.outputs, np.full((2, 4), 10))
        self.assertEqual(len(self.module.two.bind(x[0])()), 2)
        self.assertIsNone(self.module.observe.bind(x[0])())
        self.assertIs(self.module.in_place.bind(x[0].copy())().base is None, True)

    def test_bound_arrays_are_kept(self):
        bound = self.module.main.bind(np.full((2, 4), 3, np.float32), np.array(2, np.float32), out=np.zeros((2, 4), np.float32))
        gc.collect()
        junk = [np.full((2, 4), 9, np.float32) for _ in range(100)]
        np.testing.assert_array_equal(bound(), np.full((2, 4), 6))
        del junk

    def test_wrong_bindings(self):
        bind = self.module.main.bind
        self.refused(xcompile.ArgumentError, "output 0", bind, self.x, self.two, out=np.zeros((2, 4), np.float64))
        bound = bind(self.x, self.two, out=np.zeros((3, 4), np.float32))
        self.refused(xcompile.ArgumentError, "output 0", bound)
        frozen = np.zeros((2, 4), np.float32)
        frozen.flags.writeable = False
        self.refused((ValueError, BufferError), "read-only|not writ", bind, self.x, self.two, out=frozen)
        self.refused(TypeError, "has 2 outputs: expected a tuple", self.module.two.bind, self.x[0], out=frozen)
        self.refused(TypeError, "takes no arguments", bind(self.x, self.two), 1)

    def test_threads(self):
        right = []

        def work(seed):
            x = np.random.default_rng(seed).random((8, 4), dtype=np.float32)
            right.append(all(np.array_equal(self.module.main(x, self.two), 2 * x) for _ in range(200)))
        threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(right, [True] * 12)

    def test_calls_release_the_gil(self):
        module = xcompile.load(programs.compiled(programs.LOOP), device="cpu:1")
        x, state = np.ones(1024, np.float32), {"is_in_call": False, "was_seen": False}

        def work():
            for _ in range(1000):
                state["is_in_call"] = True
                module.main(x)
                state["is_in_call"] = False
                if state["was_seen"]:
                    break
        old = sys.getswitchinterval()
        # No thread is interrupted: the main thread runs where the other one gives up the GIL, which it does within the call only.
        sys.setswitchinterval(1000)
        try:
            thread = threading.Thread(target=work)
            thread.start()
            while thread.is_alive() and not state["was_seen"]:
                state["was_seen"] = state["is_in_call"]
                threading.Event().wait(0.001)
            thread.join()
        finally:
            sys.setswitchinterval(old)
        self.assertTrue(state["was_seen"])


if __name__ == "__main__":
    unittest.main()
