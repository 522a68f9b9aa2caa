"""The models of model_programs.py in JAX, over the same weights, channels last; attention by cuDNN where a head has several queries."""
import statistics
import time


def make_functions(jax):
    jnp, lax = jax.numpy, jax.lax

    def wide(function):
        """Computed in f32, as torch's norms are."""
        return lambda x, *more, **options: function(x.astype(jnp.float32), *more, **options).astype(x.dtype)

    @wide
    def layer_norm(x, scale, bias):
        centred = x - x.mean(-1, keepdims=True)
        return centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * scale + bias

    @wide
    def rms_norm(x, scale):
        return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale

    @wide
    def group_norm(x, scale, bias):
        grouped = x.reshape(len(x), -1, 32, x.shape[-1] // 32)
        centred = grouped - grouped.mean((1, 3), keepdims=True)
        return (centred * lax.rsqrt((centred * centred).mean((1, 3), keepdims=True) + 1e-5)).reshape(x.shape) * scale + bias

    def conv(x, w, stride=1, pad=0):
        return lax.conv_general_dilated(x, w, (stride, stride), [(pad, pad)] * 2, dimension_numbers=("NHWC", "OHWI", "NHWC"))

    def attend(q, k, v, causal=False):
        """Heads behind places."""
        return jax.nn.dot_product_attention(q, k, v, is_causal=causal, implementation="cudnn" if q.shape[1] > 1 else "xla")
    return layer_norm, rms_norm, group_norm, conv, attend


def make_layers(w):
    """Layers whose weights are those of a name."""
    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def norm(function, x, name):
        return function(x, w[f"{name}.scale"], w[f"{name}.bias"])
    return linear, norm


def jax_bert(jax, layers, heads):
    layer_norm, _, _, _, attend = make_functions(jax)

    def run(w, ids):
        linear, norm = make_layers(w)
        x = norm(layer_norm, w["words"][ids] + w["positions"][:ids.shape[1]], "embeddings")
        for i in range(layers):
            q, k, v = jax.numpy.moveaxis(linear(x, f"{i}.qkv").reshape(*x.shape[:2], 3, heads, -1), 2, 0)
            x = norm(layer_norm, x + linear(attend(q, k, v).reshape(x.shape), f"{i}.out"), f"{i}.norm1")
            x = norm(layer_norm, x + linear(jax.nn.gelu(linear(x, f"{i}.up"), approximate=False), f"{i}.down"), f"{i}.norm2")
        return linear(x, "head")
    return run


def jax_resnet(jax, blocks):
    conv, relu = make_functions(jax)[3], jax.nn.relu

    def run(w, image):
        def normed(x, name, stride, pad):
            y = conv(x, w[f"{name}.weight"], stride, pad)
            scale = w[f"{name}.scale"] * jax.lax.rsqrt(w[f"{name}.variance"] + 1e-5)
            return (y - w[f"{name}.mean"]) * scale + w[f"{name}.bias"]
        x = relu(normed(image, "stem", 2, 3))
        x = jax.lax.reduce_window(x, -jax.numpy.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)))
        for stage, count in enumerate(blocks):
            for block in range(count):
                name, stride = f"{stage}.{block}", 2 if stage and not block else 1
                y = relu(normed(relu(normed(x, f"{name}.1", 1, 0)), f"{name}.2", stride, 1))
                x = relu(normed(y, f"{name}.3", 1, 0) + (normed(x, f"{name}.short", stride, 0) if f"{name}.short.weight" in w else x))
        return x.mean((1, 2)) @ w["classes.weight"] + w["classes.bias"]
    return run


def jax_vit(jax, layers, heads):
    layer_norm, _, _, conv, attend = make_functions(jax)

    def run(w, image):
        linear, norm = make_layers(w)
        x = conv(image, w["patch.weight"], w["patch.weight"].shape[1]) + w["patch.bias"]
        x = x.reshape(len(x), -1, x.shape[-1])
        first = jax.numpy.broadcast_to(w["first"], (len(x), 1, x.shape[-1]))
        x = jax.numpy.concatenate((first, x), 1) + w["positions"]
        for i in range(layers):
            q, k, v = jax.numpy.moveaxis(linear(norm(layer_norm, x, f"{i}.norm1"), f"{i}.qkv").reshape(*x.shape[:2], 3, heads, -1), 2, 0)
            x = x + linear(attend(q, k, v).reshape(x.shape), f"{i}.out")
            x = x + linear(jax.nn.gelu(linear(norm(layer_norm, x, f"{i}.norm2"), f"{i}.up"), approximate=False), f"{i}.down")
        return linear(norm(layer_norm, x, "norm")[:, 0], "head")
    return run


