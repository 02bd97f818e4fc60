"""What runs inside the sandbox: one submission, a process per exercise.

It reads frames (four bytes of length, then JSON) from standard input: the
lesson, and for each exercise first the answer with its check, then the grade.
It writes a frame per exercise to standard output, and one with the seconds
of processor that all took.

The first process of the sandbox runs the teacher's cells only. An answer runs
in a fork of it, which gets the hidden tests after the check has spoken, with
a token that its last word must repeat.
"""

import ast
import builtins
import ctypes
import json
import linecache
import operator
import os
import resource
import secrets
import select
import signal
import sys
import time
import types

LIBRARIES = ("builtins", "os", "json", "numpy", "numpy.linalg", "numpy.random",
             "torch", "torch.linalg", "torch.nn.functional")
KEPT = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
LONGEST = 300                           # characters of an answer's own words
MOST = 100_000                          # bytes of a message from an answer
PROCESSES = 16


class Silence(Exception):
    """No more words come from an answer's process, and why."""


def send(pipe, message):
    data = json.dumps(message).encode()
    data = len(data).to_bytes(4, "big") + data
    while data:
        data = data[os.write(pipe, data):]


def stopwatch(process, seconds, patience):
    """-> a function: has the process used these seconds of the processor?

    Or waited for so long on the clock, as one does that sleeps. A machine
    busy with other things stops nobody.
    """
    own = ~process << 3 | 2             # what Linux calls a process's own time
    worked, begun = time.clock_gettime(own), time.monotonic()
    return lambda: (time.clock_gettime(own) - worked > seconds
                    or time.monotonic() - begun > patience)


def read(pipe, size, is_late=lambda: False):
    data = b""
    while len(data) < size:
        if is_late():
            raise Silence("time")
        if not select.select([pipe], [], [], 0.05)[0]:
            continue
        new = os.read(pipe, size - len(data))
        if not new:
            raise Silence("end")
        data += new
    return data


def receive(pipe):
    return json.loads(read(pipe, int.from_bytes(read(pipe, 4), "big")))


def receive_answer(pipe, is_late):
    """The next message of an answer, which may not say much."""
    size = int.from_bytes(read(pipe, 4, is_late), "big")
    if size > MOST:
        raise ValueError
    return json.loads(read(pipe, size, is_late))


def run(name, source, names):
    """Run a cell; its lines can be quoted, as in a notebook."""
    linecache.cache[name] = (len(source), None,
                             source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), names)


def run_definitions(name, source, names):
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if isinstance(node, KEPT)]
    exec(compile(tree, name, "exec"), names)


def words(error):
    return f"{type(error).__name__}: {error}"[:LONGEST]


def picture(values):
    """What an answer has no business to change: {name: what it is now}."""
    seen = {}
    for name, value in values.items():
        seen[name] = [value]
        if isinstance(value, types.FunctionType):
            seen[name] += [value.__code__, value.__defaults__]
    for module in filter(None, map(sys.modules.get, LIBRARIES)):
        seen |= {f"{module.__name__}.{name}": [value]
                 for name, value in vars(module).items()}
    return seen


def changed(before, after):
    """The names whose values are no longer the same objects.

    What PyTorch replaces by its own, when first needed, is no change.
    """
    return [name for name, (old, *more) in before.items()
            for new, *others in [after.get(name, [None])]
            if (old is not new or any(map(operator.is_not, more, others)))
            and not (name.startswith("torch.") and str(
                getattr(new, "__module__", "")).startswith("torch"))]


