"""Kernels that the program brings as PTX, on the CPU by their references."""
import numpy as np

from harness import Case, Step
from tensors import Tensor, random

HEADER = ".version 7.0\n.target sm_75\n.address_size 64\n"


def quote(ptx):
    """The text as an attribute of MLIR."""
    return '"' + ptx.replace("\\", "\\\\").replace('"', "\\22").replace("\n", "\\0A") + '"'


# c = a + b of n elements. A comment has what looks like a kernel.
ADD = HEADER + """// .visible .entry vadd(.param .u64 x)
.visible .entry
vadd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) /* { */
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  .reg .f32 %f<4>;
  ld.param.u64 %d0, [a];
  ld.param.u64 %d1, [b];
  ld.param.u64 %d2, [c];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  setp.ge.s32 %p1, %r4, %r0;
  @%p1 bra DONE;
  mul.wide.s32 %d3, %r4, 4;
  add.s64 %d4, %d0, %d3;
  add.s64 %d5, %d1, %d3;
  add.s64 %d6, %d2, %d3;
  ld.global.f32 %f0, [%d4];
  ld.global.f32 %f1, [%d5];
  add.rn.f32 %f2, %f0, %f1;
  st.global.f32 [%d6], %f2;
DONE:
  ret;
}
"""

ADD_REFERENCE = """  func.func private @NAME_reference(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %c = array.add %a, %b : tensor<?xf32>
    return %c : tensor<?xf32>
  }
"""


def add(result, a, b, reuse="", type="tensor<?xf32>"):
    """`result` = `a` + `b` of %n elements."""
    return (f'%{result} = array.custom_kernel "vadd"(%{a}, %{b}) scalars(%n) as [i32] sizes(%n)\n'
            f"        grid = affine_map<()[n] -> (n ceildiv 128, 1, 1)> block = [128, 1, 1] {reuse} else @NAME_reference "
            f"{{ptx = {quote(ADD)}}}\n        : ({type}, {type}) -> {type}")


SIZE = "%c0 = arith.constant 0 : index\n    %n = tensor.dim %x, %c0 : tensor<?xf32>"


def over_sizes(name, text, reference, sizes, inputs=2):
    steps = []
    for size in sizes:
        arrays = [random("f32", (size,), 70 + i) for i in range(inputs)]
        steps.append(Step(arrays, [("f32", reference(*(array.values for array in arrays)))]))
    return Case(name, ADD_REFERENCE + text, steps, "composite")


def sizes():
    """Between kernels of the compiler, one of them behind a slice; the same text twice."""
    yield over_sizes("add", f"""  func.func @NAME(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {{
    {SIZE}
    %m = array.neg %x : tensor<?xf32>
    {add("s", "m", "y")}
    {add("t", "s", "x")}
    %u = array.abs %t : tensor<?xf32>
    return %u : tensor<?xf32>
  }}
""", lambda x, y: abs(-x + y + x), (1, 127, 128, 129, 1000, 0, 3))
    # Memory of an input is taken where nothing else needs it, and not where it is needed.
    yield over_sizes("in_place", f"""  func.func @NAME(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {{
    {SIZE}
    %m = array.neg %x : tensor<?xf32>
    {add("s", "m", "y", "reuse = [0]")}
    {add("t", "s", "m", "reuse = [0]")}
    {add("u", "t", "y", "reuse = [1]")}
    return %u : tensor<?xf32>
  }}
""", lambda x, y: -x + y - x + y, (300, 5))


def inputs():
    """Constants, one array twice, and arrays without elements."""
    text = lambda result, a, b, n: add(result, a, b, type=f"tensor<{n}xf32>").replace("sizes(%n)", "").replace("%n)", f"%c{n})", 1)
    x = random("f32", (130,), 9)
    table = np.arange(130) / 4
    yield Case("inputs", ADD_REFERENCE.replace("?", "130") + ADD_REFERENCE.replace("?", "0").replace("_reference", "_none") + f"""
  func.func @NAME(%x: tensor<130xf32>, %y: tensor<0xf32>) -> (tensor<130xf32>, tensor<130xf32>, tensor<130xf32>, tensor<0xf32>) {{
    %c130 = arith.constant 130 : index
    %c0 = arith.constant 0 : index
    %splat = array.constant dense<0.5> : tensor<130xf32>
    %table = array.constant dense<[{", ".join(str(float(v)) for v in table)}]> : tensor<130xf32>
    {text("a", "x", "splat", 130)}
    {text("b", "x", "x", 130)}
    {text("c", "table", "splat", 130)}
    {text("d", "y", "y", 0).replace("_reference", "_none")}
    return %a, %b, %c, %d : tensor<130xf32>, tensor<130xf32>, tensor<130xf32>, tensor<0xf32>
  }}
""", [Step([x, Tensor("f32", np.zeros(0))], [("f32", x.values + 0.5), ("f32", 2 * x.values), ("f32", table + 0.5), ("f32", np.zeros(0))])],
               "composite")


