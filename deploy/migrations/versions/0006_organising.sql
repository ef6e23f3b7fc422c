-- Memories whose text has changed since their categories were found. `version` is the one that is to be categorised:
-- a later change asks anew. A claimed row comes back at `due_at` if its worker is lost.
CREATE TABLE categorizations (
  project_id uuid NOT NULL,
  memory_id uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  version int NOT NULL,
  requested_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  tries int NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, memory_id)
);
CREATE INDEX categorizations_due ON categorizations (due_at);
CREATE INDEX categorizations_memory ON categorizations (memory_id);

-- The memories that a pattern was seen in; empty for all others.
ALTER TABLE memories ADD COLUMN evidence uuid[] NOT NULL DEFAULT '{}';
CREATE INDEX memories_patterns ON memories (project_id, scope_key) WHERE synthesized AND state = 'active';

-- What each scope's memories were when patterns were last looked for: unchanged memories are not looked at again.
CREATE TABLE syntheses (
  project_id uuid NOT NULL,
  scope_key text NOT NULL,
  ran_at timestamptz NOT NULL,
  fingerprint text NOT NULL DEFAULT '',
  PRIMARY KEY (project_id, scope_key)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['categorizations', 'syntheses'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY app ON %I TO memlane_app USING '
      '(project_id = nullif(current_setting(''memlane.project'', true), '''')::uuid)', name);
    EXECUTE format('CREATE POLICY ops ON %I TO memlane_ops USING (true)', name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO memlane_app, memlane_ops', name);
  END LOOP;
END $$;

-- Categories that change under an unchanged version were found again; every other change writes history and is told there.
CREATE FUNCTION memlane_emit_categories() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deliveries (id, project_id, webhook_id, event_type, memory_id, body, created_at)
  SELECT gen_random_uuid(), NEW.project_id, w.id, 'memory_categorize', NEW.id, convert_to(json_build_object(
      'event_details', json_build_object(
        'event', 'CATEGORIZE', 'memory_id', NEW.id, 'categories', to_json(NEW.categories)))::text, 'UTF8'), now()
  FROM webhooks w
  WHERE w.project_id = NEW.project_id AND w.is_active AND 'memory_categorize' = ANY (w.event_types);
  RETURN NULL;
END $$;
CREATE TRIGGER emit_categories AFTER UPDATE OF categories ON memories FOR EACH ROW
  WHEN (NEW.categories IS NOT NULL AND NEW.categories IS DISTINCT FROM OLD.categories AND NEW.version = OLD.version)
  EXECUTE FUNCTION memlane_emit_categories();
