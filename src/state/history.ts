import type { RowError } from '../inventory/change.ts';
import type { PlannedRow, RunHead, RunRecord } from '../inventory/run-records.ts';
import type { NewRun } from './begin-run.ts';
import type { KnownRows } from './intents-and-outcomes.ts';
import { removeNotes } from './leaving-notes.ts';
import { onCurrentState, recover, refuseRepetition, standingOf } from './older-copy.ts';
import { RecordedRuns } from './recorded-runs.ts';
import { removeRun } from './remove-run.ts';
import { returnUnsent } from './return-unsent.ts';
import { stillRunning } from './run-errors.ts';
import type { RunLog } from './run-log.ts';
import type { RunKey } from './settle-rows.ts';
import { uniqueName, writeOnly } from './state-database.ts';
import type { RunContent } from './state-notes.ts';
import { statement } from './statements.ts';
import { takeRun, waitForProcess } from './take-over.ts';

const discardedError: RowError = { code: 'discarded', message: 'not sent: the run was discarded' };
/** Maximum number of old runs that one command removes when it ends. */
const maxOld = 20;

/**
 * The history of writes: begins, resumes, discards and removes runs.
 *
 * All methods throw UnavailableError if the state can't be reached or is locked for too long, and FailureError if it
 * can't be used.
 */
export class History extends RecordedRuns {
  readonly #open = new Set<RunLog>();
  #hasEnded = false;

  /**
   * Begins a run. When this resolves, the run and its rows are durable, and nothing has been sent.
   * @param rows the rows in the order of the plan; they are iterated again if the transaction has to be repeated
   * @param requireNotDuplicate throws if the run may not begin; returns the newest known run of the same content. It is
   * called again if another such run has begun since
   * @throws RepetitionError if the state was replaced and the content may already have been written
   */
  async begin(
    head: RunHead,
    rows: Iterable<PlannedRow>,
    requireNotDuplicate?: () => Promise<string | undefined>,
  ): Promise<RunLog> {
    for (;;) {
      const log = await this.beginLater(head, rows, requireNotDuplicate && { run: await requireNotDuplicate() });
      try {
        await log.begin();
        return log;
      } catch (error) {
        await log.end().catch(() => {});
        const { DuplicateRunError } = await import('./begin-run.ts');
        if (!(error instanceof DuplicateRunError)) throw error;
      }
    }
  }

  /**
   * Like `begin`, but the run is written together with its first intents.
   * @param follows see `NewRun`
   */
  beginLater(
    head: RunHead,
    rows: Iterable<PlannedRow>,
    follows?: { readonly run: string | undefined },
  ): Promise<RunLog> {
    const { presence, random } = this.context;
    const key = { token: uniqueName(), serviceName: head.serviceName };
    const { host } = presence.processes.self;
    return this.#log(key, { head, rows, host, holder: presence.id, random: random(), follows });
  }

