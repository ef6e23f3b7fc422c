ALTER TABLE lanes ADD COLUMN user_id text, ADD COLUMN agent_id text, ADD COLUMN app_id text, ADD COLUMN run_id text;
UPDATE lanes l SET user_id = e.user_id, agent_id = e.agent_id, app_id = e.app_id, run_id = e.run_id
  FROM events e WHERE e.project_id = l.project_id AND e.lane_key = l.lane_key;
CREATE INDEX lanes_user ON lanes (project_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX lanes_agent ON lanes (project_id, agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX lanes_app ON lanes (project_id, app_id) WHERE app_id IS NOT NULL;
CREATE INDEX lanes_run ON lanes (project_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX memories_lane ON memories (project_id, lane_key);
CREATE INDEX deliveries_event ON deliveries (event_id) WHERE event_id IS NOT NULL;
CREATE INDEX deliveries_memory ON deliveries (memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX idempotency_keys_event ON idempotency_keys (event_id);

-- When it is done only the digest of (type, name) is left of whom it was about.
CREATE TABLE erasures (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  digest bytea NOT NULL,
  type text,
  name text,
  keep_derived boolean NOT NULL,
  event_id uuid NOT NULL,
  receipt jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  done_at timestamptz
);
CREATE INDEX erasures_digest ON erasures (project_id, digest, created_at DESC);
ALTER TABLE erasures ENABLE ROW LEVEL SECURITY;
CREATE POLICY app ON erasures TO memlane_app USING
  (project_id = nullif(current_setting('memlane.project', true), '')::uuid);
CREATE POLICY ops ON erasures TO memlane_ops USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON erasures TO memlane_app, memlane_ops;
GRANT USAGE ON SEQUENCE fences TO memlane_app;
