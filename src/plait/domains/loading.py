"""Reads a domain, built in or a user's own file, checks it, and gives it its quality.

Knows nothing of how teams work on it.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NoReturn

from plait.domains.declaration import DomainDeclared, PhaseDeclared, read_declaration
from plait.domains.kit import Kit
from plait.domains.names import BUILT_IN, NAMED
from plait.domains.qualities import quality_of
from plait.errors import UserError
from plait.teams.chain import Chain, Domain, Phase

TASK = "task"
FINDINGS = "findings"
RECORD = "record"
"""Handed over beside the product, as RECORD.md."""

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_PLACE_WITH_SPACES = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_PRODUCT_NAME = re.compile(r"[A-Za-z]\w{0,39}")
_PHASE_NAME = re.compile(r"\w[\w -]{0,38}\w|\w")


@dataclass(frozen=True, kw_only=True)
class DomainFiles:
    """A domain file and the prompts beside it, as text: all that a domain is made of."""

    name: str
    """What errors call the file."""
    text: str
    prompts: Mapping[str, str]
    """By the `prompt_file` of the phases."""

    def refuse(self, what: str) -> NoReturn:
        """Say what does not fit.

        Raises:
            UserError: always.
        """
        raise UserError(f"domain file {self.name!r}: {what}")


def read_domain(name_or_file: str) -> DomainFiles:
    """Read a domain, without looking at how its parts fit.

    Args:
        name_or_file: One of `BUILT_IN`, or the path of a TOML file.

    Raises:
        UserError: a file is not there, or is no domain file.
    """
    name, folder, file = _place_of(name_or_file)
    text = _read(name, folder, file)
    files = DomainFiles(name=name, text=text, prompts={})
    # A phase with both is refused later, and never for a file that it should not name.
    declared = read_declaration(text, name).phases
    named = [phase for phase in declared if phase.prompt_file and not phase.prompt.strip()]
    for phase in named:
        _check_prompt_file(files, phase)
    return replace(files, prompts={each.prompt_file: _read(name, folder, each.prompt_file) for each in named})


def domain_of(source: DomainFiles, kit: Kit, *, phases: Sequence[str] = ()) -> Domain:
    """Return a domain, ready for teams.

    Args:
        source: What it is made of.
        kit: What its quality works with; prompts in `kit.prompts` go before those of the domain.
        phases: Keep only these phases, in the chain's own order; empty: all. What a prompt says about a
            product that is then not written before it, a paragraph, is left out.

    Raises:
        UserError: something in it does not fit; the message is one line.
    """
    declared = read_declaration(source.text, source.name)
    _check(source, declared)
    prompts = {phase.name: _prompt(source, phase, kit.prompts) for phase in declared.phases}
    _check_places(source, declared, prompts)
    kept = _kept(source, declared, phases)
    _check_kept(source, declared, kept)
    return Domain(
        name=declared.name,
        chain=Chain(phases=_chain(kept, prompts)),
        roles=declared.roles,
        aggregator=declared.aggregator,
        product=declared.product,
        quality=quality_of(declared.quality, kit, source.name),
    )


def _place_of(name_or_file: str) -> tuple[str, Traversable, str]:
    """Return what errors call a domain file, its folder and its name there."""
    if name_or_file in BUILT_IN:
        return name_or_file, resources.files(f"plait.domains.{name_or_file}"), "domain.toml"
    path = Path(name_or_file)
    if not path.is_file():
        raise UserError(
            f"there is no domain {name_or_file!r}: name one of {', '.join(NAMED)}, or a TOML file"
        )
    return str(path), path.parent, path.name


def _read(name: str, folder: Traversable, file: str) -> str:
    try:
        return folder.joinpath(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UserError(f"domain {name!r}: the file {file!r} cannot be read: {said}") from error


def _check(source: DomainFiles, declared: DomainDeclared) -> None:
    """Check the names of a file: roles, products and phases.

    Raises:
        UserError: a name is unknown, taken or cannot be one.
    """
    if not _PRODUCT_NAME.fullmatch(declared.product):
        source.refuse(f"product is {declared.product!r}, but must be one word of letters, digits and _")
    if declared.product.lower() == RECORD:
        source.refuse(f"product is {declared.product!r}, which is what the page about the run is called")
    if not _PHASE_NAME.fullmatch(declared.name):
        source.refuse(f"name is {declared.name!r}, but may hold letters, digits, spaces, - and _, 40 at most")
    seen: set[str] = set()
    for phase in declared.phases:
        place = f"phases {phase.name!r}"
        if not _PHASE_NAME.fullmatch(phase.name):
            source.refuse(f"{place}: name may hold letters, digits, spaces, - and _, and 40 at most")
        if phase.name in seen:
            source.refuse(f"{place}: name is taken by a phase before it")
        seen.add(phase.name)
        if not _PRODUCT_NAME.fullmatch(phase.writes) or phase.writes in (TASK, FINDINGS):
            source.refuse(f"{place}: writes is {phase.writes!r}, which cannot be the name of a product")
        for field, role in (("instructor", phase.instructor), ("assistant", phase.assistant)):
            if role not in declared.roles:
                known = ", ".join(declared.roles) or "none"
                source.refuse(f"{place}: {field} is {role!r}, which is none of the roles: {known}")
        if phase.key and phase.writes != declared.product:
            source.refuse(
                f"{place}: key is true, but it writes {phase.writes!r} and teams meet over the product, "
                f"{declared.product!r}"
            )
        if phase.most_lines and phase.reply != "text":
            source.refuse(f"{place}: most_lines counts the lines of a text, and its reply is {phase.reply!r}")
        if phase.prose and phase.reply != "text":
            source.refuse(f"{place}: prose says how a text is told, and its reply is {phase.reply!r}")
        if phase.inspects and phase.writes != declared.product:
            other = f"it writes {phase.writes!r} and the quality is that of the product, {declared.product!r}"
            source.refuse(f"{place}: inspects is true, but {other}")


def _prompt(source: DomainFiles, phase: PhaseDeclared, overrides: Path | None) -> str:
    """Return the prompt of a phase, with its places as `{{name}}`; see `_written_prompt`."""
    return _PLACE_WITH_SPACES.sub(r"{{\1}}", _written_prompt(source, phase, overrides))


def _written_prompt(source: DomainFiles, phase: PhaseDeclared, overrides: Path | None) -> str:
    """Return the prompt of a phase: the user's own, that in the file, or that in a file beside it.

    Raises:
        UserError: there is none, there are two, or the user's own cannot be read.
    """
    place = f"phases {phase.name!r}"
    if bool(phase.prompt.strip()) == bool(phase.prompt_file):
        source.refuse(f"{place}: give either prompt or prompt_file")
    if not phase.prompt_file:
        return phase.prompt.strip()
    own = Path(phase.prompt_file).name
    if overrides is not None and (overrides / own).is_file():
        return _read(source.name, overrides, own).strip()
    return source.prompts[phase.prompt_file].strip()


def _check_prompt_file(source: DomainFiles, phase: PhaseDeclared) -> None:
    path = Path(phase.prompt_file)
    if path.is_absolute() or ".." in path.parts or path.suffix != ".md":
        source.refuse(
            f"phases {phase.name!r}: prompt_file is {phase.prompt_file!r}, "
            "but must be a Markdown file (.md) beside it"
        )


def _check_places(source: DomainFiles, declared: DomainDeclared, prompts: dict[str, str]) -> None:
    """Check that every place of every prompt has something to be filled with.

    A product of an optional phase will do: a team without that phase is shown that there is none.

    Raises:
        UserError: a place is unknown, or what a phase is about may not be there.
    """
    written: set[str] = set()
    sure: set[str] = set()
    for phase in declared.phases:
        places = _places(prompts[phase.name]) - {TASK} - written
        if phase.inspects:
            places.discard(FINDINGS)
        for place in sorted(places):
            source.refuse(f"phases {phase.name!r}: its prompt has {_place_problem(place, written)}")
        if _mends(phase) and phase.writes not in sure:
            source.refuse(
                f"phases {phase.name!r}: it mends {phase.writes!r}, which no phase before it that "
                "every team has writes"
            )
        written.add(phase.writes)
        if not phase.optional:
            sure.add(phase.writes)
    if declared.product not in sure:
        source.refuse(f"product is {declared.product!r}, which no phase that every team has writes")


def _place_problem(place: str, written: Collection[str]) -> str:
    if place == FINDINGS:
        return "{{findings}}, which only a phase with inspects = true gets"
    return (
        f"{{{{{place}}}}}, which no phase before it writes; there are: {', '.join(sorted({TASK, *written}))}"
    )


def _kept(source: DomainFiles, declared: DomainDeclared, names: Sequence[str]) -> Sequence[PhaseDeclared]:
    """Return the phases a run wants, in the order of the file.

    Raises:
        UserError: one of them is unknown.
    """
    known = [phase.name for phase in declared.phases]
    for name in names:
        if name not in known:
            raise UserError(f"domain {source.name!r} has no phase {name!r}; there are: {', '.join(known)}")
    return [phase for phase in declared.phases if not names or phase.name in names]


def _check_kept(source: DomainFiles, declared: DomainDeclared, kept: Sequence[PhaseDeclared]) -> None:
    """Check that the phases that are kept make a chain.

    Raises:
        UserError: one of them mends a product that none before it writes, or none writes the result.
    """
    written: set[str] = set()
    for phase in kept:
        if _mends(phase) and phase.writes not in written:
            source.refuse(
                f"phases {phase.name!r}: it mends {phase.writes!r}, which no phase before it writes"
            )
        written.add(phase.writes)
    if declared.product not in written:
        names = ", ".join(repr(phase.name) for phase in declared.phases if phase.writes == declared.product)
        source.refuse(f"no phase that is kept writes {declared.product!r}; keep one of {names}")


def _chain(kept: Sequence[PhaseDeclared], prompts: dict[str, str]) -> list[Phase]:
    written: set[str] = set()
    phases: list[Phase] = []
    for phase in kept:
        prompt = _without_missing(prompts[phase.name], written | {TASK, FINDINGS})
        phases.append(_phase(phase, prompt))
        written.add(phase.writes)
    return phases


def _without_missing(prompt: str, there: Collection[str]) -> str:
    """Return a prompt without the paragraphs that speak of a product that is not there."""
    paragraphs = re.split(r"\n{2,}", prompt)
    return "\n\n".join(paragraph for paragraph in paragraphs if _places(paragraph) <= set(there))


def _phase(declared: PhaseDeclared, prompt: str) -> Phase:
    return Phase(
        name=declared.name,
        instructor=declared.instructor,
        assistant=declared.assistant,
        prompt=prompt,
        criteria=declared.criteria,
        writes=declared.writes,
        reply=declared.reply,
        rounds=declared.rounds,
        key=declared.key,
        optional=declared.optional,
        inspects=declared.inspects,
        first_file=declared.first_file,
        most_lines=declared.most_lines,
        prose=declared.prose,
        max_tokens=declared.max_tokens,
    )


def _mends(phase: PhaseDeclared) -> bool:
    return phase.inspects or phase.reply == "changes"


def _places(text: str) -> set[str]:
    return set(_PLACE.findall(text))
