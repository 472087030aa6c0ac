import { randomUUID } from 'node:crypto';
import type { Clock, Deadline } from '../../shared/clock.ts';
import type { Processes } from '../../shared/processes.ts';
import type { Presence, PresentProcess } from '../presence.ts';
import type { Answer, PostgresConnection } from './connection.ts';
import { type Holder, identityIn } from './holder.ts';

/** How often a lease is renewed, in milliseconds; how long it lasts is in the schema. */
const renewal = 5000;
/** The dead are kept for so long after the end of their lease: a process that was stopped may come back. */
const keptFor = 60_000;

export interface PresenceOptions {
  readonly clock: Clock;
  readonly processes: Processes;
  readonly command: string;
  readonly user?: string | undefined;
}

/** The table of those who write, on all machines. A process enters it with its first `hold`, under a name that no other has. */
export class PostgresPresence implements Presence {
  readonly id = randomUUID();
  readonly #connection: PostgresConnection;
  readonly #options: PresenceOptions;
  /** By the monotonic clock, as early as it may be. */
  #expires = Number.POSITIVE_INFINITY;
  #isPresent = false;
  #deadline: Deadline | undefined;
  #renewing: Promise<void> | undefined;
  #isClosed = false;
  /** Requests of this process that may leave, or are on their way. */
  readonly #outstanding = new Map<object, number>();

  constructor(connection: PostgresConnection, options: PresenceOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  get isCurrent(): boolean {
    return this.#options.clock.monotonic() < this.#expires;
  }

  /**
   * Whether nothing new may be held: the lease of this process was over, so what it holds may be another's by now, and some of
   * that has not had its outcome yet. Renewing the lease would let those requests leave.
   */
  get isStale(): boolean {
    return !this.isCurrent && this.#outstanding.size > 0;
  }

  /** @param count how many requests of a run may leave or are on their way */
  setOutstanding(run: object, count: number): void {
    if (count > 0) this.#outstanding.set(run, count);
    else this.#outstanding.delete(run);
  }

  /** What the functions of the schema are given of this process. */
  get me(): string {
    const { processes, command, user } = this.#options;
    return JSON.stringify({ id: this.id, identity: JSON.stringify(processes.self), user, command });
  }

  /**
   * Calls a function of the schema in which this process is present: whatever is the beginning of a write. Where its answer
   * names a process that is certainly gone, that one is taken out, and the function is called again.
   * @param inTheWay finds such a process in the answer
   */
  async hold(
    call: () => Promise<Answer>,
    inTheWay: (answer: Answer) => readonly (Holder | undefined)[] = () => [],
  ): Promise<Answer> {
    const { clock, processes } = this.#options;
    await this.#connection.align();
    for (;;) {
      if (!this.#isPresent) await this.#clearDead();
      const sentAt = clock.monotonic();
      const answer = await call();
      this.#noteLease(answer, sentAt);
      const gone = inTheWay(answer).filter((holder) => holder !== undefined && processes.isGone(holder.identity));
      if (gone.length === 0) return answer;
      for (const holder of gone) if (holder !== undefined) await this.#expire(holder.holder);
    }
  }

  /** Enters the table, for what is no function of the schema. */
  async enter(): Promise<void> {
    await this.hold(async () => {
      const [row] = await this.#connection.read(
        `SELECT jsonb_build_object('expires', petstock.be_present($1), 'now', petstock.now_ms()) AS answer`,
        this.me,
      );
      return row?.answer as Answer;
    });
  }

  async list(): Promise<readonly PresentProcess[]> {
    const rows = await this.#connection.read(
      'SELECT identity, command, os_user, since FROM petstock.presence WHERE expires > petstock.now_ms() ORDER BY since, id',
    );
    return rows
      .map(({ identity, command, os_user, since }) => ({
        process: identityIn(identity),
        command: String(command),
        since: Math.round(Number(since)),
        ...(typeof os_user === 'string' && { user: os_user }),
      }))
      .filter(({ process }) => !this.#options.processes.isGone(process));
  }

  /** @returns whether a run is going on. @param row `identity` of its holder, null where that has no lease */
  isRunning({ identity }: Answer): boolean {
    return typeof identity === 'string' && !this.#options.processes.isGone(identityIn(identity));
  }

  /** Best effort: without it the lease runs out. */
  async end(): Promise<void> {
    this.#isClosed = true;
    this.#deadline?.clear();
    await this.#renewing;
    if (!this.#isPresent) return;
    this.#isPresent = false;
    // What the command had to say matters more.
    await this.#connection.call('be_absent', this.id).catch(() => {});
  }

  /** @param sentAt when it was asked: the lease ends no earlier than its rest after that */
  #noteLease({ now, expires }: Answer, sentAt: number): void {
    if (typeof now !== 'number' || typeof expires !== 'number') return;
    this.#isPresent = true;
    this.#expires = sentAt + expires - now;
    this.#schedule();
  }

  async #expire(process: string): Promise<void> {
    await this.#connection.read(
      'UPDATE petstock.presence SET expires = least(expires, petstock.now_ms()) WHERE id = $1',
      process,
    );
  }

  async #clearDead(): Promise<void> {
    await this.#connection.read(
      `DELETE FROM petstock.presence WHERE id IN
         (SELECT id FROM petstock.presence WHERE expires + $1 < petstock.now_ms() FOR UPDATE SKIP LOCKED)`,
      keptFor,
    );
  }

  /** The next renewal by the clock. */
  #schedule(): void {
    if (this.#isClosed || this.#deadline !== undefined) return;
    this.#deadline = this.#options.clock.deadline(renewal, () => {
      this.#deadline?.clear();
      this.#renewing = this.#renewInTime().finally(() => {
        this.#deadline = undefined;
        this.#schedule();
      });
    });
  }

  /** Never after the end of the lease: what is held may be another's by then. */
  async #renewInTime(): Promise<void> {
    if (this.#isClosed || !this.isCurrent) return;
    const sentAt = this.#options.clock.monotonic();
    try {
      this.#noteLease(await this.#connection.callOnce('renew', this.id), sentAt);
    } catch {
      // The next transaction or the next round renews it, or it runs out.
    }
  }
}
