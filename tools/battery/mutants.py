"""Wrong versions of an answer, made by syntax: one small change each."""

import ast
import copy
import re
from textwrap import indent

OPERATORS = {
    ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Div, ast.Add],
    ast.Div: [ast.Mult], ast.FloorDiv: [ast.Mult], ast.Mod: [ast.FloorDiv],
    ast.Pow: [ast.Mult], ast.BitAnd: [ast.BitOr], ast.BitOr: [ast.BitAnd]}
COMPARISONS = {
    ast.Lt: [ast.LtE, ast.Gt], ast.LtE: [ast.Lt, ast.GtE],
    ast.Gt: [ast.GtE, ast.Lt], ast.GtE: [ast.Gt, ast.LtE],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq]}
RELATIVES = {
    "sum": ["mean"], "mean": ["sum"], "max": ["min"], "min": ["max"],
    "var": ["std"], "std": ["var"], "maximum": ["minimum"],
    "minimum": ["maximum"], "amax": ["amin"], "argmax": ["argmin"],
    "exp": ["expm1"], "expm1": ["exp"], "log": ["log1p"], "log1p": ["log"],
    "tril": ["triu"], "triu": ["tril"], "repeat": ["tile"],
    "ones": ["zeros"], "zeros": ["ones"], "cumsum": ["cumprod"],
    "floor": ["ceil"], "ceil": ["floor"], "round": ["floor"],
    "any": ["all"], "all": ["any"], "sin": ["cos"], "cos": ["sin"],
    "argsort": ["argmax"], "concatenate": ["stack"], "append": ["extend"]}
ARRANGING = {"T", "mT", "swapaxes", "transpose", "reshape", "movedim", "copy",
             "repeat", "astype", "flip", "ravel", "clone", "squeeze"}
SIZES = 2, 3, 4, 5, 8                   # constants in the place of a length


def unlike(node, **changed):
    """A copy of a node with some of its fields changed."""
    new = copy.deepcopy(node)
    for field, value in changed.items():
        setattr(new, field, value)
    return new


def is_length(node):
    """X.shape[i], len(X) or X.size, which a number could stand in for."""
    if isinstance(node, ast.Subscript):
        node = node.value
        return isinstance(node, ast.Attribute) and node.attr == "shape"
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") == "len"
    return isinstance(node, ast.Attribute) and node.attr == "size"


def numbers(node):
    value = node.value
    if isinstance(value, bool):
        yield "the opposite", unlike(node, value=not value)
    elif isinstance(value, int):
        for near in (value - 1, value + 1):
            yield f"{near} for {value}", ast.Constant(near)
    elif isinstance(value, float):
        for other in (2 * value, 0.0):
            if other != value:
                yield f"{other} for {value}", ast.Constant(other)
    elif isinstance(value, str) and re.fullmatch(r"[a-zA-Z.,]+->\S*", value):
        terms, out = value.split("->")
        letters = out.replace("...", "")
        if len(letters) > 1:
            turned = out.replace(letters, letters[::-1])
            yield "result turned", unlike(node, value=f"{terms}->{turned}")
        first, *rest = terms.split(",")
        if len(first.replace("...", "")) > 1:
            plain = first.replace("...", "")
            turned = ",".join([first.replace(plain, plain[::-1]), *rest])
            yield "input turned", unlike(node, value=f"{turned}->{out}")


def operations(node):
    if isinstance(node.op, ast.MatMult):
        yield "@ swapped", unlike(node, left=node.right, right=node.left)
        return
    for operator in OPERATORS.get(type(node.op), ()):
        yield f"{operator.__name__}", unlike(node, op=operator())
    yield "left term only", node.left
    yield "right term only", node.right
    if isinstance(node.op, ast.Sub | ast.Div | ast.Pow | ast.FloorDiv):
        yield "operands swapped", unlike(node, left=node.right, right=node.left)


def calls(node):
    if len(node.args) > 1 and not any(
            isinstance(arg, ast.Starred) for arg in node.args):
        yield "arguments swapped", unlike(
            node, args=[node.args[1], node.args[0], *node.args[2:]])
    for i, keyword in enumerate(node.keywords):
        yield f"no {keyword.arg}", unlike(
            node, keywords=node.keywords[:i] + node.keywords[i + 1:])
    name = getattr(node.func, "attr", getattr(node.func, "id", None))
    for other in RELATIVES.get(name, ()):
        field = "attr" if isinstance(node.func, ast.Attribute) else "id"
        yield f"{other} for {name}", unlike(
            node, func=unlike(node.func, **{field: other}))
    if name in ARRANGING and isinstance(node.func, ast.Attribute):
        yield f"no {name}", node.func.value
    if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
        yield f"no {name}", node.args[0]
    if name == "range":
        yield "backwards", ast.Call(ast.Name("reversed", ast.Load()),
                                    [node], [])


