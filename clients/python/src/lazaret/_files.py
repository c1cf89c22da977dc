# SPDX-License-Identifier: MIT
"""Files for the code, and the artifacts that it makes.

Files go with the code, in the message that executes it, or in parts before it; of one that is too
large no more is read than there is room for. Artifacts come in parts. Their names come from the
code: the server has checked them, and `Artifact.save` relies on that as little as it can.
"""

import base64
import hashlib
import io
import os
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Dict, Iterable, Iterator, List, Mapping, Optional, Union

from ._results import LazaretError, WorkerLost
from ._server import Message, Server

Path = Union[str, "os.PathLike[str]"]
Data = Union[bytes, bytearray, memoryview, Path]  # a text is the path of a file
Files = Mapping[str, Data]
Input = Union[str, bytes, bytearray, memoryview]  # a text is what is read, as UTF-8

FILE_ERRORS = frozenset(["LAZ_EINVAL", "LAZ_EOS", "LAZ_ETOOBIG"])  # of one that cannot be put
MOST_FILES = 64  # of an execution
INPUT = ".stdin"  # the file that is the standard input of an execution
PART_BYTES = 192 << 10  # of a file in one message; a multiple of 3
_NAMES = 1000  # that are tried for one artifact
_PNG = b"\x89PNG\r\n\x1a\n"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


# ---- files in -----------------------------------------------------------------------------------


def _open(name: str, data: Data) -> BinaryIO:
    if not isinstance(name, str):
        raise TypeError("the name of a file must be a text")
    if "\0" in name:
        raise ValueError("the name of a file cannot contain a NUL character")
    return open(data, "rb") if isinstance(data, (str, os.PathLike)) else io.BytesIO(data)


def parts_of(name: str, data: Data) -> Iterator[Dict[str, Any]]:
    """The messages `put` of a file, but for the session; each has to be answered first."""
    with _open(name, data) as stream:
        piece, number, more = stream.read(PART_BYTES), 0, True
        while more:
            following = stream.read(PART_BYTES)
            more = bool(following)
            yield {"type": "put", "name": name, "part": number, "more": more,
                   "data": base64.b64encode(piece).decode("ascii")}
            piece, number = following, number + 1


def add_files(message: Message, files: Files, server: Server) -> bool:
    """Add the files to an `execute`, for whose line they may be too many or too large: False."""
    room = server.room_for(message)
    given: List[Dict[str, str]] = []
    for name, data in files.items():
        with _open(name, data) as stream:
            content = stream.read(max(room, 0) + 1)
        room -= server.size_of({"name": name, "data": ""}) + (len(content) + 2) // 3 * 4
        if room < 0 or len(given) == MOST_FILES:
            return False
        given.append({"name": name, "data": base64.b64encode(content).decode("ascii")})
    message["files"] = given
    return True


def with_input(message: Message, files: Optional[Files], given: Optional[Input]) -> Optional[Files]:
    """The files of an `execute` and its standard input, which is one of them."""
    if given is None:
        return files
    if not isinstance(given, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"input must be a text or bytes, not {type(given).__name__}")
    if files and INPUT in files:
        raise ValueError(f"{INPUT!r} is the file of the input")
    message["input"] = INPUT
    return {**(files or {}), INPUT: given.encode("utf-8") if isinstance(given, str) else given}


def too_large(server: Server) -> ValueError:
    """The error for files that do not go with the code, where there is no session to put them."""
    return ValueError(f"the files do not fit: an execution takes at most {MOST_FILES}, with its "
                      f"code in a message of {server.max_line} bytes; a session takes larger ones")


