"""What trials come to, and how two methods differ on the same tasks."""

from dataclasses import replace

from plait.bench.comparison import difference, figures
from plait.bench.trial import Trial

ONE = Trial(
    index=0,
    query="",
    run_id="r",
    right=True,
    side_effects=False,
    gold_changes=True,
    status="succeeded",
    model_calls=2,
    tool_calls=1,
    input_tokens=10,
    cached_input_tokens=5,
    output_tokens=3,
    seconds=1.0,
    usd=0.5,
)
WRONG = replace(ONE, index=1, right=False, side_effects=True, seconds=2.0)
BROKE = replace(ONE, index=2, right=False, gold_changes=False, status="error: no", seconds=10.4)


def test_the_figures_of_a_method_add_up() -> None:
    told = figures([ONE, WRONG, BROKE])
    assert (told.tasks, told.right, told.acting, told.acting_right) == (3, 1, 2, 1)
    assert (told.side_effects, told.errors, told.model_calls, told.tool_calls) == (1, 1, 6, 3)
    assert (told.input_tokens, told.cached_input_tokens, told.output_tokens) == (30, 15, 9)
    assert (told.calls.value, told.seconds.value, told.usd) == (2, 2, 1.5)
    assert told.right_share.value == 1 / 3
    assert figures([]).tasks == 0


def test_methods_are_compared_on_the_tasks_that_both_have_done() -> None:
    other = [
        replace(ONE, right=False, model_calls=5),
        replace(WRONG, right=True, model_calls=4),
        replace(BROKE, status="failed"),
        replace(ONE, index=9),
    ]
    told = difference([ONE, WRONG, BROKE], other)  # An error is no loss to the other.
    assert (told.tasks, told.better, told.worse, told.p_right) == (2, 1, 1, 1)
    assert (told.calls.value, told.p_calls) == (-2.5, 0.5)
    assert told.too_few


def test_a_hundred_tasks_are_enough_to_claim_something() -> None:
    mine = [replace(ONE, index=index) for index in range(100)]
    theirs = [replace(trial, right=trial.index % 2 == 0) for trial in mine]
    told = difference(mine, theirs)
    assert not told.too_few
    assert told.p_right < 1e-9
    assert difference(mine[:99], theirs).too_few