def changes(node):
    """(what, replacement) for one node of a function's body."""
    if isinstance(node, ast.Constant):
        yield from numbers(node)
    elif isinstance(node, ast.BinOp):
        yield from operations(node)
    elif isinstance(node, ast.Call):
        yield from calls(node)
    elif isinstance(node, ast.UnaryOp) and not isinstance(
            node.operand, ast.Constant):
        yield "sign or not dropped", node.operand
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in COMPARISONS.get(type(node.ops[0]), ()):
            yield other.__name__, unlike(node, ops=[other()])
    elif isinstance(node, ast.BoolOp):
        swap = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and, or", unlike(node, op=swap)
    elif isinstance(node, ast.IfExp):
        yield "always the first", node.body
        yield "always the second", node.orelse
    elif isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield "not transposed", node.value
    elif isinstance(node, ast.AugAssign):
        for operator in OPERATORS.get(type(node.op), ()):
            yield f"{operator.__name__} in place", unlike(node, op=operator())
    elif isinstance(node, ast.Return) and isinstance(
            node.value, ast.Tuple | ast.List) and len(node.value.elts) > 1:
        yield "results in another order", unlike(node, value=unlike(
            node.value, elts=node.value.elts[::-1]))
    elif isinstance(node, ast.If):
        for truth in (True, False):
            yield f"if {truth}", unlike(node, test=ast.Constant(truth))
    if isinstance(node, ast.expr) and is_length(node):
        for size in SIZES:
            yield f"{size} for a length", ast.Constant(size)
    if isinstance(node, ast.Subscript) and not is_length(node) and isinstance(
            node.ctx, ast.Load):
        yield "no index", node.value


def made_anew(body):
    """{line: names} that a sum or product above it, outside any loop or
    branch, has bound to an array of the answer's own."""
    names, found = set(), {}
    for statement in body:
        inside = isinstance(statement, ast.FunctionDef)
        found.update(dict.fromkeys(
            range(statement.lineno, statement.end_lineno + 1),
            set() if inside else set(names)))
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    (names.add if isinstance(statement.value, ast.BinOp)
                     else names.discard)(target.id)
    return found


def statements(node, arguments, own=()):
    """(what, replacements) for one statement: dropped, or done in place.

    own: names that hold new arrays here; what is overwritten there was no
    input.
    """
    if isinstance(node, ast.Return | ast.FunctionDef | ast.Import):
        return
    yield "a line dropped", [ast.Pass()]
    if not (isinstance(node, ast.Assign) and len(node.targets) == 1):
        return
    [target], value = node.targets, node.value
    if getattr(target, "id", None) in own:
        return
    if isinstance(target, ast.Name) and target.id in arguments:
        place = ast.Subscript(ast.Name(target.id, ast.Load()),
                              ast.Constant(...), ast.Store())
        yield "an input overwritten", [unlike(node, targets=[place])]
    if (isinstance(target, ast.Name) and isinstance(value, ast.BinOp)
            and getattr(value.left, "id", None) == target.id):
        yield "in place", [ast.AugAssign(target, value.op, value.right)]
    if isinstance(target, ast.Tuple) and isinstance(
            value, ast.Attribute) and value.attr == "shape":
        for part in target.elts:
            for size in SIZES if isinstance(part, ast.Name) else ():
                yield f"{part.id} = {size}", [node, ast.Assign(
                    [ast.Name(part.id, ast.Store())], ast.Constant(size))]


class Replace(ast.NodeTransformer):
    """Puts other nodes in the place of the node with a mark."""

    def __init__(self, mark, new):
        self.mark, self.new = mark, new

    def visit(self, node):
        if getattr(node, "mark", None) == self.mark:
            return self.new
        return self.generic_visit(node)


def mutants(body, arguments):
    """{mutated body: what was changed} for the body of an answer.

    arguments are the names of the function's parameters.
    """
    tree = ast.parse("def answer():\n" + indent(body, "    "))
    for mark, node in enumerate(ast.walk(tree)):
        node.mark = mark
    found, own = {}, made_anew(tree.body[0].body)
    for node in [*ast.walk(tree)]:
        if isinstance(node, ast.stmt) and node is not tree.body[0]:
            variants = [*changes(node), *statements(node, arguments,
                                                    own[node.lineno])]
        else:
            variants = changes(node)
        for what, new in variants:
            line = getattr(node, "lineno", 2) - 1
            changed = Replace(node.mark, new).visit(copy.deepcopy(tree))
            ast.fix_missing_locations(changed)
            lines = map(ast.unparse, changed.body[0].body)
            found.setdefault("\n".join(lines), f"line {line}: {what}")
    found.pop("\n".join(map(ast.unparse, tree.body[0].body)), None)
    return found
