import type { RowError } from '../inventory/change.ts';
import type { PlannedRow, RunHead, RunRecord } from '../inventory/run-records.ts';
import { ConflictError } from '../shared/errors.ts';
import { countersOf, lastIntent, settle } from './intents.ts';
import { isOpen, type OpenRun, type Row, rowColumns, rowOf } from './open-run.ts';
import { headOf, RecordedRuns } from './recorded-runs.ts';
import { noSuchRun, runIdAt } from './run-ids.ts';
import type { Lock, Moment, Store } from './state-store.ts';
import { type Answer, among, forEach, maxItems, number, type Statement, statement, text } from './statements.ts';

export interface HistoryOptions {
  readonly store: Store;
  /** Returns a number in [0, 1), for the ids of runs. */
  random(): number;
  /** The wall clock, for the ids of runs. */
  now(): number;
}

/** Thrown if another run of the same content has begun since the check. */
export class DuplicateRunError extends ConflictError {}

const discardedError: RowError = { code: 'discarded', message: 'not sent: the run was discarded' };
/** Maximum number of old runs that one command removes when it ends. */
const maxOld = 20;

/** The runs of a store: begins runs, takes them over, discards and removes them. */
export class History extends RecordedRuns {
  readonly #options: HistoryOptions;

  constructor(options: HistoryOptions) {
    super(options.store);
    this.#options = options;
  }

  /**
   * Records a run and takes its lock, before anything of it is sent. The run is durable with its first intent.
   * @param follows the newest known run of the same content, if any; undefined if the content may be repeated
   * @throws DuplicateRunError if another run of that content has begun since
   */
  async begin(
    head: RunHead,
    rows: Iterable<PlannedRow>,
    follows?: { readonly run: string | undefined },
  ): Promise<OpenRun> {
    const run = await this.beginLater(head, rows);
    const { contentHash, service } = head;
    const selectNewest = 'SELECT run FROM runs WHERE content_hash = ? AND service = ? ORDER BY number DESC LIMIT 1';
    const asked = [lastIntent(service), statement(selectNewest, contentHash ?? null, service)];
    try {
      await this.store.transact(asked, ([counters, newest = []], moment) => {
        const found = text(newest[0]?.run);
        // The transaction runs again if the connection is lost while it is committed.
        if (follows !== undefined && found !== follows.run && found !== run.run) {
          throw new DuplicateRunError('Another run of the same content has begun since');
        }
        run.began = countersOf(counters).last;
        return { writes: run.beginning?.(moment) ?? [], result: undefined };
      });
    } catch (error) {
      await run.lock.release();
      this.store.forgetRun(run.run);
      throw error;
    }
    run.beginning = undefined;
    return run;
  }

  /** Like `begin`, but the run is recorded by the first transaction of a turn: see `OpenRun.beginning`. */
  async beginLater(head: RunHead, planned: Iterable<PlannedRow>): Promise<OpenRun> {
    const { run, lock } = await this.#newRun();
    const rows = Array.from(planned, rowFor);
    const beginning = (moment: Moment) => beginningOf(run, head, rows, moment);
    return { ...head, run, began: 0, rows, isResumed: false, lock, beginning };
  }

  /** Returns an id that no run has, and its lock. */
  async #newRun(): Promise<Pick<OpenRun, 'run' | 'lock'>> {
    const [at, random] = [this.#options.now(), this.#options.random()];
    for (let attempt = 0; attempt < 7; attempt += 1) {
      const run = runIdAt(at, random, attempt);
      const lock = await this.store.lockRun(run, true);
      if (lock !== undefined) return { run, lock };
    }
    throw new ConflictError('No id was free for the run. Nothing was written');
  }

