import { randomUUID } from 'node:crypto';
import type { Deadline } from '../../shared/clock.ts';
import { ConflictError, FailureError } from '../../shared/errors.ts';
import type { Grant, Intent, Outcome, RunLog } from '../history.ts';
import type { Mark, Place } from '../pets.ts';
import type { Answer } from './connection.ts';
import { holderIn, identityIn } from './holder.ts';
import { PostgresPlace } from './postgres-pets.ts';
import { busyIn, type Shared } from './shared.ts';

/** Outcomes wait for the next intent for so long, and no more than so many of them. */
const longestWait = 50;
const mostWaiting = 512;

/** A run in the tables. */
export interface BegunRun {
  /** Its number in the tables. */
  readonly id: string;
  readonly run: string;
}

export class PostgresRunLog implements RunLog {
  readonly #shared: Shared;
  readonly #run: BegunRun;
  readonly #outstanding = new Set<number>();
  #waiting: Outcome[] = [];
  #waitingSince = 0;
  #deadline: Deadline | undefined;
  /** What is being written now: one at a time, so that nothing is written twice. */
  #writing: Promise<unknown> = Promise.resolve();
  #isWritingSoon = false;
  readonly #onEnd: () => void;
  #hasEnded = false;
  /** Another process has the run now, and may have removed it. */
  #isTaken = false;

  /** @param onEnd called once, when this process has left the run */
  constructor(shared: Shared, run: BegunRun, onEnd: () => void) {
    this.#shared = shared;
    this.#run = run;
    this.#onEnd = onEnd;
  }

  get run(): string {
    return this.#run.run;
  }

  async intend(rows: readonly Intent[], since: Mark | undefined, place?: Place): Promise<readonly Grant[]> {
    const { presence } = this.#shared;
    if (this.#hasEnded) throw new FailureError(`Run ${this.run} has been ended`);
    if (presence.isStale) return rows.map(() => ({ kind: 'busy', run: this.run, until: undefined }));
    const grants = await this.#inTurn(() => this.#intend(rows, since, place));
    for (const [index, { row }] of rows.entries()) if (grants[index]?.kind === 'granted') this.#outstanding.add(row);
    this.#countOutstanding();
    return grants;
  }

  async settle(outcomes: readonly Outcome[]): Promise<void> {
    const { clock } = this.#shared;
    if (this.#waiting.length === 0) this.#waitingSince = clock.monotonic();
    this.#waiting.push(...outcomes);
    for (const { row } of outcomes) this.#outstanding.delete(row);
    this.#countOutstanding();
    const isOld = clock.monotonic() - this.#waitingSince >= longestWait;
    if (isOld || this.#waiting.length >= mostWaiting) this.#writeSoon();
    else this.#deadline ??= clock.deadline(longestWait, () => this.#writeSoon());
  }

  async flush(): Promise<void> {
    if (!this.#hasEnded) await this.#inTurn(() => this.#write({ durable: true, ends: false }));
  }

  async end(): Promise<void> {
    if (this.#hasEnded) return;
    try {
      await this.#inTurn(() => this.#write({ durable: true, ends: true }));
    } finally {
      this.#hasEnded = true;
      this.#deadline?.clear();
      this.#outstanding.clear();
      this.#countOutstanding();
      this.#onEnd();
    }
  }

  async #intend(rows: readonly Intent[], since: Mark | undefined, place: Place | undefined): Promise<Grant[]> {
    const { connection, presence } = this.#shared;
    await connection.align();
    const { time } = connection;
    const outcomes = [...this.#waiting];
    // As late as it may be: from then on a request can't be on its way any more.
    const intents = rows.map(({ row, petId, expires }) => ({ row, pet: String(petId), expires: time.latest(expires) }));
    const token = randomUUID();
    const sinceAt = since === undefined ? null : time.earliest(since.at);
    const owner = place instanceof PostgresPlace ? place.owner : null;
    const given = [JSON.stringify(intents), since?.sequence ?? null, sinceAt, owner, encoded(outcomes)] as const;
    const answer = await presence.hold(
      () => connection.call('intend', presence.me, this.#run.id, token, ...given),
      (returned) => grantsIn(returned).map(holderIn),
    );
    this.#requireHeld(answer);
    this.#written(outcomes);
    return grantsIn(answer).map((grant) => this.#grantOf(grant));
  }

  #grantOf(grant: Answer): Grant {
    if (grant.kind === 'granted') return { kind: 'granted' };
    if (grant.kind === 'busy') return { kind: 'busy', ...busyIn(this.#shared, grant) };
    return { kind: 'overtaken', run: String(grant.run), command: String(grant.command) };
  }

  /** What fails stays for the next `intend`, `flush` or `end`, which says so. */
  #writeSoon(): void {
    this.#deadline?.clear();
    this.#deadline = undefined;
    // One at a time: where the database is slow, each of them takes as long as it may.
    if (this.#hasEnded || this.#isWritingSoon) return;
    this.#isWritingSoon = true;
    this.#inTurn(() => this.#write({ durable: false, ends: false }))
      .then(() => this.#scheduleRest())
      .catch(() => {})
      .finally(() => {
        this.#isWritingSoon = false;
      });
  }

  /** What has come while others were written. */
  #scheduleRest(): void {
    const { clock } = this.#shared;
    if (this.#waiting.length === 0 || this.#hasEnded) return;
    this.#waitingSince = clock.monotonic();
    this.#deadline ??= clock.deadline(longestWait, () => this.#writeSoon());
  }

  async #write({ durable, ends }: { readonly durable: boolean; readonly ends: boolean }): Promise<void> {
    const { connection, presence } = this.#shared;
    const outcomes = [...this.#waiting];
    if (outcomes.length === 0 && !durable) return;
    const answer = await connection.call('settle', this.#run.id, presence.id, encoded(outcomes), durable, ends);
    if (answer.gone === true && !this.#isTaken) throw this.#goneError();
    this.#written(outcomes);
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#writing.then(work);
    this.#writing = turn.catch(() => {});
    return turn;
  }

  #written(outcomes: readonly Outcome[]): void {
    // More may have come while they were written.
    this.#waiting = this.#waiting.filter((outcome) => !outcomes.includes(outcome));
    if (this.#waiting.length > 0) return;
    this.#deadline?.clear();
    this.#deadline = undefined;
  }

  #countOutstanding(): void {
    this.#shared.presence.setOutstanding(this, this.#outstanding.size);
  }

  #requireHeld({ gone, taken, identity }: Answer): void {
    if (gone === true) throw this.#goneError();
    if (taken !== true) return;
    this.#isTaken = true;
    const other = typeof identity === 'string' ? identityIn(identity) : undefined;
    const by = other === undefined ? 'another process' : `process ${other.pid} on ${other.host}`;
    throw new ConflictError(`Run ${this.run} was taken over by ${by}: this process sends nothing more`, {
      hint: `petstock history show ${this.run}`,
    });
  }

  #goneError(): FailureError {
    const { shown } = this.#shared.connection;
    return new FailureError(
      `Run ${this.run} is no longer in the shared state at ${shown}, which was removed or replaced: nothing more is sent, and the history lacks the run`,
    );
  }
}

function grantsIn({ grants }: Answer): readonly Answer[] {
  return (grants ?? []) as readonly Answer[];
}

function encoded(outcomes: readonly Outcome[]): string {
  const plain = outcomes.map(({ row, petId, result, quantity, error }) => {
    return {
      row,
      pet: String(petId),
      result,
      quantity,
      error: error === undefined ? undefined : JSON.stringify(error),
    };
  });
  return JSON.stringify(plain);
}
