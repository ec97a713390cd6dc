"""Periods of budgets, in a module that nobody pays for who loads it cold."""

from typing import Literal

BudgetPeriod = Literal["day", "week", "month"]
"""Of UTC: days, weeks of ISO 8601, which begin on Monday, and months."""

BudgetScope = Literal["organization", "apprentice_task"]
"""Whose a budget is."""
