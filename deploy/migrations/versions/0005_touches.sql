-- The last times that a search returned a memory, newest first; written only where the project's decay is on.
CREATE TABLE touches (
  project_id uuid NOT NULL,
  memory_id uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  at timestamptz[] NOT NULL,
  PRIMARY KEY (project_id, memory_id)
);
CREATE INDEX touches_memory ON touches (memory_id);
ALTER TABLE touches ENABLE ROW LEVEL SECURITY;
CREATE POLICY app ON touches TO memlane_app USING
  (project_id = nullif(current_setting('memlane.project', true), '')::uuid);
CREATE POLICY ops ON touches TO memlane_ops USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON touches TO memlane_app, memlane_ops;
