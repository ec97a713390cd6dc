"""Entry point of the CDK app: ``cdk deploy --all`` runs it, ``python app.py`` only synthesizes."""

from infra.application import build_app

build_app().synth()
