"""Domain files: the built-in ones, what a user's may say, and one clear line for each thing it may not."""

from pathlib import Path

import pytest
from tests.domains.kits import kit, load_domain

from plait.domains.names import BUILT_IN
from plait.domains.quality import TextQuality
from plait.domains.software.quality import SoftwareQuality
from plait.errors import UserError

REPORT = """
name = "report"
product = "report"
aggregator = "You are an editor."

[roles]
boss = "You want a report."
writer = "You write reports."

[quality]
kind = "checks"

[[quality.checks]]
contains = "Summary"
says = "It has no summary."

[[phases]]
name = "notes"
instructor = "boss"
assistant = "writer"
prompt = "Take notes on {{task}}"
criteria = "- facts"
writes = "notes"
optional = true

[[phases]]
name = "writing"
instructor = "boss"
assistant = "writer"
prompt = '''
# Task
{{task}}

# Notes
{{notes}}

Write it.'''
criteria = "- good"
writes = "report"
key = true

[[phases]]
name = "mending"
instructor = "boss"
assistant = "writer"
prompt = "{{report}} {{findings}}"
criteria = "- better"
writes = "report"
inspects = true
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "report.toml"
    path.write_text(REPORT)
    return path


def test_the_chain_of_software_is_that_of_the_paper():
    domain = load_domain("software", kit())
    assert [phase.name for phase in domain.chain.phases] == [
        "demand analysis",
        "language choice",
        "design",
        "coding",
        "code completion",
        "code review",
        "test",
        "manual",
    ]
    assert [phase.name for phase in domain.chain.phases if phase.key] == ["coding", "code completion"]
    assert isinstance(domain.quality, SoftwareQuality)


def test_the_chain_of_stories_is_that_of_the_paper():
    domain = load_domain("story", kit())
    assert [(phase.name, phase.key) for phase in domain.chain.phases] == [
        ("outline", False),
        ("writing", True),
        ("revision", False),
    ]
    assert isinstance(domain.quality, TextQuality)
    assert domain.quality.judge is not None
    assert list(domain.quality.judge.dimensions) == [
        "grammar and fluency",
        "context relevance",
        "logic consistency",
    ]
    assert domain.quality.judge.scale == 4


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_team_of_a_built_in_domain_can_do_without_each_optional_phase(name: str):
    chain = load_domain(name, kit()).chain
    for phase in chain.phases:
        if phase.optional:
            left = chain.without([phase.name]).phases
            assert phase.name not in [each.name for each in left]


def test_a_file_of_the_users_becomes_a_domain(file: Path):
    domain = load_domain(str(file), kit())
    notes, writing, mending = domain.chain.phases
    assert (notes.optional, notes.rounds, notes.reply) == (True, 5, "text")
    assert writing.prompt.endswith("# Notes\n{{notes}}\n\nWrite it.")
    assert mending.inspects
    assert domain.roles["writer"] == "You write reports."


def test_a_place_may_have_spaces(file: Path):
    file.write_text(REPORT.replace("{{task}}", "{{ task }}").replace("{{notes}}", "{{\tnotes}}"))
    notes, writing, _ = load_domain(str(file), kit()).chain.phases
    assert notes.prompt == "Take notes on {{task}}"
    assert "# Notes\n{{notes}}" in writing.prompt
    file.write_text(REPORT.replace("{{notes}}", "{{ nothing }}"))
    with pytest.raises(UserError, match=r"its prompt has \{\{nothing\}\}, which no phase before"):
        load_domain(str(file), kit())


def test_a_short_chain_is_not_told_of_what_nobody_wrote(file: Path):
    domain = load_domain(str(file), kit(), phases=["mending", "writing"])
    assert [phase.name for phase in domain.chain.phases] == ["writing", "mending"]
    assert domain.chain.phases[0].prompt == "# Task\n{{task}}\n\nWrite it."


def test_the_short_chain_of_software_asks_for_nothing_that_is_missing():
    domain = load_domain("software", kit(), phases=["coding", "test"])
    coding, test = domain.chain.phases
    assert "{{design}}" not in coding.prompt
    assert "{{task}}" in coding.prompt
    assert "{{code}}" in test.prompt


@pytest.mark.parametrize(
    ("phases", "said"),
    [
        (["writing", "proof"], "has no phase 'proof'; there are: notes, writing, mending"),
        (["notes"], "no phase that is kept writes 'report'; keep one of 'writing', 'mending'"),
        (["mending"], "phases 'mending': it mends 'report', which no phase before it writes"),
    ],
)
def test_a_choice_of_phases_that_makes_no_chain_is_refused(file: Path, phases: list[str], said: str):
    with pytest.raises(UserError) as caught:
        load_domain(str(file), kit(), phases=phases)
    assert said in caught.value.message


PHASE = 'name = "writing"'
MENDING = 'name = "mending"'
CHECK = 'contains = "Summary"'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "report"\nproduct', "product", "name is missing"),
        ('name = "report"', 'name = ""', "name is empty"),
        ('name = "report"', 'name = "a/b"', "name is 'a/b', but may hold letters"),
        (
            'product = "report"',
            'product = "Record"',
            "product is 'Record', which is what the page about the run",
        ),
        ('name = "report"', 'nam = "x"\nname = "report"', "nam is not known"),
        ("[roles]", "[roles", "is no TOML"),
        ("[roles]\n", "[roles]\nguest = 3\n", "roles: guest is 3, but must be a valid string"),
        (
            'instructor = "boss"',
            'instructor = "chef"',
            "instructor is 'chef', which is none of the roles: boss, w",
        ),
        ('product = "report"', 'product = "book"', "but it writes 'report' and teams meet over the product"),
        ('product = "report"', 'product = "../x"', "product is '../x', but must be one word"),
        (
            'writes = "notes"',
            'writes = "no/tes"',
            "writes is 'no/tes', which cannot be the name of a product",
        ),
        ('writes = "notes"', 'writes = "task"', "writes is 'task', which cannot be the name of a product"),
        ('writes = "notes"\n', "", "phases 'notes': writes is missing"),
        (PHASE, 'name = "notes"', "phases 'notes': name is taken by a phase before it"),
        (PHASE, 'name = "a/b"', "phases 'a/b': name may hold letters"),
        (
            PHASE,
            f"{PHASE}\nrounds = 0",
            "phases 'writing': rounds is 0, but must be greater than or equal to 1",
        ),
        (
            PHASE,
            f"{PHASE}\nmax_tokens = 99999999999999999999",
            "max_tokens is 99999999999999999999, but must be less than or equal to 32768",
        ),
        pytest.param(
            PHASE,
            f"{PHASE}\nmax_tokens = {'9' * 4000}",
            f"max_tokens is {'9' * 80}, but must be",
            id="many digits",
        ),
        pytest.param(
            PHASE,
            f"{PHASE}\nmax_tokens = {'9' * 5000}",
            "is no TOML: Exceeds the limit",
            id="too many digits",
        ),
        pytest.param(
            PHASE,
            f"{PHASE}\nmax_tokens = 0x{'f' * 5000}",
            "is no TOML: Exceeds the limit",
            id="a long hexadecimal number",
        ),
        (PHASE, f"{PHASE}\nmax_tokens = 12:00:00", "max_tokens is '12:00:00', but must be a valid integer"),
        (PHASE, f"{PHASE}\nmax_tokens = inf", "max_tokens is inf, but must be"),
        pytest.param(PHASE, f"{PHASE}\nx = {'[' * 5000}", "is no TOML: it is nested too deeply", id="deep"),
        (PHASE, f"{PHASE}\nrounds = 6", "phases 'writing': rounds is 6, but must be less than or equal to 5"),
        (PHASE, f'{PHASE}\nrounds = "2"', "phases 'writing': rounds is '2', but must be a valid integer"),
        ("optional = true", "optional = 1", "phases 'notes': optional is 1, but must be a valid boolean"),
        (
            PHASE,
            f'{PHASE}\nreply = "files"\nprose = true',
            "phases 'writing': prose says how a text is told, and its reply is 'files'",
        ),
        (PHASE, f'{PHASE}\nreply = "prose"', "reply is 'prose', but must be 'text', 'files' or 'changes'"),
        (
            PHASE,
            f'{PHASE}\nreply = "changes"',
            "phases 'writing': it mends 'report', which no phase before it",
        ),
        (PHASE, f"{PHASE}\ninspects = true", "phases 'writing': it mends 'report', which no phase before it"),
        (PHASE, f"{PHASE}\nkee = true", "phases 'writing': kee is not known"),
        (PHASE, f'{PHASE}\nprompt_file = "w.md"', "phases 'writing': give either prompt or prompt_file"),
        ('prompt = "Take notes on {{task}}"', "", "phases 'notes': give either prompt or prompt_file"),
        (
            'prompt = "Take notes on {{task}}"',
            'prompt_file = "no.md"',
            "the file 'no.md' cannot be read: No such",
        ),
        (
            'prompt = "Take notes on {{task}}"',
            'prompt_file = "../no.md"',
            "must be a Markdown file (.md) beside",
        ),
        (
            'prompt = "Take notes on {{task}}"',
            'prompt_file = "no.txt"',
            "must be a Markdown file (.md) beside",
        ),
        (
            "on {{task}}",
            "on {{taks}}",
            "its prompt has {{taks}}, which no phase before it writes; there are: task",
        ),
        (
            "on {{task}}",
            "on {{findings}}",
            "its prompt has {{findings}}, which only a phase with inspects = true",
        ),
        (
            "on {{task}}",
            "on {{report}}",
            "phases 'notes': its prompt has {{report}}, which no phase before it",
        ),
        (
            'writes = "report"\nkey = true',
            'writes = "draft"',
            "phases 'mending': its prompt has {{report}}, which",
        ),
        (
            'writes = "report"\nkey = true',
            'writes = "report"\noptional = true',
            "which no phase before it that every",
        ),
        (
            'writes = "report"\ninspects',
            'writes = "notes"\ninspects',
            "the quality is that of the product, 'report'",
        ),
        ('kind = "checks"', 'kind = "taste"', "kind is 'taste', but must be one of checks, judge, software"),
        ('kind = "checks"', "kind = 3", "quality: kind is 3"),
        ('kind = "checks"', 'kind = ["checks", "software"]', "must be one kind, or ['checks', 'judge']"),
        ('kind = "checks"', 'kind = ["checks", "checks"]', "must be one kind, or ['checks', 'judge']"),
        ('kind = "checks"', "kind = []", "must be one kind, or ['checks', 'judge']"),
        ('kind = "checks"', 'kind = ["checks", "judge"]', "dimensions go with kind 'judge'"),
        ('kind = "checks"', 'kind = "software"', "checks go with kind 'checks'"),
        (
            CHECK,
            "",
            "quality: checks 1: give one condition, of contains, matches, min_words, max_words, min_lines",
        ),
        (CHECK, f"{CHECK}\nmin_words = 3", "quality: checks 1: give one condition"),
        (CHECK, 'matches = "("', "matches is '(', which is no regular expression"),
        (CHECK, "min_words = -1", "min_words is -1, but must be greater than or equal to 0"),
        (CHECK, "min_words = true", "min_words is True, but must be a valid integer"),
    ],
)
def test_nonsense_gets_one_line_that_names_its_place(file: Path, old: str, new: str, said: str):
    assert old in REPORT
    file.write_text(REPORT.replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        load_domain(str(file), kit())
    assert said in caught.value.message
    assert "\n" not in caught.value.message
    assert str(file) in caught.value.message


@pytest.mark.parametrize(
    ("dimensions", "said"),
    [
        ('"a: b" = "x"', "dimensions: 'a: b' may hold letters"),
        ('Grade = "x"', "dimensions: the name 'Grade' is taken"),
        ('good = "x"\n[[quality.checks]]\nsays = "x"\nmin_words = 1', "checks go with kind 'checks'"),
        ('good = ""', ""),
    ],
)
def test_dimensions_are_lines_of_a_reply(file: Path, dimensions: str, said: str):
    head, _, tail = REPORT.partition("[quality]")
    phases = tail[tail.index("[[phases]]") :]
    file.write_text(f'{head}[quality]\nkind = "judge"\n[quality.dimensions]\n{dimensions}\n{phases}')
    if not said:
        assert load_domain(str(file), kit()).name == "report"
        return
    with pytest.raises(UserError) as caught:
        load_domain(str(file), kit())
    assert said in caught.value.message


def test_an_unknown_domain_names_the_known_ones():
    with pytest.raises(UserError) as caught:
        load_domain("sofware", kit())
    assert caught.value.message == (
        "there is no domain 'sofware': name one of tools, software, story, or a TOML file"
    )


def test_a_file_that_is_no_text_is_refused_in_one_line(file: Path):
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError) as caught:
        load_domain(str(file), kit())
    assert "it is no UTF-8 text" in caught.value.message


def test_a_prompt_beside_the_file_is_read_and_the_users_own_goes_before_it(file: Path, tmp_path: Path):
    file.write_text(REPORT.replace('prompt = "Take notes on {{task}}"', 'prompt_file = "prompts/notes.md"'))
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "notes.md").write_text("\nJot down {{task}}\n")
    assert load_domain(str(file), kit()).chain.phases[0].prompt == "Jot down {{task}}"

    own = tmp_path / "own"
    own.mkdir()
    (own / "notes.md").write_text("Mine: {{task}}")
    assert load_domain(str(file), kit(prompts=own)).chain.phases[0].prompt == "Mine: {{task}}"

    (own / "notes.md").write_text("Mine: {{tusk}}")
    with pytest.raises(UserError) as caught:
        load_domain(str(file), kit(prompts=own))
    assert "{{tusk}}" in caught.value.message


def test_a_built_in_prompt_is_overridden_by_name(tmp_path: Path):
    (tmp_path / "coding.md").write_text("In COBOL: {{task}}")
    domain = load_domain("software", kit(prompts=tmp_path))
    assert [phase.prompt for phase in domain.chain.phases if phase.name == "coding"] == ["In COBOL: {{task}}"]
