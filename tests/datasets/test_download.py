"""Downloads from a server that is honest, breaks off, lies, lacks the file or is not there."""

from __future__ import annotations

import hashlib
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ingram.datasets import download as downloads
from ingram.datasets import open_dataset, open_graph, registry
from ingram.datasets.download import PIECE, download, fetch, sources
from ingram.errors import DatasetError, DownloadError

BODY = bytes(range(256)) * 4000  # about a megabyte, no piece like the next
SUM = hashlib.sha256(BODY).hexdigest()
FILE = "SET/train.txt"
TABLES = {
    "train.txt": "a\tr\tb\nb\tr\tc\nc\ts\ta\n",
    "msg.txt": "x\tr\ty\ny\tq\tz\n",
    "valid.txt": "z\tr\tx\n",
    "test.txt": "x\tq\tz\n",
}


@dataclass
class Script:
    """What the server holds and how it misbehaves. cuts: bytes to send before hanging up."""

    files: dict[str, bytes] = field(default_factory=dict)
    cuts: list[int] = field(default_factory=list)
    ranges: bool = True
    declares_length: bool = True
    status: int | None = None
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    address: str = ""


def handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            wanted = self.headers.get("Range")
            script.asked.append((self.path, wanted))
            body = script.files.get(self.path.removeprefix("/"))
            if script.status or body is None:
                self.send_error(script.status or 404)
                return
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
            if wanted and script.ranges and start >= len(body):
                self.send_error(416)
                return
            partial = bool(wanted and script.ranges)
            body = body[start:] if partial else body
            self.send_response(206 if partial else 200)
            if script.declares_length:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: script.cuts.pop(0)] if script.cuts else body)

    return Handler


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    script = Script({FILE: BODY})
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), handler(script))
    script.address = f"http://127.0.0.1:{httpd.server_port}"
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield script
    httpd.shutdown()
    thread.join()
    httpd.server_close()


