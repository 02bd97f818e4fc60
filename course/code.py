"""What a piece of code defines, what it uses, and what that needs."""

import ast
import symtable
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from nbformat import NotebookNode

Cell = NotebookNode
KEPT = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Definition:
    """A function or class: its name, syntax tree, and lines as written."""

    name: str
    node: ast.FunctionDef | ast.ClassDef
    text: str

    @cached_property
    def needs(self) -> set[str]:
        """The names that it takes from elsewhere."""
        return reads_and_defines(self.text)[0]


def bound(node: ast.AST) -> list[str]:
    """The names that an import, a function or a class gives a value."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0]
                for alias in node.names]
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    return []


def used(*nodes: ast.AST) -> set[str]:
    """The names that stand in pieces of code."""
    return {part.id for node in nodes for part in ast.walk(node)
            if isinstance(part, ast.Name)}


def definitions(source: str) -> Iterator[Definition]:
    """The functions and classes at the top level of a cell."""
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min(part.lineno for part in [node, *node.decorator_list])
            yield Definition(node.name, node,
                             "\n".join(lines[first - 1:node.end_lineno]))


def closure(wanted: Iterable[str],
            needs: Mapping[str, Collection[str]]) -> set[str]:
    """The wanted names, and those that they need in turn."""
    reached = set(wanted)
    while more := {name for start in reached & needs.keys()
                   for name in needs[start]} - reached:
        reached |= more
    return reached


def needed(names: Iterable[str],
           statements: Iterable[ast.stmt]) -> list[ast.stmt]:
    """The imports, functions and classes that names lead to, in order."""
    kept = [node for node in statements if isinstance(node, KEPT)]
    needs: dict[str, set[str]] = {}
    for node in kept:
        for name in bound(node):
            needs.setdefault(name, set()).update(used(node))
    reached = closure(names, needs)
    return [node for node in kept if reached & {*bound(node)}]


def reads_and_defines(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell reads from outside itself, and those it defines."""
    def inner(table: symtable.SymbolTable) -> Iterator[str]:
        for child in table.get_children():
            yield from (symbol.get_name() for symbol in child.get_symbols()
                        if symbol.is_global() and symbol.is_referenced())
            yield from inner(child)

    top = symtable.symtable(source, "cell", "exec")
    defined = {symbol.get_name() for symbol in top.get_symbols()
               if symbol.is_assigned() or symbol.is_imported()
               or symbol.is_namespace()}
    read = {symbol.get_name() for symbol in top.get_symbols()
            if symbol.is_referenced()}
    return (read | {*inner(top)}) - defined, defined


def undefined(every: Iterable[Cell],
              chosen: Iterable[Cell]) -> list[tuple[str, str]]:
    """(id, name) of what `chosen` cells read and only other cells define."""
    anywhere = {name for cell in every if cell.cell_type == "code"
                for name in reads_and_defines(cell.source)[1]}
    known: set[str] = set()
    missing: list[tuple[str, str]] = []
    for cell in chosen:
        read, defined = reads_and_defines(cell.source)
        missing += [(cell.id, name) for name in sorted(read & anywhere - known)]
        known |= defined
    return missing
