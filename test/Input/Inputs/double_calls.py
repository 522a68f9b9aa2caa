#!/usr/bin/env python3
"""Prints functions each of which calls the one before twice: double_calls.py COUNT."""
import sys

TYPE = "tensor<8xf32>"


def main():
    count = int(sys.argv[1])
    print(f"func.func private @f0(%x: {TYPE}) -> {TYPE} {{\n  %y = array.exp %x : {TYPE}\n  return %y : {TYPE}\n}}")
    for number in range(1, count + 1):
        name = "@main" if number == count else f"private @f{number}"
        calls = [f"  %{to} = call @f{number - 1}(%{of}) : ({TYPE}) -> {TYPE}" for of, to in ("xa", "ab")]
        print("\n".join([f"func.func {name}(%x: {TYPE}) -> {TYPE} {{", *calls, f"  return %b : {TYPE}", "}"]))


if __name__ == "__main__":
    main()
