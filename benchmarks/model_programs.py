"""The models of models.py as array programs, in bf16 with images' channels last, of any size."""
from networks import Network, tensor


class Model(Network):
    """bf16, images with their channels last, and what decoders need."""

    def __init__(self, scope):
        super().__init__("bf16")
        self.scope, self.weights = scope, {}

    def weight(self, name, shape, kind="matrix"):
        self.weights[name] = (tuple(shape), kind)
        return self.emit(f'array.parameter "{self.scope}"::"{name}" : {tensor(shape, self.dtype)}', shape)

    def conv(self, x, w, stride):
        (n, height, width, _), (features, size, _, _) = self.shapes[x], self.shapes[w]
        pad = size // 2
        out = [(extent + 2 * pad - size) // stride + 1 for extent in (height, width)]
        return self.op(f"conv {x}, {w} dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [{stride}, {stride}] "
                       f"low = [{pad}, {pad}] high = [{pad}, {pad}]", [x, w], (n, *out, features))

    def batch_norm(self, x, *norm):
        return self.op(f"batch_norm_inference {', '.join((x, *norm))} axis = 3 epsilon = 1.0e-5", [x, *norm], self.shapes[x])

    def group_norm(self, x, name, groups=32):
        scale, bias = (self.weight(f"{name}.{kind}", self.shapes[x][-1:], kind) for kind in ("scale", "bias"))
        return self.op(f"group_norm {x}, {scale}, {bias} axis = {len(self.shapes[x]) - 1} groups = {groups} epsilon = 1.0e-5", [x, scale, bias],
                       self.shapes[x])

    def conv_bias(self, x, name, features, taps, stride=1, padded=True):
        """A convolution and its bias; not padded, it takes images apart into patches."""
        w = self.weight(f"{name}.weight", (features, taps, taps, self.shapes[x][-1]))
        if padded:
            y = self.conv(x, w, stride)
        else:
            n, height, width, _ = self.shapes[x]
            y = self.op(f"conv {x}, {w} dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [{stride}, {stride}] low = [0, 0] "
                        f"high = [0, 0]", [x, w], (n, (height - taps) // stride + 1, (width - taps) // stride + 1, features))
        return self.add(y, self.weight(f"{name}.bias", (features,), "bias"))

    def max_pool(self, x):
        n, *sizes, channels = self.shapes[x]
        shape = (n, *((size - 1) // 2 + 1 for size in sizes), channels)
        return self.emit(f"array.reduce_window max, {x} window = [1, 3, 3, 1] strides = [1, 2, 2, 1] low = [0, 1, 1, 0] "
                         f"high = [0, 1, 1, 0] : {self.type(x)} -> {tensor(shape, self.dtype)}", shape)

    def mean_of_image(self, x):
        shape = (self.shapes[x][0], self.shapes[x][3])
        return self.emit(f"array.mean {x} axes = [1, 2] : {self.type(x)} -> {tensor(shape, self.dtype)}", shape)

    def rows(self, x, w):
        """x times the transposed matrix w."""
        return self.op(f"matmul {x}, {w} transpose_b", [x, w], self.shapes[x][:-1] + self.shapes[w][:1])

    def linear(self, x, name, columns):
        w = self.weight(f"{name}.weight", (self.shapes[x][-1], columns))
        return self.add(self.matmul(x, w), self.weight(f"{name}.bias", (columns,), "bias"))

    def norm(self, x, name):
        width = self.shapes[x][-1]
        return self.layer_norm(x, self.weight(f"{name}.scale", (width,), "scale"), self.weight(f"{name}.bias", (width,), "bias"))

    def rms_norm(self, x, name):
        scale = self.weight(name, self.shapes[x][-1:], "scale")
        return self.emit(f"array.rms_norm {x} scale({scale} : {self.type(scale)}) axis = {len(self.shapes[x]) - 1} epsilon = 1.0e-6 : "
                         f"{self.type(x)}", self.shapes[x])

    def mul(self, x, y):
        return self.op(f"mul {x}, {y}", [x, y], self.shapes[x])

    def part(self, x, dim, begin, end):
        shape = [end - begin if other == dim else size for other, size in enumerate(self.shapes[x])]
        index = ", ".join(f"{begin}:{end}" if other == dim else ":" for other in range(len(shape)))
        return self.emit(f"array.slice {x} [{index}] : {self.type(x)} -> {tensor(shape, self.dtype)}", shape)

    def attend(self, q, k, v, causal=False):
        types = ", ".join(self.type(x) for x in (q, k, v))
        return self.emit(f"array.attention {q}, {k}, {v}{' causal' if causal else ''} scale = {self.shapes[q][-1] ** -0.5:.9e} : ({types}) -> "
                         f"{self.type(q)}", self.shapes[q])


def encoder_layer(net, x, name, heads, feed_forward):
    """Attention and two layers behind one another, each with its residual sum and norm."""
    batch, tokens, hidden = net.shapes[x]
    y = net.reshape(net.linear(x, f"{name}.qkv", 3 * hidden), (batch, tokens, 3, heads, hidden // heads))
    q, k, v = (net.transpose(net.reshape(net.part(y, 2, i, i + 1), (batch, tokens, heads, hidden // heads)), (0, 2, 1, 3)) for i in range(3))
    y = net.reshape(net.transpose(net.attend(q, k, v), (0, 2, 1, 3)), (batch, tokens, hidden))
    x = net.norm(net.add(x, net.linear(y, f"{name}.out", hidden)), f"{name}.norm1")
    y = net.unary("gelu", net.linear(x, f"{name}.up", feed_forward))
    return net.norm(net.add(x, net.linear(y, f"{name}.down", hidden)), f"{name}.norm2")


def bert(batch, tokens, layers=12, hidden=768, heads=12, feed_forward=3072, vocabulary=30522):
    net = Model("bert.safetensors")
    ids = net.argument("ids", (batch, tokens), "i32", vocabulary)
    x = net.take(net.weight("words", (vocabulary, hidden)), ids)
    x = net.norm(net.add(x, net.part(net.weight("positions", (512, hidden)), 0, 0, tokens)), "embeddings")
    for layer in range(layers):
        x = encoder_layer(net, x, str(layer), heads, feed_forward)
    return net, net.program([net.linear(x, "head", vocabulary)])


def resnet(batch, size=224, blocks=(3, 4, 6, 3)):
    net = Model("resnet.safetensors")

    def normed(x, features, taps, stride, name):
        w = net.weight(f"{name}.weight", (features, taps, taps, net.shapes[x][3]))
        norm = [net.weight(f"{name}.{kind}", (features,), kind) for kind in ("scale", "bias", "mean", "variance")]
        return net.batch_norm(net.conv(x, w, stride), *norm)

    def bottleneck(x, features, stride, name):
        y = net.unary("relu", normed(x, features, 1, 1, f"{name}.1"))
        y = net.unary("relu", normed(y, features, 3, stride, f"{name}.2"))
        y = normed(y, 4 * features, 1, 1, f"{name}.3")
        if stride != 1 or net.shapes[x][3] != 4 * features:
            x = normed(x, 4 * features, 1, stride, f"{name}.short")
        return net.unary("relu", net.add(y, x))

    x = net.argument("image", (batch, size, size, 3))
    x = net.max_pool(net.unary("relu", normed(x, 64, 7, 2, "stem")))
    for stage, count in enumerate(blocks):
        for block in range(count):
            x = bottleneck(x, 64 << stage, 2 if stage and not block else 1, f"{stage}.{block}")
    return net, net.program([net.linear(net.mean_of_image(x), "classes", 1000)])


def split_heads(net, x, heads):
    batch, tokens, hidden = net.shapes[x]
    return net.transpose(net.reshape(x, (batch, tokens, heads, hidden // heads)), (0, 2, 1, 3))


def join_heads(net, x):
    batch, heads, tokens, width = net.shapes[x]
    return net.reshape(net.transpose(x, (0, 2, 1, 3)), (batch, tokens, heads * width))


def vit(batch, layers=12, size=224, patch=16, hidden=768, heads=12, feed_forward=3072):
    """A vision transformer: norms before attention and layers, the first token's vector is classified."""
    net, tokens = Model("vit.safetensors"), (size // patch) ** 2
    x = net.reshape(net.conv_bias(net.argument("image", (batch, size, size, 3)), "patch", hidden, patch, patch, padded=False), (batch, tokens, hidden))
    first = net.weight("first", (hidden,), "bias")
    first = net.emit(f"array.broadcast_in_dim {first} axes = [2] : {net.type(first)} -> {tensor((batch, 1, hidden), net.dtype)}", (batch, 1, hidden))
    x = net.op(f"concatenate {first}, {x} axis = 1", [first, x], (batch, tokens + 1, hidden))
    x = net.add(x, net.weight("positions", (tokens + 1, hidden)))
    for layer in range(layers):
        y = net.linear(net.norm(x, f"{layer}.norm1"), f"{layer}.qkv", 3 * hidden)
        q, k, v = (split_heads(net, net.part(y, 2, i * hidden, (i + 1) * hidden), heads) for i in range(3))
        x = net.add(x, net.linear(join_heads(net, net.attend(q, k, v)), f"{layer}.out", hidden))
        y = net.unary("gelu", net.linear(net.norm(x, f"{layer}.norm2"), f"{layer}.up", feed_forward))
        x = net.add(x, net.linear(y, f"{layer}.down", hidden))
    x = net.reshape(net.part(net.norm(x, "norm"), 1, 0, 1), (batch, hidden))
    return net, net.program([net.linear(x, "head", 1000)])


def unet_block(batch, size=64, channels=320, heads=8, context=77, context_width=768, time=1280):
    """A block of a diffusion model: two convolutions with the embedding of the time between, then self-attention over places, attention to
    the text, and a gated layer."""
    net = Model("unet.safetensors")
    image = net.argument("image", (batch, size, size, channels))
    steps, text = net.argument("time", (batch, time)), net.argument("text", (batch, context, context_width))
    x = net.conv_bias(net.unary("silu", net.group_norm(image, "norm1")), "conv1", channels, 3)
    shift = net.reshape(net.linear(net.unary("silu", steps), "time", channels), (batch, 1, 1, channels))
    shift = net.emit(f"array.broadcast_in_dim {shift} axes = [0, 1, 2, 3] : {net.type(shift)} -> {net.type(x)}", net.shapes[x])
    x = net.unary("silu", net.group_norm(net.add(x, shift), "norm2"))
    image = net.add(image, net.conv_bias(x, "conv2", channels, 3))
    x = net.linear(net.reshape(net.group_norm(image, "norm3"), (batch, size * size, channels)), "in", channels)
    for name, source in (("self", None), ("cross", text)):
        y = net.norm(x, f"{name}.norm")
        of_keys = source or y
        q, k, v = (split_heads(net, net.linear(values, f"{name}.{part}", channels), heads)
                   for part, values in (("q", y), ("k", of_keys), ("v", of_keys)))
        x = net.add(x, net.linear(join_heads(net, net.attend(q, k, v)), f"{name}.out", channels))
    y = net.norm(x, "gated.norm")
    y = net.mul(net.linear(y, "gated.up", 4 * channels), net.unary("gelu", net.linear(y, "gated.gate", 4 * channels)))
    x = net.linear(net.add(x, net.linear(y, "gated.down", channels)), "out", channels)
    return net, net.program([net.add(net.reshape(x, (batch, size, size, channels)), image)])


def gated_layer(net, x, layer, feed_forward):
    """x + down(silu(gate(norm(x))) * up(norm(x)))."""
    hidden, y = net.shapes[x][-1], net.rms_norm(x, f"{layer}.norm2")
    gate, up = (net.rows(y, net.weight(f"{layer}.{kind}", (feed_forward, hidden))) for kind in ("gate", "up"))
    return net.add(x, net.rows(net.mul(net.unary("silu", gate), up), net.weight(f"{layer}.down", (hidden, feed_forward))))


def decode(hidden, heads, key_heads, feed_forward, layers, context=1024, batch=1):
    """The layers of a decoder for one token of each sequence, with the keys and values of `context` tokens as inputs."""
    net, width = Model("decoder.safetensors"), hidden // heads
    x = net.argument("x", (batch, hidden))
    cache = [[net.argument(f"{kind}{i}", (batch, key_heads, context, width)) for kind in ("keys", "values")] for i in range(layers)]
    for layer in range(layers):
        y = net.rows(net.rms_norm(x, f"{layer}.norm1"), net.weight(f"{layer}.qkv", ((heads + 2 * key_heads) * width, hidden)))
        q = net.reshape(net.part(y, 1, 0, hidden), (batch, heads, 1, width))
        y = net.reshape(net.attend(q, *cache[layer]), (batch, hidden))
        x = net.add(x, net.rows(y, net.weight(f"{layer}.out", (hidden, hidden))))
        x = gated_layer(net, x, layer, feed_forward)
    return net, net.program([x])


def prefill(hidden, heads, key_heads, feed_forward, layers, tokens):
    """The layers of a decoder for all tokens of a text, with rotated queries and keys; returns these keys and the values too."""
    net, width = Model("decoder.safetensors"), hidden // heads
    x, caches = net.argument("x", (1, tokens, hidden)), []
    places = net.argument("places", (tokens,), "i32", tokens)

    def rotated(x):
        return net.op(f"rope {x}, {places} base = 1.0e4", [x, places], net.shapes[x])

    for layer in range(layers):
        y = net.rows(net.rms_norm(x, f"{layer}.norm1"), net.weight(f"{layer}.qkv", ((heads + 2 * key_heads) * width, hidden)))
        begin, parts = 0, []
        for count in (heads, key_heads, key_heads):
            parts.append(split_heads(net, net.part(y, 2, begin, begin + count * width), count))
            begin += count * width
        q, k, v = rotated(parts[0]), rotated(parts[1]), parts[2]
        caches += [k, v]
        y = join_heads(net, net.attend(q, k, v, causal=True))
        x = gated_layer(net, net.add(x, net.rows(y, net.weight(f"{layer}.out", (hidden, hidden)))), layer, feed_forward)
    return net, net.program([x, *caches])


def train(batch, tokens, hidden=768, heads=12, feed_forward=3072):
    """A layer of an encoder; `--gradient` adds its gradients to its weights, which are arguments."""
    net = Model("none")
    net.weight = lambda name, shape, kind="matrix": net.argument(name.replace(".", "_"), shape)
    x = encoder_layer(net, net.argument("x", (batch, tokens, hidden)), "layer", heads, feed_forward)
    return net, net.program([x])


def train_convs(batch, size=56, features=64, blocks=2):
    """Bottlenecks of a ResNet without norms, over images with channels last; `--gradient` adds its gradients to its weights."""
    net = Model("none")
    net.weight = lambda name, shape, kind="matrix": net.argument(name.replace(".", "_"), shape)
    x = net.argument("x", (batch, size, size, 4 * features))
    for block in range(blocks):
        y = net.unary("relu", net.conv_bias(x, f"b{block}.1", features, 1))
        y = net.unary("relu", net.conv_bias(y, f"b{block}.2", features, 3))
        x = net.unary("relu", net.add(x, net.conv_bias(y, f"b{block}.3", 4 * features, 1)))
    return net, net.program([net.linear(net.mean_of_image(x), "classes", 1000)])


class TrainingStep(Model):
    """Weights are arguments. The program is @step, which returns the loss and the weights after a step of gradient descent; flags of
    `xcompile` go with it."""

    def __init__(self):
        super().__init__("none")
        self.trained = []

    def weight(self, name, shape, kind="matrix"):
        self.trained.append(self.argument(name.replace(".", "_"), shape))
        return self.trained[-1]

    def batch_norm(self, x, scale, bias):
        result = self.define(f"%v{len(self.lines)}", self.shapes[x])
        types = f"({self.type(x)}, {self.type(scale)}, {self.type(bias)})"
        self.lines.append(f"{result}, {result}_mean, {result}_variance = array.batch_norm_training {x}, {scale}, {bias} axis = 3 "
                          f"epsilon = 1.0e-5 : {types} -> {types}")
        return result

    def cross_entropy(self, x, labels):
        """The mean over a batch of [batch, classes]."""
        wide, column = (*self.shapes[x],), (self.shapes[x][0], 1)
        x = self.emit(f"array.convert {x} : {self.type(x)} -> {tensor(wide, 'f32')}", wide, "f32")
        x = self.emit(f"array.log_softmax {x} axis = 1 : {self.type(x)}", wide, "f32")
        labels = self.emit(f"array.reshape {labels} : {self.type(labels)} -> {tensor(column, 'i32')}", column, "i32")
        x = self.op(f"take_along_axis {x}[{labels}] axis = 1", [x, labels], column, "f32")
        x = self.emit(f"array.mean {x} axes = [0, 1] : {self.type(x)} -> tensor<f32>", (), "f32")
        return self.emit(f"array.neg {x} : tensor<f32>", (), "f32")

    def program(self, results):
        names, weights = ", ".join(self.arguments), ", ".join(self.type(weight) for weight in self.trained)
        types = ", ".join(self.type(argument) for argument in self.arguments)
        steps = "".join(f"    %d{i} = array.mul %g#{i}, %rate : ({self.type(weight)}, tensor<bf16>) -> {self.type(weight)}\n"
                        f"    %n{i} = array.sub {weight}, %d{i} : {self.type(weight)}\n" for i, weight in enumerate(self.trained))
        return (f"{self.named_loss(results[0])}func.func private @loss_vjp({types}, tensor<f32>) -> ({weights})\n"
                f"func.func @step({', '.join(f'{name}: {self.type(name)}' for name in self.arguments)}) -> (tensor<f32>, {weights}) {{\n"
                f"    %one = array.constant dense<1.0> : tensor<f32>\n    %rate = array.constant dense<0.1> : tensor<bf16>\n"
                f"    %l = func.call @loss({names}) : ({types}) -> tensor<f32>\n"
                f"    %g:{len(self.trained)} = func.call @loss_vjp({names}, %one) : ({types}, tensor<f32>) -> ({weights})\n{steps}"
                f"    return %l, {', '.join(f'%n{i}' for i in range(len(self.trained)))} : tensor<f32>, {weights}\n}}\n")

    def named_loss(self, loss):
        arguments = ", ".join(f'{name}: {self.type(name)} {{array.name = "{name[1:]}"}}' for name in self.arguments)
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"func.func private @loss({arguments}) -> tensor<f32> {{\n{body}    return {loss} : tensor<f32>\n}}\n"

    def flags(self):
        return ["--gradient=loss:" + ",".join(weight[1:] for weight in self.trained)]


def train_resnet(batch, size=224, blocks=(1, 1, 1, 1), classes=1000):
    """A whole training step of a ResNet: norms of the batch, cross entropy, gradient descent."""
    net = TrainingStep()
    image, labels = net.argument("image", (batch, size, size, 3)), net.argument("labels", (batch,), "i32", classes)

    def normed(x, features, taps, stride, name):
        y = net.conv(x, net.weight(f"{name}.weight", (features, taps, taps, net.shapes[x][3])), stride)
        return net.batch_norm(y, net.weight(f"{name}.scale", (features,)), net.weight(f"{name}.bias", (features,)))

    x = net.max_pool(net.unary("relu", normed(image, 64, 7, 2, "stem")))
    for stage, count in enumerate(blocks):
        for block in range(count):
            features, stride, name = 64 << stage, 2 if stage and not block else 1, f"s{stage}.{block}"
            y = net.unary("relu", normed(x, features, 1, 1, f"{name}.1"))
            y = net.unary("relu", normed(y, features, 3, stride, f"{name}.2"))
            y = normed(y, 4 * features, 1, 1, f"{name}.3")
            x = net.unary("relu", net.add(y, x if block else normed(x, 4 * features, 1, stride, f"{name}.short")))
    return net, net.program([net.cross_entropy(net.linear(net.mean_of_image(x), "classes", classes), labels)])


def train_bert(batch, tokens, layers=12, hidden=768, heads=12, feed_forward=3072, vocabulary=30522):
    """A whole training step of an encoder: cross entropy of each token, gradient descent."""
    net = TrainingStep()
    ids, labels = net.argument("ids", (batch, tokens), "i32", vocabulary), net.argument("labels", (batch * tokens,), "i32", vocabulary)
    x = net.take(net.weight("words", (vocabulary, hidden)), ids)
    x = net.norm(net.add(x, net.part(net.weight("positions", (512, hidden)), 0, 0, tokens)), "embeddings")
    for layer in range(layers):
        x = encoder_layer(net, x, f"l{layer}", heads, feed_forward)
    x = net.reshape(net.linear(x, "head", vocabulary), (batch * tokens, vocabulary))
    return net, net.program([net.cross_entropy(x, labels)])


def train_llama(batch, tokens, layers, hidden=4096, heads=32, key_heads=8, feed_forward=14336, vocabulary=32000):
    """A whole training step of a decoder: rotated queries and keys, heads that share keys, gated layers."""
    net, width = TrainingStep(), hidden // heads
    ids, labels = net.argument("ids", (batch, tokens), "i32", vocabulary), net.argument("labels", (batch * tokens,), "i32", vocabulary)
    x = net.take(net.weight("words", (vocabulary, hidden)), ids)
    places = net.emit(f"array.iota axis = 0 : {tensor((tokens,), 'i32')}", (tokens,), "i32")

    def rotated(x):
        return net.op(f"rope {x}, {places} base = 1.0e4", [x, places], net.shapes[x])

    for layer in range(layers):
        y = net.rms_norm(x, f"l{layer}.norm1")
        q, k, v = (split_heads(net, net.matmul(y, net.weight(f"l{layer}.{name}", (hidden, count * width))), count)
                   for name, count in (("q", heads), ("k", key_heads), ("v", key_heads)))
        y = join_heads(net, net.attend(rotated(q), rotated(k), v, causal=True))
        x = net.add(x, net.matmul(y, net.weight(f"l{layer}.o", (hidden, hidden))))
        y = net.rms_norm(x, f"l{layer}.norm2")
        gate, up = (net.matmul(y, net.weight(f"l{layer}.{name}", (hidden, feed_forward))) for name in ("gate", "up"))
        x = net.add(x, net.matmul(net.mul(net.unary("silu", gate), up), net.weight(f"l{layer}.down", (feed_forward, hidden))))
    x = net.reshape(net.matmul(net.rms_norm(x, "norm"), net.weight("head", (hidden, vocabulary))), (batch * tokens, vocabulary))
    return net, net.program([net.cross_entropy(x, labels)])


GPT2, LLAMA = (768, 12, 12, 3072), (4096, 32, 8, 14336)
MODELS = {  # the model, its small form, and flags
    "bert_b1s128": (lambda: bert(1, 128), lambda: bert(1, 128, layers=2), []),
    "bert_b8s512": (lambda: bert(8, 512), lambda: bert(8, 512, layers=1), []),
    "bert_b32s512": (lambda: bert(32, 512), None, []),
    "resnet50_b1": (lambda: resnet(1), lambda: resnet(1, blocks=(1, 1)), []),
    "resnet50_b32": (lambda: resnet(32), lambda: resnet(32, blocks=(2, 1)), []),
    "vit_b16_b32": (lambda: vit(32), lambda: vit(32, layers=1), []),
    "unet_block_b2": (lambda: unet_block(2), lambda: unet_block(2), []),
    "prefill_llama8b_4layers": (lambda: prefill(*LLAMA, 4, 2048), lambda: prefill(*LLAMA, 1, 2048), []),
    "decode_gpt2": (lambda: decode(*GPT2, 12), lambda: decode(*GPT2, 2), []),
    "decode_llama8b_4layers": (lambda: decode(*LLAMA, 4), lambda: decode(*LLAMA, 2), []),
    "decode_llama8b_4layers_c8192": (lambda: decode(*LLAMA, 4, context=8192), lambda: decode(*LLAMA, 1, context=8192), []),
    "decode_llama8b_4layers_b8": (lambda: decode(*LLAMA, 4, batch=8), lambda: decode(*LLAMA, 1, batch=8), []),
    "decode_llama8b_4layers_b8_c8192": (lambda: decode(*LLAMA, 4, context=8192, batch=8),
                                        lambda: decode(*LLAMA, 1, context=8192, batch=8), []),
    "train_layer_b8s512": (lambda: train(8, 512), lambda: train(8, 128), ["--gradient=main"]),
    "train_convs_b32": (lambda: train_convs(32), lambda: train_convs(8), ["--gradient=main"]),
    "train_resnet_b32": (lambda: train_resnet(32), lambda: train_resnet(8, 64), train_resnet(8, 64)[0].flags()),
    "train_bert_b8s128": (lambda: train_bert(8, 128, layers=2), lambda: train_bert(8, 128, layers=2), train_bert(8, 128, layers=2)[0].flags()),
    "train_llama8b_1layer": (lambda: train_llama(1, 2048, 1), lambda: train_llama(1, 2048, 1), train_llama(1, 2048, 1)[0].flags()),
}
