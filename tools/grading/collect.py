"""Whose notebook is it: names as Moodle, Canvas and a plain folder give them.

Moodle   Anna Ek_1234_assignsubmission_file_/any name.ipynb, or in one name
Canvas   ekanna_LATE_1234_56789_any name.ipynb
folder   Anna Ek/any name.ipynb, or Anna Ek.ipynb
"""

import contextlib
import io
import os
import re
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tools.grading import cells

LARGEST = 120 * 2**20                   # bytes of a file that is read
TOO_LARGE = "larger than 120 MB"
DEEPEST = 3                             # archives in archives
MOODLE = re.compile(r"([^_]*)_(\d+)_assignsubmission_[a-z]+(?:_.*)?")
CANVAS = re.compile(
    r"(?:([^\W\d_][^\W_]*)_(?:LATE_)?(\d{2,})|(?:LATE_)?(anon_[^\W_]+))"
    r"_\d{2,}_.+")
LEFT_BY_SYSTEMS = re.compile(r"(^|/)(\.|__MACOSX/|~)")
COPIED = re.compile(r"^(Copy of|Kopie von|Copie de|Copia de) |"
                    r"[ _-]*\(\d+\)$|[ _-]+(copy|copie|Kopie)$", re.IGNORECASE)


Files = list[tuple[str, cells.Submitted | str]]
Found = Iterator[tuple[str, bytes | str]]


@dataclass
class Submission:
    """What one person handed in: notebooks, or why they cannot be read."""
    platform: str
    id: str                             # the person's number there, or ""
    person: str
    page: str                           # what the platform knows a file by
    files: Files = field(default_factory=list)


def collect(source: str | Path) -> list[Submission]:
    """The submissions in a folder or a zip archive, by name.

    Of notebooks the cells alone are kept, not the pictures. Raises ValueError.
    """
    found: dict[tuple[str, str], Submission] = {}
    for path, data in files(Path(source)):
        platform, number, person, page = owner(path)
        key = platform, number or person.casefold()
        one = found.setdefault(key, Submission(platform, number, person, page))
        if isinstance(data, str):
            one.files.append((path, data))
        elif path.lower().endswith(".ipynb"):
            try:
                one.files.append((path, cells.read(data)))
            except cells.NotANotebook as why:
                one.files.append((path, str(why)))
    return sorted(found.values(), key=lambda one: (one.person.casefold(),
                                                   one.id))


def files(source: Path) -> Found:
    """(path below `source`, bytes) of each file, archives opened."""
    if source.is_file():
        if not zipfile.is_zipfile(source):
            raise ValueError(f"{source} is neither a folder nor a zip archive")
        with zipfile.ZipFile(source) as archive:
            roots = {entry(info).partition("/")[0] for info in wanted(archive)}
        inside = len(roots) == 1 and not MOODLE.fullmatch(*roots)
        for name, data in unpacked(source):
            _, _, below = name.partition("/")
            yield from opened(below if inside and below else name, data)
        return
    if not source.is_dir():
        raise ValueError(f"{source} does not exist")
    for path in sorted(source.rglob("*")):
        name = decoded(os.fsencode(path.relative_to(source).as_posix()))
        if (path.is_file() and not path.is_symlink()
                and not LEFT_BY_SYSTEMS.search(name)):
            small = path.stat().st_size <= LARGEST
            yield from opened(name, path.read_bytes() if small else TOO_LARGE)


def wanted(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Its files, without what systems put in."""
    return [info for info in archive.infolist() if not info.is_dir()
            and not LEFT_BY_SYSTEMS.search(entry(info))]


def unpacked(file: Path | io.BytesIO) -> Found:
    """The files of a zip archive. Nothing is written to the disk."""
    with zipfile.ZipFile(file) as archive:
        for info in wanted(archive):
            small = info.file_size <= LARGEST
            yield entry(info), archive.read(info) if small else TOO_LARGE


def opened(name: str, data: bytes | str, depth: int = 0) -> Found:
    """A file; or, of an archive that a student handed in, its files."""
    if isinstance(data, str) or name.lower().endswith(".ipynb") or (
            not zipfile.is_zipfile(io.BytesIO(data))):
        yield name, data
        return
    inside, size = [], 0
    try:
        for path, content in unpacked(io.BytesIO(data)):
            size += len(content)
            if size > LARGEST or depth == DEEPEST:
                raise ValueError(TOO_LARGE)
            inside.append((f"{name.removesuffix('.zip')}/{path}", content))
    except Exception as error:          # whatever a student calls an archive
        yield name, f"an archive that cannot be read: {error}"
        return
    for path, content in inside:
        yield from opened(path, content, depth + 1)


def decoded(name: bytes) -> str:
    """A file's name, in UTF-8 or as old systems write it."""
    try:
        text = name.decode("utf-8")
    except UnicodeDecodeError:
        text = name.decode("latin-1")
    return unicodedata.normalize("NFC", text)


def entry(info: zipfile.ZipInfo) -> str:
    """Its name; many programs write UTF-8 without saying so."""
    name = info.filename
    if not info.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return unicodedata.normalize("NFC", name)


def owner(path: str) -> tuple[str, str, str, str]:
    """(platform, number there, person, what a page for them is called)."""
    parts = PurePosixPath(path).parts
    for part in parts:
        if known := MOODLE.fullmatch(part):
            person, number = known.groups()
            if person == "Participant":
                person = f"Participant {number}"
            return ("moodle", number, person,
                    f"{known[1]}_{number}_assignfeedback_file_")
    if known := CANVAS.fullmatch(parts[0]):
        number = known[2] or known[3]
        return ("canvas", number, known[1] or number,
                f"{parts[0].rpartition('.')[0]} ")
    person = parts[0] if len(parts) > 1 else tidy(
        PurePosixPath(path).stem)
    return "folder", "", person, f"{person} "


def tidy(stem: str) -> str:
    """A file's name without what browsers, Colab and this course put in."""
    name, before = stem, ""
    while before != name:
        before, name = name, COPIED.sub("", name).strip(" _-")
    return re.sub(r"^\d\d_[a-z_]+?(?=[A-Z]|__|-| |$)", "", name).strip(
        " _-") or stem


def version(path: str) -> tuple[int, str]:
    """Later copies come later: "x (2).ipynb" after "x (1).ipynb"."""
    number = re.search(r"\((\d+)\)|-(\d+)\.ipynb$", path)
    return int(number[1] or number[2]) if number else 0, path
