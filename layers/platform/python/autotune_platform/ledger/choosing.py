"""Which rows of a queue share a batch: the first that fit into it, and into the budget."""

from dataclasses import dataclass, field

from autotune_platform.ledger.models import Row


@dataclass
class Chosen:
    """Rows for a batch, by id, and what they cost at most together.

    Attributes:
        most: how many there may be.
        is_cut: others were left over that another batch may have at once.
        is_short_of_money: others were left over that the budget has no room for.
    """

    most: int
    bytes_left: int | None
    ids: list[str] = field(default_factory=list)
    amount: int = 0
    together: int | None = None
    is_cut: bool = False
    is_short_of_money: bool = False

    def add(self, row: Row, room: int | None) -> bool:
        """Add a row; return False where no more can be added."""
        if len(self.ids) >= self.most:
            self.is_cut = True
            return False
        if room is not None and self.amount + row.bound_nano_usd > room:
            self.is_short_of_money = True
            return False
        if self.together is not None and len(self.ids) >= self.together:
            self.is_cut = True
            return False
        if row.together is not None and len(self.ids) >= row.together:
            self.is_cut = True
            return True  # it may not share a batch with as many; the next one is soon made
        if self.bytes_left is not None:
            self.bytes_left -= row.input_bytes
            if self.bytes_left < 0 and self.ids:
                self.is_cut = True
                return False
        self.ids.append(row.id)
        self.amount += row.bound_nano_usd
        self.together = min(filter(None, (self.together, row.together)), default=None)
        return True
