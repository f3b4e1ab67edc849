"""Stories from five sentences each, as in ROCStories (Mostafazadeh et al., 2016, arXiv 1604.01696).

The file comes from the user: objects with a `title` and a `story`, one a line, or the table that its makers
give away. Stories are graded as in Croto, section 5.6, by the model itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait.bench.benchmark import Benchmark, Ended, Measure, Measures
from plait.bench.made import rated, text_in
from plait.bench.methods.making import METHODS
from plait.bench.rows import files_in, rows_of

DIMENSIONS: Mapping[str, str] = {
    "grammar": "grammar and fluency",
    "context": "context relevance",
    "logic": "logic consistency",
}
"""What the judge grades, by what tables call it."""
BEST = 4.0
_SENTENCES = tuple(f"sentence{number}" for number in range(1, 6))


@dataclass(frozen=True, kw_only=True)
class StoryTask:
    """One story in five sentences."""

    title: str
    story: str

    @property
    def query(self) -> str:
        """What the longer story shall tell."""
        return f"Write a story with the title {self.title!r} that tells this: {self.story}"


def load_stories(source: Path) -> Sequence[StoryTask]:
    """Read the tasks of a file, or of all files of stories in a folder (`*stories*`).

    Raises:
        UserError: there is none, or a line is no story; the message names file and line.
    """
    return [task for path in files_in(source, "*[sS]tories*") for task in _load(path)]


def _load(path: Path) -> Sequence[StoryTask]:
    if path.suffix == ".jsonl":
        rows = rows_of(path, ("title", "story"))
        return [StoryTask(title=row["title"], story=row["story"].strip()) for row in rows]
    return [
        StoryTask(title=row["storytitle"], story=" ".join(row[name].strip() for name in _SENTENCES))
        for row in rows_of(path, ("storytitle", *_SENTENCES))
    ]


def _title(task: StoryTask) -> str:
    return task.title


def _told(task: StoryTask) -> Sequence[Any]:
    return [task.query]


async def _judge(task: StoryTask, ended: Ended) -> Measures:
    story = None if ended.broke else text_in(ended.folder, "story")
    if story is None or not story.text.strip():
        return {"quality": 0.0} | dict.fromkeys(DIMENSIONS.values(), 0.0)
    rating = await rated(task, ended, story)
    return {"quality": rating.quality, **rating.dimensions}


STORIES = Benchmark(
    name="stories",
    about="Stories from five sentences, graded by the model as judge.",
    load=load_stories,
    kind=_title,
    told=_told,
    fixed={"domain": "story"},
    methods=METHODS,
    judge=_judge,
    measures=(
        Measure(name="quality", best=BEST),
        *(Measure(name=name, field=field, best=BEST) for name, field in DIMENSIONS.items()),
    ),
    explained="means of the judge's grades, 0 to 4; quality is the mean of the three",
)
