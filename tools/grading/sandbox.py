"""Where other people's code runs: without network, files, or each other.

A container of Docker's or Podman's, else bubblewrap. Which of them works is
found out by running Python in it, not by finding its program.
"""

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

IMAGE = "inside-the-transformer-grading"
WAYS = "docker", "podman", "bwrap"
MEMORY = 2 * 2**30                      # bytes that an answer may take
SETTINGS = {"HOME": "/tmp", "MPLCONFIGDIR": "/tmp", "MPLBACKEND": "agg",
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8",
            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1"}


class NoSandbox(Exception):
    """None works here: in words, what each of them said."""


@dataclass
class Sandbox:
    """A kind of sandbox: its name, the words before yours, and the Python
    inside. Where a container has the name {name}, it is killed by it."""
    name: str
    command: list[str]
    python: str

    @contextlib.contextmanager
    def running(self, *command: str) -> Iterator[subprocess.Popen[bytes]]:
        """Python, in a sandbox of its own, with pipes to it; then its end.

        {user} is a number that no other sandbox has: the system counts
        processes by it, and one answer could use up all.
        """
        unique = {"user": str(100_000 + secrets.randbelow(400_000)),
                  "name": f"{IMAGE}-{secrets.token_hex(8)}"}
        inside = self.name == "bwrap"
        process = subprocess.Popen(
            [*(word.format(**unique) for word in self.command), self.python,
             "-I", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=SETTINGS if inside else None)
        try:
            with process:
                try:
                    yield process
                finally:
                    process.kill()
        finally:
            if not inside:              # it outlives the command's process
                subprocess.run([self.name, "kill", unique["name"]],
                               timeout=60, capture_output=True)

    def trouble(self) -> str | None:
        """Why it does not work here, in words; or None."""
        try:
            with self.running("-c", "import numpy") as process:
                _, said = process.communicate(timeout=60)
        except FileNotFoundError:
            return "not installed"
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return process.returncode and (
            lines[0] if lines else f"it ends with {process.returncode}") or None


def container(program: str) -> Sandbox:
    """A container from the image of book/teaching_grades.md."""
    settings = [f"--env={name}={value}" for name, value in SETTINGS.items()
                if name != "PATH"]
    if program == "podman":             # else /run and /var/tmp take files
        settings.append("--read-only-tmpfs=false")
    return Sandbox(program, [
        program, "run", "--rm", "--interactive", "--pull=never",
        "--name={name}", "--network=none", "--read-only",
        "--tmpfs=/tmp:size=64m,mode=1777", "--cap-drop=ALL",
        "--security-opt=no-new-privileges", "--user={user}:{user}",
        f"--memory={MEMORY}", f"--memory-swap={MEMORY}", "--pids-limit=256",
        *settings, IMAGE], "python")


def bubblewrap() -> Sandbox:
    """Namespaces, made by root or by whom the system lets make them.

    From root, answers get the rights of nobody else.
    """
    root = getattr(os, "geteuid", os.getpid)() == 0     # Windows has none
    prefix = Path(sys.prefix).resolve()
    wanted = dict.fromkeys(
        Path(path) for path in (
            "/usr", "/bin", "/lib", "/lib64", "/sbin", "/nix/store",
            "/proc/cpuinfo", "/sys/devices/system/cpu",     # for PyTorch
            Path(sys.base_prefix).resolve(), sys.base_prefix, prefix)
        if Path(path).exists())
    words = []
    for path in wanted:
        if path.is_symlink() and path.parent == Path("/"):
            words += ["--symlink", os.readlink(path), str(path)]
        elif not any(path.is_relative_to(other) for other in wanted
                     if other != path):
            for parent in [*path.parents][-2::-1]:
                words += ["--perms", "0755", "--dir", str(parent)]
            words += ["--ro-bind", str(path), str(path)]
    rights = ["setpriv", "--reuid={user}", "--regid={user}", "--clear-groups",
              "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    return Sandbox("bwrap", [
        shutil.which("bwrap") or "bwrap",
        *["--unshare-user"] * (not root), "--unshare-ipc", "--unshare-pid",
        "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
        "--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
        *["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] * root,
        "--dev", "/dev", "--perms", "1777", "--size", str(64 * 2**20),
        "--tmpfs", "/tmp", *words, "--remount-ro", "/", *rights * root],
        str(prefix / "bin" / "python"))


def working(only: str | None = None) -> Sandbox:
    """The first that works here, or the one called `only`.

    Raises NoSandbox.
    """
    said = []
    for make, *name in ((container, "docker"), (container, "podman"),
                        (bubblewrap,)):
        if only in (None, *name, *([] if name else ["bwrap"])):
            sandbox = make(*name)
            trouble = sandbox.trouble()
            if trouble is None:
                return sandbox
            said.append(f"{sandbox.name}: {trouble}")
    raise NoSandbox("; ".join(said))
