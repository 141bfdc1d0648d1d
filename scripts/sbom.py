"""``make sbom``: a CycloneDX bill of the packages that ingram needs, as they are installed.

From the packages' own metadata: a tool for it would bring more packages than it lists. The same
packages give the same bytes, so a bill can be compared with the one before.
"""

from __future__ import annotations

import json
import sys
import tomllib
import uuid
from collections import deque
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
SCOPES = ("required", "optional", "excluded")
"""What ingram does not start without, what an extra brings, and what only its tests need."""


def bill() -> dict[str, Any]:
    """The document: components by name, and which needs which."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    roots = {
        "required": project["dependencies"],
        "optional": [line for name, lines in extras.items() if name != "dev" for line in lines],
        "excluded": [line for line in extras["dev"] if not line.startswith("ingram[")],
    }
    found: dict[str, tuple[Distribution, str, set[str]]] = {}
    for scope in SCOPES:
        _follow(map(Requirement, roots[scope]), scope, found)
    itself: dict[str, Any] = {"type": "library", "bom-ref": "ingram", "name": "ingram"}
    itself |= {"version": project["version"], "licenses": [{"expression": project["license"]}]}
    components = [_component(dist, scope) for _, (dist, scope, _) in sorted(found.items())]
    direct: set[str] = {
        canonicalize_name(Requirement(line).name) for scope in SCOPES for line in roots[scope]
    }
    links: dict[str, set[str]] = {
        "ingram": direct,
        **{name: needs for name, (_, _, needs) in found.items()},
    }
    refs = {name: _address(dist) for name, (dist, _, _) in found.items()} | {"ingram": "ingram"}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components))}",
        "version": 1,
        "metadata": {"component": itself},
        "components": components,
        "dependencies": [
            {"ref": refs[name], "dependsOn": sorted(refs[n] for n in needs if n in refs)}
            for name, needs in sorted(links.items())
        ],
    }


def _follow(
    wanted: Iterable[Requirement],
    scope: str,
    found: dict[str, tuple[Distribution, str, set[str]]],
) -> None:
    """Add what is wanted, and what that needs, to what was found."""
    waiting = deque(wanted)
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.popleft()
        name = canonicalize_name(requirement.name)
        if (name, frozenset(requirement.extras)) in seen:
            continue
        seen.add((name, frozenset(requirement.extras)))
        try:
            dist = distribution(name)
        except PackageNotFoundError:
            if scope == "required":
                raise
            continue  # an extra that is not installed
        needs = [r for r in map(Requirement, dist.requires or []) if _applies(r, requirement)]
        found.setdefault(name, (dist, scope, set()))[2].update(
            canonicalize_name(need.name) for need in needs
        )
        waiting.extend(needs)


def _applies(need: Requirement, by: Requirement) -> bool:
    return need.marker is None or any(
        need.marker.evaluate({"extra": extra}) for extra in ("", *by.extras)
    )


def _component(dist: Distribution, scope: str) -> dict[str, Any]:
    about = dist.metadata
    said: dict[str, Any] = {
        "type": "library",
        "bom-ref": _address(dist),
        "name": about["Name"],
        "version": dist.version,
        "scope": scope,
        "purl": _address(dist),
    }
    if "License-Expression" in about:
        said["licenses"] = [{"expression": about["License-Expression"]}]
    elif names := _licences(about.get_all("Classifier") or [], about.get_all("License") or []):
        said["licenses"] = [{"license": {"name": name}} for name in names]
    return said


def _licences(classifiers: list[str], texts: list[str]) -> list[str]:
    """By the classifiers, or what the field says if it is a name and not the whole text."""
    names = [c.split(" :: ")[-1] for c in classifiers if c.startswith("License :: ")]
    return names or [text for text in texts if 0 < len(text) < 60]


def _address(dist: Distribution) -> str:
    return f"pkg:pypi/{canonicalize_name(dist.metadata['Name'])}@{quote(dist.version)}"


if __name__ == "__main__":
    text = json.dumps(bill(), indent=1, ensure_ascii=False) + "\n"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
