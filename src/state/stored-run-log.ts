import type { Deadline } from '../shared/clock.ts';
import { ConflictError, FailureError } from '../shared/errors.ts';
import { beginning, type NewRun } from './begin-run.ts';
import type { Mark } from './decide.ts';
import type { Grant, Intent, Outcome, PetWrite } from './history.ts';
import { type Writing, type Written, writing, writingLoads } from './intend-rows.ts';
import { OutcomeBuffer, type Taken } from './outcome-buffer.ts';
import { writesAfter } from './pet-writes.ts';
import type { Presence } from './processes-present.ts';
import type { BegunRun } from './settle-rows.ts';
import { type Durability, type Moment, number, type StoreContext, statement, uniqueName, type Work } from './store.ts';
import type { Place } from './stored-pets.ts';

/** Outcomes wait for the next intent for so many milliseconds, or ten times as long as it takes to write them, and no more than so many of them. */
const leastWait = 50;
const mostWait = 1000;
const maxWaiting = 512;

/** What is written with the outcomes. */
interface Rest extends Partial<Pick<Writing, 'intents' | 'since' | 'place'>> {
  /** Whether the process leaves the run. */
  readonly leaves?: boolean;
}

/** The log of one run that this process writes. */
export class RunLog {
  readonly #context: StoreContext & { readonly presence: Presence };
  /** A new run is written with the first of its rows. */
  #run: BegunRun | NewRun;
  readonly #outstanding = new Set<number>();
  readonly #buffer = new OutcomeBuffer();
  #maxWait = leastWait;
  #deadline: Deadline | undefined;
  /** The last write: one at a time, so that nothing is written twice. */
  #writing: Promise<unknown> = Promise.resolve();
  #isWritingSoon = false;
  readonly #onEnd: () => void;
  #hasEnded = false;
  /** Another process has the run now, and may have removed it; or the state has lost some of it. It is reported once. */
  #isForsaken = false;
  /** The last intent that the state has confirmed, and the token of the call that wrote it. */
  #confirmed: Writing['confirmed'];
  #highestSeen = 0;

  /** @param onEnd called once, when this process has left the run */
  constructor(context: StoreContext & { readonly presence: Presence }, run: BegunRun | NewRun, onEnd: () => void) {
    this.#context = context;
    this.#run = run;
    this.#onEnd = onEnd;
    this.#countOutstanding();
  }

  /** Whether the run is in the history. */
  get hasBegun(): boolean {
    return 'id' in this.#run;
  }

  get run(): string {
    return this.#begun.run;
  }

  get #begun(): BegunRun {
    if ('id' in this.#run) return this.#run;
    throw new Error('the run has not begun');
  }

  /** Writes a new run and its rows. Durable. @throws as `History.begin` */
  async begin(): Promise<void> {
    await this.#inTurn(() => this.#write('durable', {}, this.#buffer.take(this.#context.store.generation)));
  }

