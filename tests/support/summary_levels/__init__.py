"""Levels of 1,200 summaries from people and models, without texts: see README.md beside this."""

from pathlib import Path

FOLDER = Path(__file__).parent
EXPERTS = ("expert 1", "expert 2", "expert 3")
GPT_35, GPT_4 = "gpt-3.5-turbo-0301", "gpt-4-0314"
