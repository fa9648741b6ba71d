"""Every code that a verdict can hold is explained, and nothing else is.

Codes are read out of the sources by `ast`, so that a new one without an explanation fails here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from agenttrace.domain import First, Kind, Owner, Phase, Place, Status
from agenttrace.report import EXPLANATIONS, Group, codes_like, explanations_of

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "agenttrace"
CAUSES = {Group.CAUSE_JOIN, Group.CAUSE_EVIDENCE, Group.CAUSE_LABEL, Group.FINDING}
PLACEHOLDERS = {"phase": (Phase.SETUP, Phase.EVALUATION)}
"""Values of the names that stand in a code's template."""


def explained(*groups: Group) -> list[str]:
    return [one.code for one in EXPLANATIONS if one.group in groups]


def texts(node: ast.AST, scope: ast.AST, tree: ast.AST) -> Iterator[str]:
    """Every text that an expression can be: a literal, a template, or a name bound to them."""
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, str), ast.dump(node)
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [
            (str(part.value),)
            if isinstance(part, ast.Constant)
            else PLACEHOLDERS[ast.unparse(part.value)]  # type: ignore[attr-defined]
            for part in node.values
        ]
        yield from map("".join, product(*parts))
    elif isinstance(node, ast.Name):
        found = [*bound(node.id, scope, tree)]
        assert found, f"nothing says what {node.id} is in line {node.lineno}"
        yield from found
    else:
        raise AssertionError(f"line {node.lineno}: {ast.unparse(node)}")  # type: ignore[attr-defined]


def bound(name: str, scope: ast.AST, tree: ast.AST) -> Iterator[str]:
    """What a name stands for: items of a loop, or arguments of every call of its function."""
    for loop in (one for one in ast.walk(scope) if isinstance(one, ast.For)):
        targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
        for place, target in enumerate(targets):
            if isinstance(target, ast.Name) and target.id == name:
                yield from items(loop.iter, place, scope, tree)
    if isinstance(scope, ast.FunctionDef):
        places = [arg.arg for arg in scope.args.args]
        for call in (one for one in ast.walk(tree) if isinstance(one, ast.Call)):
            if name in places and ast.unparse(call.func) == scope.name:
                yield from texts(call.args[places.index(name)], tree, tree)


def items(iterated: ast.expr, place: int, scope: ast.AST, tree: ast.AST) -> Iterator[str]:
    if isinstance(iterated, ast.Tuple):
        for item in iterated.elts:
            yield from texts(item.elts[place] if isinstance(item, ast.Tuple) else item, scope, tree)
    elif isinstance(iterated, ast.Call) and ast.unparse(iterated).endswith(".items()"):
        owner = ast.unparse(iterated).removesuffix(".items()")
        for made in (one for one in ast.walk(scope) if isinstance(one, ast.Assign)):
            if ast.unparse(made.targets[0]) == owner and isinstance(made.value, ast.Dict):
                for key in made.value.keys:
                    assert key is not None
                    yield from texts(key, scope, tree)


def produced_causes() -> set[str]:
    """Every text that is given as the code of a cause, anywhere in the package."""
    found: set[str] = set()
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        scopes = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
        for call in (one for one in ast.walk(tree) if isinstance(one, ast.Call)):
            if ast.unparse(call.func).rpartition(".")[2] == "Cause":
                around = [one for one in scopes if call in ast.walk(one)]
                for keyword in call.keywords:
                    if keyword.arg == "code":
                        found |= set(texts(keyword.value, around[-1] if around else tree, tree))
                    assert keyword.arg in ("code", "detail"), f"{path}:{call.lineno}"
    return found


def produced_rules() -> set[str]:
    """Every word that opens the name of a broken rule."""
    found = set()
    for path in sorted((SOURCE / "scoring").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                opening = re.fullmatch(r"([a-z_]+):", str(node.values[0].value))
                found |= {opening[1]} if opening else set()
    return found


@pytest.mark.parametrize(
    ("group", "words"),
    [
        (Group.STATUS, Status),
        (Group.FIRST, First),
        (Group.OWNER, Owner),
        (Group.KIND, Kind),
        (Group.LINEAGE, ["lineage", *sorted({*map(str, Place)} - {*map(str, First)})]),
    ],
)
def test_each_word_of_an_enumeration_is_explained_once_and_no_other(group: Group, words: type):
    assert sorted(explained(group)) == sorted(words)  # type: ignore[call-overload]


def test_each_cause_and_finding_in_the_sources_is_explained_once_and_no_other():
    codes = produced_causes()

    assert len(codes) > 40
    assert sorted(explained(*CAUSES)) == sorted(codes)


def test_each_rule_that_the_policy_names_is_explained_once_and_no_other():
    assert sorted(explained(Group.RULE)) == sorted(produced_rules())


def test_no_explanation_lacks_a_sentence():
    for one in EXPLANATIONS:
        assert all([one.means, one.causes, one.look, one.declare]), one.code
        assert (ROOT / one.group.page).is_file()


def entry_of(page: str, code: str) -> str:
    """The row or the section of a page that opens with a code, links and line ends taken out."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", page)
    found = re.findall(rf"(?m)^\| `{code}` \|.*$|^### `{code}`\n(?:(?!#).*\n?)*", text)
    return " ".join("\n".join(found).split())


@pytest.mark.parametrize("one", EXPLANATIONS, ids=lambda one: f"{one.group}-{one.code}")
def test_the_page_has_the_sentences_of_the_command(one):
    entry = entry_of((ROOT / one.group.page).read_text("utf-8"), one.code)

    declared = one.declare if not one.declare.startswith("not ") else ""
    missing = [part for part in (one.means, one.causes, one.look, declared) if part not in entry]
    assert missing == []


def test_no_page_explains_what_the_command_does_not_know():
    for page in {one.group.page for one in EXPLANATIONS}:
        text = (ROOT / page).read_text("utf-8")
        shown = re.findall(r"(?m)^(?:\||###) `([\w-]+)`", text)

        assert sorted(shown) == sorted(o.code for o in EXPLANATIONS if o.group.page == page)


@pytest.mark.parametrize(
    ("typed", "codes"),
    [
        ("type_coerced", ["type_coerced"]),
        ("Type-Coerced", ["type_coerced"]),
        ("TOOL_OWNER", ["tool-owner"]),
        ("adapter", ["adapter", "adapter"]),
        ("max_calls:issue_refund", ["max_calls"]),
        ("leak:get_user:/card", ["leak"]),
        ("agent:x", []),
        ("", []),
    ],
)
def test_a_code_is_found_as_people_type_it(typed: str, codes: list[str]):
    assert [one.code for one in explanations_of(typed)] == codes


def test_the_nearest_codes_come_first():
    assert codes_like("trunkated")[0] == "truncated"
    assert codes_like("%%%") == ()
