"""Whose notebook is it: names as Moodle, Canvas and a plain folder give them.

Moodle   Anna Ek_1234_assignsubmission_file_/any name.ipynb, or in one name
Canvas   ekanna_LATE_1234_56789_any name.ipynb
folder   Anna Ek/any name.ipynb, or Anna Ek.ipynb
"""

import io
import re
import unicodedata
import zipfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

LARGEST = 20 * 2**20                    # bytes of a file that is read
TOO_LARGE = "larger than 20 MB"
MOODLE = re.compile(r"([^_]*)_(\d+)_assignsubmission_[a-z]+(?:_.*)?")
CANVAS = re.compile(
    r"(?:([^\W\d_][^\W_]*)_(?:LATE_)?(\d{2,})|(?:LATE_)?(anon_[^\W_]+))"
    r"_\d{2,}_.+")
LEFT_BY_SYSTEMS = re.compile(r"(^|/)(\.|__MACOSX/|~)")
COPIED = re.compile(r"^(Copy of|Kopie von|Copie de|Copia de) |"
                    r"[ _-]*\(\d+\)$|[ _-]+(copy|copie|Kopie)$", re.IGNORECASE)


@dataclass
class Submission:
    """What one person handed in: notebooks, or why they cannot be read."""
    platform: str
    id: str                             # the person's number there, or ""
    person: str
    page: str                           # what the platform knows a file by
    files: list[tuple[str, bytes | str]] = field(default_factory=list)


def collect(source):
    """The submissions in a folder or a zip archive, by name."""
    found = {}
    for path, data in files(Path(source)):
        platform, number, person, page = owner(path)
        key = platform, number or person.casefold()
        one = found.setdefault(key, Submission(platform, number, person, page))
        if path.lower().endswith(".ipynb") or isinstance(data, str):
            one.files.append((path, data))
    return sorted(found.values(), key=lambda one: (one.person.casefold(),
                                                   one.id))


def files(source):
    """(path below `source`, bytes) of each file, archives opened."""
    if source.is_file():
        if not zipfile.is_zipfile(source):
            raise ValueError(f"{source} is neither a folder nor a zip archive")
        paths = [*unpacked(source)]
        [*roots] = {path.partition("/")[0] for path, _ in paths}
        if len(roots) == 1 and len(paths) > 1 and not MOODLE.fullmatch(
                roots[0]):
            paths = [(path.partition("/")[2], data) for path, data in paths]
        for name, data in paths:
            yield from opened(name, data)
        return
    if not source.is_dir():
        raise ValueError(f"{source} does not exist")
    for path in sorted(source.rglob("*")):
        name = unicodedata.normalize("NFC", path.relative_to(source).as_posix())
        if (path.is_file() and not path.is_symlink()
                and not LEFT_BY_SYSTEMS.search(name)):
            small = path.stat().st_size <= LARGEST
            yield from opened(name, path.read_bytes() if small else TOO_LARGE)


def unpacked(file):
    """The files of a zip archive. Nothing is written to the disk."""
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            name = entry(info)
            if not info.is_dir() and not LEFT_BY_SYSTEMS.search(name):
                small = info.file_size <= LARGEST
                yield name, archive.read(info) if small else TOO_LARGE


def opened(name, data):
    """A file; or, of an archive that a student handed in, its files."""
    if isinstance(data, str) or not zipfile.is_zipfile(io.BytesIO(data)):
        yield name, data
        return
    inside, size = [], 0
    try:
        for path, content in unpacked(io.BytesIO(data)):
            size += len(content)
            if size > LARGEST:
                raise ValueError(TOO_LARGE)
            inside.append((f"{name.removesuffix('.zip')}/{path}", content))
        yield from inside
    except Exception as error:          # whatever a student calls an archive
        yield name, f"an archive that cannot be read: {error}"


def entry(info):
    """Its name; many programs write UTF-8 without saying so."""
    name = info.filename
    if not info.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return unicodedata.normalize("NFC", name)


def owner(path):
    """(platform, number there, person, what a page for them is called)."""
    path = PurePosixPath(path)
    for part in path.parts:
        if known := MOODLE.fullmatch(part):
            person, number = known.groups()
            if person == "Participant":
                person = f"Participant {number}"
            return ("moodle", number, person,
                    f"{known[1]}_{number}_assignfeedback_file_")
    if known := CANVAS.fullmatch(path.parts[0]):
        number = known[2] or known[3]
        return ("canvas", number, known[1] or number,
                f"{path.parts[0].rpartition('.')[0]} ")
    person = path.parts[0] if len(path.parts) > 1 else tidy(path.stem)
    return "folder", "", person, f"{person} "


def tidy(stem):
    """A file's name without what browsers, Colab and this course put in."""
    name, before = stem, None
    while before != name:
        before, name = name, COPIED.sub("", name).strip(" _-")
    return re.sub(r"^\d\d_[a-z_]+?(?=[A-Z]|__|-| |$)", "", name).strip(
        " _-") or stem


def version(path):
    """Later copies come later: "x (2).ipynb" after "x (1).ipynb"."""
    number = re.search(r"\((\d+)\)|-(\d+)\.ipynb$", path)
    return int(number[1] or number[2]) if number else 0, path
