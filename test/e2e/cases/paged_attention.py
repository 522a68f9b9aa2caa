"""Many queries to keys and values in pages: chunks of prompts, of any number of places, that one kernel takes where a target has one."""
import numpy as np

from cases.attention import attend_pages, inputs, place_in_pages
from harness import Case, Step, simple
from tensors import Tensor


def given(dtype, queries, heads, groups, lengths, size, width, values=None, numbers="i32", spare=2, seed=40):
    """Pages out of order; what is not used is NaN, and the table has numbers of no page behind a sequence's own."""
    per_sequence = max(-(-max(lengths) // size), 1) + 1
    pages = sum(-(-length // size) for length in lengths) + spare
    q, k, v = inputs(dtype, (len(lengths), heads, queries, width), (pages, groups, size, width), (pages, groups, size, values or width), seed=seed)
    table = np.resize([pages + 7, -3], (len(lengths), per_sequence))
    place_in_pages(k, v, table, lengths, seed)
    # A number of no page stands for the first or the last one, which is read by queries in front of a sequence at most.
    return [q, k, v, Tensor(numbers, table), Tensor("i64" if numbers == "i32" else "i32", np.array(lengths))]


def text(types, result):
    return (f"%r0 = array.paged_attention %0, %1, %2 table(%3 : {types[3]}) lengths(%4 : {types[4]}) scale = 0.3 : "
            f"({', '.join(types[:3])}) -> {result}")


def case(name, dtype, queries, heads, groups, lengths, size, width, **more):
    tensors_ = given(dtype, queries, heads, groups, lengths, size, width, **more)
    want = attend_pages(*(t.values for t in tensors_), 0.3)
    result = tensors_[0].mlir.replace(f"x{width}x{dtype}", f"x{want.shape[-1]}x{dtype}")
    return simple(name, tensors_, [(dtype, want)], text([t.mlir for t in tensors_], result), "sum")


def fixed():
    for dtype in ("f16", "bf16", "f32"):
        yield case(f"one_tile_{dtype}", dtype, 16, 4, 2, (33, 70), 16, 32)
        yield case(f"tiles_{dtype}", dtype, 150, 2, 2, (150, 400, 171), 16, 64)
        # Pages that no block of keys is a multiple of, and those that have several.
        yield case(f"odd_pages_{dtype}", dtype, 40, 2, 1, (90, 47), 5, 16)
        yield case(f"pages_of_one_{dtype}", dtype, 20, 2, 2, (30, 21), 1, 16)
        yield case(f"long_pages_{dtype}", dtype, 70, 4, 1, (300, 70, 129), 256, 32)
        # Sequences that are shorter than the queries, and one that has nothing.
        yield case(f"short_{dtype}", dtype, 70, 2, 1, (5, 0, 69, 71), 16, 32)
        yield case(f"wide_{dtype}", dtype, 33, 2, 2, (60, 100), 16, 256)
        yield case(f"unequal_{dtype}", dtype, 33, 2, 2, (60, 100), 16, 64, values=24)
        yield case(f"many_heads_{dtype}", dtype, 17, 32, 8, (40, 25), 8, 16, numbers="i64")
    # No kernel takes these vectors.
    yield case("width_12", "f16", 20, 2, 2, (30, 50), 16, 12)
    yield case("f64", "f64", 20, 2, 1, (30, 50), 16, 8)
    yield case("equal", "f16", 16, 16, 16, (16,) * 16, 16, 16)


def beyond():
    """Lengths beyond what the pages hold: the first queries still do not see the last places."""
    for dtype in ("f16", "f32"):
        q, k, v = inputs(dtype, (3, 2, 20, 8), (6, 2, 16, 8), seed=43)
        tensors_ = [q, k, v, Tensor("i32", np.array([[5, 0], [1, 2], [4, 3]])), Tensor("i64", np.array([33, 40, 2**40]))]
        want = attend_pages(*(t.values for t in tensors_), 0.3)
        yield simple(f"beyond_{dtype}", tensors_, [(dtype, want)], text([t.mlir for t in tensors_], q.mlir), "sum")


def symbolic():
    """Of one module, all sizes: a chunk, a token, nothing; pages of any number."""
    for dtype in ("bf16", "f32"):
        types = [f"tensor<?x4x?x16x{dtype}>", f"tensor<?x2x8x16x{dtype}>", f"tensor<?x2x8x16x{dtype}>", "tensor<?x?xi32>", "tensor<?xi64>"]
        steps = []
        for queries, lengths in ((70, (90, 5, 70)), (1, (33,)), (16, (16, 17)), (0, (3, 4)), (130, (300, 131))):
            tensors_ = given(dtype, queries, 4, 2, lengths, 8, 16, seed=queries + 1)
            steps.append(Step(tensors_, [(dtype, attend_pages(*(t.values for t in tensors_), 0.3))]))
        arguments = ", ".join(f"%{i}: {type}" for i, type in enumerate(types))
        yield Case(f"symbolic_{dtype}", f"""  func.func @NAME({arguments}) -> {types[0]} {{
    {text(types, types[0])}
    return %r0 : {types[0]}
  }}
""", steps, "sum")


def cases():
    for group in (fixed, beyond, symbolic):
        yield from group()
