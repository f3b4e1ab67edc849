"""What trials come to, and how two methods differ on the same tasks."""

from dataclasses import replace

from plait.bench.benchmark import Measure
from plait.bench.benchmarks.workbench import WORKBENCH
from plait.bench.comparison import difference, figures, like_one_before
from plait.bench.trial import Trial

ONE = Trial(
    index=0,
    query="",
    run_id="r",
    status="succeeded",
    model_calls=2,
    tool_calls=1,
    input_tokens=10,
    cached_input_tokens=5,
    output_tokens=3,
    seconds=1.0,
    usd=0.5,
    measures={"right": True, "side_effects": False, "gold_changes": True, "quality": 0.5},
)


def with_measures(trial: Trial, **measures: float) -> Trial:
    return replace(trial, measures={**trial.measures, **measures})


WRONG = with_measures(replace(ONE, index=1, seconds=2.0), right=False, side_effects=True, quality=0.25)
BROKE = with_measures(
    replace(ONE, index=2, status="error: no", seconds=10.4), right=False, gold_changes=False, quality=0.0
)
MEASURES = WORKBENCH.measures
QUALITY = Measure(name="quality")


def test_the_figures_of_a_method_add_up() -> None:
    told = figures([ONE, WRONG, BROKE], MEASURES)
    right, acting, harm = (told.measures[name] for name in ("right", "acting", "harm"))
    assert (told.tasks, right.total, acting.tasks, acting.total, harm.total) == (3, 1, 2, 1, 1)
    assert (told.errors, told.model_calls, told.tool_calls) == (1, 6, 3)
    assert (told.input_tokens, told.cached_input_tokens, told.output_tokens) == (30, 15, 9)
    assert (told.calls.value, told.seconds.value, told.usd, told.tokens_a_task) == (2, 2, 1.5, 13)
    assert right.mean.value == 1 / 3
    assert figures([], MEASURES).tasks == 0


def test_methods_are_compared_on_the_tasks_that_both_have_done() -> None:
    other = [
        with_measures(replace(ONE, model_calls=5), right=False),
        with_measures(replace(WRONG, model_calls=4), right=True),
        replace(BROKE, status="failed"),
        replace(ONE, index=9),
    ]
    told = difference([ONE, WRONG, BROKE], other, MEASURES[0])  # An error is no loss to the other.
    assert (told.tasks, told.better, told.worse, told.p) == (2, 1, 1, 1)
    assert (told.calls.value, told.p_calls) == (-2.5, 0.5)
    assert told.too_few


def test_a_hundred_tasks_are_enough_to_claim_something() -> None:
    mine = [replace(ONE, index=index) for index in range(100)]
    theirs = [with_measures(trial, right=trial.index % 2 == 0) for trial in mine]
    told = difference(mine, theirs, MEASURES[0])
    assert not told.too_few
    assert told.p < 1e-9
    assert difference(mine[:99], theirs, MEASURES[0]).too_few


def test_a_measure_that_is_a_number_is_compared_by_its_mean() -> None:
    trials = [replace(ONE, index=index) for index in range(8)]
    better = [with_measures(trial, quality=0.75) for trial in trials[:6]] + trials[6:]
    told = difference(better, trials, QUALITY)
    assert (told.better, told.worse, told.change.value) == (6, 0, 0.1875)
    assert told.change.low > 0
    assert told.p == 2 / 2**6
    assert figures(better, [QUALITY]).measures["quality"].mean.value == 0.6875


def test_what_came_after_one_of_its_kind_is_told_by_when_it_was_run() -> None:
    kinds = {0: "a", 1: "a", 2: "b", 3: "a"}
    ids = {0: "r4", 1: "r1", 2: "r2", 3: "r3"}  # The rows of a larger sample come later than their place.
    trials = [replace(ONE, index=index, run_id=run_id) for index, run_id in ids.items()]
    assert [trial.index for trial in like_one_before(trials, kinds)] == [3, 0]
    assert like_one_before(trials[2:3], kinds) == []
