import type { Deadline } from '../shared/clock.ts';
import { ConflictError, FailureError } from '../shared/errors.ts';
import { hasForgotten } from './decide.ts';
import type { Grant, Intent, Outcome, PetWrite } from './history.ts';
import { type Intended, intending } from './intend-rows.ts';
import { OutcomeBuffer, type Taken } from './outcome-buffer.ts';
import { writesAfter } from './pet-writes.ts';
import type { Mark } from './pets.ts';
import type { Presence } from './processes-present.ts';
import { type BegunRun, outcomeLoads, settling } from './settle-rows.ts';
import {
  drawnBy,
  justWrites,
  type Moment,
  number,
  type Statement,
  type StoreContext,
  statement,
  text,
  uniqueName,
  type Work,
} from './store.ts';
import { Place } from './stored-pets.ts';

/** Outcomes wait for the next intent for so many milliseconds, or ten times as long as it takes to write them, and no more than so many of them. */
const leastWait = 50;
const mostWait = 1000;
const maxWaiting = 512;

/** How outcomes are written. */
interface Settling {
  readonly isDurable: boolean;
  /** Whether the process leaves the run. */
  readonly ends: boolean;
}

/** `lost`: the state lacks what it had confirmed. */
type SettledKind = 'settled' | 'gone' | 'lost';

/** The log of one run that this process writes. */
export class RunLog {
  readonly #context: StoreContext & { readonly presence: Presence };
  readonly #run: BegunRun;
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
  #confirmed: { readonly row: number; readonly token: string } | undefined;
  #highestSeen = 0;
  /** The connection by which it was last seen that the state has kept all that it had confirmed. */
  #checkedBy: number | undefined;

  /** @param onEnd called once, when this process has left the run */
  constructor(context: StoreContext & { readonly presence: Presence }, run: BegunRun, onEnd: () => void) {
    this.#context = context;
    this.#run = run;
    this.#onEnd = onEnd;
  }

