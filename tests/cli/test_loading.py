"""What is loaded when: torch takes seconds, and nobody waits for it to read a help text."""

import pytest
from tests.processes import run_python
from typer.main import get_command

import ingram
from ingram.cli import VERBS, app, verb


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_is_listed_by_the_first_line_of_its_help(name):
    assert verb(name).help.splitlines()[0] == VERBS[name]


def test_a_verb_is_found_by_its_name_and_no_other():
    group = get_command(app)
    assert group.get_command(None, "predict").name == "predict"
    assert group.get_command(None, "predit") is None


def test_help_loads_neither_torch_nor_numba():
    code = """if 1:
        import sys
        sys.argv = ["ingram", "--help"]
        from ingram.cli import main
        try:
            main()
        except SystemExit:
            print({"torch", "numba", "matplotlib"} & set(sys.modules))"""
    assert run_python(code).splitlines()[-1] == "set()"


def test_an_answer_loads_no_compiler_of_torch_and_no_picture():
    code = """if 1:
        import sys, ingram
        found = ingram.predict("world", head="Kenya", relation="borders", k=3)
        print(len(found), {"torch._dynamo", "sympy", "matplotlib", "sklearn"} & set(sys.modules))"""
    assert run_python(code) == "3 set()"


def test_every_public_name_is_there():
    for name in ingram.__all__:
        assert getattr(ingram, name) is not None
        assert name in dir(ingram)
    with pytest.raises(AttributeError, match="nonsense"):
        ingram.nonsense  # noqa: B018
