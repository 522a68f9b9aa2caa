"""Compiles ONNX models that have been damaged: each is compiled or refused with an error, and a refused one leaves no file.

    mutate.py --build build/dev [--count N] [--seed N]

The models are those of test/Input/ONNX, encoded by protoc. A mutant has some bytes changed, removed, repeated or exchanged with bytes of
another model, at positions that the seed decides. Ends with "N passed, N failed, 0 skipped".
"""
import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile

MODELS = pathlib.Path(__file__).resolve().parents[1] / "Input" / "ONNX" / "Inputs"


def encode(path):
    with open(path, "rb") as text:
        return subprocess.run(["protoc", "--encode=onnx.ModelProto", "-I", "/usr/include", "onnx/onnx.proto"], stdin=text, check=True,
                              stdout=subprocess.PIPE).stdout


def mutate(data, others, chance):
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 1, 2, 4))):
        place = chance.randrange(len(data))
        length = min(chance.choice((1, 1, 2, 4, 16)), len(data) - place)
        kind = chance.choice((0, 0, 0, 0, 1, 1, 1, 2, 3, 4, 5))  # mostly such that lengths still fit
        if kind == 0:
            data[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[place] = chance.choice((0, 1, 0x7f, 0x80, 0xff, chance.randrange(256)))
        elif kind == 2 and len(data) > length + 1:
            del data[place:place + length]
        elif kind == 3:
            data[place:place] = data[place:place + length]
        elif kind == 4:
            other = chance.choice(others)
            begin = chance.randrange(len(other))
            data[place:place + length] = other[begin:begin + length]
        else:
            # A number that is much too large, where a varint may be.
            data[place:place + 1] = b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
    return bytes(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="write mutants that fail to this folder")
    arguments = parser.parse_args()
    models = [encode(path) for path in sorted(MODELS.glob("*.txtpb"))]
    xcompile = str(pathlib.Path(arguments.build).resolve() / "bin" / "xcompile")
    passed = failed = compiled = 0
    with tempfile.TemporaryDirectory() as folder:
        model, output = f"{folder}/model.onnx", f"{folder}/model.vmfb"
        for number in range(arguments.count):
            chance = random.Random(f"{arguments.seed} {number}")
            data = mutate(chance.choice(models), models, chance)
            pathlib.Path(model).write_bytes(data)
            done = subprocess.run([xcompile, model, "-o", output, "-j1", "-O0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors="replace", timeout=120)
            exists = os.path.exists(output)
            is_sound = done.returncode == 0 and exists or done.returncode == 1 and not exists and "error: " in done.stdout
            if exists:
                os.remove(output)
            passed, failed, compiled = passed + is_sound, failed + (not is_sound), compiled + (done.returncode == 0)
            if not is_sound:
                print(f"mutant {number}: exit code {done.returncode}: {done.stdout[-400:]}")
                if arguments.keep:
                    pathlib.Path(arguments.keep, f"mutant{number}.onnx").write_bytes(data)
    print(f"{compiled} of them compiled, the others were refused")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
