"""Fetching benchmarks: with checksums, from mirrors, going on where a download broke off."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingram.datasets import registry
from ingram.errors import DownloadError

if TYPE_CHECKING:
    import requests

Progress = Callable[[str, int, int | None], None]
"""Called with the file, the bytes that are here, and the bytes there will be if that is known."""

RESUMES = 8
"""How often a file that breaks off is gone on with at once; each time must bring some bytes."""
TIMEOUT = (10, 30)
"""Seconds to connect, and between two pieces."""
PIECE = 1 << 13
"""What a broken connection can lose; the files have a few megabytes."""
OFFLINE = "not in the cache, and the network is not to be used (--offline or INGRAM_OFFLINE)"
LARGEST = 64 << 20
"""No file of a benchmark is nearly as large; what is larger is not one."""


def sources(mirrors: Iterable[str] = (), *, offline: bool = False) -> list[str]:
    """Addresses to try in turn: the user's mirrors, ``INGRAM_MIRROR``, the public home.

    A mirror is an address or a folder; ``NAME/train.txt`` follows. Offline, only folders are left.
    """
    named = [*mirrors, *os.environ.get("INGRAM_MIRROR", "").replace(",", " ").split()]
    every = [*named, registry.BASE_ADDRESS]
    return [s for s in every if not (offline and _is_remote(s))]


def is_offline() -> bool:
    """Whether ``INGRAM_OFFLINE`` forbids the network."""
    return os.environ.get("INGRAM_OFFLINE", "").lower() not in ("", "0", "false", "no")


def download(
    name: str,
    *,
    mirrors: Iterable[str] = (),
    offline: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Fetch what the cache lacks of a benchmark; its folder. Files that are there are verified."""
    wanted = registry.benchmark(name)
    offline = offline or is_offline()
    fetch(
        {f"{name}/{file}": total for file, total in wanted.sums.items()},
        registry.cache_folder(),
        sources(mirrors, offline=offline),
        progress=progress,
    )
    return wanted.folder


def fetch(
    wanted: Mapping[str, str],
    home: Path,
    addresses: Sequence[str],
    *,
    progress: Progress | None = None,
) -> None:
    """Put files, given with their SHA-256, under ``home/datasets``: whole and genuine, or not.

    What breaks off is kept under ``home/partial`` and gone on with, now or by the next call.
    """
    try:
        for file, total in wanted.items():
            _fetch_one(file, total, home, addresses, progress or (lambda *_: None))
    except OSError as error:
        raise DownloadError(f"{home}: cannot be written: {error.strerror or error}") from error
    finally:
        for folder in (home / "partial", *((home / "datasets" / file).parent for file in wanted)):
            with suppress(OSError):
                folder.rmdir()  # only if it is empty


def _fetch_one(
    file: str, total: str, home: Path, addresses: Sequence[str], progress: Progress
) -> None:
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    target = home / "datasets" / file
    if target.is_file() and pooch.file_hash(str(target)) == total:
        progress(file, target.stat().st_size, target.stat().st_size)
        return
    failures = []
    for address in addresses:
        failure = _try(address, file, total, home, progress)
        if failure is None:
            return
        failures.append(f"{address}: {failure}")
    raise DownloadError(f"{file}: {'; '.join(failures) or OFFLINE}")


def _try(address: str, file: str, total: str, home: Path, progress: Progress) -> str | None:
    """Why the file cannot be had at an address; none once it is in its place."""
    import pooch
    import requests

    part = home / "partial" / total
    began = part.exists()
    fetcher = _Fetcher(file, part, progress)
    store = pooch.create(
        path=home / "datasets",
        base_url=address.rstrip("/") + "/",
        registry={file: f"sha256:{total}"},
    )
    try:
        store.fetch(file, downloader=fetcher)
    except requests.RequestException as error:
        if not fetcher.here():
            part.unlink(missing_ok=True)
        return _reason(error, fetcher)
    except _SourceError as error:
        return str(error)
    except ValueError:
        if began:  # what was kept of an earlier download may be to blame; pooch removed it
            return _try(address, file, total, home, progress)
        return "the SHA-256 is not the published one; what came was thrown away"
    return None


def _reason(error: requests.RequestException, fetcher: _Fetcher) -> str:
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"answered {error.response.status_code} {error.response.reason}".rstrip()
    if fetcher.answered:
        return f"broke off after {fetcher.here():,} bytes; the same command goes on from there"
    if isinstance(error, requests.Timeout):
        return f"no answer within {TIMEOUT[0]} s"
    if isinstance(error, requests.ConnectionError):
        return "cannot be reached"
    return str(error).splitlines()[0]


class _SourceError(Exception):
    """A source does not give the file."""


def _is_remote(address: str) -> bool:
    return "://" in address and not address.startswith("file://")


@dataclass
class _Fetcher:
    """Downloads into a part file that outlives a failure, then hands it to pooch to be verified."""

    file: str
    part: Path
    progress: Progress
    received: int = 0
    answered: bool = False

    def __call__(self, url: str, output_file: Any, pooch: Any, **_: Any) -> None:
        self.part.parent.mkdir(parents=True, exist_ok=True)
        if _is_remote(url):
            self._fetch(url)
        else:
            self._copy(Path(url.removeprefix("file://")))
        shutil.move(self.part, output_file)

    def here(self) -> int:
        """The bytes that have come."""
        return self.part.stat().st_size if self.part.exists() else 0

    def _copy(self, path: Path) -> None:
        try:
            source = path.open("rb")
        except OSError as error:
            raise _SourceError(error.strerror or str(error)) from error
        with source, self.part.open("wb") as out:
            shutil.copyfileobj(source, out)
        self.progress(self.file, self.here(), self.here())

    def _fetch(self, url: str) -> None:
        import requests

        with requests.Session() as session:
            for left in reversed(range(RESUMES)):
                before = self.received
                try:
                    self._continue(session, url)
                    return
                except requests.HTTPError:
                    raise
                except requests.RequestException:
                    if left == 0 or self.received == before:
                        raise

    def _continue(self, session: requests.Session, url: str) -> None:
        """Ask for what is missing; a server that cannot skip sends everything again."""
        start = self.here()
        headers = {"Accept-Encoding": "identity"}  # offsets must count the file's own bytes
        if start:
            headers["Range"] = f"bytes={start}-"
        with session.get(url, headers=headers, stream=True, timeout=TIMEOUT) as answer:
            if start and answer.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                return  # nothing is missing; if it is not this file's, the checksum will tell
            answer.raise_for_status()
            self.answered = True
            self._receive(answer, start if answer.status_code == HTTPStatus.PARTIAL_CONTENT else 0)

    def _receive(self, answer: requests.Response, start: int) -> None:
        import requests

        length = answer.headers.get("Content-Length", "")
        end = start + int(length) if length.isdecimal() else None
        here = start
        with self.part.open("ab" if start else "wb") as out:
            for piece in answer.iter_content(PIECE):
                out.write(piece)
                here += len(piece)
                self.received += len(piece)
                if here > LARGEST:
                    break
                self.progress(self.file, here, end)
        if here > LARGEST:
            self.part.unlink()
            raise _SourceError(f"sends more than {LARGEST:,} bytes, which no benchmark file has")
        if end is not None and here < end:
            raise requests.ConnectionError("broke off")
