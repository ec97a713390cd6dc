"""Fakes of models that judge by a rubric of levels, on the fake of providers, which bills them.

None imports anything of the product: they read the prompt that was really sent.

- `planted`: judges samples of `planted_samples` with a bias that one clause of the rubric removes;
  `proposer` writes graders and edits for it.
- `sick`: gives every kind of answer that is no verdict, on demand.
- `replay`: gives what real models said of real summaries; their texts are no part of this
  repository.

``python -m tests.judges planted --port 8901`` runs one as a process of its own.
"""
