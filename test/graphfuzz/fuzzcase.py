"""Programs as cases of the end-to-end harness."""
import dataclasses

import bounds
import harness


@dataclasses.dataclass
class FuzzCase(harness.Case):
    program: object = None


def case_of(program):
    """One call for each environment."""
    steps = []
    for environment, data in zip(program.environments, program.data):
        values = program.evaluate(environment, data)
        steps.append(harness.Step([data[number] for number in program.inputs],
                                  [Expected(values[number]) for number in program.outputs]))
    return FuzzCase(program.name, program.text(), steps, program=program)


@dataclasses.dataclass
class Expected:
    """An output with its own idea of what is equal to it; the harness asks `disagreement`."""
    num: bounds.Num

    def disagreement(self, dtype, values):
        if dtype != self.num.dtype or values.shape != self.num.shape:
            return f"expected {self.num.dtype}{list(self.num.shape)}, got {dtype}{list(values.shape)}"
        return bounds.disagreement(self.num, values)