  /**
   * Takes the leases of rows and writes their intents, in one durable transaction, right before their requests leave. Rows
   * that are not granted are left as they were.
   *
   * @param since the mark before the stock that the rows rely on; undefined: they rely on none
   * @param place where a row's pet was entered before: its lease goes over to the run
   * @returns for each row, in the same order, whether it may be sent
   *   After this process was stopped for longer than its lease, all rows are `busy` by its own run until what it sent before has
   *   been settled; so is a row of a resumed run until the request of the process before can't be on its way any more.
   * @throws FailureError where the state is gone or can't be written, ConflictError where another process has taken the run
   *   over: then nothing may be sent
   */
  async intend(rows: readonly Intent[], since: Mark | undefined, place?: Place): Promise<readonly Grant[]> {
    const { store, presence } = this.#context;
    if (this.#hasEnded) throw new FailureError(`Run ${this.run} has been ended`);
    this.#requireInPlace();
    const run = this.hasBegun ? this.run : undefined;
    if (presence.isStale) return rows.map(() => ({ kind: 'busy', run, until: undefined }));
    const rest = { intents: rows, since, place: place?.owner };
    const grants = await this.#inTurn(() => this.#write('durable', rest, this.#buffer.take(store.generation)));
    const granted = rows.flatMap(({ row }, index) => (grants[index]?.kind === 'granted' ? [row] : []));
    if (granted.length > 0) place?.handOver();
    for (const row of granted) this.#outstanding.add(row);
    this.#countOutstanding();
    return grants;
  }

  /**
   * Notes the outcomes of rows, and gives their leases back, except for `unknown`, which keeps the pet busy until its request can't be on
   * its way any more. Buffered: written with the next `intend`, after a moment, or by `end`, whichever is first.
   */
  async settle(outcomes: readonly Outcome[]): Promise<void> {
    this.#buffer.add(outcomes);
    for (const { row } of outcomes) this.#outstanding.delete(row);
    this.#countOutstanding();
    if (this.#buffer.waiting >= maxWaiting) this.#writeSoon();
    else this.#writeInTime();
  }

  /**
   * Returns what other runs have written, or may have written, of the pets of rows since their intents, as `History.writesAfter` has it, for
   * each row: a process that was stopped for longer than its lease has others before it when it goes on.
   */
  async writesSince(rows: readonly Pick<Intent, 'row' | 'petId'>[]): Promise<readonly (readonly PetWrite[])[]> {
    const { store } = this.#context;
    const { id, run, serviceName } = this.#begun;
    const sql = 'SELECT sequence FROM petstock.rows WHERE run = ? AND row = ?';
    const own = await store.ask(...rows.map(({ row }) => statement(sql, id, row)));
    const positions = rows.map(({ petId }, index) => {
      return { petId, sequence: number(own[index]?.[0]?.sequence) ?? Number.MAX_SAFE_INTEGER };
    });
    return writesAfter(store, { service: serviceName, run }, positions);
  }

  /**
   * Writes out what is buffered. Durable.
   * @throws FailureError where that fails, or the state was removed meanwhile: then the history lacks what was written
   */
  async flush(): Promise<void> {
    if (!this.#hasEnded && this.hasBegun) await this.#inTurn(() => this.#writeOut({}));
  }

  /** `flush`, and this process has left the run, even where that throws. May be called again. */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    try {
      if (this.hasBegun) await this.#inTurn(() => this.#writeOut({ leaves: true }));
    } finally {
      this.#hasEnded = true;
      this.#deadline?.clear();
      this.#context.presence.release(this);
      this.#onEnd();
    }
  }

  /** Writes outcomes until no connection has to write again what another one has written. */
  async #writeOut(rest: Rest): Promise<void> {
    const { store } = this.#context;
    do await this.#write('durable', rest, this.#buffer.take(store.generation));
    while (this.#buffer.mustRepeat(store.generation));
  }

  /** Outcomes that could not be written stay for the next `intend`, `flush` or `end`, which reports it. */
  #writeSoon(): void {
    this.#deadline?.clear();
    this.#deadline = undefined;
    // One at a time: if the state is slow, each of them takes as long as it may.
    if (this.#hasEnded || this.#isWritingSoon || !this.hasBegun) return;
    this.#isWritingSoon = true;
    this.#inTurn(async () => {
      const taken = this.#buffer.take(this.#context.store.generation);
      if (taken.outcomes.length > 0) await this.#write('quick', {}, taken);
    })
      .then(() => {
        if (this.#buffer.waiting > 0 && !this.#hasEnded) this.#writeInTime();
      })
      .catch(() => {})
      .finally(() => {
        this.#isWritingSoon = false;
      });
  }

  #writeInTime(): void {
    this.#deadline ??= this.#context.clock.deadline(this.#maxWait, () => this.#writeSoon());
  }

