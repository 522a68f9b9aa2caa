"""ResNet and BERT as array programs, of any size.

A network is written by calls of `Network`'s methods, each of which adds one op; a subclass may compute values beside it
(test/e2e/cases/networks.py does, in NumPy). Images are held as PyTorch holds them, with channels first.
"""


def tensor(shape, dtype):
    return "tensor<" + "".join(f"{size}x" for size in shape) + dtype + ">"


class Network:
    """The text of one function; values are names."""

    def __init__(self, dtype="f32"):
        self.dtype = dtype
        self.lines, self.shapes, self.dtypes, self.arguments = [], {}, {}, []

    # ---- Values --------------------------------------------------------------------------------------------------------

    def type(self, name):
        return tensor(self.shapes[name], self.dtypes[name])

    def define(self, name, shape, dtype=None):
        self.shapes[name], self.dtypes[name] = tuple(shape), dtype or self.dtype
        return name

    def argument(self, name, shape, dtype=None, largest=None):
        """An input; integers are below `largest`."""
        self.arguments.append(self.define("%" + name, shape, dtype))
        return self.arguments[-1]

    def weight(self, name, shape, kind="matrix"):
        """A weight; `kind` is matrix, scale, bias or variance."""
        return self.emit(f'array.parameter "weights"::"{name}" : {tensor(shape, self.dtype)}', shape)

    def emit(self, text, shape, dtype=None):
        name = self.define(f"%v{len(self.lines)}", shape, dtype)
        self.lines.append(f"{name} = {text}")
        return name

    def op(self, text, operands, shape, dtype=None):
        """An op whose types are a function type."""
        types = ", ".join(self.type(operand) for operand in operands)
        return self.emit(f"array.{text} : ({types}) -> {tensor(shape, dtype or self.dtype)}", shape, dtype)

    def program(self, results):
        arguments = ", ".join(f"{name}: {self.type(name)}" for name in self.arguments)
        types = ", ".join(self.type(name) for name in results)
        body = "\n".join("    " + line for line in self.lines)
        return f"func.func @main({arguments}) -> ({types}) {{\n{body}\n    return {', '.join(results)} : {types}\n}}\n"

    # ---- Ops -----------------------------------------------------------------------------------------------------------

    def conv(self, x, w, stride):
        """Channels first; padded so that a stride of 1 keeps the size."""
        (n, _, height, width), (features, _, size, _) = self.shapes[x], self.shapes[w]
        pad = size // 2
        out = [(extent + 2 * pad - size) // stride + 1 for extent in (height, width)]
        return self.op(f"conv {x}, {w} dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> strides = [{stride}, {stride}] "
                       f"low = [{pad}, {pad}] high = [{pad}, {pad}]", [x, w], (n, features, *out))

    def batch_norm(self, x, scale, bias, mean, variance):
        operands = [x, scale, bias, mean, variance]
        return self.op(f"batch_norm_inference {', '.join(operands)} axis = 1 epsilon = 1.0e-5", operands, self.shapes[x])

    def max_pool(self, x):
        n, channels, *sizes = self.shapes[x]
        shape = (n, channels, *((size - 1) // 2 + 1 for size in sizes))
        return self.emit(f"array.reduce_window max, {x} window = [1, 1, 3, 3] strides = [1, 1, 2, 2] low = [0, 0, 1, 1] "
                         f"high = [0, 0, 1, 1] : {self.type(x)} -> {tensor(shape, self.dtype)}", shape)

    def mean_of_image(self, x):
        shape = self.shapes[x][:2]
        return self.emit(f"array.mean {x} axes = [2, 3] : {self.type(x)} -> {tensor(shape, self.dtype)}", shape)

    def unary(self, name, x):
        return self.emit(f"array.{name} {x} : {self.type(x)}", self.shapes[x])

    def add(self, x, y):
        """`y` may lack the first dims."""
        return self.op(f"add {x}, {y}", [x, y], self.shapes[x])

    def matmul(self, x, w):
        return self.op(f"matmul {x}, {w}", [x, w], self.shapes[x][:-1] + self.shapes[w][-1:])

    def layer_norm(self, x, scale, bias):
        return self.emit(f"array.layer_norm {x} scale({scale} : {self.type(scale)}) bias({bias} : {self.type(bias)}) "
                         f"axis = {len(self.shapes[x]) - 1} epsilon = 1.0e-5 : {self.type(x)}", self.shapes[x])

    def take(self, table, ids):
        return self.op(f"take {table}[{ids}] axis = 0", [table, ids], self.shapes[ids] + self.shapes[table][1:])

    def reshape(self, x, shape):
        return self.emit(f"array.reshape {x} : {self.type(x)} -> {tensor(shape, self.dtype)}", shape)

    def transpose(self, x, permutation):
        shape = [self.shapes[x][dim] for dim in permutation]
        return self.emit(f"array.transpose {x} permutation = {list(permutation)} : {self.type(x)} -> "
                         f"{tensor(shape, self.dtype)}", shape)

    def attention(self, q, k, v, mask):
        """`mask` is added to the scores."""
        scale = self.shapes[q][-1] ** -0.5
        types = ", ".join(self.type(x) for x in (q, k, v))
        return self.emit(f"array.attention {q}, {k}, {v} mask({mask} : {self.type(mask)}) scale = {scale:.9e} : ({types}) -> "
                         f"{self.type(q)}", self.shapes[q])

    def slice_first(self, x):
        """Of dim 1."""
        n, _, *rest = self.shapes[x]
        shape = (n, 1, *rest)
        return self.emit(f"array.slice {x} [:, 0:1{', :' * len(rest)}] : {self.type(x)} -> {tensor(shape, self.dtype)}", shape)


def resnet(net, batch=1, size=224, width=64, blocks=(3, 4, 6, 3), classes=1000):
    """ResNet-50 by default: bottlenecks of three convolutions with the norms of inference. Returns the class scores."""
    def normed(x, features, taps, stride, name):
        w = net.weight(f"{name}.weight", (features, net.shapes[x][1], taps, taps))
        norm = [net.weight(f"{name}.{kind}", (features,), kind) for kind in ("scale", "bias", "mean", "variance")]
        return net.batch_norm(net.conv(x, w, stride), *norm)

    def bottleneck(x, features, stride, name):
        y = net.unary("relu", normed(x, features, 1, 1, f"{name}.reduce"))
        y = net.unary("relu", normed(y, features, 3, stride, f"{name}.middle"))
        y = normed(y, 4 * features, 1, 1, f"{name}.expand")
        short = x
        if stride != 1 or net.shapes[x][1] != 4 * features:
            short = normed(x, 4 * features, 1, stride, f"{name}.short")
        return net.unary("relu", net.add(y, short))

    x = net.argument("image", (batch, 3, size, size))
    x = net.max_pool(net.unary("relu", normed(x, width, 7, 2, "stem")))
    for stage, count in enumerate(blocks):
        for block in range(count):
            x = bottleneck(x, width << stage, 2 if stage and not block else 1, f"stage{stage}.{block}")
    x = net.mean_of_image(x)
    x = net.matmul(x, net.weight("classes.weight", (net.shapes[x][1], classes)))
    return net.add(x, net.weight("classes.bias", (classes,), "bias"))


def bert(net, batch=1, tokens=128, layers=12, hidden=768, heads=12, feed_forward=3072, vocabulary=30522):
    """BERT-base by default: embeddings, encoder and pooler. Returns all tokens' vectors and the pooled one."""
    def linear(x, name, columns):
        w = net.weight(f"{name}.weight", (net.shapes[x][-1], columns))
        return net.add(net.matmul(x, w), net.weight(f"{name}.bias", (columns,), "bias"))

    def norm(x, name):
        return net.layer_norm(x, net.weight(f"{name}.scale", (hidden,), "scale"), net.weight(f"{name}.bias", (hidden,), "bias"))

    def split(x):
        return net.transpose(net.reshape(x, (batch, tokens, heads, hidden // heads)), (0, 2, 1, 3))

    ids = net.argument("ids", (batch, tokens), "i32", vocabulary)
    segments = net.argument("segments", (batch, tokens), "i32", 2)
    mask = net.argument("mask", (batch, 1, 1, tokens))
    x = net.take(net.weight("words", (vocabulary, hidden)), ids)
    x = net.add(x, net.take(net.weight("segments", (2, hidden)), segments))
    x = norm(net.add(x, net.weight("positions", (tokens, hidden))), "embeddings")
    for layer in range(layers):
        q, k, v = (split(linear(x, f"{layer}.{part}", hidden)) for part in ("query", "key", "value"))
        y = net.reshape(net.transpose(net.attention(q, k, v, mask), (0, 2, 1, 3)), (batch, tokens, hidden))
        x = norm(net.add(x, linear(y, f"{layer}.out", hidden)), f"{layer}.norm1")
        y = net.unary("gelu", linear(x, f"{layer}.up", feed_forward))
        x = norm(net.add(x, linear(y, f"{layer}.down", hidden)), f"{layer}.norm2")
    return x, net.unary("tanh", linear(net.reshape(net.slice_first(x), (batch, hidden)), "pooler", hidden))
