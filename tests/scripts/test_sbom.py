"""The bill of packages: everything that is needed, pinned, with what needs it."""

import re
import tomllib
from pathlib import Path

import pytest
from scripts.sbom import bill

ROOT = Path(__file__).parent.parent.parent


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def made():
    return bill()


def test_every_package_that_ingram_needs_is_in_the_bill(made):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {plain(re.match(r"[\w.-]+", line)[0]) for line in project["dependencies"]}
    required = {plain(c["name"]) for c in made["components"] if c["scope"] == "required"}
    assert wanted < required  # and what they need in turn
    assert {"llvmlite", "pydantic-core", "urllib3"} <= required
    assert {c["scope"] for c in made["components"]} == {"required", "optional", "excluded"}


def test_every_package_is_pinned_to_the_version_in_the_bill(made):
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    pins = {plain(name): version for name, version in pins.items()}
    for component in made["components"]:
        name, version = plain(component["name"]), component["version"].split("+")[0]
        assert pins.get(name) == version, component["name"]


def test_whatever_needs_or_is_needed_is_listed_and_the_bill_is_the_same_again(made):
    refs = {"ingram", *(c["bom-ref"] for c in made["components"])}
    assert [entry["ref"] for entry in made["dependencies"] if entry["ref"] not in refs] == []
    needed = {ref for entry in made["dependencies"] for ref in entry["dependsOn"]}
    assert needed == refs - {"ingram"}
    assert bill() == made