def control():
    """In the bodies of ifs and whiles."""
    yield Case("loop", ADD_REFERENCE + f"""  func.func @NAME(%x: tensor<?xf32>, %steps: tensor<i32>) -> tensor<?xf32> {{
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    {SIZE}
    %r:2 = array.while %zero, %x : (tensor<i32>, tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>) condition {{
    ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
      %more = array.compare lt, %i, %steps : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    }} body {{
    ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
      %next = array.add %i, %one : tensor<i32>
      %first = array.compare eq, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %w = array.if %first : tensor<i1> -> (tensor<?xf32>) {{
        %m = array.neg %v : tensor<?xf32>
        array.yield %m : tensor<?xf32>
      }} else {{
        {add("s", "v", "x", "reuse = [0]")}
        array.yield %s : tensor<?xf32>
      }}
      {add("z", "w", "x", "reuse = [0]")}
      array.yield %next, %z : tensor<i32>, tensor<?xf32>
    }}
    return %r#1 : tensor<?xf32>
  }}
""", [Step([x, Tensor("i32", np.array(steps))], [("f32", x.values * max(2 * steps - 2, 0) if steps else x.values)])
      for steps in (0, 1, 5) for x in [Tensor("f32", np.arange(size) % 11 - 5.0) for size in (1, 200)]], "exact")


def control_in_reference():
    """A reference with a loop, an if that data decides and one that sizes decide; used twice."""
    reference = """  func.func private @NAME_reference(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %two = array.constant dense<2> : tensor<i32>
    %half = array.constant dense<0.5> : tensor<f32>
    %limit = array.constant dense<100> : tensor<i64>
    %n = array.dim %a, 0 : tensor<?xf32>
    %rows = array.from_index %n : tensor<i64>
    %few = array.compare le, %rows, %limit : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %r:2 = array.while %zero, %a : (tensor<i32>, tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>) condition {
    ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
      %more = array.compare lt, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
      %next = array.add %i, %one : tensor<i32>
      %first = array.compare eq, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %w = array.if %first : tensor<i1> -> (tensor<?xf32>) {
        %m = array.add %v, %b : tensor<?xf32>
        array.yield %m : tensor<?xf32>
      } else {
        array.yield %v : tensor<?xf32>
      }
      array.yield %next, %w : tensor<i32>, tensor<?xf32>
    }
    %c = array.if %few : tensor<i1> -> (tensor<?xf32>) {
      array.yield %r#1 : tensor<?xf32>
    } else {
      %h = array.mul %r#1, %half : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
      %d = array.add %h, %h : tensor<?xf32>
      array.yield %d : tensor<?xf32>
    }
    return %c : tensor<?xf32>
  }
"""
    case = over_sizes("control_in_reference", f"""  func.func @NAME(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {{
    {SIZE}
    {add("s", "x", "y")}
    {add("t", "s", "x", "reuse = [0]")}
    return %t : tensor<?xf32>
  }}
""", lambda x, y: x + y + x, (1, 100, 129, 3))
    case.text = case.text.replace(ADD_REFERENCE, reference)
    yield case


# Quotients and whether nothing is left, of rows of `columns` elements: two results, a grid of two axes, both widths of scalars.
DIVIDE = HEADER + """.visible .entry other(.param .u64 x) { ret; }
.visible .entry divide(.param .u64 .ptr .global .align 4 x, .param .u64 q, .param .b64 e, .param .u64 columns, .param .s32 by)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %d<12>;
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [q];
  ld.param.u64 %d2, [e];
  ld.param.u64 %d3, [columns];
  ld.param.u32 %r0, [by];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r1, 32, %r2;
  cvt.u64.u32 %d4, %r3;
  setp.ge.u64 %p1, %d4, %d3;
  @%p1 bra DONE;
  mov.u32 %r4, %ctaid.y;
  cvt.u64.u32 %d5, %r4;
  mad.lo.s64 %d6, %d5, %d3, %d4;
  shl.b64 %d7, %d6, 2;
  add.s64 %d8, %d0, %d7;
  add.s64 %d9, %d1, %d7;
  add.s64 %d10, %d2, %d6;
  ld.global.s32 %r5, [%d8];
  div.s32 %r6, %r5, %r0;
  rem.s32 %r7, %r5, %r0;
  st.global.s32 [%d9], %r6;
  setp.eq.s32 %p2, %r7, 0;
  selp.b32 %r7, 1, 0, %p2;
  st.global.u8 [%d10], %r7;
DONE:
  ret;
}
"""


