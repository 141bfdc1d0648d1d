"""The rules that keep the code readable, enforced."""

import ast
from pathlib import Path

import pytest

import ingram

ORDER = (
    "errors", "memory", "labels", "graph", "splits", "io", "datasets", "meetings", "relation_graph",
    "kernels", "answers", "embeddings", "models", "evaluation", "training", "inference",
    "experiments", "serve", "cli",
)  # fmt: skip
"""The way data flows: a module imports only from those before it, or from its own room."""

SOURCE = Path(ingram.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST = 300


def name_of(path):
    return path.relative_to(SOURCE).as_posix()


def room_of(path):
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imports_of(path):
    """The rooms of this package that a file imports from, wherever in it the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}:{node.lineno}: imports are absolute"
            module = node.module or ""
            names = [f"{module}.{a.name}" for a in node.names] if module == "ingram" else [module]
        else:
            continue
        for name in names:
            package, _, inside = name.partition(".")
            if package == "ingram":
                yield inside.partition(".")[0], node.lineno


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_point_only_upward(path):
    room = room_of(path)
    if room == "__init__":  # the public names, gathered from everywhere
        return
    for imported, line in imports_of(path):
        where = f"{name_of(path)}:{line}"
        if room == "process":
            pytest.fail(f"{where}: process imports nothing of the package")
        if imported in ("process", room) or (imported.startswith("__") and room == "cli"):
            continue
        assert imported in ORDER, (
            f"{where}: {imported or 'the package itself'} has no place in the order"
        )
        assert ORDER.index(imported) < ORDER.index(room), f"{where}: {room} imports {imported}"


def test_every_module_has_a_place_in_the_order():
    rooms = {room_of(path) for path in FILES} - {"__init__", "process", "__main__"}
    assert rooms <= set(ORDER)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_can_be_read_in_one_go(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_nothing_that_is_read_is_executed(path):
    """No pickle, under any of its names, and no eval or exec."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        where = f"{name_of(path)}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
            bad = names & {
                "pickle",
                "cPickle",
                "dill",
                "cloudpickle",
                "joblib",
                "shelve",
                "marshal",
            }
            assert not bad, f"{where}: imports {bad}"
        elif isinstance(node, ast.Call):
            call = ast.unparse(node.func)
            assert call not in {"eval", "exec", "torch.load", "torch.save", "yaml.load"}, where
            allowed = any(k.arg == "allow_pickle" for k in node.keywords)
            assert not allowed, f"{where}: allow_pickle"
