"""Graph files of every format and packing, and how files are broken."""

import bz2
import gzip
import io
import random

import polars as pl
import zstandard

ROWS = [("a", "likes", "b"), ("b", "knows", "ü"), ("日本", "likes", "a b"), ("x", "knows", "y")]


def _parquet(**options):
    file = io.BytesIO()
    table = pl.DataFrame(ROWS, schema=["head", "relation", "tail"], orient="row")
    table.with_columns(weight=1.5).write_parquet(file, **options)
    return file.getvalue()


def _rdf_xml(entity=""):
    things = "".join(
        f'<rdf:Description rdf:about="http://x/s{i}"><e:p rdf:resource="http://x/o{i}"/>'
        f"<e:q>text</e:q><e:r><rdf:Description/></e:r></rdf:Description>"
        for i in range(3)
    )
    return (
        f'<?xml version="1.0" encoding="utf-8"?>{entity}<rdf:RDF xmlns:e="http://e/" '
        f'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">{things}</rdf:RDF>'
    ).encode()


SEEDS = {
    "tsv": ["".join("\t".join(row) + "\n" for row in ROWS).encode()],
    "csv": [
        "".join(",".join(row) + "\r\n" for row in ROWS).encode(),
        b'head,relation,tail,weight\n"a, ""b""",r,"c\nd",1\ne,r,f,2.5\n\n',
    ],
    "jsonl": [
        (
            b'{"head": "a", "relation": "r", "tail": "b\\u00fc", "weight": 2}\n'
            b'{"tail": "\\ud83d\\ude00", "head": "c", "relation": "r", "weight": 1e3, "x": [{}]}\n'
        )
    ],
    "parquet": [_parquet(), _parquet(compression="uncompressed"), _parquet(compression="snappy")],
    "nt": [
        (
            b"<http://x/a> <http://x/p> <http://x/b> .\n"
            b"_:b1 <http://x/p> _:b2 .\n"
            b'<http://x/a> <http://x/p> "lit\\n\\u00e9"@en-us . # comment\n'
            b'<http://x/a>\t<http://x/p>\t"5"^^<http://x/int>\t.\n'
            b"<urn:ingram:New%20York> <urn:ingram:r> <urn:ingram:b> .\n# comment\n"
        )
    ],
    "nq": [
        (
            b"<http://x/a> <http://x/p> <http://x/b> <http://x/g> .\n"
            b'_:b1 <http://x/p> "x" _:g .\n<http://x/a> <http://x/p> _:b1 .\n'
        )
    ],
    "ttl": [
        (
            b"@prefix : <http://x/> .\n@base <http://y/> .\n:a :p :b , [ :q ( 1 2 ) ] ; a <C> .\n"
            b'_:n :p """long\ntext"""@en , true , 1.5e3 , \'q\' .\n'
        )
    ],
    "trig": [b"@prefix : <http://x/> .\n:g { :a :p :b . _:n :p [] }\n{ :a :p :c }\n"],
    "rdf": [_rdf_xml(), _rdf_xml('<!DOCTYPE r [<!ENTITY e "http://e/">]>')],
}
PACK = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": zstandard.compress,
    ".bz2": bz2.compress,
}
TOKENS = [
    b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b'"', b'""', b"\\", b",", b"'",
    b"<", b">", b"<<(", b"_:", b"@", b"^^", b" .", b"#", b"{", b"}", b"[" * 40, b"(" * 40, b"null",
    b"1e999", b"NaN", b"-1", b"\\ud800", b"\\u0000", b"&e;", b'<!ENTITY a "&e;">', b"<![CDATA[",
    b"9" * 40, b"x" * 300, b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1", b"@prefix", b"a\tb\tc\td\n",
    "\u2028\ud7ff".encode(), b"urn:ingram:%FF%zz", b"\x7f" * 4, b"\xff\xff\xff\x7f",
]  # fmt: skip


def mutated(data: bytes, rng: random.Random) -> bytes:
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        until = min(len(data), at + rng.choice((1, 1, 2, 4, 16, 64)))
        match rng.randrange(7):
            case 0:
                del data[at:]  # cut off
            case 1:
                del data[at:until]
            case 2:
                data[at:at] = rng.choice(TOKENS)
            case 3:
                data[at:until] = rng.choice(TOKENS)
            case 4:
                data[at:at] = data[at:until] * rng.choice((1, 3, 50))
            case 5:
                data[at:until] = rng.randbytes(until - at)
            case 6:
                if at < len(data):
                    data[at] ^= 1 << rng.randrange(8)
    return bytes(data)


def broken_graph(rng: random.Random) -> tuple[str, bytes]:
    """Suffix and content: half of those that are packed are broken before, half after packing."""
    suffix = rng.choice(list(SEEDS))
    data = rng.choice(SEEDS[suffix])
    packing = rng.choice(["", "", *PACK])
    if rng.random() < 0.5:
        return f".{suffix}{packing}", PACK[packing](mutated(data, rng))
    return f".{suffix}{packing}", mutated(PACK[packing](data), rng)