  /**
   * Takes over a run whose process is gone. If that process may belong to another boot or to a container, waits until
   * its lease has ended.
   * @param run a whole id
   * @throws ConflictError if a process is writing the run, or if it was discarded; NotFoundError if there is no such
   * run
   */
  async resume(run: string): Promise<RunLog> {
    const { presence } = this.context;
    if ([...this.#open].some((log) => log.hasBegun && log.run === run)) throw stillRunning(run, 'this process');
    const { serviceName } = await this.run(run);
    // This process stays present until the log exists, even if another log ends meanwhile.
    const taking: ReadonlySet<never> = new Set();
    presence.retain(taking);
    try {
      for (let expected: number | undefined; ; ) {
        const taken = await onCurrentState(this.context, () =>
          presence.hold('durable', serviceName, (at) => takeRun(this.context, at, run)),
        );
        if ('token' in taken) {
          await returnUnsent(this.context, { token: taken.token, serviceName });
          return await this.#log({ token: taken.token, serviceName }, run);
        }
        const { by, ends } = taken;
        // The process is alive: it can't be of an earlier boot or a container, or its lease was renewed meanwhile.
        if (ends === undefined || ends > (expected ?? ends)) throw stillRunning(run, by);
        await waitForProcess(this.context, run, { ends, isReported: expected !== undefined });
        expected = ends;
      }
    } finally {
      presence.release(taking);
    }
  }

  /**
   * Closes a run that will not be resumed. Rows that were not sent become failed; rows of unknown outcome stay unknown.
   * @param run a whole id
   * @throws ConflictError if a process is writing the run, or if it was discarded before; NotFoundError if there is no
   * such run
   */
  async discard(run: string): Promise<RunRecord> {
    const { serviceName } = await this.run(run);
    const log = await this.resume(run);
    try {
      for await (const rows of this.pages(run, ['pending'])) {
        log.settle(rows.map(({ row, petId }) => ({ row, petId, result: 'failed', error: discardedError })));
      }
      await log.flush();
      const close = statement('UPDATE petstock.runs SET discarded = ? WHERE run = ?', 1, run);
      await writeOnly(this.context.database, serviceName, () => [close]);
    } finally {
      await log.end();
    }
    return this.run(run);
  }

  /** Writes what a process knows about its run into this state, which has replaced the state that the process used. */
  recover(run: RunKey, known: KnownRows): Promise<void> {
    return recover(this.context, run, known);
  }

  /** Reports whether a run of the same content may have begun in an earlier state that this one has replaced. */
  async mayHaveBegun(content: RunContent): Promise<boolean> {
    const known = this.context.notes.stateOf(content);
    if (known === undefined) return false;
    const { state, isOld } = await standingOf(this.context);
    const { serviceName, contentHash = '' } = content;
    return (isOld || known !== state) && (await this.runsOfFile(serviceName, contentHash)).length === 0;
  }

  /**
   * Makes the same check as `begin`, for a dry run. Unlike `begin`, it refuses again when the command is repeated.
   * @throws RepetitionError if the content may already have been written
   */
  async requireNotRepeated(content: RunContent): Promise<void> {
    const { isOld } = await standingOf(this.context);
    if (isOld || (await this.mayHaveBegun(content))) refuseRepetition(this.context, content);
  }

  /**
   * Removes runs and frees their space. Runs stay if a process is writing them or another run relies on them (see
   * `removableRuns`). Runs that could be resumed are removed, too.
   * @param runs the oldest first
   * @returns how many were removed
   */
  async remove(runs: readonly Pick<RunRecord, 'run' | 'serviceName'>[], how = { isBrief: false }): Promise<number> {
    const { database, folder, presence } = this.context;
    const wanted = new Set(runs.map(({ run }) => run));
    let removed = 0;
    for (const { run, serviceName } of runs) {
      const token = await database.transact('visible', serviceName, (at) => removeRun(presence, at, run, wanted));
      if (token === undefined) continue;
      removeNotes({ folder, token, boot: '' });
      removed += 1;
    }
    if (removed > 0) await database.reclaim(how);
    return removed;
  }

  /**
   * Removes up to 20 finished or discarded runs that began at least `age` milliseconds ago, the oldest first. Does
   * nothing unless this process has ended the log of a run.
   */
  async removeOld(age: number): Promise<void> {
    if (!this.#hasEnded) return;
    const condition = `(pending + unknown = 0 OR discarded IS NOT NULL) AND at < ? ORDER BY sequence LIMIT ${maxOld}`;
    const runs = await this.runsWhere(condition, this.context.database.moment.wall - age);
    await this.remove(runs, { isBrief: true });
  }

  /** Flushes the logs of this process, without ending them. */
  async flush(): Promise<void> {
    for (const log of this.#open) await log.flush();
  }

  async #log(key: RunKey, run: NewRun | string): Promise<RunLog> {
    // Loaded late, because commands that only read don't need it.
    const { RunLog } = await import('./run-log.ts');
    const log: RunLog = new RunLog(this.context, key, run, () => {
      this.#open.delete(log);
      this.#hasEnded = true;
    });
    this.#open.add(log);
    return log;
  }
}
