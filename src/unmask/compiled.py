"""Loops that numba compiles: two decorators for all of them, and machine code that is kept for its user alone.

Kept code is loaded by unpickling it, so whoever can write it runs as the user. It lies in a folder of the user's own,
`unmask/loops` below the system's place for caches (or below NUMBA_CACHE_DIR); one that others own or can write is not used. Each
version of the sources, of numba and of Python has a folder of its own there: code of another version is never looked at.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

from unmask.files import OWNER_FOLDER, shown

Loop = TypeVar("Loop", bound=Callable[..., Any])

KEPT_VERSIONS = 6  # folders of versions; what was not used for longest goes first
TRIED_NUMBA = "0.68."  # kept code of this version needs no more than `_loaded` gives it (tests/test_compiled.py)
_NAME = re.compile(r"[^/\\]*-numba[^/\\]*-py\d+-[0-9a-f]{16}")
_listening: list[Callable[[str], None]] = []  # whoever hears that something is compiled
_said: list[str] = []  # what they heard: once is enough


def njit(**options: Any) -> Callable[[Loop], Loop]:
    """Numba's decorator of this name; with `cache=True`, what it compiles is kept as this module says."""

    def compiled(function: Loop) -> Loop:
        import numba

        kept, way = options.get("cache", False), {}
        if options.get("no_cpython_wrapper") and (compiler := _compiler_of_inner_loops()):
            way["pipeline_class"] = compiler
        made = numba.njit(**{**options, **way, "cache": False, "no_cfunc_wrapper": True})(function)
        if kept and hasattr(made, "_cache"):  # not where NUMBA_DISABLE_JIT is set
            made._cache = _KeptLoop(function)
        return made

    return compiled


def inner(**options: Any) -> Callable[[Loop], Loop]:
    """For loops that only other loops call: Python cannot, and their code is kept within that of their callers.

    The way in from Python is a large part of what there is to compile in a small loop, and so is machine code of its own.
    """
    return njit(nogil=True, no_cpython_wrapper=True, **options)


@cache
def _compiler_of_inner_loops() -> type | None:
    """Numba's compiler, but for its last steps: what is called from loops alone is optimised and made machine code within these.

    Numba does both for every function and again for its callers, into which it copies it: a fifth of a first run. None where
    this version of numba has other steps than those that are passed over here: its own way is slower, nothing else.
    """
    try:
        from numba.core.codegen import JITCodeLibrary
        from numba.core.compiler import Compiler
    except ImportError:
        return None
    steps = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals", "get_pointer_to_function")
    if not all(hasattr(JITCodeLibrary, step) for step in steps):
        return None

    class Nowhere:
        """In place of the machine code of a function: there is none, so no address of anything in it can be noted."""

        def set_env(self, name: str, env: Any) -> None:
            """Environments are for functions that Python calls."""

    class InnerLibrary(JITCodeLibrary):
        codegen = Nowhere()

        def _optimize_final_module(self) -> None:
            """Its callers are optimised, and it with them."""

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0  # what numba has for a function without a way in from Python

    class InnerCompiler(Compiler):
        def define_pipelines(self) -> Any:
            state = self.state
            state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
            return super().define_pipelines()

    return InnerCompiler


def tell(say: Callable[[str], None] | None) -> None:
    """Have somebody hear that something is compiled, once in the life of a process; None: nobody."""
    _listening[:] = [] if say is None else [say]


