#!/usr/bin/env python3
"""A convolutional classifier of handwritten digits in PyTorch: exports its loss, its gradient and AdamW as one training step.

    classifier.py --output=step.vmfb [--target=...]    the module, and step.safetensors with the first weights beside it
    classifier.py --text=classifier.mlir               the program alone; the one beside this file was written so
    classifier.py --losses=losses.txt --digits=digits.csv --steps=200    what PyTorch itself computes
    classifier.py --read=checkpoint.safetensors --digits=digits.csv      how many of 100 digits PyTorch recognises with a checkpoint

Needs the packages torch, onnxscript and xcompile. classifier.cpp trains with the module and needs no Python.
"""
import argparse
import pathlib

import torch
from torch import nn

BATCH, RATE, DECAY = 64, 2e-3, 0.01


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.norm, self.last = nn.LayerNorm(64), nn.Linear(64, 10)

    def forward(self, images):
        x = images.reshape(-1, 1, 8, 8)
        x = nn.functional.max_pool2d(self.conv1(x).relu(), 2)
        x = nn.functional.max_pool2d(self.conv2(x).relu(), 2)
        return self.last(self.norm(x.flatten(1)))


class Loss(Classifier):
    def forward(self, images, labels):
        logits = super().forward(images)
        return {"loss": nn.functional.cross_entropy(logits, labels), "digits": logits.argmax(1)}


def first_model():
    torch.manual_seed(0)
    return Loss()


def read_digits(path):
    rows = torch.tensor([[float(number) for number in line.split(",")] for line in pathlib.Path(path).read_text().split()])
    return rows[:, :64] / 16, rows[:, 64].long()


def losses(digits, steps):
    """The losses of `steps` steps in PyTorch, on the images in the order of the file, again and again."""
    images, labels = read_digits(digits)
    model, found = first_model(), []
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY)
    for number in range(steps):
        batch = torch.arange(number * BATCH, (number + 1) * BATCH) % len(images)
        loss = model(images[batch], labels[batch])["loss"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def accuracy(checkpoint, digits):
    from safetensors.torch import load_file
    model = first_model()
    keys = model.state_dict().keys()
    model.load_state_dict({key: value for key, value in load_file(checkpoint).items() if key in keys})
    images, labels = read_digits(digits)
    return (model(images, labels)["digits"] == labels).float().mean().item()


def lower(scope):
    import xcompile
    args = torch.zeros(BATCH, 64), torch.zeros(BATCH, dtype=torch.int64)
    return xcompile.torch.lower(first_model(), args, scope=scope)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, help="the module (.vmfb) to write")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--text", type=pathlib.Path, help="a file for the program")
    parser.add_argument("--losses", type=pathlib.Path, help="a file for PyTorch's own losses, one a line")
    parser.add_argument("--read", type=pathlib.Path, help="a checkpoint to try")
    parser.add_argument("--digits", type=pathlib.Path)
    parser.add_argument("--steps", default=200, type=int)
    args = parser.parse_args()
    if args.output or args.text:
        import xcompile
    if args.output:
        xcompile.training.export(lower(args.output.with_suffix(".safetensors").name), output=args.output, optimizer="adamw", decay=DECAY,
                                 target=args.target)
    if args.text:
        text, flags = xcompile.training.program(lower("classifier.safetensors"), "adamw", decay=DECAY)
        args.text.write_text(f"// classifier.mlir - What classifier.py --text writes; compile it with {' '.join(flags)}\n{text}")
    if args.losses:
        args.losses.write_text("".join(f"{loss:.9g}\n" for loss in losses(args.digits, args.steps)))
    if args.read:
        print(f"accuracy: {100 * accuracy(args.read, args.digits):.1f} %")


if __name__ == "__main__":
    main()
