import type { Deadline } from '../../shared/clock.ts';
import { ConflictError, FailureError } from '../../shared/errors.ts';
import type { Grant, Intent, Outcome, PetWrite, RunLog } from '../history.ts';
import type { Mark, Place } from '../pets.ts';
import type { BegunRun } from './begin-run.ts';
import { intendRows } from './intend-rows.ts';
import type { Shared } from './leases.ts';
import { patiently } from './patiently.ts';
import { writesAfter } from './pet-writes.ts';
import { numbered } from './sequence.ts';
import { CountChanges, settleRows } from './settle-rows.ts';
import { SqlitePlace } from './sqlite-pets.ts';

/** Outcomes wait for the next intent for so long, and no more than so many of them. */
const longestWait = 50;
const mostWaiting = 512;

export class SqliteRunLog implements RunLog {
  readonly #shared: Shared;
  readonly #run: BegunRun;
  /** The process that is at the run, by its number: this one, as long as no other has taken over. */
  readonly #holder: number;
  readonly #outstanding = new Set<number>();
  #waiting: Outcome[] = [];
  #waitingSince = 0;
  #deadline: Deadline | undefined;
  readonly #onEnd: () => void;
  #hasEnded = false;

  /** @param onEnd called once, when this process has left the run */
  constructor(shared: Shared, run: BegunRun, holder: number, onEnd: () => void) {
    this.#shared = shared;
    this.#run = run;
    this.#holder = holder;
    this.#onEnd = onEnd;
  }

  get run(): string {
    return this.#run.run;
  }

  async intend(rows: readonly Intent[], since: Mark | undefined, place?: Place): Promise<readonly Grant[]> {
    return patiently(this.#shared, () => this.#intend(rows, since, place));
  }

  #intend(rows: readonly Intent[], since: Mark | undefined, place: Place | undefined): readonly Grant[] {
    const { connection, presence } = this.#shared;
    this.#requireInPlace();
    if (presence.isStale) return rows.map(() => ({ kind: 'busy', run: this.run, until: undefined }));
    const outcomes = this.#waiting;
    const grants = presence.hold('durable', (holder) => {
      this.#requireHeld();
      const counts = new CountChanges();
      return numbered(connection, (next) => {
        this.#writeOutcomes(outcomes, counts, next);
        const owner = place instanceof SqlitePlace ? place.owner : undefined;
        const intending = { run: this.#run, holder, since, place: owner };
        const granted = intendRows(this.#shared, rows, intending, counts, next);
        counts.write(this.#shared, this.#run.id);
        return granted;
      });
    });
    this.#written(outcomes);
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
    if (isOld || this.#waiting.length >= mostWaiting) this.#tryToWrite();
    else this.#deadline ??= clock.deadline(longestWait, () => this.#tryToWrite());
  }

  async writesSince(rows: readonly Pick<Intent, 'row' | 'petId'>[]): Promise<readonly (readonly PetWrite[])[]> {
    const { connection } = this.#shared;
    return rows.map(({ row, petId }) => {
      const own = connection.get(
        `SELECT rows.sequence, services.name FROM rows JOIN services ON services.id = rows.service
         WHERE rows.run = ? AND rows.row = ?`,
        this.#run.id,
        row,
      );
      if (own === undefined) return [];
      const position = { service: String(own.name), run: this.run, petId, sequence: Number(own.sequence) };
      return writesAfter(connection, position);
    });
  }

  async flush(): Promise<void> {
    await patiently(this.#shared, () => {
      if (!this.#hasEnded) this.#write('durable');
    });
    if (!this.#hasEnded) this.#requireInPlace();
  }

  async end(): Promise<void> {
    if (this.#hasEnded) return;
    const { connection } = this.#shared;
    try {
      const leave = () => {
        connection.run('UPDATE runs SET holder = NULL WHERE id = ? AND holder = ?', this.#run.id, this.#holder);
      };
      await patiently(this.#shared, () => this.#write('durable', leave));
      this.#requireInPlace();
    } finally {
      this.#hasEnded = true;
      this.#deadline?.clear();
      this.#outstanding.clear();
      this.#countOutstanding();
      this.#onEnd();
    }
  }

  /** What fails stays for the next `intend`, `flush` or `end`, which says so. */
  #tryToWrite(): void {
    try {
      if (!this.#hasEnded) this.#write('quick');
    } catch {
      // The caller that needs it reports it.
    }
  }

  #write(kind: 'quick' | 'durable', andThen: () => void = () => {}): void {
    const { connection } = this.#shared;
    const outcomes = this.#waiting;
    connection[kind](() => {
      const counts = new CountChanges();
      numbered(connection, (next) => this.#writeOutcomes(outcomes, counts, next));
      counts.write(this.#shared, this.#run.id);
      andThen();
    });
    this.#written(outcomes);
  }

  #writeOutcomes(outcomes: readonly Outcome[], counts: CountChanges, next: () => number): void {
    const isTakenOver = this.#holderNow() !== this.#holder;
    settleRows(this.#shared, { ...this.#run, isTakenOver }, outcomes, counts, next);
  }

  #written(outcomes: readonly Outcome[]): void {
    this.#waiting = this.#waiting.slice(outcomes.length);
    this.#deadline?.clear();
    this.#deadline = undefined;
  }

  #countOutstanding(): void {
    this.#shared.presence.setOutstanding(this, this.#outstanding.size);
  }

  #holderNow(): number | undefined {
    const row = this.#shared.connection.get('SELECT holder FROM runs WHERE id = ?', this.#run.id);
    return row?.holder === null ? undefined : (row?.holder as number | undefined);
  }

  #requireInPlace(): void {
    const { connection } = this.#shared;
    if (connection.isInPlace) return;
    throw new FailureError(
      `The state folder was removed or replaced during run ${this.run} (${connection.file}): nothing more is sent, and the history lacks the run`,
    );
  }

  #requireHeld(): void {
    if (this.#hasEnded) throw new FailureError(`Run ${this.run} has been ended`);
    const holder = this.#holderNow();
    if (holder === this.#holder) return;
    const other = holder === undefined ? undefined : this.#shared.presence.identityOf(holder);
    const by = other === undefined ? 'another process' : `process ${other.pid} on ${other.host}`;
    throw new ConflictError(`Run ${this.run} was taken over by ${by}: this process sends nothing more`, {
      hint: `petstock history show ${this.run}`,
    });
  }
}
