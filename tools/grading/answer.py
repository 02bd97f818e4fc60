"""The answer's side of grading, and the Peer that both sides talk by.

This file alone runs in the sandbox. It holds the lesson and a student's cells:
no check, no reference, no hidden test. The judge (judge.py) calls the answer
over two pipes. Data cross as data, in JSON; whatever else a function takes or
returns stays where it is, and the other side can only call it.
"""

import base64
import builtins
import contextlib
import json
import linecache
import os
import re
import signal
import sys
import tracemalloc
import types

import numpy as np

DATA = re.compile(r"[<>|=][biufcSU]\d+")        # dtypes of plain numbers, text
PROCESSES = 16
CELL = "<answer>"                               # its name in tracebacks


class Broken(BaseException):
    """The other side ended, hung, or wrote what is no message: in words."""


class Handle:
    """Something on the other side, which can be called."""

    def __init__(self, peer, number):
        self.peer, self.number = peer, number

    def __call__(self, *args, **named):
        return self.peer.call(self.number, args, named)


def as_data(value):
    """A value's nearest relative that crosses as data; or the value itself."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, np.ndarray) or hasattr(type(value), "__array__"):
        array = np.asarray(value)
        return array if DATA.fullmatch(array.dtype.str) else array.tolist()
    if hasattr(type(value), "__float__"):       # a Fraction
        return float(value)
    return list(value) if isinstance(value, range) else value


def tensor_type():
    """PyTorch's tensor where PyTorch is loaded, else no type."""
    return getattr(sys.modules.get("torch"), "Tensor", ())


def updated(old, new):
    """`old` with the content of `new`, in place where that is possible."""
    if type(old) is not type(new):
        return new
    if isinstance(old, tuple):
        return tuple(map(updated, old, new))
    if isinstance(old, list):
        old[:] = map(updated, old, new) if len(old) == len(new) else new
    elif isinstance(old, dict):
        new = {key: updated(old.get(key), new[key]) for key in new}
        old.clear()
        old.update(new)
    elif isinstance(old, np.ndarray) and old.flags["W"]:
        old.shape = new.shape           # of another size: ValueError
        old[...] = new
    elif isinstance(old, tensor_type()):
        old.data = new.data
    else:
        return new
    return old


