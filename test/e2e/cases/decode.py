"""256-token decode loops in one call: a language model of one layer, its cache of keys and values updated in place, greedy choice."""
import re

import numpy as np

from harness import Case, Step
from tensors import Tensor, random

TOKENS, WORDS, WIDTH, HEADS = 256, 31, 16, 2

# Step i embeds its token and its place, appends a row to either cache, attends to rows 0..i and gives the next token.
LOOP = f"""  func.func @NAME(%first: tensor<1xi32>, %words: tensor<{WORDS}x{WIDTH}xf32>, %places: tensor<{TOKENS}x{WIDTH}xf32>,
      %wq: tensor<{WIDTH}x{WIDTH}xf32>, %wk: tensor<{WIDTH}x{WIDTH}xf32>, %wv: tensor<{WIDTH}x{WIDTH}xf32>, %steps: tensor<i32>) -> (tensor<{TOKENS}xi32>, ROW) {{
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %back = array.constant dense<-1> : tensor<{TOKENS}xi32>
    %empty = array.constant dense<0.0> : tensor<{HEADS}x{TOKENS}x{WIDTH // HEADS}xf32>
    %state = array.constant dense<0.0> : ROW
    %out = array.transpose %words permutation = [1, 0] : tensor<{WORDS}x{WIDTH}xf32> -> tensor<{WIDTH}x{WORDS}xf32>
    %r:6 = array.while %zero, %first, %empty, %empty, %back, %state : (tensor<i32>, tensor<1xi32>, CACHE, CACHE, tensor<{TOKENS}xi32>, ROW) -> (tensor<i32>, tensor<1xi32>, CACHE, CACHE, tensor<{TOKENS}xi32>, ROW) condition {{
    ^bb0(%i: tensor<i32>, %t: tensor<1xi32>, %ks: CACHE, %vs: CACHE, %ts: tensor<{TOKENS}xi32>, %last: ROW):
      %more = array.compare lt, %i, %steps : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    }} body {{
    ^bb0(%i: tensor<i32>, %t: tensor<1xi32>, %ks: CACHE, %vs: CACHE, %ts: tensor<{TOKENS}xi32>, %last: ROW):
      %word = array.take %words[%t] axis = 0 : (tensor<{WORDS}x{WIDTH}xf32>, tensor<1xi32>) -> ROW
      %place = array.dynamic_slice %places[%i, %zero] : (tensor<{TOKENS}x{WIDTH}xf32>, tensor<i32>, tensor<i32>) -> ROW
      %mixed = array.add %word, %place : ROW
      %x = array.rms_norm %mixed axis = 1 epsilon = 0.001 : ROW
      %q0 = array.matmul %x, %wq : (ROW, tensor<{WIDTH}x{WIDTH}xf32>) -> ROW
      %k0 = array.matmul %x, %wk : (ROW, tensor<{WIDTH}x{WIDTH}xf32>) -> ROW
      %v0 = array.matmul %x, %wv : (ROW, tensor<{WIDTH}x{WIDTH}xf32>) -> ROW
      %q = array.reshape %q0 : ROW -> HEAD
      %k = array.reshape %k0 : ROW -> HEAD
      %v = array.reshape %v0 : ROW -> HEAD
      %keys = array.dynamic_update_slice %ks[%zero, %i, %zero] = %k : (CACHE, HEAD, tensor<i32>, tensor<i32>, tensor<i32>) -> CACHE
      %values = array.dynamic_update_slice %vs[%zero, %i, %zero] = %v : (CACHE, HEAD, tensor<i32>, tensor<i32>, tensor<i32>) -> CACHE
      %a = array.attention %q, %keys, %values causal offset(%i : tensor<i32>) scale = 0.5 : (HEAD, CACHE, CACHE) -> HEAD
      %seen = array.reshape %a : HEAD -> ROW
      %h = array.add %x, %seen : ROW
      %scores = array.matmul %h, %out : (ROW, tensor<{WIDTH}x{WORDS}xf32>) -> tensor<1x{WORDS}xf32>
      %next = array.argmax %scores axis = 1 : tensor<1x{WORDS}xf32> -> tensor<1xi32>
      %tokens = array.dynamic_update_slice %ts[%i] = %next : (tensor<{TOKENS}xi32>, tensor<1xi32>, tensor<i32>) -> tensor<{TOKENS}xi32>
      %j = array.add %i, %one : tensor<i32>
      array.yield %j, %next, %keys, %values, %tokens, %h : tensor<i32>, tensor<1xi32>, CACHE, CACHE, tensor<{TOKENS}xi32>, ROW
    }}
    return %r#4, %r#5 : tensor<{TOKENS}xi32>, ROW
  }}
""".replace("CACHE", f"tensor<{HEADS}x{TOKENS}x{WIDTH // HEADS}xf32>").replace("ROW", f"tensor<1x{WIDTH}xf32>").replace(
    "HEAD", f"tensor<{HEADS}x1x{WIDTH // HEADS}xf32>")


