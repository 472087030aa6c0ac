/**
 * What has to be whole is one function, and so one statement: one way there and back, and no transaction that a stopped client
 * could hold open. Each may be called again with the same arguments where its answer was lost: a token, the id of a process or
 * the place of a row says what is done already.
 *
 * Whatever changes leases, the line or rows first locks the row of its service: the order of writes is that of the lock, and no
 * two of them can wait for each other.
 *
 * \`me\`: \`{"id","identity","user","command"}\` of the process that calls.
 */
export const functions = `
CREATE FUNCTION petstock.now_ms() RETURNS double precision LANGUAGE sql VOLATILE AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision $$;

-- A server may be set to answer before what it was given is on its disk, or on that of the standby that it has to wait for.
CREATE FUNCTION petstock.keep_durable() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
END $$;

CREATE FUNCTION petstock.keep_quick() RETURNS void LANGUAGE sql AS
$$ SELECT set_config('synchronous_commit', 'off', true); $$;

-- Numbers that were drawn before a crash may be drawn again after it, and a mark may hold one of them: begin above all of those.
CREATE FUNCTION petstock.begin_epoch() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM petstock.keep_durable();
  LOCK TABLE petstock.meta IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT 1 FROM petstock.epoch) THEN RETURN; END IF;
  PERFORM setval('petstock.writes', last_value + 1000000) FROM petstock.writes;
  INSERT INTO petstock.epoch VALUES (petstock.now_ms());
END $$;

CREATE FUNCTION petstock.service_id(service_name text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE found_id integer;
BEGIN
  SELECT id INTO found_id FROM petstock.services WHERE name = service_name;
  IF found_id IS NULL THEN
    INSERT INTO petstock.services (name) VALUES (service_name) ON CONFLICT (name) DO NOTHING;
    SELECT id INTO found_id FROM petstock.services WHERE name = service_name;
  END IF;
  RETURN found_id;
END $$;

CREATE FUNCTION petstock.lock_service(service_id integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM petstock.services WHERE id = service_id FOR UPDATE;
END $$;

-- The lease of a process: renewed when a third of it is over. Returns its end.
CREATE FUNCTION petstock.be_present(me jsonb) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
  now_at double precision := petstock.now_ms();
  known double precision;
BEGIN
  SELECT expires INTO known FROM petstock.presence WHERE id = me->>'id';
  IF known > now_at + 10000 THEN RETURN known; END IF;
  INSERT INTO petstock.presence (id, identity, os_user, command, since, expires)
    VALUES (me->>'id', me->>'identity', me->>'user', me->>'command', now_at, now_at + 15000)
    ON CONFLICT (id) DO UPDATE SET expires = excluded.expires;
  RETURN now_at + 15000;
END $$;

-- Only while the lease lasts: what a process held may be another's after that.
CREATE FUNCTION petstock.renew(process text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  now_at double precision := petstock.now_ms();
  until double precision;
BEGIN
  PERFORM petstock.keep_quick();
  UPDATE petstock.presence SET expires = now_at + 15000 WHERE id = process AND expires > now_at RETURNING expires INTO until;
  RETURN jsonb_build_object('now', now_at, 'expires', until);
END $$;

CREATE FUNCTION petstock.be_absent(process text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  PERFORM petstock.keep_quick();
  DELETE FROM petstock.presence WHERE id = process;
  RETURN jsonb_build_object('now', petstock.now_ms());
END $$;

CREATE FUNCTION petstock.is_alive(process text) RETURNS boolean LANGUAGE sql VOLATILE AS
$$ SELECT EXISTS (SELECT 1 FROM petstock.presence WHERE id = process AND expires > petstock.now_ms()) $$;

CREATE FUNCTION petstock.identity_of(process text) RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT identity FROM petstock.presence WHERE id = process $$;

-- Who is at a pet; null where it is free, or has one of the owners.
CREATE FUNCTION petstock.busy_with(of_service integer, pet bigint, process text, owners text[]) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  lease petstock.leases;
  until double precision;
BEGIN
  SELECT * INTO lease FROM petstock.leases WHERE pet_id = pet AND service = of_service;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF lease.expires > petstock.now_ms() THEN until := lease.expires; END IF;
  IF lease.owner = ANY (owners) THEN
    -- A run that was taken over: what the process before has sent may still arrive.
    IF lease.holder IS NULL OR lease.holder = process OR until IS NULL THEN RETURN NULL; END IF;
    RETURN jsonb_build_object('kind', 'busy', 'run', lease.run, 'until', until);
  END IF;
  IF lease.holder IS NOT NULL AND petstock.is_alive(lease.holder) THEN
    RETURN jsonb_build_object('kind', 'busy', 'run', lease.run, 'until', NULL, 'holder', lease.holder,
      'identity', petstock.identity_of(lease.holder));
  END IF;
  IF until IS NULL THEN RETURN NULL; END IF;
  RETURN jsonb_build_object('kind', 'busy', 'run', lease.run, 'until', until);
END $$;

CREATE FUNCTION petstock.take_lease(
  of_service integer, pet bigint, new_owner text, of_run text, process text, until double precision
) RETURNS void LANGUAGE sql AS $$
  INSERT INTO petstock.leases (pet_id, service, owner, run, holder, expires)
    VALUES (pet, of_service, new_owner, of_run, process, until)
    ON CONFLICT (pet_id, service) DO UPDATE
    SET owner = excluded.owner, run = excluded.run, holder = excluded.holder, expires = excluded.expires
$$;

CREATE FUNCTION petstock.move_count(run_id bigint, from_result text, to_result text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF from_result = to_result THEN RETURN; END IF;
  EXECUTE format('UPDATE petstock.runs SET %I = %I - 1, %I = %I + 1 WHERE id = $1',
    from_result, from_result, to_result, to_result) USING run_id;
END $$;

-- The row of the run that this one takes back was taken back.
CREATE FUNCTION petstock.mark_undone(by_run text, undone_run text, undone_row integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  target petstock.runs;
  changed integer;
BEGIN
  SELECT * INTO target FROM petstock.runs WHERE run = undone_run;
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE petstock.rows SET undone_by = by_run WHERE run = target.id AND row = undone_row AND undone_by IS NULL;
  GET DIAGNOSTICS changed = ROW_COUNT;
  UPDATE petstock.runs SET undone = undone + changed,
    undone_by = CASE WHEN undone_by ? by_run THEN undone_by ELSE undone_by || to_jsonb(by_run) END
    WHERE id = target.id;
END $$;

-- What became of rows; gives their leases back. The row of the service is locked.
CREATE FUNCTION petstock.settle_rows(run_id bigint, process text, outcomes jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  of_run petstock.runs;
  outcome record;
  known petstock.rows;
  became text;
BEGIN
  SELECT * INTO of_run FROM petstock.runs WHERE id = run_id;
  FOR outcome IN
    SELECT * FROM jsonb_to_recordset(outcomes) AS (row integer, pet bigint, result text, quantity bigint, error text)
  LOOP
    SELECT * INTO known FROM petstock.rows WHERE rows.run = run_id AND rows.row = outcome.row;
    -- Another process has taken the run over: what it has settled since stays.
    CONTINUE WHEN NOT FOUND OR (of_run.holder IS DISTINCT FROM process AND known.result <> 'unknown');
    became := CASE outcome.result WHEN 'void' THEN 'pending' ELSE outcome.result END;
    -- Written again: it is not known to the process that it was kept.
    CONTINUE WHEN known.result = became AND became <> 'unknown';
    UPDATE petstock.rows SET result = became, quantity = outcome.quantity, error = outcome.error,
      at = round(petstock.now_ms()), touched = nextval('petstock.writes')
      WHERE rows.run = run_id AND rows.row = outcome.row;
    PERFORM petstock.move_count(run_id, known.result, became);
    IF became = 'unknown' THEN
      UPDATE petstock.leases SET holder = NULL
        WHERE pet_id = outcome.pet AND service = of_run.service AND owner = of_run.run;
    ELSE
      DELETE FROM petstock.leases WHERE pet_id = outcome.pet AND service = of_run.service AND owner = of_run.run;
    END IF;
    IF became = 'applied' AND known.result <> 'applied' AND of_run.undoes IS NOT NULL THEN
      PERFORM petstock.mark_undone(of_run.run, of_run.undoes, known.line);
    END IF;
  END LOOP;
END $$;

-- Whether the last intent that a process was told of is missing, as on a server that has taken over and was behind.
CREATE FUNCTION petstock.has_lost(run_id bigint, confirmed jsonb) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT confirmed <> 'null' AND NOT EXISTS (SELECT 1 FROM petstock.rows
    WHERE rows.run = run_id AND rows.row = (confirmed->>'row')::integer AND rows.token = confirmed->>'token')
$$;

-- Another run that has written the pet since the mark, or whose request could still arrive after it; null where there is none.
CREATE FUNCTION petstock.writer_since(
  of_service integer, pet bigint, but_run bigint, since_sequence bigint, since_at double precision
) RETURNS jsonb LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_build_object('kind', 'overtaken', 'run', runs.run, 'command', runs.command)
  FROM petstock.rows JOIN petstock.runs ON runs.id = rows.run
  WHERE rows.pet_id = pet AND rows.service = of_service AND rows.run <> but_run
    AND (rows.touched > since_sequence AND rows.result IN ('applied', 'differs', 'unknown')
      OR rows.result = 'unknown' AND rows.expires > since_at)
  ORDER BY rows.touched DESC LIMIT 1
$$;

-- Takes the leases of rows and writes their intents, of those that are granted. since_sequence null: they rely on no stock.
CREATE FUNCTION petstock.intend(
  me jsonb, run_id bigint, call_token text, confirmed jsonb, intents jsonb, since_sequence bigint, since_at double precision,
  place text, outcomes jsonb
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  process text := me->>'id';
  of_run petstock.runs;
  intent record;
  known petstock.rows;
  refusal jsonb;
  drawn bigint;
  grants jsonb := '[]';
  until double precision;
BEGIN
  PERFORM petstock.keep_durable();
  PERFORM petstock.lock_service((SELECT service FROM petstock.runs WHERE id = run_id));
  SELECT * INTO of_run FROM petstock.runs WHERE id = run_id;
  IF NOT FOUND THEN RETURN jsonb_build_object('now', petstock.now_ms(), 'gone', true); END IF;
  IF of_run.holder IS DISTINCT FROM process THEN
    RETURN jsonb_build_object('now', petstock.now_ms(), 'taken', true, 'identity', petstock.identity_of(of_run.holder));
  END IF;
  until := petstock.be_present(me);
  -- Called again it has written intents after these outcomes, and maybe one in the place of that which was confirmed.
  IF NOT EXISTS (SELECT 1 FROM petstock.rows WHERE rows.run = run_id AND rows.token = call_token
      AND rows.row IN (SELECT given.row FROM jsonb_to_recordset(intents) AS given (row integer))) THEN
    -- A mark of a number that was not drawn: an older copy of the database was put in its place.
    IF petstock.has_lost(run_id, confirmed) OR since_sequence > (SELECT last_value FROM petstock.writes) THEN RETURN jsonb_build_object('now', petstock.now_ms(), 'lost', true); END IF;
    PERFORM petstock.settle_rows(run_id, process, outcomes);
  END IF;
  FOR intent IN
    SELECT * FROM jsonb_to_recordset(intents)
      AS (row integer, pet bigint, expires double precision, before bigint, after bigint)
  LOOP
    SELECT * INTO known FROM petstock.rows WHERE rows.run = run_id AND rows.row = intent.row;
    IF known.token = call_token THEN
      grants := grants || '{"kind":"granted"}'::jsonb;
      CONTINUE;
    END IF;
    refusal := petstock.busy_with(of_run.service, intent.pet, process,
      CASE WHEN place IS NULL THEN ARRAY[of_run.run] ELSE ARRAY[of_run.run, place] END);
    IF refusal IS NULL AND since_sequence IS NOT NULL THEN
      refusal := petstock.writer_since(of_run.service, intent.pet, run_id, since_sequence, since_at);
    END IF;
    IF refusal IS NOT NULL THEN
      grants := grants || refusal;
      CONTINUE;
    END IF;
    drawn := nextval('petstock.writes');
    PERFORM petstock.take_lease(of_run.service, intent.pet, of_run.run, of_run.run, process, intent.expires);
    UPDATE petstock.rows SET result = 'unknown', quantity = NULL, error = NULL, at = round(petstock.now_ms()),
      expires = intent.expires, token = call_token, sequence = drawn, touched = drawn,
      before = coalesce(intent.before, rows.before), after = coalesce(intent.after, rows.after)
      WHERE rows.run = run_id AND rows.row = intent.row;
    IF known.result IS NOT NULL THEN PERFORM petstock.move_count(run_id, known.result, 'unknown'); END IF;
    grants := grants || '{"kind":"granted"}'::jsonb;
  END LOOP;
  RETURN jsonb_build_object('now', petstock.now_ms(), 'expires', until, 'grants', grants);
END $$;

-- Writes outcomes. ends: the process leaves the run.
CREATE FUNCTION petstock.settle(
  run_id bigint, process text, outcomes jsonb, durable boolean, ends boolean, confirmed jsonb
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  of_service integer;
  is_lost boolean;
BEGIN
  IF durable THEN PERFORM petstock.keep_durable(); ELSE PERFORM petstock.keep_quick(); END IF;
  SELECT service INTO of_service FROM petstock.runs WHERE id = run_id;
  IF NOT FOUND THEN RETURN jsonb_build_object('now', petstock.now_ms(), 'gone', true); END IF;
  PERFORM petstock.lock_service(of_service);
  is_lost := petstock.has_lost(run_id, confirmed)
    AND EXISTS (SELECT 1 FROM petstock.runs WHERE id = run_id AND holder = process);
  PERFORM petstock.settle_rows(run_id, process, outcomes);
  IF ends THEN UPDATE petstock.runs SET holder = NULL WHERE id = run_id AND holder = process; END IF;
  RETURN jsonb_build_object('now', petstock.now_ms(), 'lost', is_lost);
END $$;

CREATE FUNCTION petstock.stand_in_line(me jsonb, service_name text, pet bigint, new_place text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  of_service integer := petstock.service_id(service_name);
  until double precision;
BEGIN
  PERFORM petstock.keep_quick();
  PERFORM petstock.lock_service(of_service);
  until := petstock.be_present(me);
  INSERT INTO petstock.line (place, service, pet_id, holder) VALUES (new_place, of_service, pet, me->>'id')
    ON CONFLICT (place) DO NOTHING;
  RETURN jsonb_build_object('now', petstock.now_ms(), 'expires', until);
END $$;

-- Takes the lease of a pet for a place, or says who has it or stands before it.
CREATE FUNCTION petstock.enter(me jsonb, service_name text, pet bigint, own_place text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  process text := me->>'id';
  of_service integer := petstock.service_id(service_name);
  busy jsonb;
  own_ticket bigint;
  other petstock.line;
  until double precision;
BEGIN
  PERFORM petstock.keep_quick();
  PERFORM petstock.lock_service(of_service);
  until := petstock.be_present(me);
  busy := petstock.busy_with(of_service, pet, process, ARRAY[own_place]);
  SELECT ticket INTO own_ticket FROM petstock.line WHERE place = own_place;
  IF own_ticket IS NULL THEN
    -- Whoever was away for longer than its lease was taken for dead, and has to stand behind the others.
    INSERT INTO petstock.line (place, service, pet_id, holder) VALUES (own_place, of_service, pet, process)
      RETURNING ticket INTO own_ticket;
  END IF;
  IF busy IS NULL THEN
    FOR other IN
      SELECT * FROM petstock.line WHERE pet_id = pet AND service = of_service AND ticket < own_ticket ORDER BY ticket
    LOOP
      IF petstock.is_alive(other.holder) THEN
        busy := jsonb_build_object('kind', 'busy', 'run', NULL, 'until', NULL, 'holder', other.holder,
          'identity', petstock.identity_of(other.holder));
        EXIT;
      END IF;
      DELETE FROM petstock.line WHERE ticket = other.ticket;
    END LOOP;
  END IF;
  IF busy IS NULL THEN PERFORM petstock.take_lease(of_service, pet, own_place, NULL, process, NULL); END IF;
  RETURN jsonb_build_object('now', petstock.now_ms(), 'expires', until, 'busy', busy);
END $$;

CREATE FUNCTION petstock.leave(service_name text, pet bigint, own_place text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  of_service integer := petstock.service_id(service_name);
BEGIN
  PERFORM petstock.keep_quick();
  PERFORM petstock.lock_service(of_service);
  DELETE FROM petstock.line WHERE place = own_place;
  DELETE FROM petstock.leases WHERE pet_id = pet AND service = of_service AND owner = own_place;
  RETURN jsonb_build_object('now', petstock.now_ms());
END $$;

-- Takes over a run whose process is gone.
CREATE FUNCTION petstock.resume(me jsonb, run_name text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  of_run petstock.runs;
  until double precision;
BEGIN
  PERFORM petstock.keep_durable();
  PERFORM petstock.lock_service((SELECT service FROM petstock.runs WHERE run = run_name));
  SELECT * INTO of_run FROM petstock.runs WHERE run = run_name;
  IF NOT FOUND THEN RETURN jsonb_build_object('now', petstock.now_ms(), 'gone', true); END IF;
  IF of_run.holder IS NOT NULL AND of_run.holder <> me->>'id' AND petstock.is_alive(of_run.holder) THEN
    RETURN jsonb_build_object('now', petstock.now_ms(), 'busy', jsonb_build_object('holder', of_run.holder,
      'identity', petstock.identity_of(of_run.holder)));
  END IF;
  until := petstock.be_present(me);
  UPDATE petstock.runs SET holder = me->>'id' WHERE id = of_run.id;
  RETURN jsonb_build_object('now', petstock.now_ms(), 'expires', until, 'id', of_run.id::text);
END $$;

-- Removes a run that no process is at. Returns whether it did.
CREATE FUNCTION petstock.remove_run(run_name text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  of_run petstock.runs;
BEGIN
  PERFORM petstock.lock_service((SELECT service FROM petstock.runs WHERE run = run_name));
  SELECT * INTO of_run FROM petstock.runs WHERE run = run_name;
  IF NOT FOUND OR (of_run.holder IS NOT NULL AND petstock.is_alive(of_run.holder)) THEN RETURN false; END IF;
  DELETE FROM petstock.rows WHERE run = of_run.id;
  DELETE FROM petstock.runs WHERE id = of_run.id;
  RETURN true;
END $$;

-- When it returns, all that was committed before is on the disk, and on the standby that commits wait for. It holds no lock meanwhile.
CREATE FUNCTION petstock.keep_written() RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  PERFORM petstock.keep_durable();
  PERFORM pg_logical_emit_message(true, 'petstock', '');
  RETURN jsonb_build_object('now', petstock.now_ms());
END $$;

-- Writes the limits of a key, if they are still those of a version; else returns what they are. What others have to know at once,
-- they are notified of, before a disk or a standby is waited for.
CREATE FUNCTION petstock.write_limits(key_scope text, of_version bigint, new_state text, notice text)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  latest petstock.limits;
BEGIN
  PERFORM petstock.keep_quick();
  IF of_version = 0 THEN
    INSERT INTO petstock.limits (scope, version, state) VALUES (key_scope, 1, new_state) ON CONFLICT (scope) DO NOTHING;
  ELSE
    UPDATE petstock.limits SET version = version + 1, state = new_state WHERE scope = key_scope AND version = of_version;
  END IF;
  IF FOUND THEN
    IF notice IS NOT NULL THEN PERFORM pg_notify('petstock', notice); END IF;
    RETURN jsonb_build_object('now', petstock.now_ms(), 'written', true);
  END IF;
  SELECT * INTO latest FROM petstock.limits WHERE scope = key_scope;
  RETURN jsonb_build_object('now', petstock.now_ms(), 'written', false, 'version', coalesce(latest.version, 0)::text,
    'state', latest.state);
END $$;
`;
