"""From whatever holds ids or weights to what the core takes: arrays of 32 or 64 bits, or lists of strings.

Arrays are taken as they lie; a copy is made only of other types, of other byte orders and of other devices.
"""

from __future__ import annotations

import contextlib
from typing import Any

from .errors import BadInput, UsageError

_DLPACK_CPU = 1


def _on_host(values: Any) -> Any:
    """An array of a GPU (CuPy, Torch), copied to the host; others as they are."""
    device = getattr(values, "__dlpack_device__", None)
    if device is None or device()[0] == _DLPACK_CPU:
        return values
    for copy in ("get", "cpu"):  # CuPy's, Torch's
        if hasattr(values, copy):
            return getattr(values, copy)()
    return values


def as_numpy(values: Any) -> Any:
    import numpy as np

    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise BadInput(f"{np.ma.count_masked(values)} entries of an array are masked; edges have two ends, and weights a value")
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    values = _on_host(values)
    if type(values).__module__.startswith("pyarrow"):
        return _arrow_as_numpy(values)
    if hasattr(values, "to_numpy"):  # pandas, polars
        return values.to_numpy()
    if hasattr(values, "__array__") or not hasattr(values, "__dlpack__"):
        return np.asarray(values)
    return np.from_dlpack(values)


def _arrow_as_numpy(values: Any) -> Any:
    if hasattr(values, "combine_chunks"):
        values = values.combine_chunks()
    if hasattr(values, "dictionary_decode"):  # categories
        values = values.dictionary_decode()
    return values.to_numpy(zero_copy_only=False)


def _one_dimension(array: Any, what: str) -> Any:
    if array.ndim != 1:
        raise ValueError(f"{what} has {array.ndim} dimensions; one id an edge is expected, in one dimension")
    return array


def _objects(values: list, what: str) -> Any:
    """Ids of a list: all strings, or all whole numbers."""
    import numpy as np

    types = set(map(type, values))  # in no time, for what is usual
    if types == {str}:
        return values
    if types <= {int}:
        with contextlib.suppress(OverflowError):
            return np.array(values, dtype=np.int64)
    names = isinstance(values[0], str)
    for place, value in enumerate(values):
        if not isinstance(value, str if names else (int, np.integer)) or isinstance(value, bool):
            raise TypeError(f"{what} {place} is {value!r}; ids are whole numbers or strings, all of one kind")
    if names:
        return values
    if min(values) < 0:
        place = next(place for place, value in enumerate(values) if value < 0)
        raise BadInput(f"{what} {place} is {values[place]}: ids are not negative")
    if max(values) >= 2**64:
        raise BadInput(f"{what}: {max(values)} is too large; ids are below 2**64")
    return np.array(values, dtype=np.uint64)


def ids(values: Any, what: str) -> Any:
    """Ids as the core takes them: a list of strings, or an array of 32 or 64 bits."""
    import numpy as np

    is_array = any(hasattr(values, name) for name in ("__array__", "__dlpack__", "__buffer__", "to_numpy"))
    if isinstance(values, (str, bytes)) or not (is_array or hasattr(values, "__iter__")):
        raise TypeError(f"{what} is {type(values).__name__}; a sequence of ids is expected")
    if not is_array and not isinstance(values, (memoryview, bytearray)) and type(values).__name__ != "array":
        return _objects(list(values), what)
    array = _one_dimension(as_numpy(values), what)
    kind = array.dtype.kind
    if kind in "iu":
        return _as_wide(array)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if kind in "UTO":
        return _objects(array.tolist(), what)
    if kind == "S":
        return [value.decode("utf-8", "surrogateescape") for value in array.tolist()]
    advice = "; array.astype('int64') makes such of them" if kind == "f" else ""
    raise TypeError(f"{what} is an array of {array.dtype}; ids are whole numbers or strings{advice}")


def _as_wide(array: Any) -> Any:
    """With 32 or 64 bits in the order of this machine, and whole entries between two of them."""
    sizes = {1: 4, 2: 4}
    size = sizes.get(array.dtype.itemsize, array.dtype.itemsize)
    array = array.astype(f"{array.dtype.kind}{size}", copy=False)
    return array if array.strides[0] % size == 0 else array.copy()


def same_type(*columns: Any) -> list:
    """Number arrays of one type; None and lists of strings stay."""
    import numpy as np

    arrays = [column for column in columns if isinstance(column, np.ndarray) and column.size > 0]
    types = {array.dtype for array in arrays}
    if len(types) < 2:
        return list(columns)
    wide = "int64" if all(array.dtype.kind == "i" or array.dtype.itemsize < 8 for array in arrays) else "uint64"
    return [_widened(column, wide) if isinstance(column, np.ndarray) else column for column in columns]


def _widened(array: Any, wide: str) -> Any:
    if wide == "uint64" and array.dtype.kind == "i" and array.size > 0 and array.min() < 0:
        raise BadInput(f"an id is {array.min()}: ids are not negative")
    return array.astype(wide, copy=False)


def weights(values: Any, weight_type: str | None = None) -> Any:
    """Weights as they are kept: uint32 where all are whole, float32 otherwise, side by side."""
    import numpy as np

    if weight_type not in (None, "none", "u32", "f32"):
        raise UsageError(f"weight_type is one of none, u32 and f32, not {weight_type!r}")
    if values is None or weight_type == "none":
        return None
    if not hasattr(values, "__len__") and hasattr(values, "__iter__"):
        values = list(values)
    array = as_numpy(values)
    if array.ndim != 1:
        raise ValueError(f"weight has {array.ndim} dimensions; one weight an edge is expected")
    if array.size == 0:
        return np.zeros(0, np.float32 if array.dtype.kind == "f" and weight_type != "u32" else np.uint32)
    if array.dtype.kind not in "iufb":
        raise TypeError(f"weight is an array of {array.dtype}; weights are numbers")
    if weight_type == "f32" or (weight_type is None and not _fits_whole(array)):
        return _as_floats(array)
    if not _fits_whole(array) or array.min() < 0:
        raise BadInput("weight_type 'u32' is for whole numbers from 0 to 4294967295; 'f32' takes others")
    return np.ascontiguousarray(array, dtype=np.uint32)


def _fits_whole(array: Any) -> bool:
    """Whether these are whole numbers; Error of those that neither 32 bits nor a float holds."""
    if array.dtype.kind == "f" or array.min() < 0:
        return False
    if array.max() >= 2**32:
        raise BadInput(
            f"weight {array.max()} does not fit 32 bits (at most 4294967295); "
            "weight_type='f32' keeps about 7 digits of it"
        )
    return True


def _as_floats(array: Any) -> Any:
    import numpy as np

    with np.errstate(over="ignore", under="ignore"):
        floats = np.ascontiguousarray(array, dtype=np.float32)
    if ((floats == 0) & (array != 0)).any():
        place = int(np.flatnonzero((floats == 0) & (array != 0))[0])
        raise BadInput(f"weight {place} is {array[place]}, which a 32-bit float does not tell from 0")
    if not np.isfinite(floats).all():
        place = int(np.flatnonzero(~np.isfinite(floats))[0])
        raise BadInput(f"weight {place} is {array[place]}, which is no finite 32-bit float")
    return floats