  /** One transaction of this log. A new run begins in it. */
  async #write(kind: Durability, { leaves = false, ...rest }: Rest, taken: Taken): Promise<readonly Grant[]> {
    const { store, presence } = this.#context;
    const { intents = [], since } = rest;
    const token = uniqueName();
    const work = (at: Moment) => {
      const given: Writing = {
        // As late as it may be: from then on a request can't be on its way any more.
        intents: intents.map((intent) => ({ ...intent, expires: store.time.latest(intent.expires) })),
        since: since && { sequence: since.sequence, at: store.time.earliest(since.at) },
        place: rest.place,
        outcomes: taken.outcomes,
        token,
        confirmed: this.#confirmed,
        highestSeen: this.#highestSeen,
      };
      return this.#working(at, given, leaves);
    };
    const service = 'id' in this.#run ? this.#run.serviceName : this.#run.head.service;
    // Whoever begins something has to be present; what was begun may come to its end without that.
    const begins = intents.length > 0 || !this.hasBegun;
    const { run, written } = await (begins ? presence.hold(kind, service, work) : store.transact(kind, service, work));
    this.#run = run;
    // A state that was replaced while it was written has not kept it.
    if (kind === 'durable') this.#requireInPlace();
    const grants = this.#requireWritten(written, intents.length > 0);
    const granted = new Set(intents.flatMap(({ row }, index) => (grants[index]?.kind === 'granted' ? [row] : [])));
    this.#noteWritten(taken, kind === 'durable');
    this.#buffer.forget(granted);
    const last = [...granted].at(-1);
    if (last !== undefined) this.#confirmed = { row: last, token };
    return grants.map((grant) => {
      return grant.kind !== 'busy' || grant.until === undefined
        ? grant
        : { ...grant, until: store.time.localLatest(grant.until) };
    });
  }

  *#working(at: Moment, given: Writing, leaves: boolean): Work<{ readonly run: BegunRun; readonly written: Written }> {
    const { presence } = this.#context;
    const known = this.#run;
    const { run, loaded } =
      'id' in known
        ? { run: known, loaded: yield writingLoads(known, given) }
        : yield* beginning(at, known, writingLoads({ token: known.token, serviceName: known.head.service }, given));
    const written = yield* writing(presence, at, run, given, loaded);
    if (leaves) {
      at.writes.push(
        statement('UPDATE petstock.runs SET holder = NULL WHERE id = ? AND holder = ?', run.id, presence.id),
        ...presence.leaving(at, this),
      );
    }
    return { run, written };
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const { clock } = this.#context;
    const turn = this.#writing.then(async () => {
      const began = clock.monotonic();
      try {
        return await work();
      } finally {
        this.#maxWait = Math.min(Math.max(leastWait, 10 * (clock.monotonic() - began)), mostWait);
      }
    });
    this.#writing = turn.catch(() => {});
    return turn;
  }

  #noteWritten(taken: Taken, isDurable: boolean): void {
    this.#buffer.written(taken, isDurable, this.#context.store.generation);
    if (this.#buffer.waiting > 0) return;
    this.#deadline?.clear();
    this.#deadline = undefined;
  }

  #countOutstanding(): void {
    this.#context.presence.setOutstanding(this, this.#outstanding.size);
  }

  #requireInPlace(): void {
    const { store } = this.#context;
    if (store.isInPlace) return;
    const run = this.hasBegun ? `run ${this.run}` : 'the run';
    throw new FailureError(
      `${store.name} was removed or replaced during ${run}: nothing more is sent, and the history lacks the run`,
    );
  }

  /** @throws ConflictError if another process has the run, FailureError if the state lacks what it had confirmed. What was reported is not again. */
  #requireWritten(written: Written, sends: boolean): readonly Grant[] {
    const { store } = this.#context;
    if (written.kind === 'written') {
      this.#highestSeen = Math.max(this.#highestSeen, written.last);
      return written.grants;
    }
    if (written.kind === 'taken') {
      this.#isForsaken = true;
      const by = (written.by && written.living.nameOf(written.by)) || 'another process';
      throw new ConflictError(`Run ${this.run} was taken over by ${by}: this process sends nothing more`, {
        hint: `petstock history show ${this.run}`,
      });
    }
    if (this.#isForsaken && !sends) return [];
    if (written.kind === 'gone') {
      throw new FailureError(
        `Run ${this.run} is no longer in the history. ${store.name} was removed or replaced: nothing more is sent, and the history lacks the run`,
      );
    }
    this.#isForsaken = true;
    throw new FailureError(
      `${store.name} has lost what it had confirmed, as after a failover to a server that was behind, or a restored copy: nothing more is sent, and the history lacks some of run ${this.run}`,
      { hint: 'petstock state info' },
    );
  }
}
