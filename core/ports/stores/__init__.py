"""The stores of a transaction, a file for each noun; `core.ports.database.Transaction` holds one of each.

A store of more than six methods is written as several protocols, one for each kind of caller, and a last one that
joins them. Common to all methods, and not said again at each:
- what they change is visible to others when the transaction commits, and gone when it rolls back; outside one
  (`Database.statements`, `autocommit`) it is so at once, and methods that lock or hold something do so for nothing;
- times are aware and in UTC, spans are seconds, ids are UUIDs, and time is the database's own unless it is given;
- under `Database.transaction` and `statements` they see one project's rows; "of all projects" means
  `Database.operations`;
- they raise DatabaseUnavailable and TransactionConflict (core/ports/database.py). What else is raised, is named.
"""
