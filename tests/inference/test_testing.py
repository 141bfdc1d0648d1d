"""Testing the query-conditioned model on a split; ``test_loop`` has the embedding model."""

import pytest

from ingram.answers import KnownAnswers
from ingram.errors import ConfigError
from ingram.evaluation.metrics import overall
from ingram.evaluation.ranking import rank
from ingram.inference.testing import rank_split
from ingram.models import InGram, InGramQ
from ingram.training import train
from ingram.training.checkpoints import RunDirectory
from tests.tiny import tiny_config, tiny_query_config, tiny_run_config
from tests.training.runs import DATASET

CONFIG = tiny_query_config()
MODEL = InGramQ(CONFIG.model, seed=1)


@pytest.mark.parametrize("split", ["valid", "test"])
def test_a_split_is_ranked_among_all_entities_without_draws(split):
    found = rank_split(MODEL, DATASET, split, config=CONFIG)
    assert (found.draws, found.features) == (None, None)
    scorer, known = MODEL.scorer(DATASET.inference), KnownAnswers.of(DATASET)
    wanted = rank(scorer, DATASET.split(split), known, DATASET.inference.num_entities)
    assert found.ranks.drop("known").equals(wanted)
    assert found.ranks["known"].to_list() == [
        bool(DATASET.known_relations[r]) for r in wanted["relation"]
    ]
    assert found.ranks["known"].n_unique() == 2


def test_a_test_of_the_chosen_weights_gives_the_validation_figures_again(tmp_path):
    outcome = train(DATASET, CONFIG, RunDirectory(tmp_path))
    again = overall(rank_split(outcome.model, DATASET, "valid", config=CONFIG).ranks)
    best = {name: value for name, value in outcome.best.items() if name != "epoch"}
    assert {name: again[name] for name in best} == pytest.approx(best)


@pytest.mark.parametrize("given", [{"draws": 1}, {"seed": 0}, {"draws": 2, "seed": 3}])
def test_draws_and_seed_are_refused(given):
    with pytest.raises(ConfigError, match="ingram-q draws no random features"):
        rank_split(MODEL, DATASET, "test", config=CONFIG, **given)


def test_the_settings_of_the_other_model_are_refused():
    with pytest.raises(ConfigError, match="want the settings of a run of ingram, got ingram-q's"):
        rank_split(InGram(tiny_config()), DATASET, "test", config=CONFIG)
    with pytest.raises(ConfigError, match="want the settings of a run of ingram-q, got ingram's"):
        rank_split(MODEL, DATASET, "test", config=tiny_run_config())
