"""Which rows of a queue share a batch: the first that fit into it, and into the budget."""

from dataclasses import dataclass, field

from autotune_platform.ledger.models import Row


@dataclass
class Chosen:
    """Rows for a batch, by id, and what they cost at most together."""

    bytes_left: int | None
    ids: list[str] = field(default_factory=list)
    amount: int = 0
    together: int | None = None
    is_short_of_money: bool = False

    def add(self, row: Row, room: int | None) -> bool:
        """Add a row; return False where no more can be added."""
        if room is not None and self.amount + row.bound_nano_usd > room:
            self.is_short_of_money = True
            return False
        if self.together is not None and len(self.ids) >= self.together:
            return False
        if row.together is not None and len(self.ids) >= row.together:
            return True  # it may not share a batch with as many; the next one is soon made
        if self.bytes_left is not None:
            self.bytes_left -= row.input_bytes
            if self.bytes_left < 0 and self.ids:
                return False
        self.ids.append(row.id)
        self.amount += row.bound_nano_usd
        self.together = min(filter(None, (self.together, row.together)), default=None)
        return True