def decode(first, words, places, wq, wk, wv, steps, given=()):
    """The tokens, `given` in the place of the first ones that are chosen, the last state, and by how much the best score is better than the next one at least."""
    keys, values = np.zeros((2, HEADS, 0, WIDTH // HEADS))
    tokens, token, h, margin = np.full(TOKENS, -1), first, np.zeros(WIDTH), np.inf
    for i in range(steps):
        x = words[token] + places[i]
        x = x / np.sqrt(np.square(x).mean() + 0.001)
        q, k, v = ((x @ w).reshape(HEADS, 1, -1) for w in (wq, wk, wv))
        keys, values = np.concatenate([keys, k], 1), np.concatenate([values, v], 1)
        power = np.exp(q @ keys.swapaxes(1, 2) * 0.5)
        h = x + (power / power.sum(-1, keepdims=True) @ values).reshape(-1)
        scores = words @ h
        tokens[i] = token = scores.argmax()
        if i < len(given):
            token = given[i]
        elif i + 1 < steps:
            margin = min(margin, np.diff(np.sort(scores)[-2:])[0])
    return tokens, h, margin


# The same for a batch of prompts, whose number and length are bound later: attention over all tokens of the prompts at once, which
# fills the beginning of the caches, then an iteration for each token behind them.
HEAD_WIDTH = WIDTH // HEADS
PROMPTS = """  func.func @NAME(%prompt: tensor<?x?xi32> {array.dims = ["b", "p"]}, %words: tensor<WORDSxWIDTHxf32>, %places: tensor<TOKENSxWIDTHxf32>,
      %wq: SQUARE, %wk: SQUARE, %wv: SQUARE, %end: tensor<i32>) -> LISTS {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %none = array.constant dense<0.0> : tensor<f32>
    %back = array.constant dense<-1> : tensor<i32>
    %b = array.dim %prompt, 0 : tensor<?x?xi32>
    %p = array.dim %prompt, 1 : tensor<?x?xi32>
    %length = array.from_index %p : tensor<i32>
    %last = array.sub %length, %one : tensor<i32>
    %empty = array.broadcast_in_dim %none axes = [] sizes(%b) : tensor<f32> -> CACHE
    %list = array.broadcast_in_dim %back axes = [] sizes(%b) : tensor<i32> -> LISTS
    %out = array.transpose %words permutation = [1, 0] : tensor<WORDSxWIDTHxf32> -> tensor<WIDTHxWORDSxf32>
    %word = array.take %words[%prompt] axis = 0 : (tensor<WORDSxWIDTHxf32>, tensor<?x?xi32>) -> ROWS
    %place = array.dynamic_slice %places[%zero, %zero] sizes(%p) : (tensor<TOKENSxWIDTHxf32>, tensor<i32>, tensor<i32>) -> tensor<?xWIDTHxf32>
    %mixed = array.add %word, %place : (ROWS, tensor<?xWIDTHxf32>) -> ROWS
    %x = array.rms_norm %mixed axis = 2 epsilon = 0.001 : ROWS
    SPLIT(q, x, wq, ROWS, ?x?, ?xHEADSx?xDEPTHxf32, %b, %p)
    SPLIT(k, x, wk, ROWS, ?x?, ?xHEADSx?xDEPTHxf32, %b, %p)
    SPLIT(v, x, wv, ROWS, ?x?, ?xHEADSx?xDEPTHxf32, %b, %p)
    %firstKeys = array.dynamic_update_slice %empty[%zero, %zero, %zero, %zero] = %k : (CACHE, tensor<?xHEADSx?xDEPTHxf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> CACHE
    %firstValues = array.dynamic_update_slice %empty[%zero, %zero, %zero, %zero] = %v : (CACHE, tensor<?xHEADSx?xDEPTHxf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> CACHE
    %a = array.attention %q, %k, %v causal scale = 0.5 : (tensor<?xHEADSx?xDEPTHxf32>, tensor<?xHEADSx?xDEPTHxf32>, tensor<?xHEADSx?xDEPTHxf32>) -> tensor<?xHEADSx?xDEPTHxf32>
    %turned = array.transpose %a permutation = [0, 2, 1, 3] : tensor<?xHEADSx?xDEPTHxf32> -> tensor<?x?xHEADSxDEPTHxf32>
    %seen = array.reshape %turned sizes(%b, %p) : tensor<?x?xHEADSxDEPTHxf32> -> ROWS
    %h = array.add %x, %seen : ROWS
    %end0 = array.dynamic_slice %h[%zero, %last, %zero] sizes(%b) : (ROWS, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?x1xWIDTHxf32>
    %scores0 = array.matmul %end0, %out : (tensor<?x1xWIDTHxf32>, tensor<WIDTHxWORDSxf32>) -> tensor<?x1xWORDSxf32>
    %next0 = array.argmax %scores0 axis = 2 : tensor<?x1xWORDSxf32> -> tensor<?x1xi32>
    %r:5 = array.while %length, %next0, %firstKeys, %firstValues, %list : (tensor<i32>, tensor<?x1xi32>, CACHE, CACHE, LISTS) -> (tensor<i32>, tensor<?x1xi32>, CACHE, CACHE, LISTS) condition {
    ^bb0(%i: tensor<i32>, %t: tensor<?x1xi32>, %ks: CACHE, %vs: CACHE, %ts: LISTS):
      %more = array.compare lt, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %t: tensor<?x1xi32>, %ks: CACHE, %vs: CACHE, %ts: LISTS):
      %lists = array.dynamic_update_slice %ts[%zero, %i] = %t : (LISTS, tensor<?x1xi32>, tensor<i32>, tensor<i32>) -> LISTS
      %word1 = array.take %words[%t] axis = 0 : (tensor<WORDSxWIDTHxf32>, tensor<?x1xi32>) -> ROW
      %place1 = array.dynamic_slice %places[%i, %zero] : (tensor<TOKENSxWIDTHxf32>, tensor<i32>, tensor<i32>) -> tensor<1xWIDTHxf32>
      %mixed1 = array.add %word1, %place1 : (ROW, tensor<1xWIDTHxf32>) -> ROW
      %x1 = array.rms_norm %mixed1 axis = 2 epsilon = 0.001 : ROW
      SPLIT(q1, x1, wq, ROW, ?x1x, ?xHEADSx1xDEPTHxf32, %b)
      SPLIT(k1, x1, wk, ROW, ?x1x, ?xHEADSx1xDEPTHxf32, %b)
      SPLIT(v1, x1, wv, ROW, ?x1x, ?xHEADSx1xDEPTHxf32, %b)
      %keys = array.dynamic_update_slice %ks[%zero, %zero, %i, %zero] = %k1 : (CACHE, tensor<?xHEADSx1xDEPTHxf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> CACHE
      %values = array.dynamic_update_slice %vs[%zero, %zero, %i, %zero] = %v1 : (CACHE, tensor<?xHEADSx1xDEPTHxf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> CACHE
      %a1 = array.attention %q1, %keys, %values causal offset(%i : tensor<i32>) scale = 0.5 : (tensor<?xHEADSx1xDEPTHxf32>, CACHE, CACHE) -> tensor<?xHEADSx1xDEPTHxf32>
      %turned1 = array.transpose %a1 permutation = [0, 2, 1, 3] : tensor<?xHEADSx1xDEPTHxf32> -> tensor<?x1xHEADSxDEPTHxf32>
      %seen1 = array.reshape %turned1 sizes(%b) : tensor<?x1xHEADSxDEPTHxf32> -> ROW
      %h1 = array.add %x1, %seen1 : ROW
      %scores1 = array.matmul %h1, %out : (ROW, tensor<WIDTHxWORDSxf32>) -> tensor<?x1xWORDSxf32>
      %next1 = array.argmax %scores1 axis = 2 : tensor<?x1xWORDSxf32> -> tensor<?x1xi32>
      %j = array.add %i, %one : tensor<i32>
      array.yield %j, %next1, %keys, %values, %lists : tensor<i32>, tensor<?x1xi32>, CACHE, CACHE, LISTS
    }
    return %r#4 : LISTS
  }
"""


def split(match):
    """A product, with its columns as heads in front of the tokens."""
    name, x, weight, rows, lead, result, *sizes = match.group(1).split(", ")
    lead = lead.rstrip("x") + "xHEADSxDEPTHxf32"
    return (f"%{name}_p = array.matmul %{x}, %{weight} : ({rows}, SQUARE) -> {rows}\n"
            f"    %{name}_s = array.reshape %{name}_p sizes({', '.join(sizes)}) : {rows} -> tensor<{lead}>\n"
            f"    %{name} = array.transpose %{name}_s permutation = [0, 2, 1, 3] : tensor<{lead}> -> tensor<{result}>")


PROMPTS = re.sub(r"SPLIT\(([^()]*)\)", split, PROMPTS)
for word, text in (("CACHE", "tensor<?xHEADSxTOKENSxDEPTHxf32>"), ("LISTS", "tensor<?xTOKENSxi32>"), ("ROWS", "tensor<?x?xWIDTHxf32>"),
                   ("ROW", "tensor<?x1xWIDTHxf32>"), ("SQUARE", "tensor<WIDTHxWIDTHxf32>"), ("HEADS", HEADS), ("TOKENS", TOKENS),
                   ("DEPTH", HEAD_WIDTH), ("WORDS", WORDS), ("WIDTH", WIDTH)):
    PROMPTS = PROMPTS.replace(word, str(text))


def prompts(words, places, weights, kinds, **options):
    """Several batches and lengths of prompts in one module, each with all of its iterations in one call."""
    steps = []
    for batch, length, end, seed in kinds:
        given = np.random.default_rng(seed).integers(0, WORDS, (batch, length))
        lists = np.full((batch, TOKENS), -1)
        for row, prompt in zip(lists, given):
            tokens, _, margin = decode(prompt[0], words.values, places.values, *(w.values for w in weights), end, prompt[1:])
            assert margin > 1e-4, margin
            row[length:end] = tokens[length - 1:end - 1]
        steps.append(Step([Tensor("i32", given), words, places, *weights, Tensor("i32", end)], [("i32", lists)]))
    return Case(f"prompts_{kinds[0][2]}", PROMPTS, steps, "model", **options)


def cases():
    words, places = random("f32", (WORDS, WIDTH), 1, -1, 1), random("f32", (TOKENS, WIDTH), 2, -1, 1)
    weights = [random("f32", (WIDTH, WIDTH), seed, -0.4, 0.4) for seed in (17, 18, 19)]
    steps = []
    for first, count in ((3, TOKENS), (7, 5), (1, 0)):
        tokens, state, margin = decode(first, words.values, places.values, *(w.values for w in weights), count)
        # Roundings must not decide.
        assert margin > 1e-3, margin
        assert count < TOKENS or len(set(tokens)) > 5, tokens
        steps.append(Step([Tensor("i32", [first]), words, places, *weights, Tensor("i32", count)], [("i32", tokens), ("f32", state[None])]))
    yield Case("loop_of_256", LOOP, steps, "model")
    yield prompts(words, places, weights, ((3, 20, 26, 8), (2, 70, 73, 3), (1, 1, 5, 5), (1, 4, 4, 1)))
    yield prompts(words, places, weights, ((2, 3, TOKENS, 5),), stand_in=False)
