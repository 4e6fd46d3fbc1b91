"""What a call does: whether it changes what it is given, or gives a part of it."""

import ast
import inspect
from collections.abc import Callable
from typing import Any

from protocol_lab.language import containers
from protocol_lab.language.reading import reading
from protocol_lab.language.source_code import names_read

CHANGING = (
    *(containers.append, containers.truncate, containers.remove_at, containers.pop_first),
    *(containers.add, containers.add_once, containers.take),
)


def is_helper(called: Any) -> bool:
    """Is it a function of a spec, rather than of the kit or of Python?"""
    return inspect.isfunction(called) and not called.__module__.startswith("protocol_lab.")


class Effects:
    """Answers from the functions' code, once for each function."""

    def __init__(self) -> None:
        self._outside: dict[Callable, dict[str, Any]] = {}
        self._gives_place: dict[Callable, bool] = {}
        self._changes: dict[Callable, bool] = {}

    def outside(self, function: Callable) -> dict[str, Any]:
        """The names from outside that a function reads, with their values."""
        if function not in self._outside:
            self._outside[function] = names_read(function)
        return self._outside[function]

    def changes(self, called: Any) -> bool:
        """Does what is called change a part of what it is given?"""
        if called in CHANGING or not is_helper(called):
            return called in CHANGING
        if called not in self._changes:
            self._changes[called] = False  # for one that calls itself
            self._changes[called] = self._has_change(called)
        return self._changes[called]

    def _has_change(self, function: Callable) -> bool:
        own = set()  # variables that hold nothing but what the function has made
        outside = self.outside(function)
        nodes = list(ast.walk(reading(function).as_written))
        for node in nodes:
            match node:
                case ast.Assign([ast.Name(each)], ast.Call(ast.Name(made))) if isinstance(
                    outside.get(made), type
                ):
                    own.add(each)
                case ast.Assign([ast.Name(each)], ast.BinOp(ast.List()) | ast.List()):
                    own.add(each)
        for node in nodes:
            targets = []
            match node:
                case ast.Assign(targets=found):
                    targets = found
                case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                    targets = [target]
                case ast.Call(ast.Name(called), given):
                    target = outside.get(called)
                    if target in CHANGING:
                        targets = [ast.Attribute(given[0])]
                    elif self.changes(target):
                        targets = [ast.Attribute(each) for each in given]
            for each in targets:
                for one in each.elts if isinstance(each, ast.Tuple) else [each]:
                    root = one
                    while isinstance(root, ast.Attribute | ast.Subscript):
                        root = root.value
                    if one is not root and isinstance(root, ast.Name) and root.id not in own:
                        return True
        return False

    def gives_place(self, called: Any) -> bool:
        """May what is called return a part of what it is given? By what its code returns."""
        if not is_helper(called):
            return False
        if called not in self._gives_place:
            self._gives_place[called] = False  # for one that calls itself
            self._gives_place[called] = "return" not in called.__annotations__ and any(
                self._is_place(node.value, called)
                for node in ast.walk(reading(called).as_written)
                if isinstance(node, ast.Return)
            )
        return self._gives_place[called]

    def _is_place(self, node: ast.expr | None, function: Callable) -> bool:
        match node:
            case ast.Attribute() | ast.Subscript():
                return True
            case ast.Name(name):
                return name in reading(function).parameters
            case ast.IfExp(_, body, orelse):
                return self._is_place(body, function) or self._is_place(orelse, function)
            case ast.Call(ast.Name(name)):
                return self.gives_place(self.outside(function).get(name))
        return False

    def is_followed(
        self, node: ast.Call, whole: ast.expr, function: Callable, may_give_place: bool
    ) -> bool:
        """Is a call in an expression of the function followed where it stands? It is if it changes
        something, or gives a part of the state that may be changed."""
        outside = self.outside(function)
        if not isinstance(node.func, ast.Name):
            return False
        called = outside.get(node.func.id)
        if self.changes(called):
            return True
        is_changed = (node is whole and may_give_place) or any(
            isinstance(each, ast.Call)
            and node in each.args
            and isinstance(each.func, ast.Name)
            and self.changes(outside.get(each.func.id))
            for each in ast.walk(whole)
        )
        return is_changed and self.gives_place(called)
