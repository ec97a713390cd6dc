"""SageMaker on one machine: some two dozen operations, whose jobs and hosts are real processes.

MiniStack has none, and moto's ends jobs at once and hosts nothing (ADR 0085). ``server`` answers
requests, which ``contract`` checks by botocore's own model of the service. ``training`` runs jobs,
``endpoints`` and ``components`` run hosts. ``faults`` makes them fail on command.
"""
