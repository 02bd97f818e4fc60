"""Where other people's code runs: without network, files, or each other.

A way is a command that starts another one inside. Which of them works is
found out by running `true` and Python in it, not by finding its program.
"""

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
IMAGE = "inside-the-transformer-grading"
WAYS = "docker", "podman", "bwrap", "unshare"
MEMORY = 2 * 2**30                      # bytes that an answer may take
SETTINGS = {"HOME": "/tmp", "MPLCONFIGDIR": "/tmp", "MPLBACKEND": "agg",
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8",
            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1"}


class NoSandbox(Exception):
    """None works here: in words, what each of them said."""


class Broken(Exception):
    """The sandbox ended before its work was done: in words, how."""


@dataclass
class Way:
    """A kind of sandbox: its name, the command before yours, the Python
    inside, and what the command itself finds in its environment."""
    name: str
    command: list[str]
    python: str
    environment: dict[str, str]
    image: str = ""                     # of a container

    def start(self, *command, data=b"", seconds=60):
        """Run a command in a sandbox of its own.

        {user} in the way's command is a number that no other sandbox has:
        the system counts processes by it, and one answer could use up all.
        """
        name = f"{IMAGE}-{secrets.token_hex(8)}"
        named = [f"--name={name}", self.image] if self.image else []
        user = str(100_000 + secrets.randbelow(400_000))
        sandbox = [part.replace("{user}", user) for part in self.command]
        try:
            return subprocess.run([*sandbox, *named, *command], input=data,
                                  capture_output=True, timeout=seconds,
                                  env=self.environment)
        except BaseException:
            if named:                   # it outlives the command that began it
                subprocess.run([self.name, "kill", name], timeout=60,
                               capture_output=True, env=self.environment)
            raise


def libraries():
    """The folders that Python, its packages and its programs lie in."""
    wanted = ["/usr", sys.base_prefix, str(Path(sys.base_prefix).resolve()),
              str(Path(sys.prefix).resolve())]
    wanted += [path for path in ("/bin", "/lib", "/lib64", "/sbin",
                                 "/nix/store")
               if Path(path).is_dir() and not Path(path).is_symlink()]
    return [path for path in dict.fromkeys(wanted)
            if not any(path != other and Path(path).is_relative_to(other)
                       for other in wanted)]


def is_root():
    return os.name == "posix" and os.geteuid() == 0


def python():
    """This environment's Python, by the name that it has inside."""
    return str(Path(sys.prefix).resolve() / "bin" / "python")


def container(program):
    """A container of Docker's or Podman's, from the image of grading/."""
    settings = [f"--env={name}={value}" for name, value in SETTINGS.items()
                if name != "PATH"]
    if program == "podman":             # else /run and /var/tmp take files
        settings.append("--read-only-tmpfs=false")
    return Way(program, [
        program, "run", "--rm", "--interactive", "--pull=never",
        "--network=none", "--read-only", "--tmpfs=/tmp:size=64m,mode=1777",
        "--cap-drop=ALL", "--security-opt=no-new-privileges",
        "--user={user}:{user}", f"--memory={MEMORY}",
        f"--memory-swap={MEMORY}", "--pids-limit=256",
        *settings], "python", dict(os.environ), IMAGE)


def bubblewrap():
    """Not for root, whose rights it would leave to the answers."""
    shown = [word for path in libraries()
             for word in ("--ro-bind", path, path)]
    linked = [word for path in ("/bin", "/lib", "/lib64", "/sbin")
              if Path(path).is_symlink()
              for word in ("--symlink", os.readlink(path), path)]
    return Way("bwrap", [
        shutil.which("bwrap") or "bwrap", "--unshare-all", "--as-pid-1",
        "--die-with-parent", "--new-session", "--cap-drop", "ALL",
        "--dev", "/dev", "--size", str(64 * 2**20), "--tmpfs", "/tmp",
        *shown, *linked, "--remount-ro", "/"], python(), SETTINGS)


def namespaces(empty):
    """`unshare` of util-linux; nobody's rights instead of root's.

    empty: a folder, on which each sandbox mounts what it alone sees.
    """
    rights = ["--reuid={user}", "--regid={user}", "--clear-groups"] * is_root()
    return Way("unshare", [
        "unshare", *["--user", "--map-root-user"] * (not is_root()),
        "--mount", "--pid", "--fork", "--kill-child", "--net", "--ipc", "--uts",
        "sh", str(HERE / "box.sh"), empty, *libraries(), "--",
        "setpriv", *rights, "--bounding-set=-all", "--inh-caps=-all",
        "--no-new-privs"], python(), SETTINGS)


def trouble(way):
    """Why this way does not work here, in words; or None."""
    try:
        done = way.start("true")
        if not done.returncode:
            done = way.start(way.python, "-I", "-c", "import numpy")
    except FileNotFoundError:
        return "not installed"
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return said[0] if said else f"it ends with {done.returncode}"


@contextlib.contextmanager
def working(only=None):
    """The first way that works here, or the one called `only`."""
    with tempfile.TemporaryDirectory() as empty:
        ways = [container("docker"), container("podman"),
                *[bubblewrap()] * (not is_root()), namespaces(empty)]
        tried = {}
        for way in ways:
            if only in (None, way.name):
                tried[way.name] = trouble(way)
                if tried[way.name] is None:
                    break
        else:
            raise NoSandbox("; ".join(f"{name}: {why}"
                                      for name, why in tried.items()))
        yield way


def frame(message):
    data = json.dumps(message).encode()
    return len(data).to_bytes(4, "big") + data


def messages(data):
    """What the sandbox wrote, frame by frame."""
    while data:
        size = int.from_bytes(data[:4], "big")
        yield json.loads(data[4:4 + size])
        data = data[4 + size:]


def run(way, chapter, answers, seconds):
    """Run answers, a process for each, and the chapter's check and grade.

    answers: {number: source}; seconds: of the processor, for each cell.
    -> {number: what the process said}, seconds of the processor.
    """
    asked = [exercise for exercise in chapter.exercises
             if exercise.number in answers]
    code, ours = chapter.leans_on(answers.values())
    patience = max(60, 5 * seconds)     # on the clock, for one that sleeps
    job = frame({"code": code, "ours": ours, "seconds": seconds,
                 "patience": patience, "memory": MEMORY,
                 "exercises": len(asked)})
    for exercise in asked:
        job += frame({"number": exercise.number, "check": exercise.check.source,
                      "answer": answers[exercise.number]})
        job += frame(exercise.grade.source)
    program = (HERE / "worker.py").read_text("utf-8")
    try:
        done = way.start(way.python, "-I", "-c", program, data=job,
                         seconds=120 + 3 * patience * len(asked))
        *heard, use = messages(done.stdout)
        said = dict(zip([exercise.number for exercise in asked], heard,
                        strict=True))
        return said, use["cpu"]
    except subprocess.TimeoutExpired:
        raise Broken("it did not end in time") from None
    except (ValueError, KeyError, TypeError):
        end = done.stderr.decode(errors="replace").strip().splitlines()
        raise Broken(end[-1] if end else f"it ended with {done.returncode}"
                     ) from None
