"""What graders' limits and circuits are at the moment, and that a grader answers after all."""

from collections.abc import Iterable

from autotune_platform.budgets.circuit import Circuit
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import busy_is_none
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part


@part
class BudgetStates:
    """Reads where scopes stand, and closes the circuit of one that was seen to answer."""

    budgets: BudgetRepository
    clock: Clock = SYSTEM_CLOCK

    def circuit(self, scope: str) -> Circuit:
        """Return the circuit of a scope, such as a grader's id, as it is stored now."""
        return self.budgets.circuit(scope)

    def circuits(self, scopes: Iterable[str]) -> dict[str, Circuit]:
        """Return the circuits of scopes, of those that were ever called lately."""
        return self.budgets.circuits(scopes)

    def answered(self, scope: str) -> None:
        """Close a circuit: what opened it is over, as somebody saw who asked without a permit.

        That is no answer to a call: it does not say that a text is why others fail. Where others
        keep changing the circuit, its next probe will show the same.
        """
        now = self.clock.unix()
        with busy_is_none():
            self.budgets.change_circuit(
                scope,
                now,
                lambda circuit: (
                    Circuit(passed_at=circuit.passed_at) if circuit.openings else circuit,
                    None,
                ),
            )

    def next_turn(self, scope: str) -> float:
        """Return when a turn would begin that is reserved now, in Unix seconds."""
        return self.budgets.next_turn(scope)
