"""Which decks have a prompt: found by its hash, and by templates, without reading every deck.

Each version of a deck has an item under the hash of its prompt. One whose prompt has placeholders
is in the organisation's list of templates, too, which is bounded and read anew when it changed.
"""

import secrets
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from autotune.protocol.limits import MAX_PROMPT_TEMPLATES, MAX_PROMPT_TEMPLATES_CHARACTERS
from autotune.protocol.problems import LimitProblem
from autotune_platform.decks.items import number
from autotune_platform.decks.models import DeckVersion
from autotune_platform.judging.rubric.system_prompts import literal_text, normalized
from autotune_platform.runtime.errors import TooManyEntitiesError
from autotune_platform.storage.packing import pack, unpack
from autotune_platform.storage.table import Item, Table
from autotune_platform.storage.transactions import PRESENT, Add, Delete, Put, Write

COUNTS, CHARACTERS, REVISION = "counts", "characters", "revision"
OF_DECK = "dck_"
MOST_DECKS_OF_A_PROMPT = 100
"""So many decks with the same prompt are distinguished; of more, none has it."""

_TEMPLATES = "templates"
_ORGANIZATIONS_AT_HAND = 4


@dataclass(frozen=True)
class IndexedPrompt:
    """A deck with a prompt, and the latest of its versions that has it."""

    deck_id: str
    version: int


@dataclass(frozen=True)
class Template:
    """A version of a deck whose prompt has placeholders; the prompt is in its normal form."""

    deck_id: str
    version: int
    prompt: str
    literal_characters: int


def prompt_partition(organization_id: str, prompt_hash: str) -> str:
    """Return the partition of the decks of an organisation with a prompt."""
    return f"{organization_id}#prompt#{prompt_hash}"


def templates_of(organization_id: str) -> str:
    """Return the partition of an organisation's templates."""
    return f"{organization_id}#templates"


def is_template(version: DeckVersion) -> bool:
    """Return whether a prompt has placeholders, and something else by which it can be known."""
    return bool(version.placeholders) and bool(literal_text(version.system_prompt).strip())


def indexing(version: DeckVersion) -> list[Write]:
    """Return what puts a new version into the index, in the transaction that stores it."""
    organization_id = version.organization_id
    owner = {"organization_id": organization_id, "deck_id": version.deck_id}
    by_hash: Item = {
        **owner,
        "pk": prompt_partition(organization_id, version.prompt_hash),
        "sk": version.deck_id,
        "version": version.version,
    }
    writes: list[Write] = [Put(item=by_hash)]
    if is_template(version):
        prompt = normalized(version.system_prompt)
        template: Item = {
            **owner,
            "pk": templates_of(organization_id),
            "sk": _template_key(version),
            "version": version.version,
            "prompt": pack(prompt),
        }
        writes += [Put(item=template), *_counted(version, 1)]
    return writes


def require_indexed(version: DeckVersion, writes: Sequence[Write], refused: Sequence[int]) -> None:
    """Require that none of a transaction's writes was refused because templates are too many.

    Raises:
        TooManyEntitiesError: one was.
    """
    partition = templates_of(version.organization_id)
    for place in refused:
        write = writes[place]
        if isinstance(write, Add) and write.pk == partition:
            most = MAX_PROMPT_TEMPLATES if write.sk == COUNTS else MAX_PROMPT_TEMPLATES_CHARACTERS
            raise TooManyEntitiesError(
                f"the decks of the organization have prompts with placeholders in {most} "
                f"{'versions' if write.sk == COUNTS else 'characters'}, and no more fit; delete a "
                "deck first, or leave placeholders out",
                limit=LimitProblem(
                    name="promptTemplates", maximum=most, unit=_UNITS[write.sk], actual=most
                ),
            )


class PromptIndex:
    """The index of prompts in the ``decks`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._lock = Lock()
        self._at_hand: OrderedDict[str, tuple[str, Sequence[Template]]] = OrderedDict()

    def with_hash(self, organization_id: str, prompt_hash: str) -> Sequence[IndexedPrompt]:
        """Return the decks that have a prompt, one more than are distinguished at most."""
        page = self._table.query(
            prompt_partition(organization_id, prompt_hash), limit=MOST_DECKS_OF_A_PROMPT + 1
        )
        return [IndexedPrompt(one["deck_id"], int(one["version"])) for one in page.items]

    def templates(self, organization_id: str) -> Sequence[Template]:
        """Return an organisation's templates; they are read where they changed since last time."""
        partition = templates_of(organization_id)
        head = self._table.get(partition, REVISION)
        if head is None:
            return []
        revision = str(head["revision"])
        with self._lock:
            known = self._at_hand.get(organization_id)
            if known is not None and known[0] == revision:
                self._at_hand.move_to_end(organization_id)
                return known[1]
        # What is written while this is read has a revision of its own, and is read next time.
        found = list(self._read(partition))
        with self._lock:
            self._at_hand[organization_id] = (revision, found)
            self._at_hand.move_to_end(organization_id)
            while len(self._at_hand) > _ORGANIZATIONS_AT_HAND:
                self._at_hand.popitem(last=False)
        return found

    def remove(self, version: DeckVersion) -> None:
        """Take a version of a deleted deck off the index; again is fine.

        Raises:
            UnavailableError: the table is busy.
        """
        organization_id = version.organization_id
        self._table.delete(prompt_partition(organization_id, version.prompt_hash), version.deck_id)
        if is_template(version):
            partition = templates_of(organization_id)
            template = Delete(pk=partition, sk=_template_key(version), condition=PRESENT)
            self._table.transact([template, *_counted(version, -1)])

    def _read(self, partition: str) -> Iterator[Template]:
        for item in self._table.items(partition, starting=OF_DECK):
            prompt = unpack(item["prompt"])
            literal = len(literal_text(prompt))
            yield Template(item["deck_id"], int(item["version"]), prompt, literal)


_UNITS = {COUNTS: "versions", CHARACTERS: "characters"}


def _template_key(version: DeckVersion) -> str:
    return f"{version.deck_id}#{number(version.version)}"


def _counted(version: DeckVersion, sign: int) -> list[Write]:
    """Return what counts a template in or out, and has everybody read the list anew."""
    partition = templates_of(version.organization_id)
    characters = len(normalized(version.system_prompt))
    owner = {"organization_id": version.organization_id}
    below = {COUNTS: MAX_PROMPT_TEMPLATES, CHARACTERS: MAX_PROMPT_TEMPLATES_CHARACTERS}
    counts: list[Write] = [
        Add(
            pk=partition,
            sk=name,
            name=_TEMPLATES,
            by=sign * by,
            below=below[name] - by + 1 if sign > 0 else None,
            changes=owner,
        )
        for name, by in ((COUNTS, 1), (CHARACTERS, characters))
    ]
    revision = {**owner, "pk": partition, "sk": REVISION, "revision": secrets.token_hex(8)}
    return [*counts, Put(item=revision)]