  get run(): string {
    return this.#run.run;
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
    if (this.#hasEnded) throw new FailureError(`Run ${this.run} has been ended`);
    this.#requireInPlace();
    if (this.#context.presence.isStale) return rows.map(() => ({ kind: 'busy', run: this.run, until: undefined }));
    const grants = await this.#inTurn(() => this.#intend(rows, since, place));
    for (const [index, { row }] of rows.entries()) if (grants[index]?.kind === 'granted') this.#outstanding.add(row);
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
    const own = await store.ask(
      ...rows.map(({ row }) =>
        statement('SELECT sequence FROM petstock.rows WHERE run = ? AND row = ?', this.#run.id, row),
      ),
    );
    const positions = rows.map(({ petId }, index) => {
      return { petId, sequence: number(own[index]?.[0]?.sequence) ?? Number.MAX_SAFE_INTEGER };
    });
    return writesAfter(store, { service: this.#run.serviceName, run: this.run }, positions);
  }

  /**
   * Writes out what is buffered. Durable.
   * @throws FailureError where that fails, or the state was removed meanwhile: then the history lacks what was written
   */
  async flush(): Promise<void> {
    if (this.#hasEnded) return;
    await this.#inTurn(() => this.#write({ isDurable: true, ends: false }));
    this.#requireInPlace();
  }

  /** `flush`, and this process has left the run, even where that throws. May be called again. */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    try {
      await this.#inTurn(() => this.#write({ isDurable: true, ends: true }));
      this.#requireInPlace();
    } finally {
      this.#hasEnded = true;
      this.#deadline?.clear();
      this.#outstanding.clear();
      this.#countOutstanding();
      this.#onEnd();
    }
  }

  async #intend(rows: readonly Intent[], since: Mark | undefined, place: Place | undefined): Promise<readonly Grant[]> {
    const { store, presence } = this.#context;
    await store.align();
    const { time } = store;
    const taken = this.#buffer.take(store.generation);
    const given = {
      run: this.#run,
      // As late as it may be: from then on a request can't be on its way any more.
      intents: rows.map((row) => ({ ...row, expires: time.latest(row.expires) })),
      since: since && { sequence: since.sequence, at: time.earliest(since.at) },
      place: place instanceof Place ? place.owner : undefined,
      outcomes: taken.outcomes,
      token: uniqueName(),
      confirmed: this.#confirmed,
      highestSeen: this.#highestSeen,
    };
    const intended = await presence.hold('durable', this.#run.serviceName, (at) => intending(presence, at, given));
    // A state that was replaced while it was written has not kept it.
    this.#requireInPlace();
    const grants = this.#requireGranted(intended);
    this.#written(taken, true);
    const granted = rows.flatMap(({ row }, index) => (grants[index]?.kind === 'granted' ? [row] : []));
    this.#buffer.forget(new Set(granted));
    if (granted.length > 0 && place instanceof Place) place.handOver();
    this.#checkedBy = store.generation;
    const last = granted.at(-1);
    if (last !== undefined) this.#confirmed = { row: last, token: given.token };
    return grants.map((grant) => localGrant(grant, (until) => time.localLatest(until)));
  }

  /** Outcomes that could not be written stay for the next `intend`, `flush` or `end`, which reports it. */
  #writeSoon(): void {
    this.#deadline?.clear();
    this.#deadline = undefined;
    // One at a time: if the state is slow, each of them takes as long as it may.
    if (this.#hasEnded || this.#isWritingSoon) return;
    this.#isWritingSoon = true;
    this.#inTurn(() => this.#write({ isDurable: false, ends: false }))
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

  async #write(settling: Settling): Promise<void> {
    const { store } = this.#context;
    do {
      const taken = this.#buffer.take(store.generation);
      if (taken.outcomes.length === 0 && !settling.isDurable) return;
      const kind = settling.isDurable ? 'durable' : 'quick';
      if (settling.ends && taken.outcomes.length === 0 && this.#checkedBy === store.generation) {
        await store.transact(kind, undefined, justWrites([this.#leaving()]));
        return;
      }
      const result = await store.transact(kind, this.#run.serviceName, (at) =>
        this.#settling(at, taken.outcomes, settling),
      );
      if (!this.#isForsaken) this.#requireKept(result);
      this.#checkedBy = store.generation;
      this.#written(taken, settling.isDurable);
    } while (settling.isDurable && this.#buffer.mustRepeat(store.generation));
  }

  *#settling(at: Moment, outcomes: readonly Outcome[], { ends }: Settling): Work<SettledKind> {
    const { presence } = this.#context;
    const run = this.#run;
    const [[head] = [], [kept] = [], [meta] = [], ...loaded] = yield [
      statement('SELECT holder FROM petstock.runs WHERE id = ?', run.id),
      statement('SELECT token FROM petstock.rows WHERE run = ? AND row = ?', run.id, this.#confirmed?.row ?? 0),
      statement('SELECT last FROM petstock.sequence'),
      ...outcomeLoads(run, outcomes),
    ];
    if (head === undefined) return 'gone';
    const isOurs = text(head.holder) === presence.id;
    const isKept = this.#confirmed === undefined || text(kept?.token) === this.#confirmed.token;
    const isLost = isOurs && (!isKept || hasForgotten(number(meta?.last) ?? 0, this.#highestSeen, undefined));
    const settled = yield* settling(at, run, { outcomes, loaded, takenFrom: isOurs ? undefined : presence.id });
    if (drawnBy(at.writes) > 0) at.writes.push(settled.counts.update(run.id));
    if (ends) at.writes.push(this.#leaving());
    return isLost ? 'lost' : 'settled';
  }

  #leaving(): Statement {
    const { presence } = this.#context;
    return statement('UPDATE petstock.runs SET holder = NULL WHERE id = ? AND holder = ?', this.#run.id, presence.id);
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

  #written(taken: Taken, isDurable: boolean): void {
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
    throw new FailureError(
      `${store.name} was removed or replaced during run ${this.run}: nothing more is sent, and the history lacks the run`,
    );
  }

  #requireGranted(intended: Intended): readonly Grant[] {
    if (intended.kind === 'granted') {
      this.#highestSeen = Math.max(this.#highestSeen, intended.last);
      return intended.grants;
    }
    if (intended.kind === 'taken') {
      this.#isForsaken = true;
      const by = (intended.by && intended.living.nameOf(intended.by)) || 'another process';
      throw new ConflictError(`Run ${this.run} was taken over by ${by}: this process sends nothing more`, {
        hint: `petstock history show ${this.run}`,
      });
    }
    this.#requireKept(intended.kind);
    return [];
  }

  /** @throws FailureError if the state lacks what it had confirmed */
  #requireKept(kind: SettledKind): void {
    const { store } = this.#context;
    if (kind === 'gone') {
      throw new FailureError(
        `Run ${this.run} is no longer in the history. ${store.name} was removed or replaced: nothing more is sent, and the history lacks the run`,
      );
    }
    if (kind !== 'lost') return;
    this.#isForsaken = true;
    throw new FailureError(
      `${store.name} has lost what it had confirmed, as after a failover to a server that was behind, or a restored copy: nothing more is sent, and the history lacks some of run ${this.run}`,
      { hint: 'petstock state info' },
    );
  }
}

function localGrant(grant: Grant, local: (until: number) => number): Grant {
  return grant.kind === 'busy' && grant.until !== undefined ? { ...grant, until: local(grant.until) } : grant;
}