@pytest.fixture
def unreachable(monkeypatch) -> str:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def everything_in(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def get(home: Path, *addresses: str, **kwargs) -> None:
    fetch({FILE: SUM}, home, addresses, **kwargs)


def failure(home: Path, *addresses: str) -> str:
    with pytest.raises(DownloadError) as error:
        get(home, *addresses)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_file_arrives_whole_and_nothing_else_is_left(server, tmp_path):
    steps = []
    get(tmp_path, server.address, progress=lambda *step: steps.append(step))
    assert (tmp_path / "datasets" / FILE).read_bytes() == BODY
    assert everything_in(tmp_path) == ["datasets", "datasets/SET", f"datasets/{FILE}"]
    assert steps[-1] == (FILE, len(BODY), len(BODY))


def test_a_genuine_file_is_not_asked_for_again(server, tmp_path):
    get(tmp_path, server.address)
    get(tmp_path, server.address)
    assert len(server.asked) == 1


def test_a_changed_file_is_fetched_anew(server, tmp_path):
    get(tmp_path, server.address)
    (tmp_path / "datasets" / FILE).write_bytes(b"scribble")
    get(tmp_path, server.address)
    assert (tmp_path / "datasets" / FILE).read_bytes() == BODY


@pytest.mark.parametrize("slash", ["", "/"])
def test_an_address_may_end_in_a_slash(server, tmp_path, slash):
    get(tmp_path, server.address + slash)
    assert server.asked == [(f"/{FILE}", None)]


def test_a_download_that_breaks_off_goes_on_where_it_was(server, tmp_path):
    server.cuts = [10 * PIECE, 5 * PIECE + 1]
    get(tmp_path, server.address)
    assert (tmp_path / "datasets" / FILE).read_bytes() == BODY
    starts = [None, f"bytes={10 * PIECE}-", f"bytes={15 * PIECE}-"]
    assert [wanted for _, wanted in server.asked] == starts


def test_a_server_that_cannot_skip_sends_everything_again(server, tmp_path):
    server.cuts, server.ranges = [300_000], False
    get(tmp_path, server.address)
    assert (tmp_path / "datasets" / FILE).read_bytes() == BODY


def test_a_server_that_keeps_breaking_off_is_left_and_the_next_call_goes_on(server, tmp_path):
    server.cuts = [PIECE] * downloads.RESUMES
    kept = PIECE * downloads.RESUMES
    assert f"broke off after {kept:,} bytes" in failure(tmp_path, server.address)
    assert everything_in(tmp_path) == ["datasets", "partial", f"partial/{SUM}"]
    server.asked.clear()
    get(tmp_path, server.address)
    assert server.asked == [(f"/{FILE}", f"bytes={kept}-")]
    assert (tmp_path / "datasets" / FILE).read_bytes() == BODY
    assert not (tmp_path / "partial").exists()


def test_a_server_that_hangs_up_before_the_first_byte_is_not_asked_forever(server, tmp_path):
    server.cuts = [0] * 100
    assert "broke off after 0 bytes" in failure(tmp_path, server.address)
    assert everything_in(tmp_path) == ["datasets"]
    assert len(server.asked) == 1


def test_another_mirror_goes_on_with_what_one_began(server, tmp_path):
    server.files["half/" + FILE] = BODY
    server.cuts = [PIECE] * downloads.RESUMES
    get(tmp_path, f"{server.address}/half", server.address)
    assert server.asked[-1] == (f"/{FILE}", f"bytes={PIECE * downloads.RESUMES}-")


def test_a_part_that_is_complete_is_used(server, tmp_path):
    (tmp_path / "partial").mkdir()
    (tmp_path / "partial" / SUM).write_bytes(BODY)
    get(tmp_path, server.address)
    assert (tmp_path / "datasets" / FILE).read_bytes() == BODY


@pytest.mark.parametrize("stale", [b"not the beginning", b"longer" * len(BODY)])
def test_a_part_that_does_not_fit_is_thrown_away(server, tmp_path, stale):
    (tmp_path / "partial").mkdir()
    (tmp_path / "partial" / SUM).write_bytes(stale)
    get(tmp_path, server.address)
    assert (tmp_path / "datasets" / FILE).read_bytes() == BODY


def test_a_wrong_checksum_is_refused_and_nothing_is_kept(server, tmp_path):
    server.files[FILE] = BODY[:-1] + b"!"
    assert "the SHA-256 is not the published one" in failure(tmp_path, server.address)
    assert everything_in(tmp_path) == ["datasets"]


def test_a_body_cut_short_without_a_length_is_refused(server, tmp_path):
    server.cuts, server.declares_length = [1000], False
    assert "SHA-256" in failure(tmp_path, server.address)
    assert everything_in(tmp_path) == ["datasets"]


def test_a_missing_file_is_told_with_its_status(server, tmp_path):
    server.files.clear()
    assert f"{server.address}: answered 404 Not Found" in failure(tmp_path, server.address)
    assert everything_in(tmp_path) == ["datasets"]


def test_a_server_in_trouble_is_told_with_its_status(server, tmp_path):
    server.status = 503
    assert "answered 503 Service Unavailable" in failure(tmp_path, server.address)


def test_a_server_that_is_not_there_is_told(unreachable, tmp_path):
    assert f"{unreachable}: cannot be reached" in failure(tmp_path, unreachable)
    assert everything_in(tmp_path) == ["datasets"]


def test_a_server_that_never_ends_is_cut_off(server, tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "LARGEST", 100_000)
    assert "sends more than 100,000 bytes" in failure(tmp_path, server.address)
    assert everything_in(tmp_path) == ["datasets"]


def test_what_is_no_address_is_told(tmp_path):
    assert "ftp://x: " in failure(tmp_path, "ftp://x")


def test_every_address_is_tried_and_named(server, unreachable, tmp_path):
    server.files["liar/" + FILE] = b"lies"
    message = failure(tmp_path, unreachable, f"{server.address}/liar", f"{server.address}/none")
    assert message.index("cannot be reached") < message.index("SHA-256") < message.index("404")
    get(tmp_path, unreachable, f"{server.address}/liar", server.address)
    assert (tmp_path / "datasets" / FILE).read_bytes() == BODY


def test_a_folder_may_be_a_mirror(tmp_path):
    (tmp_path / "mirror" / "SET").mkdir(parents=True)
    (tmp_path / "mirror" / FILE).write_bytes(BODY)
    get(tmp_path / "one", str(tmp_path / "mirror"))
    get(tmp_path / "two", (tmp_path / "mirror").as_uri())
    assert (tmp_path / "one" / "datasets" / FILE).read_bytes() == BODY
    assert (tmp_path / "two" / "datasets" / FILE).read_bytes() == BODY
    assert "No such file" in failure(tmp_path / "three", str(tmp_path / "nowhere"))


def test_a_cache_that_cannot_be_written_is_told(server, tmp_path):
    (tmp_path / "file").touch()
    assert "cannot be written" in failure(tmp_path / "file", server.address)


def test_mirrors_come_before_the_public_home(monkeypatch):
    monkeypatch.setenv("INGRAM_MIRROR", "https://b.example, /data/c")
    every = ["https://a.example", "https://b.example", "/data/c", registry.BASE_ADDRESS]
    assert sources(["https://a.example"]) == every
    assert sources(["https://a.example"], offline=True) == ["/data/c"]


@pytest.fixture
def small(monkeypatch, tmp_path, server):
    """NL-100 as a tiny set on the local server, with an empty cache."""
    sums = dict(registry.checksums())
    for file, text in TABLES.items():
        server.files[f"NL-100/{file}"] = text.encode()
        sums[f"NL-100/{file}"] = hashlib.sha256(text.encode()).hexdigest()
    monkeypatch.setattr(registry, "checksums", lambda: sums)
    monkeypatch.setattr(registry, "BASE_ADDRESS", server.address)
    monkeypatch.setenv("INGRAM_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("INGRAM_MIRROR", raising=False)
    monkeypatch.delenv("INGRAM_OFFLINE", raising=False)
    monkeypatch.chdir(tmp_path)
    return server


def test_a_downloaded_benchmark_opens_by_name(small, tmp_path):
    assert download("NL-100") == tmp_path / "home" / "datasets" / "NL-100"
    dataset = open_dataset("NL-100")
    assert (dataset.name, dataset.inductive) == ("NL-100", True)
    assert dataset.train.num_triples == 3
    assert open_graph("NL-100").num_triples == 2


def test_a_benchmark_that_is_not_cached_says_how_to_get_it_and_is_not_fetched(small):
    with pytest.raises(DatasetError, match="get it with: ingram data download NL-100"):
        open_dataset("NL-100")
    assert small.asked == []


def test_a_benchmark_with_a_file_missing_is_not_cached(small, tmp_path):
    folder = download("NL-100")
    (folder / "valid.txt").unlink()
    assert not registry.benchmark("NL-100").cached
    small.asked.clear()
    download("NL-100")
    assert [path for path, _ in small.asked] == ["/NL-100/valid.txt"]


def test_a_cached_file_that_was_changed_is_refused(small):
    folder = download("NL-100")
    (folder / "test.txt").write_text("x\tr\tz\n")
    with pytest.raises(DatasetError, match=r"test.txt: want SHA-256 .* the file was changed"):
        open_dataset("NL-100")


def test_a_folder_of_the_name_wins(small, tmp_path):
    (tmp_path / "NL-100").mkdir()
    for file, text in TABLES.items():
        (tmp_path / "NL-100" / file).write_text(text.replace("z", "own"))
    assert "own" in open_dataset("NL-100").inference.entities


@pytest.mark.parametrize("by_environment", [True, False])
def test_offline_uses_what_is_there_and_no_network(small, monkeypatch, by_environment):
    if by_environment:
        monkeypatch.setenv("INGRAM_OFFLINE", "1")
    with pytest.raises(DownloadError, match="not in the cache, and the network is not to be used"):
        download("NL-100", offline=not by_environment)
    assert small.asked == []
    monkeypatch.delenv("INGRAM_OFFLINE", raising=False)
    download("NL-100")
    small.asked.clear()
    download("NL-100", offline=True)
    assert small.asked == []
