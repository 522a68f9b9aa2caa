"""Prints a program that has `count` of what a module can hold only so much of."""
import sys

what, count = sys.argv[1], int(sys.argv[2])


def ifs():
    print("func.func @main(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {")
    for i in range(count):
        print(f"%y{i} = array.if %p : tensor<i1> -> (tensor<4xf32>) {{")
    print("%n = array.neg %x : tensor<4xf32>\narray.yield %n : tensor<4xf32>")
    for i in reversed(range(count)):
        print("} else {\narray.yield %x : tensor<4xf32>\n}")
        print(f"{'array.yield' if i else 'return'} %y{i} : tensor<4xf32>")
    print("}")


def dims():
    tensor = f"tensor<{'2x' * (count - 1)}1xf32>"
    print(f"func.func @main(%x: {tensor}) -> {tensor} {{\n%y = array.neg %x : {tensor}\nreturn %y : {tensor}\n}}")


def custom(operands, scalars):
    """A kernel of the program's own that takes `operands` buffers, one of them its result, and `scalars` numbers."""
    parameters = [".param .u64"] * operands + [".param .u32"] * scalars
    declared = ", ".join(f"{kind} p{i}" for i, kind in enumerate(parameters))
    ptx = f".version 8.0\\0A.target sm_80\\0A.address_size 64\\0A.visible .entry twice({declared}) {{ ret; }}"
    symbols = ", ".join(f"s{i}" for i in range(scalars))
    # Operands and numbers that are equal would be one.
    arrays = max(operands - 1, scalars)
    inputs = ", ".join(f"%x{i}: tensor<?xf32>" for i in range(arrays))
    print(f"func.func @main({inputs}) -> tensor<4xf32> {{\n%c0 = arith.constant 0 : index")
    for i in range(scalars):
        print(f"%n{i} = tensor.dim %x{i}, %c0 : tensor<?xf32>")
    names = ", ".join(f"%x{i}" for i in range(operands - 1))
    types = ", ".join(["tensor<?xf32>"] * (operands - 1))
    sizes = ", ".join(f"%n{i}" for i in range(scalars))
    numbers = f"scalars({sizes}) as [{', '.join(['i32'] * scalars)}]" if scalars else ""
    print(f'%y = array.custom_kernel "twice"({names}) {numbers} grid = affine_map<()[{symbols}] -> (1, 1, 1)> '
          f'block = [64, 1, 1] {{ptx = "{ptx}"}} : ({types}) -> tensor<4xf32>')
    print("return %y : tensor<4xf32>\n}")


if what == "ifs":
    ifs()
elif what == "dims":
    dims()
elif what == "buffers":
    custom(count, 0)
else:
    assert what == "scalars", what
    custom(2, count)
