"""Programs as cases of the end-to-end harness."""
import dataclasses

import pathlib
import tempfile

import bounds
import harness
import ops_state
import tensors

SCRATCH = tempfile.TemporaryDirectory(prefix="xc-graphfuzz-")  # lives as long as the run


@dataclasses.dataclass
class FuzzCase(harness.Case):
    program: object = None
    file: pathlib.Path = None  # of its parameters


def case_of(program):
    """One call for each environment."""
    steps = []
    for data, values in zip(program.data, program.evaluations()):
        steps.append(harness.Step([data[number] for number in program.inputs],
                                  [Expected(values[number]) for number in program.outputs]))
    text, parameters, file = program.text(), ops_state.parameters_of(program), None
    if parameters:
        file = pathlib.Path(SCRATCH.name) / f"{program.name}.safetensors"
        tensors.write_safetensors(file, parameters)
        text = text.replace(ops_state.FILE, str(file))
    return FuzzCase(program.name, text, steps, program=program, file=file)


@dataclasses.dataclass
class Expected:
    """An output with its own idea of what is equal to it; the harness asks `disagreement`."""
    num: bounds.Num

    def disagreement(self, dtype, values):
        if dtype != self.num.dtype or values.shape != self.num.shape:
            return f"expected {self.num.dtype}{list(self.num.shape)}, got {dtype}{list(values.shape)}"
        return bounds.disagreement(self.num, values)
