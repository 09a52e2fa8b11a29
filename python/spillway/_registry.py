"""What the registry says of algorithms, as Python has it: signatures, documentation, and arguments as text."""

from __future__ import annotations

import inspect
import keyword
import os
from typing import Any

# What every run takes beside the algorithm's own parameters: (type, help).
RUN_OPTIONS: dict[str, tuple[str, str]] = {
    "device": ("str | None", "auto, cpu, cuda or cuda:N (default: auto)"),
    "device_memory": ("int | str | None", "what may be held there, as bytes or '4GiB' (default: what is free)"),
    "threads": ("int | None", "of the CPU (default: all cores)"),
    "method": ("str | None", "where edges are, as `spillway run --method` has it (default: auto)"),
    "deterministic": ("bool", "floating results that are the same bit for bit in every run (default: False)"),
    "progress": ("Progress", "True: a bar of tqdm; or a function of (stage, done, total, unit)"),
}


_MOST_THREADS = 4096


def python_name(name: str) -> str:
    """A name of the registry as Python can write it: per_vertex, from_."""
    name = name.replace("-", "_").replace(" ", "_")
    return name + "_" if keyword.iskeyword(name) else name


def _default(text: str, kind: str) -> Any:
    """A default as Python writes it; a parameter without one is required."""
    if text == "":
        return inspect.Parameter.empty
    if kind == "flag":
        return text == "yes"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


def annotation(text: str, kind: str) -> str:
    """The type of a parameter, by its kind and its default."""
    if kind in ("flag", "source"):
        return {"flag": "bool", "source": "Vertex"}[kind]
    if kind == "vertices":
        return "Vertex | Iterable[Vertex]"
    default = _default(text, kind)
    return "int | str" if isinstance(default, int) else "float | str"


def signature(algorithm: dict) -> inspect.Signature:
    """Without the graph. What is required may be given by position."""
    required, optional = [], []
    for name, _, default, kind in algorithm["parameters"]:
        value = _default(default, kind)
        parameter = inspect.Parameter(
            python_name(name), inspect.Parameter.KEYWORD_ONLY, default=value, annotation=annotation(default, kind)
        )
        if value is inspect.Parameter.empty:
            required.append(parameter.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD))
        else:
            optional.append(parameter)
    for name, (kind, _) in RUN_OPTIONS.items():
        default = False if kind == "bool" else None
        optional.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    returns = "Graph" if algorithm["makes_a_graph"] else "Result"
    return inspect.Signature(required + optional, return_annotation=returns)


def documentation(algorithm: dict) -> str:
    summary = algorithm["summary"][:1].upper() + algorithm["summary"][1:]
    lines = [f"{summary}.", "", "Parameters:"]
    lines += [f"    {python_name(name)}: {text}" for name, text, _, _ in algorithm["parameters"]]
    lines += [f"    {name}: {text}" for name, (_, text) in RUN_OPTIONS.items()]
    if algorithm["columns"]:
        lines += ["", "Columns of the result:"]
        lines += [f"    {name}: {meaning}" for name, meaning, _ in algorithm["columns"]]
    if algorithm["reference"]:
        lines += ["", f"Reference: {algorithm['reference']}"]
    return "\n".join(lines)


def arguments(algorithm: dict, ids: Any, given: tuple, named_values: dict) -> tuple[dict, dict]:
    """What is given as the core takes it: values of parameters, and options of the run."""
    try:
        bound = algorithm["signature"].bind(*given, **named_values).arguments
    except TypeError as error:
        raise TypeError(f"{algorithm['name']}: {error}") from None
    values = {}
    for name, _, default, kind in algorithm["parameters"]:
        value = bound.get(python_name(name))
        if value is not None:
            values[name] = _as_text(algorithm["name"], name, default, kind, value, ids)
    return values, run_options({name: bound[name] for name in RUN_OPTIONS if bound.get(name) is not None})


def run_options(options: dict) -> dict:
    threads = options.get("threads")
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise ValueError(f"threads is {threads!r}; it must be a whole number from 1")
    if threads is not None and threads > _MOST_THREADS:
        raise ValueError(f"threads is {threads}; at most {_MOST_THREADS} make sense")
    for name in ("device", "method"):
        if not isinstance(options.get(name, ""), str):
            raise TypeError(f"{name} is {options[name]!r}; it must be a string")
    return options


def _as_text(owner: str, name: str, default: str, kind: str, value: Any, ids: Any) -> Any:
    """A value as a person would type it; lists of vertices stay lists."""
    if kind == "flag":
        if not isinstance(value, bool):
            raise TypeError(f"{owner}: {name} is {value!r}; it must be True or False")
        return "yes" if value else "no"
    if kind == "source":
        return ids.text(value, owner, name)
    if kind == "vertices":
        if isinstance(value, str) and value == default:
            return value
        several = hasattr(value, "__iter__") and not isinstance(value, (str, tuple))
        return [ids.text(each, owner, name) for each in (value if several else [value])]
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    number = value.item() if hasattr(value, "item") else value  # NumPy's scalars
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise TypeError(f"{owner}: {name} is {value!r}; it must be a number or a word")
    return repr(number)
