"""The models of model_programs.py in torch, over the same weights."""


def make_weights(torch, net):
    """For norms around 1, for matrices such that sums of products keep their size."""
    def make(shape, kind):
        if kind in ("scale", "variance"):
            return torch.rand(shape, device="cuda") + 0.5
        fan_in = shape[-2] if len(shape) == 2 and net.scope != "decoder.safetensors" else torch.Size(shape[1:]).numel()
        return torch.randn(shape, device="cuda") * (0.1 if len(shape) == 1 else fan_in ** -0.5)
    torch.manual_seed(0)
    return {name: make(*entry).to(torch.bfloat16) for name, entry in net.weights.items()}


def torch_bert(torch, w, layers, heads):
    F = torch.nn.functional

    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:], w[f"{name}.scale"], w[f"{name}.bias"], 1e-5)

    def run(ids):
        x = norm(w["words"][ids] + w["positions"][:ids.shape[1]], "embeddings")
        for i in range(layers):
            q, k, v = linear(x, f"{i}.qkv").unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
            x = norm(x + linear(y, f"{i}.out"), f"{i}.norm1")
            x = norm(x + linear(F.gelu(linear(x, f"{i}.up")), f"{i}.down"), f"{i}.norm2")
        return linear(x, "head")
    return run


def torch_resnet(torch, w, blocks):
    F = torch.nn.functional
    filters = {name: value.permute(0, 3, 1, 2) for name, value in w.items() if value.dim() == 4}  # channels last in memory

    def normed(x, name, stride, pad):
        y = F.conv2d(x, filters[f"{name}.weight"], stride=stride, padding=pad)
        return F.batch_norm(y, w[f"{name}.mean"], w[f"{name}.variance"], w[f"{name}.scale"], w[f"{name}.bias"], eps=1e-5)

    def run(image):
        x = F.max_pool2d(F.relu(normed(image.permute(0, 3, 1, 2), "stem", 2, 3)), 3, 2, 1)
        for stage, count in enumerate(blocks):
            for block in range(count):
                name, stride = f"{stage}.{block}", 2 if stage and not block else 1
                y = F.relu(normed(x, f"{name}.1", 1, 0))
                y = normed(F.relu(normed(y, f"{name}.2", stride, 1)), f"{name}.3", 1, 0)
                x = F.relu(y + (normed(x, f"{name}.short", stride, 0) if f"{name}.short.weight" in w else x))
        return x.mean((2, 3)) @ w["classes.weight"] + w["classes.bias"]
    return run


def torch_vit(torch, w, layers, heads):
    F = torch.nn.functional

    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:], w[f"{name}.scale"], w[f"{name}.bias"], 1e-5)

    def run(image):
        patches = F.conv2d(image.permute(0, 3, 1, 2), w["patch.weight"].permute(0, 3, 1, 2), w["patch.bias"], stride=w["patch.weight"].shape[1])
        x = patches.flatten(2).transpose(1, 2)
        x = torch.cat((w["first"].expand(len(x), 1, -1), x), 1) + w["positions"]
        for i in range(layers):
            q, k, v = linear(norm(x, f"{i}.norm1"), f"{i}.qkv").unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
            x = x + linear(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2), f"{i}.out")
            x = x + linear(F.gelu(linear(norm(x, f"{i}.norm2"), f"{i}.up")), f"{i}.down")
        return linear(norm(x, "norm")[:, 0], "head")
    return run


