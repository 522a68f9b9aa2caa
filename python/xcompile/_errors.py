"""What the package raises."""


class Error(RuntimeError):
    """The runtime refused something. `code` is its name in xcr.h: "NOT_FOUND", "OUT_OF_MEMORY", ..."""

    code = "INTERNAL"


class ArgumentError(Error, ValueError):
    """An array does not fit: its type, shape, strides, device or alignment."""

    code = "INVALID_ARGUMENT"
