"""Edits of system prompts: responses are generated anew, labelled anew, and compared in pairs."""
