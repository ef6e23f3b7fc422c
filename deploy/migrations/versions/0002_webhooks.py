"""Webhooks: endpoints, deliveries, their attempts; every change of a memory emits by a trigger on history."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(Path(__file__).with_suffix(".sql").read_text())
