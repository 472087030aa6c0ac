import { randomUUID } from 'node:crypto';
import type { Deadline } from '../../shared/clock.ts';
import { ConflictError, FailureError } from '../../shared/errors.ts';
import type { Grant, Intent, Outcome, PetWrite, RunLog } from '../history.ts';
import type { Mark, Place } from '../pets.ts';
import type { Answer } from './connection.ts';
import { holderIn, identityIn } from './holder.ts';
import { OutcomeBuffer, type Taken } from './outcome-buffer.ts';
import { writesAfter } from './pet-writes.ts';
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
  readonly #buffer = new OutcomeBuffer();
  #waitingSince = 0;
  #deadline: Deadline | undefined;
  /** What is being written now: one at a time, so that nothing is written twice. */
  #writing: Promise<unknown> = Promise.resolve();
  #isWritingSoon = false;
  readonly #onEnd: () => void;
  #hasEnded = false;
  /** Another process has the run now, and may have removed it; or the database has lost some of it. It is said once. */
  #isForsaken = false;
  /** The last intent that the database has confirmed, and the token of the call that wrote it. */
  #confirmed: { readonly row: number; readonly token: string } | undefined;

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
    if (this.#buffer.waiting === 0) this.#waitingSince = clock.monotonic();
    this.#buffer.add(outcomes);
    for (const { row } of outcomes) this.#outstanding.delete(row);
    this.#countOutstanding();
    const isOld = clock.monotonic() - this.#waitingSince >= longestWait;
    if (isOld || this.#buffer.waiting >= mostWaiting) this.#writeSoon();
    else this.#deadline ??= clock.deadline(longestWait, () => this.#writeSoon());
  }

  async writesSince(rows: readonly Pick<Intent, 'row' | 'petId'>[]): Promise<readonly (readonly PetWrite[])[]> {
    const { connection } = this.#shared;
    const own = await connection.read(
      `SELECT rows.row, rows.sequence, services.name FROM petstock.rows JOIN petstock.services ON services.id = rows.service
       WHERE rows.run = $1 AND rows.row = ANY ($2::integer[])`,
      this.#run.id,
      rows.map(({ row }) => row),
    );
    const sequences = new Map(own.map(({ row, sequence }) => [Number(row), Number(sequence)]));
    const positions = rows.map(({ row, petId }) => ({
      petId,
      sequence: sequences.get(row) ?? Number.MAX_SAFE_INTEGER,
    }));
    const service = String(own[0]?.name ?? '');
    return writesAfter(connection, { service, run: this.run }, positions);
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
    const taken = this.#buffer.take(connection.generation);
    // As late as it may be: from then on a request can't be on its way any more.
    const intents = rows.map(({ row, petId, expires, rebased }) => {
      return { row, pet: String(petId), expires: time.latest(expires), ...rebased };
    });
    const token = randomUUID();
    const sinceAt = since === undefined ? null : time.earliest(since.at);
    const owner = place instanceof PostgresPlace ? place.owner : null;
    const given = [JSON.stringify(intents), since?.sequence ?? null, sinceAt, owner, encoded(taken.outcomes)] as const;
    const confirmed = JSON.stringify(this.#confirmed ?? null);
    const answer = await presence.hold(
      () => connection.call('intend', presence.me, this.#run.id, token, confirmed, ...given),
      (returned) => grantsIn(returned).map(holderIn),
    );
    this.#requireHeld(answer);
    this.#written(taken, true);
    const grants = grantsIn(answer).map((grant) => this.#grantOf(grant));
    const granted = rows.filter((_row, index) => grants[index]?.kind === 'granted').map(({ row }) => row);
    this.#buffer.forget(new Set(granted));
    const last = granted.at(-1);
    if (last !== undefined) this.#confirmed = { row: last, token };
    return grants;
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
    if (this.#buffer.waiting === 0 || this.#hasEnded) return;
    this.#waitingSince = clock.monotonic();
    this.#deadline ??= clock.deadline(longestWait, () => this.#writeSoon());
  }

  async #write({ durable, ends }: { readonly durable: boolean; readonly ends: boolean }): Promise<void> {
    const { connection, presence } = this.#shared;
    do {
      const taken = this.#buffer.take(connection.generation);
      if (taken.outcomes.length === 0 && !durable) return;
      const given = [encoded(taken.outcomes), durable, ends, JSON.stringify(this.#confirmed ?? null)] as const;
      const answer = await connection.call('settle', this.#run.id, presence.id, ...given);
      if (!this.#isForsaken) this.#requireKept(answer);
      this.#written(taken, durable);
    } while (durable && this.#buffer.mustRepeat(connection.generation));
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#writing.then(work);
    this.#writing = turn.catch(() => {});
    return turn;
  }

  #written(taken: Taken, isDurable: boolean): void {
    this.#buffer.written(taken, isDurable, this.#shared.connection.generation);
    if (this.#buffer.waiting > 0) return;
    this.#deadline?.clear();
    this.#deadline = undefined;
  }

  #countOutstanding(): void {
    this.#shared.presence.setOutstanding(this, this.#outstanding.size);
  }

  #requireHeld(answer: Answer): void {
    this.#requireKept(answer);
    const { taken, identity } = answer;
    if (taken !== true) return;
    this.#isForsaken = true;
    const other = typeof identity === 'string' ? identityIn(identity) : undefined;
    const by = other === undefined ? 'another process' : `process ${other.pid} on ${other.host}`;
    throw new ConflictError(`Run ${this.run} was taken over by ${by}: this process sends nothing more`, {
      hint: `petstock history show ${this.run}`,
    });
  }

  /** That the database still has what it has confirmed. */
  #requireKept({ gone, lost }: Answer): void {
    const { shown } = this.#shared.connection;
    if (gone === true) {
      throw new FailureError(
        `Run ${this.run} is no longer in the shared state at ${shown}, which was removed or replaced: nothing more is sent, and the history lacks the run`,
      );
    }
    if (lost !== true) return;
    this.#isForsaken = true;
    throw new FailureError(
      `The shared state at ${shown} has lost what it had confirmed, as after a failover to a server that was behind: nothing more is sent, and the history lacks some of run ${this.run}`,
      { hint: 'petstock state info' },
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