class _KeptLoop:
    """Stands where numba has the cache of a function. What cannot be read, whatever the reason, is compiled anew."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @property
    def cache_path(self) -> str | None:
        path: str | None = self._cache.cache_path
        return path

    @cached_property
    def _cache(self) -> Any:
        """Made when it is needed first: importing a loop costs no look at the disk."""
        import numba
        from numba.core.caching import FunctionCache, NullCache

        place, _ = loops_folder()
        if place is None:
            return NullCache()
        config: Any = numba.config
        before, config.CACHE_DIR = config.CACHE_DIR, str(place)
        try:
            made = FunctionCache(self._function)
        except (OSError, RuntimeError):
            return NullCache()
        finally:
            config.CACHE_DIR = before
        return made if place in Path(made.cache_path).parents else NullCache()  # numba looks elsewhere if it fails

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = _loaded(self._cache, sig, target_context)
            if found is not None and tuple(found.signature.args) == tuple(getattr(sig, "args", sig)):
                return found
        except Exception:  # noqa: BLE001 - a file that was cut off, or says names that are gone, raises anything
            with suppress(Exception):
                self._cache.flush()
        if _listening and not _said:
            _said.append(_compiling())
            _listening[0](_said[0])
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):  # a full disk is no reason to stop
            self._cache.save_overload(sig, data)

    def enable(self) -> None:
        self._cache.enable()

    def disable(self) -> None:
        self._cache.disable()

    def flush(self) -> None:
        self._cache.flush()


def _loaded(kept: Any, sig: Any, target_context: Any) -> Any:
    """What was kept of a loop, or None.

    Numba first learns how to compile everything, which takes a fifth of a second. Code that is compiled already needs no more of
    it than the functions that it calls, those that count references; but where one is missing the process ends, so this is for
    versions in which it was tried.
    """
    import numba
    from numba.core.runtime import rtsys

    straight = getattr(kept, "_load_overload", None)  # there is none where nothing is kept
    if straight is None or not numba.__version__.startswith(TRIED_NUMBA):
        return kept.load_overload(sig, target_context)
    rtsys.initialize(target_context)
    return straight(sig, target_context)


def _compiling() -> str:
    place, why = loops_folder()
    if place is not None:
        return f"Compiling loops (once for this version, about 10 s); they are kept in {shown(place.parent)}."
    return f"Compiling loops (about 10 s, each time: {why}; NUMBA_CACHE_DIR can name another place)."


@cache
def loops_folder() -> tuple[Path | None, str]:
    """The folder for this version of everything, made if need be; or None, and why there is none."""
    root, mine = _root()
    if root is None:
        return None, "there is no folder for caches"
    folder = root / _version()
    try:
        if mine and not root.parent.exists() and not _is_ours(_first_there(root.parent).stat()):
            return None, f"{shown(root.parent)} would lie in a folder of somebody else"  # sudo with the home of another
        for each in (root, folder) if mine else (folder,):
            each.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                each.mkdir(mode=OWNER_FOLDER)
            if not _is_safe(os.lstat(each)):
                return None, f"{shown(each)} is not a folder of yours alone"
        os.utime(folder)
    except OSError as problem:
        readable = os.path.isdir(folder)
        return (folder, "") if readable else (None, f"{shown(root)} cannot be made ({problem.strerror})")
    if not os.access(folder, os.W_OK):
        return folder, ""
    _forget_oldest(root)
    return folder, ""


def _root() -> tuple[Path | None, bool]:
    """Where folders of versions lie, and whether this is our own choice."""
    if named := os.environ.get("NUMBA_CACHE_DIR", ""):
        return Path(named).absolute(), False
    with suppress(RuntimeError):  # no home
        if sys.platform == "win32":
            caches = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            caches = Path.home() / "Library" / "Caches"
        else:
            asked = os.environ.get("XDG_CACHE_HOME", "")
            caches = Path(asked) if os.path.isabs(asked) else Path.home() / ".cache"
        return caches / "unmask" / "loops", True
    return None, True


def _first_there(path: Path) -> Path:
    return next(each for each in (path, *path.parents) if each.exists())


def _is_ours(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def _is_safe(found: os.stat_result) -> bool:
    """A folder, no link, that only its owner can write: this user, or the system's, who installs programs anyway."""
    if not hasattr(os, "geteuid"):
        return stat.S_ISDIR(found.st_mode)  # Windows: below the profile, whose rights it has
    ours = found.st_uid in (os.geteuid(), 0)
    return stat.S_ISDIR(found.st_mode) and ours and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _version() -> str:
    """Names this version: all files with loops by their content, numba, Python."""
    from unmask.versions import version_of

    digest = hashlib.sha256()
    package = Path(__file__).parent
    for name in _sources(str(package)):
        with open(name, "rb", buffering=0) as file:
            content = file.read()
        if b"unmask.compiled import" in content:
            digest.update(os.path.relpath(name, package).encode() + b"\0" + content)
    digest.update(Path(__file__).read_bytes())
    python = f"py{sys.version_info[0]}{sys.version_info[1]}"
    return f"{version_of('unmask')}-numba{version_of('numba')}-{python}-{digest.hexdigest()[:16]}"


def _sources(folder: str) -> list[str]:
    """All Python files below a folder, in order."""
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [os.path.join(place, name) for name in files if name.endswith(".py")]
    return sorted(found)


def _forget_oldest(root: Path) -> None:
    """Remove the folders of versions that were not used for longest."""
    with suppress(OSError):
        found = [each for each in os.scandir(root) if _NAME.fullmatch(each.name) and each.is_dir(follow_symlinks=False)]
        for old in sorted(found, key=lambda each: each.stat().st_mtime, reverse=True)[KEPT_VERSIONS:]:
            shutil.rmtree(old.path, ignore_errors=True)
