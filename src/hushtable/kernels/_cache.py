# mypy: allow-untyped-calls
"""Where compiled kernels are kept and how they are loaded: the one place that knows private names of numba.

Differences from numba's own cache: an entry is valid while *all* kernels and the compiler's settings stay the same,
since kernels are compiled into one another; the cache beside the source is read even where it cannot be written, as in
a warmed image; a kernel is loaded without starting the compiler, which takes a third of a second in each process.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import config, types

_LOGGER = logging.getLogger("hushtable.kernels")

try:
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, InTreeCacheLocator
    from numba.core.runtime.nrt import rtsys
except ImportError:
    KernelCache: Any = None
else:

    class _Anyway(InTreeCacheLocator):
        """A cache beside the source, even where it cannot be written."""

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> _Anyway:
            return cls(py_func, py_file)

    class _Kept(CompileResultCacheImpl):
        _locator_classes = [*CompileResultCacheImpl._locator_classes, _Anyway]  # noqa: RUF012

    class KernelCache(FunctionCache):  # type: ignore[no-redef]
        """The cache of one kernel's compiled forms."""

        _impl_class = _Kept

        def __init__(self, py_func: Any) -> None:
            super().__init__(py_func)
            stamp = _hash_kernels()
            folder = Path(py_func.__code__.co_filename).parent / "__pycache__"
            self._cache_file._source_stamp = stamp
            self._name = py_func.__name__
            self._beside = IndexDataCacheFile(str(folder), self._impl.filename_base, stamp)

        @property
        def is_kept(self) -> bool:
            """Whether a compiled form of the kernel can be loaded."""
            for cache_file in (self._cache_file, self._beside):
                with suppress(Exception):
                    if cache_file._load_index():
                        return True
            return False

        def load_overload(self, sig: object, target_context: Any) -> Any:
            rtsys.initialize(target_context)
            compiled = None
            key = self._index_key(sig, target_context.codegen())
            for cache_file in (self._cache_file, self._beside):
                # An entry of an earlier version may name classes that no longer exist: it cannot be read.
                with suppress(Exception):
                    compiled = cache_file.load(key)
                if compiled is not None:
                    return self._impl.rebuild(target_context, compiled)
            _LOGGER.info("%s", self._name)
            target_context.refresh()  # for the compiler, which is needed now
            return None

        def save_overload(self, sig: object, data: object) -> None:
            with suppress(OSError):
                try:
                    super().save_overload(sig, data)
                except OSError:
                    raise
                except Exception:
                    # The index cannot be read: start a new one.
                    self.flush()
                    super().save_overload(sig, data)


@functools.cache
def _hash_kernels() -> str:
    """Return a hash of the sources of all kernels, and of how they are compiled."""
    content = hashlib.sha256(repr((config.BOUNDSCHECK, config.OPT)).encode())  # type: ignore[attr-defined]
    for path in sorted(Path(__file__).parent.glob("*.py")):
        content.update(path.name.encode())
        content.update(path.read_bytes())
    return content.hexdigest()


def cache_on_disk(compiled: Any) -> Any:
    """Cache a compiled kernel on disk for later processes; return a function that is not compiled as it is."""
    if KernelCache is not None and hasattr(compiled, "_cache"):
        compiled._cache = KernelCache(compiled.py_func)
    elif hasattr(compiled, "enable_caching"):
        with suppress(RuntimeError):  # nothing can be written anywhere
            compiled.enable_caching()
    return compiled


def ignore_literals(compiled: Any) -> Any:
    """Let kernels that call this one with a constant share the form for its type: numba compiles one per constant."""
    if hasattr(compiled, "get_call_template"):
        resolve = compiled.get_call_template

        def resolve_types(args: tuple[object, ...], kws: dict[str, object]) -> object:
            return resolve([*map(_type_of_literal, args)], {name: _type_of_literal(kws[name]) for name in kws})

        compiled.get_call_template = resolve_types
    return compiled


def _type_of_literal(kind: object) -> object:
    """Return the type of a constant, or of a tuple with constants; other types as they are."""
    return types.Tuple([*map(types.unliteral, kind)]) if isinstance(kind, types.Tuple) else types.unliteral(kind)
