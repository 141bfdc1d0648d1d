"""What is read back gives the probabilities that were fitted, or is refused."""

import json

import numpy as np
import pytest

from ingram.answers.calibration import Calibration, Isotonic, Platt, Reliability
from ingram.errors import CalibrationError


def calibration(**changes):
    figures = Reliability(ece=0.1, brier=0.2, bins=())
    fields = {
        "model": "abc",
        "draws": None,
        "dataset": "d",
        "questions": 20,
        "method": "platt",
        "platt": Platt(slope=2.0, intercept=-1.0),
        "isotonic": Isotonic(scores=(0.0, 1.0, 3.0), probabilities=(0.1, 0.2, 0.8)),
        "reliability": {"platt": figures, "isotonic": figures},
        "threshold": 0.5,
        "accuracy": 0.9,
    }
    return Calibration.model_validate({**fields, **changes})


def test_platt_is_a_logistic_curve_also_far_out():
    found = calibration().probability(np.array([0.5, 1e9, -1e9]))
    assert found.tolist() == [0.5, 1.0, 0.0]


def test_isotonic_is_straight_between_points_and_level_outside():
    found = calibration(method="isotonic").probability([-5, 0, 0.5, 2, 99])
    assert found.tolist() == pytest.approx([0.1, 0.1, 0.15, 0.5, 0.8])


def test_what_is_saved_is_read_back_the_same(tmp_path):
    whole = calibration(threshold=0.1 + 0.2)
    whole.save(tmp_path / "c.json")
    assert Calibration.load(tmp_path / "c.json") == whole


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "other"}, "format: "),
        ({"method": "magic"}, "method: "),
        ({"threshold": None}, "threshold: "),
        ({"platt": {"slope": -1, "intercept": 0}}, r"platt\.slope: "),
        ({"isotonic": {"scores": [1, 0], "probabilities": [0, 1]}}, "never fall"),
        ({"isotonic": {"scores": [0, 1], "probabilities": [1, 0]}}, "never fall"),
        ({"isotonic": {"scores": [0, 1], "probabilities": [0, 2]}}, "less than or equal to 1"),
        ({"isotonic": {"scores": [0, 1], "probabilities": [0]}}, "as many probabilities"),
        ({"isotonic": {"scores": [], "probabilities": []}}, "at least 1"),
        ({"more": 1}, "more: "),
    ],
)
def test_a_file_that_is_not_sound_is_refused_in_one_line(tmp_path, changes, said):
    path = tmp_path / "c.json"
    path.write_text(json.dumps({**json.loads(calibration().model_dump_json()), **changes}))
    with pytest.raises(CalibrationError, match=said) as error:
        Calibration.load(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b'{"threshold": NaN}'])
def test_a_file_that_is_no_calibration_is_refused(tmp_path, content):
    path = tmp_path / "c.json"
    path.write_bytes(content)
    with pytest.raises(CalibrationError, match=r"c\.json: "):
        Calibration.load(path)
