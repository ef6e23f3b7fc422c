CREATE TABLE webhooks (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  event_types text[] NOT NULL,
  is_active boolean NOT NULL DEFAULT true,
  disabled_reason text,
  retry_schedule float8[],
  secret bytea NOT NULL, -- encrypted
  old_secret bytea,
  old_secret_until timestamptz,
  failing_since timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX webhooks_project ON webhooks (project_id) WHERE is_active;

-- due_at is null until the change is searchable; the projector makes a memory's deliveries due.
CREATE TABLE deliveries (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  webhook_id uuid NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  event_type text NOT NULL,
  memory_id uuid,
  event_id uuid,
  body bytea, -- the bytes that are signed and sent; of an event's delivery made at its first attempt
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'exhausted', 'cancelled')),
  due_at timestamptz,
  claimed_until timestamptz,
  attempts int NOT NULL DEFAULT 0,
  last_status int,
  last_error text,
  created_at timestamptz NOT NULL,
  ended_at timestamptz
);
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE state = 'waiting' AND due_at IS NOT NULL;
CREATE INDEX deliveries_held ON deliveries (project_id, memory_id) WHERE state = 'waiting' AND due_at IS NULL;
CREATE INDEX deliveries_listing ON deliveries (project_id, webhook_id, created_at DESC, id DESC);
CREATE INDEX deliveries_age ON deliveries (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE delivery_attempts (
  delivery_id uuid NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  number int NOT NULL,
  project_id uuid NOT NULL,
  at timestamptz NOT NULL,
  ms float8 NOT NULL,
  status int,
  error text,
  response text,
  PRIMARY KEY (delivery_id, number)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['webhooks', 'deliveries', 'delivery_attempts'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY app ON %I TO memlane_app USING '
      '(project_id = nullif(current_setting(''memlane.project'', true), '''')::uuid)', name);
    EXECUTE format('CREATE POLICY ops ON %I TO memlane_ops USING (true)', name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO memlane_app, memlane_ops', name);
  END LOOP;
END $$;

-- The emit table (core/domain/webhook_policy.py): what happens to a memory → what is told.
-- A trigger, because every path of change writes history: no path can forget to emit.
CREATE FUNCTION memlane_emit_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM webhooks w WHERE w.is_active AND w.project_id IN (SELECT project_id FROM fresh)) THEN
    RETURN NULL;
  END IF;
  INSERT INTO deliveries (id, project_id, webhook_id, event_type, memory_id, body, created_at)
  SELECT gen_random_uuid(), f.project_id, w.id, told.type, f.memory_id, convert_to(json_build_object(
      'event_details', json_build_object(
        'id', f.memory_id,
        'data', json_build_object('memory', coalesce(f.new_memory, f.old_memory)),
        'event', f.event))::text, 'UTF8'), now()
  FROM fresh f
  JOIN (VALUES ('ADD', 'memory_add'), ('UPDATE', 'memory_update'), ('DELETE', 'memory_delete')) AS told(change, type)
    ON told.change = f.event
  JOIN webhooks w ON w.project_id = f.project_id AND w.is_active AND told.type = ANY (w.event_types);
  INSERT INTO deliveries (id, project_id, webhook_id, event_type, memory_id, body, created_at)
  SELECT gen_random_uuid(), f.project_id, w.id, 'memory_categorize', f.memory_id, convert_to(json_build_object(
      'event_details', json_build_object(
        'event', 'CATEGORIZE', 'memory_id', f.memory_id, 'categories', to_json(m.categories)))::text, 'UTF8'), now()
  FROM fresh f
  JOIN memories m ON m.id = f.memory_id AND m.categories IS NOT NULL
  JOIN webhooks w ON w.project_id = f.project_id AND w.is_active AND 'memory_categorize' = ANY (w.event_types)
  WHERE f.event = 'ADD' OR (f.event = 'UPDATE' AND f.new_memory IS DISTINCT FROM f.old_memory);
  RETURN NULL;
END $$;
CREATE TRIGGER emit_changes AFTER INSERT ON history REFERENCING NEW TABLE AS fresh
  FOR EACH STATEMENT EXECUTE FUNCTION memlane_emit_changes();

CREATE FUNCTION memlane_emit_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deliveries (id, project_id, webhook_id, event_type, event_id, due_at, created_at)
  SELECT gen_random_uuid(), NEW.project_id, w.id, told.type, NEW.id, now(), now()
  FROM webhooks w, (SELECT CASE NEW.state WHEN 'projected' THEN 'event_succeeded' ELSE 'event_failed' END AS type) told
  WHERE w.project_id = NEW.project_id AND w.is_active AND told.type = ANY (w.event_types);
  RETURN NULL;
END $$;
CREATE TRIGGER emit_ends AFTER UPDATE OF state ON events FOR EACH ROW
  WHEN (NEW.state IN ('projected', 'failed') AND OLD.state IS DISTINCT FROM NEW.state)
  EXECUTE FUNCTION memlane_emit_ends();
