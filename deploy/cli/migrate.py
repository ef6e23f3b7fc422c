"""`memlane migrate`."""

from __future__ import annotations


def migrate() -> None:
    """Bring the database to this version's schema, and make the first project where MEMLANE_API_KEY is set.

    Run it before a new version's API and workers start; running it again changes nothing. Several at once wait for
    each other. The account of MEMLANE_DATABASE_URL must own the schema.
    """
    from sqlalchemy.exc import OperationalError

    from core.adapters.sql.database import SqlDatabase
    from core.services.issue_key import ensure_first_key
    from deploy.cli.configuration import database_url, load_settings
    from deploy.local.failure import StackFailure
    from deploy.migrations.run import upgrade

    url = database_url()
    try:
        revision = upgrade(url)
    except OperationalError as down:
        reason = str(down.orig).strip().splitlines()[0]
        raise StackFailure(f"The database cannot be reached: {reason}", "Run `memlane doctor`.") from down
    print(f"The database is at revision {revision}.")
    key = load_settings().api_key
    if key is not None:
        database = SqlDatabase(url)
        try:
            if ensure_first_key(database, key.get_secret_value()):
                print("MEMLANE_API_KEY is now a key of the first project.")
        finally:
            database.close()
