-- `staged`: the collection's vectors are those of staged_embeddings, not those of the memories.
-- `run`, `moved_at`: which rebuild works on it, and when it last did; `position`, `done`: how far it is.
ALTER TABLE index_collections DROP CONSTRAINT index_collections_role_check;
ALTER TABLE index_collections
  ADD CONSTRAINT index_collections_role_check CHECK (role IN ('active', 'building', 'retiring')),
  ADD COLUMN staged boolean NOT NULL DEFAULT false,
  ADD COLUMN run uuid,
  ADD COLUMN moved_at timestamptz,
  ADD COLUMN position uuid,
  ADD COLUMN done bigint NOT NULL DEFAULT 0;

-- Vectors of the next embedder, each valid while the memory has the text that it was made of.
CREATE TABLE staged_embeddings (
  memory_id uuid PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
  project_id uuid NOT NULL,
  hash text NOT NULL,
  embedding bytea NOT NULL
);
ALTER TABLE staged_embeddings ENABLE ROW LEVEL SECURITY;
CREATE POLICY app ON staged_embeddings TO memlane_app USING
  (project_id = nullif(current_setting('memlane.project', true), '')::uuid);
CREATE POLICY ops ON staged_embeddings TO memlane_ops USING (true);
GRANT SELECT ON staged_embeddings TO memlane_app;
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON staged_embeddings TO memlane_ops;

-- Which collections there are, for a transaction that writes vectors or points: it holds them until its end, and
-- what changes them (an exclusive lock of the same key) waits for it. Two statements, so that the rows are read
-- after the lock was given.
CREATE FUNCTION memlane_hold_collections() RETURNS SETOF index_collections LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(1229867352);
  RETURN QUERY SELECT * FROM index_collections;
END $$;