def parameters():
    yield Case("divide", f"""  func.func private @NAME_reference(%x: tensor<?x?xi32>) -> (tensor<?x?xi32>, tensor<?x?xi1>) {{
    %by = array.constant dense<7> : tensor<i32>
    %zero = array.constant dense<0> : tensor<i32>
    %q = array.div %x, %by : (tensor<?x?xi32>, tensor<i32>) -> tensor<?x?xi32>
    %r = array.rem %x, %by : (tensor<?x?xi32>, tensor<i32>) -> tensor<?x?xi32>
    %e = array.compare eq, %r, %zero : (tensor<?x?xi32>, tensor<i32>) -> tensor<?x?xi1>
    return %q, %e : tensor<?x?xi32>, tensor<?x?xi1>
  }}
  func.func @NAME(%x: tensor<?x?xi32>) -> (tensor<?x?xi32>, tensor<?x?xi1>, tensor<?x?xi32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %seven = arith.constant 7 : index
    %rows = tensor.dim %x, %c0 : tensor<?x?xi32>
    %columns = tensor.dim %x, %c1 : tensor<?x?xi32>
    %q, %e = array.custom_kernel "divide"(%x) scalars(%rows, %columns, %seven) as [index, i64, i32] sizes(%rows, %columns, %rows, %columns)
        grid = affine_map<()[rows, columns, by] -> (columns ceildiv 32, rows, 1)> block = [32, 1, 1] else @NAME_reference
        {{ptx = {quote(DIVIDE)}}} : (tensor<?x?xi32>) -> (tensor<?x?xi32>, tensor<?x?xi1>)
    %two = array.constant dense<2> : tensor<i32>
    %z = array.mul %q, %two : (tensor<?x?xi32>, tensor<i32>) -> tensor<?x?xi32>
    return %q, %e, %z : tensor<?x?xi32>, tensor<?x?xi1>, tensor<?x?xi32>
  }}
""", [Step([Tensor("i32", x)], [("i32", x // 7), ("i1", x % 7 == 0), ("i32", x // 7 * 2)])
      for x in (np.arange(rows * columns).reshape(rows, columns) for rows, columns in ((3, 40), (1, 1), (64, 33)))] +
        [Step([Tensor("i32", np.zeros((65536, 1)))], error="at most 65535 blocks along axis 1")], "exact")


# Elements within each block in the other order, through shared memory. `tile` is the name of a variable in both texts.
REVERSE = HEADER + """.extern .shared .align 16 .b8 tile[];
.visible .entry swap(.param .u64 x, .param .u64 y)
{
""" + """  .reg .b32 %r<10>;
  .reg .b64 %d<8>;
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [y];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mad.lo.s32 %r3, %r1, %r2, %r0;
  mul.wide.s32 %d2, %r3, 4;
  add.s64 %d3, %d0, %d2;
  add.s64 %d4, %d1, %d2;
  ld.global.b32 %r4, [%d3];
  mov.u32 %r5, tile;
  shl.b32 %r6, %r0, 2;
  add.s32 %r6, %r5, %r6;
  st.shared.b32 [%r6], %r4;
  bar.sync 0;
  sub.s32 %r7, %r2, %r0;
  shl.b32 %r7, %r7, 2;
  add.s32 %r7, %r5, %r7;
  ld.shared.b32 %r8, [%r7+-4];
  st.global.b32 [%d4], %r8;
  ret;
}
"""


def shared():
    def swap(result, operand, text, bytes):
        return (f'%{result} = array.custom_kernel "swap"(%{operand}) grid = affine_map<() -> (3, 1, 1)> block = [64, 1, 1]\n'
                f"        shared = {bytes} else @NAME_reference {{ptx = {quote(text)}}} : (tensor<192xf32>) -> tensor<192xf32>")

    x = random("f32", (200,), 5)
    own = REVERSE.replace(".extern .shared .align 16 .b8 tile[];", ".shared .align 16 .b8 tile[256];")
    yield Case("shared", f"""  func.func private @NAME_reference(%x: tensor<192xf32>) -> tensor<192xf32> {{
    %a = array.reshape %x : tensor<192xf32> -> tensor<3x64xf32>
    %b = array.reverse %a axes = [1] : tensor<3x64xf32> -> tensor<3x64xf32>
    %c = array.reshape %b : tensor<3x64xf32> -> tensor<192xf32>
    return %c : tensor<192xf32>
  }}
  func.func @NAME(%x: tensor<200xf32>) -> (tensor<192xf32>, tensor<192xf32>) {{
    %s = array.slice %x [5:197] : tensor<200xf32> -> tensor<192xf32>
    {swap("a", "s", REVERSE, 256)}
    %b = array.exp %a : tensor<192xf32>
    {swap("c", "b", own, 0)}
    return %a, %c : tensor<192xf32>, tensor<192xf32>
  }}
""", [Step([x], [("f32", x.values[5:197].reshape(3, 64)[:, ::-1].ravel()), ("f32", np.exp(x.values[5:197]))])], "composite")


def cases():
    for family in (sizes, inputs, control, control_in_reference, parameters, shared):
        yield from family()