class Peer:
    """One end of two pipes: calls what is there, serves what is here.

    inbox, outbox: file descriptors; most: bytes of a message that is read.
    """

    def __init__(self, inbox, outbox, most=2**31):
        self.inbox, self.outbox, self.most = inbox, outbox, most
        self.here = []                          # what the other side may call
        self.changed = False                    # was an argument, over there?

    def send(self, message):
        data = json.dumps(message).encode()
        data = len(data).to_bytes(4, "big") + data
        try:
            while data:
                data = data[os.write(self.outbox, data):]
        except OSError:
            raise Broken("it ended") from None

    def read(self, size):
        parts = []
        while size:
            part = os.read(self.inbox, min(size, 2**20))
            if not part:
                raise Broken("it ended")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def receive(self):
        """The next message, a dictionary. Raises Broken."""
        size = int.from_bytes(self.read(4), "big")
        if size > self.most:
            raise Broken("it sent more than may be sent")
        try:
            message = json.loads(self.read(size))
        except (ValueError, RecursionError, MemoryError):
            message = None
        if not isinstance(message, dict):
            raise Broken("it sent what is no message")
        if "ended" in message:
            raise Broken(str(message["ended"])[:99])
        return message

    def pack(self, value, seen):
        """A value as JSON. seen: {id: value} of all that can be changed."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if id(value) in seen:
            return ["same", [*seen].index(id(value))]
        if isinstance(value, np.generic) and DATA.fullmatch(value.dtype.str):
            return ["number", value.dtype.str,
                    base64.b64encode(value.tobytes()).decode()]
        if isinstance(value, complex):
            return ["complex", value.real, value.imag]
        if isinstance(value, tuple):
            return ["tuple", *(self.pack(part, seen) for part in value)]
        seen[id(value)] = value
        if isinstance(value, np.ndarray) and DATA.fullmatch(value.dtype.str):
            return ["array", value.dtype.str, list(value.shape),
                    base64.b64encode(value.tobytes()).decode(),
                    value.flags["W"]]
        if isinstance(value, tensor_type()):
            plain = value.detach()
            if "bfloat16" in str(value.dtype):  # NumPy has none
                plain = plain.float()
            return ["tensor", str(value.dtype).partition(".")[2],
                    self.pack(plain.numpy(), {}), value.requires_grad]
        if isinstance(value, list | set | frozenset):
            kind = "list" if isinstance(value, list) else "set"
            return [kind, *(self.pack(part, seen) for part in value)]
        if isinstance(value, dict):
            return ["dict", *([self.pack(key, seen), self.pack(part, seen)]
                              for key, part in value.items())]
        if isinstance(value, Handle):
            return ["yours", value.number]
        if not callable(value) and (data := as_data(value)) is not value:
            del seen[id(value)]
            return self.pack(data, seen)
        for number, known in enumerate(self.here):
            if known is value:
                return ["mine", number]
        self.here.append(value)
        return ["mine", len(self.here) - 1]

    def unpack(self, packed, seen):
        """The value. seen: what was unpacked and can be changed, in order.

        Raises Exception where `packed` is not what `pack` makes.
        """
        if not isinstance(packed, list):
            return packed
        kind, *parts = packed
        if kind == "same":
            if seen[parts[0]] is None:
                raise ValueError("it holds itself")
            return seen[parts[0]]
        if kind == "complex":
            return complex(*parts)
        if kind == "tuple":
            return tuple(self.unpack(part, seen) for part in parts)
        if kind == "number":
            return self.array(parts[0], [], parts[1])[()]
        place = len(seen)
        seen.append(None)
        if kind == "array":
            value = self.array(*parts[:3])
            value.setflags(write=parts[3])
        elif kind == "tensor":
            import torch

            dtype, array, grad = parts
            dtype = getattr(torch, dtype)
            if not isinstance(dtype, torch.dtype):
                raise TypeError(dtype)
            value = torch.from_numpy(self.unpack(array, [])).to(dtype)
            value.requires_grad_(grad)
        elif kind == "list":
            value = [self.unpack(part, seen) for part in parts]
        elif kind == "set":
            value = {self.unpack(part, seen) for part in parts}
        elif kind == "dict":
            value = {self.unpack(key, seen): self.unpack(part, seen)
                     for key, part in parts}
        elif kind == "mine":
            value = Handle(self, int(parts[0]))
        elif kind == "yours":
            value = self.here[parts[0]]
        else:
            raise ValueError(kind)
        seen[place] = value
        return value

    @staticmethod
    def array(dtype, shape, data):
        if not DATA.fullmatch(dtype):
            raise ValueError(dtype)
        flat = np.frombuffer(base64.b64decode(data), dtype)
        return flat.reshape(shape).copy()

    def call(self, number, args, named, **setting):
        """Call what the other side knows by this number.

        Its arguments become what they became there. -> its result
        """
        sent = {}
        given = args, named
        packed = self.pack(given, sent)
        self.send({"call": number, "given": packed, **setting})
        while "call" in (reply := self.receive()):
            self.serve(reply)
        try:
            known = [*sent.values()]
            if "given" in reply:
                updated(given, self.unpack(reply["given"], []))
                known = []
                now = self.pack(given, {})      # as text: NaN equals itself
                self.changed |= json.dumps(now) != json.dumps(packed)
            if "error" not in reply:
                self.allocate(reply.get("memory", 0))
                return self.unpack(reply["result"], known)
            error = self.error(reply["error"])
        except Exception:
            raise Broken("it sent what is no message") from None
        raise error

    def serve(self, message):
        """Do what the other side asks for, and send what came of it."""
        reply, seen = {}, {}
        try:
            args, named = given = self.unpack(message["given"], [])
            before = self.pack(given, {})
            with self.setting(message):
                result = self.here[message["call"]](*args, **named)
                reply["memory"] = tracemalloc.get_traced_memory()[1]
            after = self.pack(given, seen)
            if after != before:
                reply["given"], seen = after, {}
            reply["result"] = self.pack(result, seen)
        except Broken:
            raise
        except BaseException as error:
            with contextlib.suppress(BaseException):
                if "given" not in reply:
                    reply["given"] = self.pack(given, {})
            reply["error"] = self.portrait(error)
        self.send(reply)

    def setting(self, message):
        """A context in which a call is served."""
        return contextlib.nullcontext()

    def allocate(self, size):
        """Note the memory that a call took on the other side."""

    def error(self, parts):
        """An exception like the one that ended a call on the other side."""
        kinds = [kind for name in parts["kinds"] if isinstance(
            kind := getattr(builtins, str(name), None), type)
            and issubclass(kind, Exception)
            and not issubclass(kind, StopIteration)]    # it ends a loop
        words = f"{parts['words']:.300}"
        error = type(str(parts["kinds"][0]), tuple(kinds[:1]) or (Exception,), {
            "__init__": lambda self: None, "__str__": lambda self: words})()
        error.args = () if parts["bare"] else (words,)
        error.told = f"{parts.get('told', ''):.600}"
        return error

    def portrait(self, error):
        """An exception as data."""
        try:
            words = f"{str(error):.300}"
        except BaseException:
            words = ""
        return {"kinds": [kind.__name__ for kind in type(error).__mro__],
                "words": words, "bare": not error.args}


class AnswerPeer(Peer):
    """The end in the sandbox. names: those of the student's notebook."""

    def __init__(self, inbox, outbox):
        super().__init__(inbox, outbox)
        self.names = {}

    @contextlib.contextmanager
    def setting(self, message):
        """As the judge has it: no gradients, functions that it replaced."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(np.errstate(**message["errors"]))
            if message["grad"] is not None and "torch" in sys.modules:
                stack.enter_context(
                    sys.modules["torch"].set_grad_enabled(message["grad"]))
            for module, name, number in message["replaced"]:
                names = (vars(sys.modules.get(module, types.SimpleNamespace()))
                         if module else self.names)
                if name in names:
                    stack.callback(names.update, {name: names[name]})
                    names[name] = Handle(self, number)
            if message["trace"]:
                tracemalloc.start()
                stack.callback(tracemalloc.stop)
            yield

    def portrait(self, error):
        """With the line of the answer that raised it."""
        check = types.SimpleNamespace(
            __globals__=self.names, __code__=types.SimpleNamespace(
                co_filename="<check>"))
        try:
            told = self.names["where_it_stops"](error, check)
        except BaseException:
            told = ""
        return super().portrait(error) | {"told": f"{told:.600}"}


class Notebook:
    """What IPython's lines were turned into calls of: it does nothing."""

    def __getattr__(self, name):
        return lambda *args, **named: None