def limit(memory):
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def answer(task, names, ours, inbox, outbox):
    """In a process of its own: the answer, its check, and its grade."""
    guarded = {name: names[name] for name in ours}
    before = picture(guarded)
    cell = None
    try:
        run("<answer>", task["answer"], names)
    except BaseException as error:
        cell = words(error)
    send(outbox, {"cell": cell})
    # The tests use the teacher's names and Python's, whatever an answer says.
    said = [""]
    pythons = [name for name in names if name in vars(builtins)
               and not name.startswith("_")]
    for name in pythons:
        del names[name]
    teachers = guarded | {
        "__builtins__": builtins,
        "print": lambda *given, **_: said.append(" ".join(map(str, given)))}
    names.update(teachers)
    try:
        run("<check>", task["check"], names)
        line = said[-1]
    except BaseException as error:
        line = f"{task['number']} not yet: it stops with {words(error)}"
    send(outbox, {"said": line[:2 * LONGEST], "pythons": pythons})

    given = receive(inbox)
    names.update(teachers)
    run_definitions("<check>", task["check"], names)
    tests = {name: value for name, value in names.items()
             if getattr(getattr(value, "__code__", 0), "co_filename", 0)
             == "<check>"}
    middle = picture(tests)
    failed = None
    try:
        run("<grade>", given["grade"], names)
    except BaseException as error:
        failed = (str(error)[:LONGEST] if isinstance(error, AssertionError)
                  else words(error))
    now = {name: names.get(name) for name in guarded | tests}
    send(outbox, {"token": given["token"], "failed": failed,
                  "changed": changed(middle | before, picture(now))[:3]})


def fork(task, names, lesson, close):
    """Start an answer's process. -> its number, and the pipes to and from it"""
    (inbox, to), (back, outbox) = os.pipe(), os.pipe()
    process = os.fork()
    if process:
        os.close(inbox)
        os.close(outbox)
        return process, to, back
    try:
        for pipe in (*close, to, back):
            os.close(pipe)
        os.dup2(1, 2)
        limit(lesson["memory"])
        answer(task, names, lesson["ours"], inbox, outbox)
    finally:
        os._exit(0)


def ending(process, patience):
    """How a process ended, in words; or that it hung up."""
    is_late = stopwatch(process, 1, patience)
    while not is_late():
        done, status = os.waitpid(process, os.WNOHANG)
        if done and os.WIFSIGNALED(status):
            return f"signal {os.WTERMSIG(status)}"
        if done:
            return "exit"
        time.sleep(0.01)
    return "forged"


def conduct(task, names, lesson, jobs, replies):
    """Hear what one answer's process says, then end all that it started."""
    process, to, back = fork(task, names, lesson, (jobs, replies))
    heard, grade, token = {"stage": "answer"}, None, secrets.token_hex()

    def watch():
        return stopwatch(process, lesson["seconds"], lesson["patience"])

    try:
        cell = receive_answer(back, watch())["cell"]
        heard |= {"cell": cell and str(cell), "stage": "check"}
        line = receive_answer(back, watch())
        heard |= {"said": str(line["said"]), "stage": "grade",
                  "pythons": [*map(str, line["pythons"])]}
        grade = receive(jobs)
        send(to, {"grade": grade, "token": token})
        last = receive_answer(back, watch())
        if last.pop("token") != token:
            raise ValueError
        heard |= last | {"stage": "done"}
    except Silence as silence:
        heard["why"] = str(silence)
    except BrokenPipeError:
        heard["why"] = "end"
    except (ValueError, KeyError, TypeError, AttributeError):
        heard["why"] = "forged"
    if grade is None:
        receive(jobs)
    if heard.get("why") == "end":
        heard["why"] = ending(process, lesson["patience"])
    try:
        os.kill(-1, signal.SIGKILL)     # all but this one, number 1
    except ProcessLookupError:
        pass
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass
    os.close(to)
    os.close(back)
    return heard


def main():
    if os.getpid() != 1:
        sys.exit("this runs in a sandbox, as its first process")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(4, 0)       # not dumpable: nobody may trace it
    os.chdir("/tmp")
    jobs, replies = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)                 # complaints of the lesson come through
    lesson = receive(jobs)
    names = {"__name__": "__main__"}
    run("<lesson>", lesson["code"], names)
    for _ in range(lesson["exercises"]):
        send(replies, conduct(receive(jobs), names, lesson, jobs, replies))
    use = [resource.getrusage(who) for who in (resource.RUSAGE_SELF,
                                               resource.RUSAGE_CHILDREN)]
    send(replies, {"cpu": sum(u.ru_utime + u.ru_stime for u in use)})


if __name__ == "__main__":
    main()
