"""Formulas over the values of graders, such as ``0.5 * name + 0.5 * email``.

Parsed by Python's own grammar, of which only arithmetic is admitted; nothing is ever evaluated by
Python, and there are no attributes, subscripts, strings or calls but of eight functions. simpleeval
would do it with most of itself switched off, and reads ``^`` as Python does: as exclusive or.
"""

import ast
import keyword
import math
import operator
from collections.abc import Callable, Collection, Mapping

from autotune.protocol.limits import MAX_EXPRESSION_CHARACTERS, MAX_EXPRESSION_DEPTH

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}
_SIGNS: dict[type[ast.unaryop], Callable[[float], float]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "ceil": lambda value: float(math.ceil(value)),
    "exp": math.exp,
    "floor": lambda value: float(math.floor(value)),
    "log": math.log,
    "max": lambda *values: max(values),
    "min": lambda *values: min(values),
    "sqrt": math.sqrt,
}
_OF_ANY_NUMBER = {"max", "min"}


class ExpressionError(ValueError):
    """A formula is not one, or has no value; the message names what is wrong."""


class Expression:
    """A formula, read once."""

    def __init__(self, text: str, *, names: Collection[str]) -> None:
        """Read a formula.

        Args:
            names: the graders that it may name.

        Raises:
            ExpressionError: it is no arithmetic over them.
        """
        for name in names:
            if name in _FUNCTIONS or keyword.iskeyword(name):
                raise ExpressionError(f"a grader cannot be called {name}")
        if len(text) > MAX_EXPRESSION_CHARACTERS:
            raise ExpressionError(f"at most {MAX_EXPRESSION_CHARACTERS} characters")
        try:
            # There are no strings in which a circumflex could mean anything else.
            self._body = ast.parse(text.strip().replace("^", "**"), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ExpressionError("arithmetic over the graders' names") from error
        _check(self._body, names, depth=0)

    def value(self, values: Mapping[str, float]) -> float:
        """Return what the formula comes to.

        Raises:
            ExpressionError: nothing, as in a division by zero.
        """
        try:
            value = _evaluate(self._body, values)
        except (ArithmeticError, ValueError) as error:
            raise ExpressionError("the formula has no value here") from error
        if not math.isfinite(value):
            raise ExpressionError("the formula has no finite value here")
        return value


def _check(node: ast.expr, names: Collection[str], *, depth: int) -> None:
    if depth > MAX_EXPRESSION_DEPTH:
        raise ExpressionError(f"at most {MAX_EXPRESSION_DEPTH} levels deep")
    match node:
        case ast.Constant(value=value) if type(value) in (int, float):
            _float(value)
            inner: list[ast.expr] = []
        case ast.Name(id=name):
            if name not in names:
                raise ExpressionError(f"{name} is none of its graders: {', '.join(sorted(names))}")
            inner = []
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            inner = [left, right]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _SIGNS:
            inner = [operand]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            if not args or (len(args) > 1 and name not in _OF_ANY_NUMBER):
                raise ExpressionError(f"{name} with its arguments")
            inner = args
        case _:
            raise ExpressionError(
                f"only numbers, graders, + - * / ^ and {', '.join(sorted(_FUNCTIONS))}"
            )
    for each in inner:
        _check(each, names, depth=depth + 1)


def _evaluate(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=value):
            return _float(value)
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_evaluate(left, values), _evaluate(right, values))
        case ast.UnaryOp(op=op, operand=operand):
            return _SIGNS[type(op)](_evaluate(operand, values))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _FUNCTIONS[name](*(_evaluate(argument, values) for argument in args))
    raise AssertionError(f"{type(node).__name__} was refused before")


def _float(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError as error:
        raise ExpressionError("numbers of at most 1e308") from error
