"""Products of a matrix and a vector, whose rows are read once: of lengths around whole vectors of all threads, of odd numbers of rows, with a
bias and a residual behind them."""
import numpy as np

from cases.conv import random
from harness import simple


def cases():
    for dtype, rows, length in (("bf16", 529, 1024), ("f16", 531, 1032), ("bf16", 700, 768), ("f32", 611, 520), ("f32", 530, 3584), ("bf16", 265, 7168),
                                ("f16", 768, 768), ("f64", 533, 500)):
        w, x = random(dtype, (rows, length), 1), random(dtype, (length,), 2)
        b, r = random(dtype, (rows,), 3), random(dtype, (rows,), 4)
        product = w.values.astype(np.float64) @ x.values.astype(np.float64)
        yield simple(f"streamed_rows_{dtype}_{rows}x{length}", [w, x, b, r], [(dtype, product + b.values.astype(np.float64) + r.values.astype(np.float64))], f"""
            %y = array.dot_general %0, %1 batch = [] x [] contract = [1] x [0] : ({w.mlir}, {x.mlir}) -> {b.mlir}
            %z = array.add %y, %2 : {b.mlir}
            %r0 = array.add %z, %3 : {b.mlir}""", "sum")
