"""wgmma_kinds.py TYPE OUT: writes OUT.mlir, a function of many products, and OUT.tuning, in which each has a configuration of its
own: every tile, with ping-pong and without, for each way in which factors reach wgmma, and every kind of cluster and split and one and two
blocks a multiprocessor for each layout of factors. OUT.args, OUT.results and OUT.expected are arguments of xrun: the inputs, where
results go, and that they are what results are to be."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools" / "xtune"))
from candidates import candidates  # noqa: E402

# Type in arrays, in keys, of results; bytes of an element and of a result; flags.
TYPES = {"f16": ("f16", "f16", "f16", 2, 2, ""), "tf32": ("f32", "tf32", "f32", 4, 4, " allow_tf32"), "i8": ("i8", "i8", "i32", 1, 4, "")}
FIELDS = ("tile_m", "tile_n", "warpgroups", "ping_pong"), ("blocks", "split", "cluster_m", "cluster_n", "ping_pong")


def features(kind, layout, config):
    """What is to be seen: the tile for each way of the factors, and how blocks share work for each layout of them."""
    values = dict(re.findall(r"(\w+) = (\d+)", config))
    # Across k by boxes (16 bits) or along it, through registers, turned.
    way = "boxes" if kind[3] == 2 or layout == "nt" else "turned" if layout == "tn" else "registers"
    return {(place, *(values.get(field, "0") for field in fields)) for place, fields in zip((way, layout), FIELDS)}


def choose(kind):
    """(layout, m, n, k, configuration) for each product; sizes are those of one product only."""
    seen, number = set(), 0
    for layout in ("nn", "nt", "tn", "tt"):
        while True:
            m, n, k = 144 + 16 * (number % 4), 144 + 16 * (number // 4 % 2), 208 + 16 * (number // 8)
            gain, config = max(((len(features(kind, layout, config) - seen), config)
                                for config in candidates(1, m, n, k, layout, 10000, kind[4], 0, kind[3])), key=lambda item: item[0])
            if gain == 0:
                break
            seen |= features(kind, layout, config)
            yield layout, m, n, k, config
            number += 1


def main(kind, out):
    dtype, name, result, _, _, flags = kind
    arguments, results, body, tuning, inputs = [], [], [], [], []
    for number, (layout, m, n, k, config) in enumerate(choose(kind)):
        shapes = [f"{m}x{k}" if layout[0] == "n" else f"{k}x{m}", f"{k}x{n}" if layout[1] == "n" else f"{n}x{k}"]
        a, b, c = f"tensor<{shapes[0]}x{dtype}>", f"tensor<{shapes[1]}x{dtype}>", f"tensor<{m}x{n}x{result}>"
        options = " transpose_a" * (layout[0] == "t") + " transpose_b" * (layout[1] == "t") + flags
        arguments += [f"%a{number}: {a}", f"%b{number}: {b}"]
        results.append(c)
        body.append(f"  %r{number} = array.matmul %a{number}, %b{number}{options} : ({a}, {b}) -> {c}\n")
        tuning.append(f"sm_90a matmul {name}*{name}>{result} 1x{m}x{n}x{k} {layout} = {config}\n")
        inputs += [f"--input=random:{shape}x{dtype}:{2 * number + side}" for side, shape in enumerate(shapes, 1)]
    values = ", ".join(f"%r{number}" for number in range(len(results)))
    pathlib.Path(f"{out}.mlir").write_text(f"func.func @main({', '.join(arguments)}) -> ({', '.join(results)}) {{\n{''.join(body)}"
                                           f"  return {values} : {', '.join(results)}\n}}\n")
    pathlib.Path(f"{out}.tuning").write_text("".join(tuning))
    pathlib.Path(f"{out}.args").write_text("\n".join(inputs) + "\n")
    for option, end in (("output", "results"), ("expect", "expected")):
        pathlib.Path(f"{out}.{end}").write_text("".join(f"--{option}=output{number}=@{out}.{number}.npy\n" for number in range(len(results))))
    print(len(results), "products")


if __name__ == "__main__":
    main(TYPES[sys.argv[1]], sys.argv[2])
