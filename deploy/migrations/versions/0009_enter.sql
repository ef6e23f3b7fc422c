-- What a transaction that writes for an event begins with. It checks the lease's fence (the row stays share-locked, so
-- a takeover waits), holds the index's collections, and makes the writers of the scopes wait for each other; in this
-- order for everybody, so that none wait in a ring. The lanes of one project: row-level security is the caller's.
-- No row: the lease is lost. A row of nulls: there is no collection yet.
CREATE FUNCTION memlane_enter(of_project uuid, lane text, held bigint, scopes text[])
  RETURNS SETOF index_collections LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM leases WHERE project_id = of_project AND lane_key = lane AND fence = held FOR SHARE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock_shared(1229867352);
  FOR place IN 1 .. coalesce(array_length(scopes, 1), 0) LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended(of_project || ':' || scopes[place], 0));
  END LOOP;
  RETURN QUERY SELECT * FROM index_collections;
  IF NOT FOUND THEN
    RETURN NEXT NULL;
  END IF;
END $$;
