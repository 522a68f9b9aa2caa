"""What run.py does with programs: how it draws one, what case it makes of it, and what failure is none."""
import dataclasses

import fuzzcase
import generate
import gradients
import refuse


@dataclasses.dataclass(frozen=True)
class Mode:
    draw: object             # seed -> program
    case_of: object          # program -> case, or None where the mode can say nothing of the program; also of smaller ones
    not_counted: str = None  # what the compiler says of programs that it may refuse
    group: int = 32          # programs in one module


MODES = {
    "values": Mode(generate.generate, fuzzcase.case_of),
    "refused": Mode(refuse.draw, refuse.case_of, refuse.NOT_COUNTED),
    # One without a gradient has the others compiled again.
    "gradients": Mode(gradients.draw, gradients.case_of, gradients.NOT_COUNTED, group=4),
}
