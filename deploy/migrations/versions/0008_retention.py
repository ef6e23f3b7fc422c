"""Deleted memories are found by their age."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX memories_deleted ON memories (updated_at) WHERE state = 'deleted'")