def torch_unet_block(torch, w, heads):
    F = torch.nn.functional
    filters = {name: value.permute(0, 3, 1, 2) for name, value in w.items() if value.dim() == 4}  # channels last in memory

    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:], w[f"{name}.scale"], w[f"{name}.bias"], 1e-5)

    def group_norm(x, name):
        return F.group_norm(x, 32, w[f"{name}.scale"], w[f"{name}.bias"], 1e-5)

    def attend(y, of_keys, name):
        q, k, v = (linear(x, f"{name}.{part}").unflatten(-1, (heads, -1)).transpose(1, 2) for part, x in (("q", y), ("k", of_keys), ("v", of_keys)))
        return linear(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2), f"{name}.out")

    def run(image, steps, text):
        image = image.permute(0, 3, 1, 2)
        x = F.conv2d(F.silu(group_norm(image, "norm1")), filters["conv1.weight"], w["conv1.bias"], padding=1)
        x = F.silu(group_norm(x + linear(F.silu(steps), "time")[:, :, None, None], "norm2"))
        image = image + F.conv2d(x, filters["conv2.weight"], w["conv2.bias"], padding=1)
        x = linear(group_norm(image, "norm3").permute(0, 2, 3, 1).flatten(1, 2), "in")
        for name, source in (("self", None), ("cross", text)):
            y = norm(x, f"{name}.norm")
            x = x + attend(y, y if source is None else source, name)
        y = norm(x, "gated.norm")
        x = linear(x + linear(linear(y, "gated.up") * F.gelu(linear(y, "gated.gate")), "gated.down"), "out")
        return x.unflatten(1, image.shape[2:]) + image.permute(0, 2, 3, 1)
    return run


def rotate(torch, x, places):
    half = x.shape[-1] // 2
    angles = places[:, None] * 1e4 ** (-torch.arange(half, device=x.device) / half)
    cos, sin, x, y = angles.cos(), angles.sin(), *x.float().split(half, -1)
    return torch.cat((x * cos - y * sin, x * sin + y * cos), -1)


def gated_layer(torch, w, x, i):
    F = torch.nn.functional
    y = F.rms_norm(x, x.shape[-1:], w[f"{i}.norm2"], 1e-6)
    return x + (F.silu(y @ w[f"{i}.gate"].t()) * (y @ w[f"{i}.up"].t())) @ w[f"{i}.down"].t()


def torch_decode(torch, w, heads, key_heads, layers):
    F = torch.nn.functional

    def run(x, *cache):
        for i in range(layers):
            y = F.rms_norm(x, x.shape[-1:], w[f"{i}.norm1"], 1e-6) @ w[f"{i}.qkv"].t()
            q = y[:, :x.shape[-1]].reshape(len(x), heads, 1, -1)
            y = F.scaled_dot_product_attention(q, cache[2 * i], cache[2 * i + 1], enable_gqa=heads != key_heads).reshape(x.shape)
            x = gated_layer(torch, w, x + y @ w[f"{i}.out"].t(), i)
        return x
    return run


def torch_prefill(torch, w, heads, key_heads, layers):
    F = torch.nn.functional

    def run(x, places):
        width, caches = x.shape[-1] // heads, []
        for i in range(layers):
            y = F.rms_norm(x, x.shape[-1:], w[f"{i}.norm1"], 1e-6) @ w[f"{i}.qkv"].t()
            q, k, v = (part.unflatten(-1, (-1, width)).transpose(1, 2) for part in y.split((heads * width, key_heads * width, key_heads * width), -1))
            q, k = (rotate(torch, part, places).to(x.dtype) for part in (q, k))
            caches += [k, v]
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=heads != key_heads).transpose(1, 2).flatten(2)
            x = gated_layer(torch, w, x + y @ w[f"{i}.out"].t(), i)
        return x, *caches
    return run


PEERS = {"bert": lambda torch, w: torch_bert(torch, w, 12, 12), "resnet50": lambda torch, w: torch_resnet(torch, w, (3, 4, 6, 3)),
         "vit": lambda torch, w: torch_vit(torch, w, 12, 12), "unet": lambda torch, w: torch_unet_block(torch, w, 8),
         "prefill": lambda torch, w: torch_prefill(torch, w, 32, 8, 4),
         "decode_gpt2": lambda torch, w: torch_decode(torch, w, 12, 12, 12),
         "decode_llama8b": lambda torch, w: torch_decode(torch, w, 32, 8, 4)}
