"""Another processor, simulated: an extension for the kernel of a notebook.

IEEE 754 fixes + - * / and square roots to the last bit. It leaves open in
which order a sum is made and whether products are fused into it (matrix
products, means, norms), and the last bit of exp, log, sin and powers: ARM,
macOS and every BLAS choose for themselves. The variable PERTURB, a rule and
a seed, says what moves in NumPy, torch (backward as well) and math:

ulp 1      each such result moves by -1, 0 or 1 ulp.
order 1    sums also move by up to one ulp of the root of their terms'
           squares, as another order does: much where large terms cancel.
float16 1  only NumPy's float16 exp, log, ... move: they are made in float32
           and rounded once, but by Sapphire Rapids in float16 itself.

As a processor does, it always answers alike: the move is drawn from the
seed, the name of the function and the digits of the result, without sign
and power of two; for a sum also from the result's shape, by which libraries
choose their kernels. One float16 or bfloat16 in 4096 moves by "ulp" and
"order". An error that was there stays, so that errors may double.

Left alone, because exact everywhere: sums that fit into the digits (of
integers, of sixteenths), sums of two terms, one product among zeros; function
values whose lower half of digits is zero (exp(0), 2**-3, infinity). Not
reached: functions handed to map or np.vectorize, complex numbers, the
insides of other libraries, and cells while tracemalloc counts memory.
"""

import ast
import builtins
import math
import operator
import os
import tracemalloc
import zlib

import numpy as np

FRACTION = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}
SUMS = {  # how many arguments are summed, or multiplied and then summed
    "sum": 1, "mean": 1, "trace": 1, "nansum": 1, "nanmean": 1,
    "matmul": 2, "dot": 2, "inner": 2, "vdot": 2, "vecdot": 2,
    "tensordot": 2, "convolve": 2, "einsum": 9,
    "mv": 2, "mm": 2, "bmm": 2, "addmv": 3, "addmm": 3, "baddbmm": 3}
FUNCTIONS = set("""
exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 sin cos tan sinh
cosh tanh arcsin arccos arctan arctan2 arcsinh arccosh arctanh asin acos
atan atan2 pow power float_power cbrt hypot erf erfc gamma lgamma dist var
std nanvar nanstd prod average cov corrcoef polyfit interp geomspace
logspace sinc""".split())
FUSED = {"add", "sub", "addcmul", "addcdiv"}  # x + alpha y, x + y z, x + y / z
ATEN = FUNCTIONS | set("""
sigmoid log_sigmoid_forward log_sigmoid softplus gelu silu mish elu erfinv
digamma softmax safe_softmax log_softmax logsumexp logcumsumexp cumsum
cumprod var_mean std_mean norm mse_loss nll_loss nll_loss_forward randn
normal exponential native_layer_norm fused_rms_norm native_batch_norm
native_group_norm scaled_dot_product_flash_attention_for_cpu
native_multi_head_attention transformer_encoder_layer_fwd convolution
lerp index_add scatter_add embedding_dense""".split()) | FUSED
PLAIN = {-2, -1, -0.5, 0, 0.5, 1, 2, 3}  # powers that are made of * / sqrt
OWN = {"super", "locals", "globals", "vars", "dir", "eval", "exec"}
OPEN = {id(getattr(module, name)): name
        for module in (np, math, operator)
        for name in FUNCTIONS | set(SUMS) if hasattr(module, name)}
OPEN |= {id(getattr(np.linalg, name)): "linalg" for name in np.linalg.__all__}