def jax_unet_block(jax, heads):
    layer_norm, _, group_norm, conv, attend = make_functions(jax)
    silu = jax.nn.silu

    def run(w, image, steps, text):
        linear, norm = make_layers(w)

        def cross(y, of_keys, name):
            q, k, v = (linear(x, f"{name}.{part}").reshape(*x.shape[:2], heads, -1) for part, x in (("q", y), ("k", of_keys), ("v", of_keys)))
            return linear(attend(q, k, v).reshape(y.shape), f"{name}.out")
        x = conv(silu(norm(group_norm, image, "norm1")), w["conv1.weight"], 1, 1) + w["conv1.bias"]
        x = silu(norm(group_norm, x + linear(silu(steps), "time")[:, None, None], "norm2"))
        image = image + conv(x, w["conv2.weight"], 1, 1) + w["conv2.bias"]
        x = linear(norm(group_norm, image, "norm3").reshape(len(image), -1, image.shape[-1]), "in")
        for name, source in (("self", None), ("cross", text)):
            y = norm(layer_norm, x, f"{name}.norm")
            x = x + cross(y, y if source is None else source, name)
        y = norm(layer_norm, x, "gated.norm")
        gate = jax.nn.gelu(linear(y, "gated.gate"), approximate=False)
        x = linear(x + linear(linear(y, "gated.up") * gate, "gated.down"), "out")
        return x.reshape(image.shape) + image
    return run


def jax_decode(jax, heads, key_heads, layers):
    _, rms_norm, _, _, _ = make_functions(jax)
    jnp = jax.numpy

    def run(w, x, *cache):
        for i in range(layers):
            y = rms_norm(x, w[f"{i}.norm1"]) @ w[f"{i}.qkv"].T
            q = y[:, :x.shape[-1]].reshape(len(x), key_heads, heads // key_heads, -1)
            scores = jnp.einsum("bhgd,bhkd->bhgk", q, cache[2 * i], preferred_element_type=jnp.float32) * q.shape[-1] ** -0.5
            weights = jax.nn.softmax(scores, -1).astype(x.dtype)
            y = jnp.einsum("bhgk,bhkd->bhgd", weights, cache[2 * i + 1]).reshape(x.shape)
            x = gated_layer(jax, rms_norm, w, x + y @ w[f"{i}.out"].T, i)
        return x
    return run


def gated_layer(jax, rms_norm, w, x, i):
    y = rms_norm(x, w[f"{i}.norm2"])
    return x + (jax.nn.silu(y @ w[f"{i}.gate"].T) * (y @ w[f"{i}.up"].T)) @ w[f"{i}.down"].T


def jax_prefill(jax, heads, key_heads, layers):
    _, rms_norm, _, _, attend = make_functions(jax)
    jnp = jax.numpy

    def rotate(x, places):
        half = x.shape[-1] // 2
        angles = (places[:, None] * 1e4 ** (-jnp.arange(half) / half))[:, None]
        cos, sin, (a, b) = jnp.cos(angles), jnp.sin(angles), jnp.split(x.astype(jnp.float32), 2, -1)
        return jnp.concatenate((a * cos - b * sin, a * sin + b * cos), -1).astype(x.dtype)

    def run(w, x, places):
        width, caches = x.shape[-1] // heads, []
        for i in range(layers):
            y = rms_norm(x, w[f"{i}.norm1"]) @ w[f"{i}.qkv"].T
            parts = jnp.split(y.reshape(*y.shape[:2], -1, width), (heads, heads + key_heads), 2)
            q, k, v = rotate(parts[0], places), rotate(parts[1], places), parts[2]
            caches += [k.swapaxes(1, 2), v.swapaxes(1, 2)]
            x = gated_layer(jax, rms_norm, w, x + attend(q, k, v, causal=True).reshape(x.shape) @ w[f"{i}.out"].T, i)
        return x, *caches
    return run


PEERS = {"bert": lambda jax: jax_bert(jax, 12, 12), "resnet50": lambda jax: jax_resnet(jax, (3, 4, 6, 3)), "vit": lambda jax: jax_vit(jax, 12, 12),
         "unet": lambda jax: jax_unet_block(jax, 8), "prefill": lambda jax: jax_prefill(jax, 32, 8, 4),
         "decode_gpt2": lambda jax: jax_decode(jax, 12, 12, 12), "decode_llama8b": lambda jax: jax_decode(jax, 32, 8, 4)}


def time_jax(jax, name, weights, inputs, replays=12):
    """Microseconds of a call, and the results for the last inputs: many calls behind each other, whose launches JAX sends ahead; the median of
    several times."""
    run = jax.jit(next(make for prefix, make in PEERS.items() if name.startswith(prefix))(jax))
    results = jax.block_until_ready(run(weights, *inputs[-1]))
    begin = time.perf_counter()
    jax.block_until_ready(run(weights, *inputs[0]))
    repeats, times = max(2, round(0.02 / (time.perf_counter() - begin))), []
    for _ in range(replays):
        begin = time.perf_counter()
        for i in range(repeats):
            last = run(weights, *inputs[i % len(inputs)])
        jax.block_until_ready(last)
        times.append((time.perf_counter() - begin) * 1e6 / repeats)
    return statistics.median(times), results
