"""Prints one of the programs that benchmarks/compile_time.py measures: long_program.py BENCHMARKS SHAPE SIZE."""
import sys

benchmarks, shape, size = sys.argv[1:]
sys.path.insert(0, benchmarks)
import compile_time  # noqa: E402

print(getattr(compile_time, shape)(int(size)))
