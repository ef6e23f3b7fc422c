-- What a transaction that writes for an event begins with. It checks the lease's fence (the row stays share-locked, so
-- a takeover waits), holds the index's collections, and makes the writers of the scopes wait for each other: in this
-- order, and the scopes sorted, for everybody, so that none wait in a ring. It runs with the caller's rights, so
-- row-level security confines it. No row: the lease is lost. A row of nulls: there is no collection yet.
CREATE FUNCTION memlane_enter(of_project uuid, of_lane text, of_fence bigint, of_scopes text[])
  RETURNS SETOF index_collections LANGUAGE plpgsql AS $$
DECLARE
  scope text;
  known boolean;
BEGIN
  PERFORM 1 FROM leases WHERE project_id = of_project AND lane_key = of_lane AND fence = of_fence FOR SHARE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  RETURN QUERY SELECT * FROM memlane_hold_collections();
  known := FOUND;
  FOREACH scope IN ARRAY of_scopes LOOP  -- the same key as SqlMemoryStore.lock_scopes
    PERFORM pg_advisory_xact_lock(hashtextextended(of_project || ':' || scope, 0));
  END LOOP;
  IF NOT known THEN
    RETURN NEXT NULL;
  END IF;
END $$;
