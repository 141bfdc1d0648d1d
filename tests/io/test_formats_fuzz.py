"""The files that are broken by ``tests.torture`` are whole before that, in every format."""

import pytest

from ingram.io import read_graph
from tests.torture.graph_files import PACK, SEEDS

pytest.importorskip("pyoxigraph")


@pytest.mark.parametrize("suffix", SEEDS)
@pytest.mark.parametrize("packing", PACK)
def test_every_file_to_be_broken_is_read_while_it_is_whole(suffix, packing, tmp_path):
    for data in SEEDS[suffix]:
        path = tmp_path / f"seed.{suffix}{packing}"
        path.write_bytes(PACK[packing](data))
        assert read_graph(path).num_triples > 0