def run(name, source, names):
    """Run a cell; its lines can be quoted, as in a notebook."""
    linecache.cache[name] = (len(source), None,
                             source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), names)


def limit(seconds, memory):
    """Of this process and of each that it starts."""
    import resource

    for what, most in ((resource.RLIMIT_DATA, memory),
                       (resource.RLIMIT_AS, 3 * memory),    # with shared maps
                       (resource.RLIMIT_NPROC, PROCESSES),
                       (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(what, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def answer(peer, task, names):
    """Run a student's cells, then serve calls of the function asked for."""
    peer.names = names
    names["get_ipython"] = Notebook
    names["display"] = Notebook().show
    error = None
    for name, source in (*(("<cells>", cell) for cell in task["cells"]),
                         (CELL, task["answer"])):
        try:
            run(name, source, names)
        except Broken:
            raise
        except BaseException as stop:
            error = peer.portrait(stop)
    function = names.get(task["function"])
    peer.here = [function]
    peer.send({"function": callable(function), "error": error and
               f"{error['kinds'][0]}: {error['words']}"})
    while "call" in (message := peer.receive()):
        peer.serve(message)


def ending(status):
    """How a process ended, in words."""
    if not os.WIFSIGNALED(status):
        return "it ended the program"
    number = os.WTERMSIG(status)
    return ("time" if number == signal.SIGXCPU
            else f"it ended by signal {number}")


def main():
    """Load the lesson; then run answer after answer, each in a fork."""
    if os.getpid() != 1:
        sys.exit("this runs in a sandbox, as its first process")
    import resource

    signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
    os.chdir("/tmp")
    peer, nowhere = AnswerPeer(os.dup(0), os.dup(1)), os.open(
        os.devnull, os.O_RDWR)
    for stream in 0, 1:
        os.dup2(nowhere, stream)
    setup = peer.receive()
    names = {"__name__": "__main__"}
    run("<lesson>", setup["lesson"], names)
    os.dup2(nowhere, 2)                         # its complaints came through
    peer.send({"ready": True})
    while True:
        task = peer.receive()
        signal.alarm(setup["patience"])
        process = os.fork()
        if not process:
            try:
                limit(setup["seconds"], setup["memory"])
                answer(peer, task, names)
            finally:
                os._exit(0)
        _, status = os.waitpid(process, 0)
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)         # all but this one, number 1
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()
        peer.send({"ended": ending(status), "cpu": sum(
            sum(resource.getrusage(who)[:2]) for who in (
                resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))})


if __name__ == "__main__":
    main()