# ---- artifacts out ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Artifact:
    """A file that the code has saved below `artifacts/`, or a figure that it has drawn."""

    name: str  # with slashes, where it is in a directory
    type: str  # "image/png", ...
    size: int  # in bytes
    sha256: str
    data: Optional[bytes] = field(default=None, repr=False)  # None: not asked for, or dropped
    dropped: bool = False  # were its bytes left out, because this program did not read?

    def save(self, directory: Path) -> str:
        """Write it into a directory, which is made if it is missing; returns its path.

        A file that is there is not changed: another name is taken, "plot-2.png" for "plot.png".
        No link below the directory is followed: where one stands in the way, that is an OSError.
        """
        if self.data is None:
            why = "this program was too slow to read it" if self.dropped else "it was not asked for"
            raise LazaretError(f"the artifact {self.name!r} has no data: {why}")
        *above, last = self.name.split("/")
        if any(part in ("", ".", "..") or "\0" in part for part in (*above, last)):
            raise LazaretError(f"{self.name!r} is not a name below a directory")
        os.makedirs(directory, exist_ok=True)
        inner = _open_below(directory, above)
        try:
            return os.path.join(directory, *above, _write_new(inner, last, self.data))
        finally:
            os.close(inner)

    def _repr_png_(self) -> Optional[bytes]:
        """The picture, for notebooks."""
        is_png = self.type == "image/png" and self.data is not None
        return self.data if is_png and self.data and self.data.startswith(_PNG) else None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, str]:
        bundle = {"text/plain": repr(self)}
        picture = self._repr_png_()
        if picture is not None:
            bundle["image/png"] = base64.b64encode(picture).decode("ascii")
        return bundle


def _open_below(directory: Path, names: Iterable[str]) -> int:
    """Open a directory below another one; those that are missing are made."""
    inner = os.open(directory, _DIRECTORY)
    for name in names:
        outer = inner
        try:
            try:
                os.mkdir(name, dir_fd=outer)
            except FileExistsError:
                pass
            inner = os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=outer)
        finally:
            os.close(outer)
    return inner


def _write_new(directory: int, name: str, data: bytes) -> str:
    """Write a file that is not there yet; returns the name that it has got."""
    stem, dot, ending = name.rpartition(".")
    if not dot:
        stem, ending = name, ""
    for number in range(1, _NAMES + 1):
        tried = name if number == 1 else f"{stem}-{number}{dot}{ending}"
        try:
            made = os.open(tried, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666,
                           dir_fd=directory)
        except FileExistsError:
            continue
        try:
            with open(made, "wb") as stream:
                stream.write(data)
        except BaseException:
            os.unlink(tried, dir_fd=directory)
            raise
        return tried
    raise FileExistsError(f"there are {_NAMES} files with names like {name!r}")


def _wrong(what: str) -> WorkerLost:
    return WorkerLost(f"the server has broken its protocol: {what}")


def _join(messages: Iterable[Dict[str, Any]]) -> Dict[str, Optional[bytes]]:
    """The bytes of artifacts by name; None for one that was left out."""
    parts: Dict[str, List[bytes]] = {}
    joined: Dict[str, Optional[bytes]] = {}
    for message in messages:
        name = message["name"]
        if name in joined:
            raise _wrong(f"the artifact {name!r} has a part after its last one")
        if "data" not in message:
            joined[name] = None
            continue
        pieces = parts.setdefault(name, [])
        if message.get("part", 0) != len(pieces):
            raise _wrong(f"the artifact {name!r} lacks part {len(pieces)}")
        try:
            pieces.append(base64.b64decode(message["data"], validate=True))
        except ValueError as error:
            raise _wrong(f"the artifact {name!r} is not base64") from error
        if not message.get("more"):
            joined[name] = b"".join(parts.pop(name))
    return joined


def _make(listed: Dict[str, Any], joined: Dict[str, Optional[bytes]],
          is_wanted: bool) -> Artifact:
    name, size, digest = listed["name"], listed["size"], listed["sha256"]
    if is_wanted and name not in joined:
        raise _wrong(f"the artifact {name!r} has not come as a whole")
    data = joined.pop(name, None)
    if data is not None and len(data) != size:
        raise _wrong(f"the artifact {name!r} has {len(data)} bytes instead of {size}")
    if data is not None and hashlib.sha256(data).hexdigest() != digest:
        raise _wrong(f"the artifact {name!r} has not the SHA-256 that was announced")
    return Artifact(name, listed["type"], size, digest, data, is_wanted and data is None)


def artifacts_of(raw: Dict[str, Any], messages: Iterable[Dict[str, Any]],
                 is_wanted: bool) -> List[Artifact]:
    """The artifacts that a result lists, with the bytes of messages `artifact`."""
    try:
        joined = _join(messages)
        made = [_make(listed, joined, is_wanted) for listed in raw.get("artifacts") or ()]
    except (KeyError, TypeError, AttributeError) as error:
        raise _wrong(f"an artifact lacks a member, or has a wrong one ({error})") from error
    if joined:
        raise _wrong(f"the result does not list the artifact {next(iter(joined))!r}")
    return made
