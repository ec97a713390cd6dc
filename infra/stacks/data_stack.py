"""What must outlive a deployment: tables, content and keys."""

from typing import Any

from aws_cdk import Stack
from constructs import Construct

from infra.config import DeploymentConfig
from infra.constructs.apprentice_bucket import ApprenticeBucket
from infra.constructs.audit_bucket import AuditBucket
from infra.constructs.content_bucket import ContentBucket
from infra.constructs.customer_keys import (
    CertificatesKey,
    DataKey,
    ProviderKeysKey,
    SecretsKeys,
)
from infra.constructs.encrypted_table import EncryptedTable
from infra.constructs.export_bucket import ExportBucket
from infra.constructs.ledger_bucket import LedgerBucket
from infra.tables import (
    APPRENTICE,
    AUDIT,
    BUDGETS,
    COMPLETIONS,
    DECKS,
    DELIVERIES,
    LEDGER,
    REGISTRY,
    TableSchema,
)


class DataStack(Stack):
    """Holds every stateful resource, so that the service stack can be replaced at will."""

    def __init__(
        self, scope: Construct, construct_id: str, *, config: DeploymentConfig, **stack_inputs: Any
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            description="Autotune: tables, content and keys",
            termination_protection=config.keeps_data,
            **stack_inputs,
        )
        keeps_data = config.keeps_data
        self.data_key = DataKey(self, "DataKey", keeps_data=keeps_data)
        self.secrets_keys = SecretsKeys(self, "SecretsKeys", keeps_data=keeps_data)
        self.provider_keys = ProviderKeysKey(self, "ProviderKeys", keeps_data=keeps_data)
        self.certificates_key = CertificatesKey(self, "CertificatesKey", keeps_data=keeps_data)
        self.registry = self._table("Registry", REGISTRY, keeps_data=keeps_data)
        self.completions = self._table("Completions", COMPLETIONS, keeps_data=keeps_data)
        self.deliveries = self._table("Deliveries", DELIVERIES, keeps_data=keeps_data)
        self.budgets = self._table("Budgets", BUDGETS, keeps_data=keeps_data)
        self.audit = self._table("Audit", AUDIT, keeps_data=keeps_data)
        self.ledger = self._table("Ledger", LEDGER, keeps_data=keeps_data)
        self.decks = self._table("Decks", DECKS, keeps_data=keeps_data)
        self.apprentice = self._table("Apprentice", APPRENTICE, keeps_data=keeps_data)
        self.audit_archive = AuditBucket(
            self, "AuditArchive", key=self.data_key, keeps_data=keeps_data
        )
        self.exports = ExportBucket(self, "Exports", key=self.data_key, keeps_data=keeps_data)
        self.content = ContentBucket(self, "Content", key=self.data_key, keeps_data=keeps_data)
        self.ledger_texts = LedgerBucket(
            self, "LedgerTexts", key=self.data_key, keeps_data=keeps_data
        )
        self.apprentice_files = ApprenticeBucket(
            self, "ApprenticeFiles", key=self.data_key, keeps_data=keeps_data
        )
        self._export_everything()

    def _export_everything(self) -> None:
        """Export what other stacks may use, used or not.

        CloudFormation deploys this stack first, and would refuse to take back an export that the
        deployed services still use, although the new ones do not.
        """
        for table in (
            self.registry,
            self.completions,
            self.deliveries,
            self.budgets,
            self.audit,
            self.ledger,
            self.decks,
            self.apprentice,
        ):
            self.export_value(table.table.table_name)
            self.export_value(table.table.table_arn)
        for followed in (
            self.registry,
            self.completions,
            self.ledger,
            self.decks,
            self.apprentice,
        ):
            self.export_value(followed.table.table_stream_arn)
        named = (
            self.provider_keys.key,
            self.certificates_key.key,
            *self.secrets_keys.keys.values(),
        )
        for key in (self.data_key.key, *named):
            self.export_value(key.key_arn)
        for key in named:
            self.export_value(key.key_id)
        for bucket in (
            self.audit_archive,
            self.exports,
            self.content,
            self.ledger_texts,
            self.apprentice_files,
        ):
            self.export_value(bucket.bucket.bucket_name)
            self.export_value(bucket.bucket.bucket_arn)

    def _table(self, construct_id: str, schema: TableSchema, *, keeps_data: bool) -> EncryptedTable:
        return EncryptedTable(
            self, construct_id, schema=schema, key=self.data_key, keeps_data=keeps_data
        )
