"""What can go wrong. Every exception of Spillway is an `Error`, and one of Python's own kinds."""

from __future__ import annotations


class Error(Exception):
    """Anything that Spillway refuses or fails at."""


class UsageError(Error, ValueError):
    """A wrong argument: what it may be is in the message."""


class BadInput(Error, ValueError):
    """A file, an array or an id that cannot be used."""


class MissingFile(FileNotFoundError, BadInput):
    """There is no such file."""


class DoesNotFit(Error, MemoryError):
    """More memory would be needed than there is, or than was allowed."""


class DeviceError(Error, RuntimeError):
    """A GPU that cannot be used for what was asked."""


class ClosedError(Error, ValueError):
    """The graph was closed, or made by the process that this one was forked from."""
