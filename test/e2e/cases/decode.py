"""A 256-token decode loop in one call: a language model of one layer, its cache of keys and values updated in place, greedy choice."""
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


def decode(first, words, places, wq, wk, wv, steps):
    """The tokens, the last state, and by how much the best score is better than the next one at least."""
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
        margin = min(margin, np.diff(np.sort(scores)[-2:])[0])
    return tokens, h, margin


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