def draws(numbers, salt):
    """A number in [0, 1) for each: the same for the same bits and salt."""
    bits = numbers.astype(np.uint64) ^ np.uint64(zlib.crc32(salt.encode()))
    for _ in range(2):
        bits = (bits ^ bits >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
    return (bits >> np.uint64(11)) * 2.0**-53


class Nudge:
    """Moves what IEEE 754 leaves open, by the rule of one processor."""

    def __init__(self, rule, seed):
        self.rule, self.seed = rule, seed

    def moved(self, bits, fraction, name, size=None):
        """Floats, as integers, moved: values, or sums of terms of `size`."""
        every = (1 << 8 * bits.itemsize - 1) - 1
        number = bits & every                       # the sign does not count
        free = (0 < number) & (number < every + 1 - (1 << fraction))
        lower = bits & ((1 << (fraction + 1) // 2) - 1)
        free &= lower != 0 if size is None else size > 0
        digits = bits & ((1 << fraction) - 1)       # alike after scaling by 2
        salt = f"{self.seed} {name} {'' if size is None else bits.shape}"
        with np.errstate(all="ignore"):
            if self.rule == "float16":
                free &= fraction == 10 and size is None
            elif fraction <= 10:                    # made in float32, rounded
                free &= draws(digits, salt + "rare") < 2.0**-12
            step = (3 * draws(digits, salt)).astype(bits.dtype) - 1
            new = np.asarray(bits + step * free)
            if self.rule == "order" and size is not None and fraction > 10:
                x = new.view(f"f{bits.itemsize}")
                share = 2 * draws(digits, salt + "order") - 1
                x = x + (share * size * 2.0**-fraction).astype(x.dtype)
                new = np.asarray(x).view(bits.dtype)
        return new

    def call(self, f, /, *args, **kwargs):
        """f(*args, **kwargs) of a notebook, moved where it is open."""
        out = f(*args, **kwargs)
        name, args, again = known(f, args, kwargs)
        if not name or tracemalloc.is_tracing():
            return out
        if name == "pow" and np.ndim(args[1]) == 0 and args[1] in PLAIN:
            return out
        return self.result(name, out, args, again)

    def result(self, name, out, args, again):
        """What NumPy or math returned, moved; a tuple each by each."""
        if isinstance(out, tuple):
            new = [self.result(name, each, args, again) for each in out]
            return out._make(new) if hasattr(out, "_make") else tuple(new)
        if not isinstance(out, np.ndarray | np.floating | float):
            return out
        x = np.array(out)
        if x.dtype.name not in FRACTION:
            return out
        fraction = FRACTION[x.dtype.name]
        size = slack(fraction, x.size, name, args, again)
        new = self.moved(x.view(f"i{x.itemsize}"), fraction, name, size)
        new = new.view(x.dtype)
        return new if isinstance(out, np.ndarray) else type(out)(new[()])

    def tensor(self, name, out, args, again):
        """A tensor that torch made, moved in place."""
        import torch
        kind = str(out.dtype).removeprefix("torch.")
        if kind not in FRACTION or out.device.type != "cpu":
            return
        numbers = [a.detach().double().numpy() if torch.is_tensor(a) else a
                   for a in args if name in SUMS]
        size = slack(FRACTION[kind], out.numel(), name, numbers,
                     lambda *new: again(*[
                         torch.as_tensor(a) if isinstance(
                             a, np.ndarray | np.floating) else a
                         for a in new]).numpy())
        whole = getattr(torch, f"int{8 * out.itemsize}")
        bits = out.detach().clone().view(whole).numpy()
        new = torch.from_numpy(self.moved(
            bits, FRACTION[kind], f"torch {name}", size)).view(out.dtype)
        if name in FUSED:                       # exact where nothing is added
            new = torch.where(args[1] == 0, out, new)
        out.copy_(new)


def known(f, args, kwargs):
    """(name, arguments, f of those) for a function that is open, or None."""
    owner = getattr(f, "__self__", None)
    if isinstance(owner, np.ndarray | np.floating):
        name = f.__name__
        return (name if name in SUMS or name in FUNCTIONS else None,
                (owner, *args), lambda x, *rest:
                getattr(x, name)(*rest, **kwargs))
    return OPEN.get(id(f)), args, lambda *new: f(*new, **kwargs)


def slack(fraction, results, name, args, again):
    """The root of a sum's squares, 0 where it is exact; None: no sum."""
    if name not in SUMS:
        return None
    first = name == "einsum"
    last = min(len(args), first + SUMS[name])
    terms = [np.asarray(a, dtype=float) for a in args[first:last]]
    n = terms[0].size / max(results, 1) if "mean" in name else 1

    digits = 53 if fraction == 52 else 24      # halves are made in float32
    grid = 2.0 ** (digits // 6)                # 1/256 or 1/16

    def of(change):
        return n * again(*args[:first], *map(change, terms), *args[last:])

    def sizes(x):
        return np.where(x * grid == np.rint(x * grid), x**2, 1e100)

    with np.errstate(all="ignore"):
        count, most = of(lambda x: (x != 0) * 1.0), of(sizes)
        exact = (np.sqrt(count * most) < 2.0**digits / grid ** len(terms)) | (
            count <= np.where((SUMS[name] == 1) | (most < 1e99), 2, 1))
        root = np.sqrt(of(np.square)) / n
        return np.where(exact | ~np.isfinite(root), 0, root)


class Rewrite(ast.NodeTransformer):
    """Every call, @ and ** of a cell goes through `nudged`."""

    def nudged(self, node, *args, keywords=()):
        """The call __nudged__(*args, *keywords), in the place of `node`."""
        name = ast.Name("__nudged__", ast.Load())
        new = ast.Call(name, [*args], [*keywords])
        return ast.fix_missing_locations(ast.copy_location(new, node))

    def visit_Call(self, node):
        """f(x) becomes __nudged__(f, x); super() must see its own frame."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in OWN:
            return node
        return self.nudged(node, node.func, *node.args, keywords=node.keywords)

    def visit_BinOp(self, node):
        """a @ b and a ** b become calls of the module operator."""
        self.generic_visit(node)
        name = {ast.MatMult: "__matmul__", ast.Pow: "__power__"}
        if type(node.op) not in name:
            return node
        f = ast.Name(name[type(node.op)], ast.Load())
        return self.nudged(node, f, node.left, node.right)


def torch_mode(nudge):
    """A context in which each operation of torch is moved where open."""
    from torch import is_tensor
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        """torch hands it each operation, after autograd has seen it."""

        def __torch_dispatch__(self, f, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            out = f(*args, **kwargs)
            name = f.overloadpacket.__name__.strip("_")
            name = name.removesuffix("_data").removesuffix("_backward")
            plain = name in ("add", "sub") and kwargs.get("alpha", 1) == 1 or (
                name == "pow" and not is_tensor(args[1]) and args[1] in PLAIN)
            if plain or not (name in SUMS or name in ATEN
                             or name.startswith("linalg")):
                return out
            for each in out if isinstance(out, tuple | list) else [out]:
                if is_tensor(each) and each.numel():
                    nudge.tensor(name, each, args,
                                 lambda *new: f(*new, **kwargs))
            return out

    return Mode()


def load_ipython_extension(shell):
    """Called by the kernel, started with --ext=tools.run.perturb."""
    nudge = Nudge(*os.environ["PERTURB"].split())
    builtins.__nudged__ = nudge.call
    builtins.__matmul__, builtins.__power__ = operator.matmul, operator.pow
    shell.ast_transformers.append(Rewrite())
    if nudge.rule != "float16":
        torch_mode(nudge).__enter__()