  /**
   * Takes over a run that no process writes. Its rows that were sent become unknown.
   * @param run a whole id
   * @param by who writes it from now on
   * @throws ConflictError if a process is writing the run; NotFoundError if there is no such run
   */
  async resume(run: string, by: Pick<RunHead, 'user' | 'host' | 'pid'>): Promise<OpenRun> {
    const lock = await this.store.lockRun(run);
    if (lock === undefined) throw new ConflictError(`Run ${run} is being written by ${await this.writerOf(run)}`);
    try {
      const { head, began, rows } = await this.#load(run);
      for (const row of rows) if (row.result === 'sent') row.result = 'unknown';
      const update = statement('UPDATE runs SET host = ?, pid = ? WHERE run = ?', by.host, by.pid, run);
      await this.store.transact([], () => ({ writes: [update], result: undefined }));
      return { ...head, ...by, run, began, rows, isResumed: true, lock, beginning: undefined };
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /**
   * Takes the lock of a run again that was lost with a connection. Another process may have resumed the run meanwhile:
   * what it has recorded counts. A database that was replaced by its standby may lack outcomes: they are recorded again.
   * @throws ConflictError if another process is writing the run
   */
  async retake(run: OpenRun): Promise<void> {
    const lock = await this.store.lockRun(run.run);
    if (lock === undefined) throw new ConflictError(`Run ${run.run} was resumed by another process`);
    run.lock = lock;
    if (run.beginning !== undefined) return;
    const { rows } = await this.#load(run.run);
    const stored = new Map(rows.map((row) => [row.row, row]));
    const lost: Row[] = [];
    for (const row of run.rows) {
      const { intent, result, ...found } = stored.get(row.row) ?? row;
      if (!isOpen(row) && isOpen({ result })) lost.push(row);
      // An intent that was recorded although its transaction seemed to fail was never sent.
      const isOurs = (intent ?? 0) <= (row.intent ?? 0);
      if (!isOpen({ result }) || !isOurs)
        Object.assign(row, found, { intent, result: result === 'sent' ? 'unknown' : result });
    }
    if (lost.length === 0) return;
    await this.store.transact(
      [],
      (_answers, moment) => ({ writes: settle(run, lost, moment), result: undefined }),
      true,
    );
  }

  /**
   * Ends the work of this process on a run: releases its lock, and what that leaves behind once no row is open. Call
   * this when the outcomes are recorded.
   */
  async end(run: OpenRun): Promise<void> {
    await run.lock.release();
    if (!run.rows.some(isOpen)) this.store.forgetRun(run.run);
  }

  /** Describes who has written to a service last, for the message of a command that waits. */
  async lastWriter(service: string): Promise<string> {
    const select = `SELECT runs.run, os_user, host, pid FROM rows JOIN runs ON runs.run = rows.run
      WHERE rows.service = ? AND result = 'sent' ORDER BY intent DESC LIMIT 1`;
    const [[last] = []] = (await this.store.ask([statement(select, service)])).answers;
    return last === undefined ? 'another command' : `run ${last.run} (${writerText(last)})`;
  }

  /** Describes who has begun or resumed a run last, like `kim, pid 4711 on till1`. */
  async writerOf(run: string): Promise<string> {
    const select = statement('SELECT os_user, host, pid FROM runs WHERE run = ?', run);
    const [[found] = []] = (await this.store.ask([select])).answers;
    return found === undefined ? 'another process' : writerText(found);
  }

  /**
   * Closes a run that will not be resumed. Rows that were not sent become failed; rows of unknown outcome stay unknown.
   * @param run a whole id
   * @throws ConflictError if a process is writing the run; NotFoundError if there is no such run
   */
  async discard(run: string, by: Pick<RunHead, 'user' | 'host' | 'pid'>): Promise<RunRecord> {
    const open = await this.resume(run, by);
    try {
      const unsent = open.rows.filter(({ result }) => result === 'pending');
      for (const row of unsent) Object.assign(row, { result: 'failed', error: discardedError });
      await this.store.transact([], (_answers, moment) => ({
        writes: [...settle(open, unsent, moment), statement('UPDATE runs SET discarded = 1 WHERE run = ?', run)],
        result: undefined,
      }));
    } finally {
      await open.lock.release();
    }
    this.store.forgetRun(run);
    return this.run(run);
  }

  /**
   * Returns which of the wanted runs may be removed: see `removableRuns`.
   * @param all all runs of the history, the newest first
   */
  async removable(all: readonly RunRecord[], wanted: ReadonlySet<string>): Promise<string[]> {
    const select = statement('SELECT run, max(intent) AS last FROM rows GROUP BY run');
    const { answers } = await this.store.ask([select]);
    const last = new Map(answers[0]?.map((answer) => [String(answer.run), number(answer.last) ?? 0]));
    return removableRuns(
      all.map((run): PrunableRun => ({ ...run, lastIntent: last.get(run.run) ?? 0 })),
      wanted,
    );
  }

  /**
   * Removes runs, and gives their space back to the system. A run stays if a process is writing it.
   * @param runs what `removable` has returned
   * @returns how many were removed
   */
  async remove(runs: readonly string[]): Promise<number> {
    const openAmong = "SELECT DISTINCT run FROM rows WHERE run IN ?* AND result IN ('pending', 'sent', 'unknown')";
    const locks = new Map<string, Lock | undefined>();
    try {
      for (const { run } of runs.length === 0 ? [] : (await this.store.ask(among(openAmong, runs))).answers.flat()) {
        locks.set(String(run), await this.store.lockRun(String(run)));
      }
      const removed = runs.filter((run) => !locks.has(run) || locks.get(run) !== undefined);
      const remember = `UPDATE services SET removed_intent = max_of.intent FROM (
        SELECT service, max(intent) AS intent FROM rows WHERE run IN ?* GROUP BY service) AS max_of
        WHERE services.service = max_of.service AND services.removed_intent < max_of.intent`;
      const writes = [
        ...among(remember, removed),
        ...among('DELETE FROM rows WHERE run IN ?*', removed),
        ...among('DELETE FROM runs WHERE run IN ?*', removed),
      ];
      await this.store.transact([], () => ({ writes, result: undefined }));
      await this.store.reclaim();
      return removed.length;
    } finally {
      for (const [run, lock] of locks) {
        await lock?.release();
        if (lock !== undefined) this.store.forgetRun(run);
      }
    }
  }

  /** Removes up to 20 finished or discarded runs that began before a time, the oldest first. */
  async removeOld(before: number): Promise<void> {
    const select = statement('SELECT run FROM runs WHERE at < ? ORDER BY number LIMIT 1', before);
    if ((await this.store.ask([select])).answers[0]?.length === 0) return;
    const all: RunRecord[] = [];
    for await (const run of this.runs()) all.push(run);
    const old = all.filter(({ at, state }) => state === 'done' && at < before).slice(-maxOld);
    await this.remove(await this.removable(all, new Set(old.map(({ run }) => run))));
  }

  async #load(run: string) {
    const { answers } = await this.store.ask([
      statement('SELECT * FROM runs WHERE run = ?', run),
      statement(`SELECT ${rowColumns} FROM rows WHERE run = ? ORDER BY row`, run),
    ]);
    const [[head] = [], rows = []] = answers;
    if (head === undefined) throw noSuchRun(run);
    return { head: headOf(head), began: Number(head.began), rows: rows.map(rowOf) };
  }
}

function writerText({ os_user: user, host, pid }: Answer): string {
  return `${user === null ? '' : `${user}, `}pid ${pid} on ${host}`;
}

const maxShownPets = 20;

/** Field by field: by spreading, each of many rows would get a shape of its own, which takes four times the memory. */
function rowFor({ row, line, petId, before, after, delta, basis, readsFirst, reason, ref, outcome }: PlannedRow): Row {
  return {
    row,
    line,
    petId,
    before,
    after,
    delta,
    basis,
    readsFirst,
    reason,
    ref,
    result: outcome?.result ?? 'pending',
    error: outcome?.error,
    intent: undefined,
    inFlightUntil: undefined,
    quantity: undefined,
  };
}

/** Yields the statements one by one, because those of many rows together take as much memory as the rows. */
function* beginningOf(run: string, head: RunHead, rows: readonly Row[], { now }: Moment): Generator<Statement> {
  const insert = `INSERT INTO runs (run, number, began, at, command, env, store, base_url, service, scope, os_user, host, pid, file,
      content_hash, reason, undoes, head_unchanged, head_skipped, head_not_edited, changes, units, pets)
    VALUES (?, (SELECT coalesce(max(number), 0) + 1 FROM runs), coalesce((SELECT last_intent FROM services WHERE service = ?), 0),
      ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
  const pets = JSON.stringify(rows.slice(0, maxShownPets).map(({ petId }) => String(petId)));
  yield statement(
    insert,
    ...[run, head.service, now, head.command, head.env, head.store ?? null, head.baseUrl, head.service, head.scope],
    ...[head.user ?? null, head.host, head.pid, head.file ?? null, head.contentHash ?? null],
    ...[head.reason ?? null, head.undoes ?? null, head.unchanged, head.skipped ?? 0, head.notEdited ?? 0],
    ...[rows.length, String(unitsOf(rows) ?? ''), pets],
  );
  let outcomes = 0;
  const tupleOf = ({ row, line, petId, before, after, delta, basis, reason, ref, result, error }: Row) => {
    if (result !== 'pending') outcomes += 1;
    return [
      ...[run, row, line, head.service, petId, before ?? null, after, delta ?? null, basis ?? null],
      ...[reason ?? null, ref ?? null, result, error === undefined ? null : JSON.stringify(error)],
      ...[result === 'pending' ? null : now, result === 'pending' ? null : outcomes],
    ];
  };
  const insertRows = `INSERT INTO rows (run, row, line, service, pet_id, before, after, delta, basis, reason, ref, result, error, at, outcome)
    VALUES ?* ON CONFLICT DO NOTHING`;
  const shape = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT last FROM outcomes) + ?)';
  for (let from = 0; from < rows.length; from += maxItems) {
    yield* forEach(insertRows, shape, rows.slice(from, from + maxItems).map(tupleOf));
  }
  if (outcomes > 0) yield statement('UPDATE outcomes SET last = last + ?', outcomes);
}

/** Returns how many units are to be changed; undefined if some row changes a stock that is not known. */
function unitsOf(rows: readonly Row[]): bigint | undefined {
  let units = 0n;
  for (const { before, after, delta } of rows) {
    const change = delta ?? (before === undefined ? undefined : after - before);
    if (change === undefined) return undefined;
    units += BigInt(Math.abs(change));
  }
  return units;
}

/** The properties that decide whether a run may be removed from the history. */
export interface PrunableRun extends Pick<RunRecord, 'run' | 'state' | 'undoes' | 'service' | 'began'> {
  /** The number of the last intent of its rows; 0 if none was sent. */
  readonly lastIntent: number;
}

/**
 * Returns which of the wanted runs may be removed, the newest first. Runs stay if they have sent something since the
 * start of the oldest run of their service that is open, resumable or being undone. The undo of a run that stays also
 * stays: without it, the run could be undone twice.
 * @param all all runs of the history, the newest first
 * @param wanted ids of runs; those that could be resumed are removed, too
 */
export function removableRuns(all: readonly PrunableRun[], wanted: ReadonlySet<string>): string[] {
  const isOpen = ({ run, state }: PrunableRun) => state === 'running' || (state === 'incomplete' && !wanted.has(run));
  const undone = new Set(all.filter(isOpen).flatMap(({ undoes }) => undoes ?? []));
  const floors = new Map<string, number>();
  for (const run of all) {
    if (!isOpen(run) && !undone.has(run.run)) continue;
    floors.set(run.service, Math.min(run.began, floors.get(run.service) ?? run.began));
  }
  const known = new Set(all.map(({ run }) => run));
  const gone = new Set<string>();
  // The oldest first: a run is older than its undo.
  for (const { run, undoes, ...each } of all.toReversed()) {
    if (!wanted.has(run) || isOpen({ ...each, run, undoes })) continue;
    if (each.lastIntent > (floors.get(each.service) ?? each.lastIntent)) continue;
    if (undoes === undefined || !known.has(undoes) || gone.has(undoes)) gone.add(run);
  }
  return all.filter(({ run }) => gone.has(run)).map(({ run }) => run);
}
