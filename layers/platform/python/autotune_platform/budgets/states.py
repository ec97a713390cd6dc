"""What graders' limits and circuits are at the moment, for showing it."""

from autotune_platform.budgets.circuit import Circuit
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.runtime.parts import part


@part
class BudgetStates:
    """Reads where scopes stand, and changes nothing."""

    budgets: BudgetRepository

    def circuit(self, scope: str) -> Circuit:
        """Return the circuit of a scope, such as a grader's id, as it is stored now."""
        return self.budgets.circuit(scope)

    def next_turn(self, scope: str) -> float:
        """Return when a turn would begin that is reserved now, in Unix seconds."""
        return self.budgets.next_turn(scope)
