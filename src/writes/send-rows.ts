import type { Client } from '../api/client.ts';
import type { InventoryItem } from '../inventory/items.ts';
import type { Limits } from '../rate-limit/limits.ts';
import { type Permit, PermitExpiredError } from '../rate-limit/permits.ts';
import type { Clock } from '../shared/clock.ts';
import { FailureError, PetstockError, RateLimitedError } from '../shared/errors.ts';
import type { Row } from '../state/open-run.ts';
import { classifyFailure, rowErrorOf } from './classify-failure.ts';

export interface SendOptions {
  readonly client: Pick<Client, 'updateInventory'>;
  readonly limits: Pick<Limits, 'refresh'>;
  readonly clock: Clock;
  /** The time limit of a request, in milliseconds. */
  readonly timeout: number;
  /** The most requests at a time. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Whether to send no further row after one that did not succeed. */
  readonly failFast: boolean;
  /** The last moment to send, by the monotonic clock, so that a request is over by the time in its intent. */
  readonly sendBy: number;
  /** Whether the turn has ended, so that nothing more may be sent. */
  isOver(): boolean;
  readonly onItem?: ((item: InventoryItem) => void) | undefined;
}

export interface Sending {
  /** Resolves when no request is under way. */
  readonly done: Promise<Sent>;
  /** Sends nothing more. */
  stop(): void;
}

export interface Sent {
  /** Rows that were certainly not carried out: nothing has left, or the service has refused the request as a 401 or 429. */
  readonly unsent: ReadonlySet<Row>;
  /** Rows whose request has got no answer, or none about this pet. */
  readonly lost: ReadonlySet<Row>;
  /** The last failure that may pass, and its row. */
  readonly failure: { readonly error: unknown; readonly row: Row } | undefined;
  readonly failures: number;
  /** The first rejection, or answer with another quantity than requested. */
  readonly rejection: PetstockError | undefined;
  /** The last 429, if no other answer came since. */
  readonly refusal: PetstockError | undefined;
  /** Why nothing more can be sent. */
  readonly stoppedBy: unknown;
}

/** After this many failures in a row the others would fail, too. */
export const maxFailures = 16;

/** Sends the rows whose intents are recorded, and sets their results. */
export function sendRows(rows: readonly Row[], permits: Permit[], options: SendOptions): Sending {
  const sender = new Sender(permits, options);
  return { done: sender.sendAll(rows), stop: () => sender.stop() };
}

class Sender {
  readonly #permits: Permit[];
  readonly #options: SendOptions;
  readonly #unsent = new Set<Row>();
  readonly #lost = new Set<Row>();
  #isStopped = false;
  #failure: Sent['failure'];
  #failures = 0;
  #failuresInARow = 0;
  #rejection: PetstockError | undefined;
  #refusal: PetstockError | undefined;
  #stoppedBy: unknown;

  constructor(permits: Permit[], options: SendOptions) {
    this.#permits = permits;
    this.#options = options;
  }

  async sendAll(rows: readonly Row[]): Promise<Sent> {
    const queue = rows.values();
    const work = async () => {
      for (const row of queue) await this.#sendOrLeave(row);
    };
    await Promise.all(Array.from({ length: Math.min(this.#options.concurrency, rows.length) }, work));
    return {
      ...{ unsent: this.#unsent, lost: this.#lost, failure: this.#failure, failures: this.#failures },
      ...{ rejection: this.#rejection, refusal: this.#refusal, stoppedBy: this.#stoppedBy },
    };
  }

  stop(): void {
    this.#isStopped = true;
  }

  get #maySend(): boolean {
    const { sendBy, clock, isOver } = this.#options;
    return !this.#isStopped && !isOver() && clock.monotonic() < sendBy;
  }

  async #sendOrLeave(row: Row): Promise<void> {
    const permit = this.#maySend && !this.#options.signal.aborted ? this.#permits.shift() : undefined;
    if (permit === undefined) this.#unsent.add(row);
    else await this.#send(row, permit).catch((error) => this.#fail(row, error));
    if (this.#options.failFast && !this.#unsent.has(row) && row.result !== 'applied') this.stop();
  }

  async #send(row: Row, permit: Permit): Promise<void> {
    const { client, limits, timeout, onItem } = this.#options;
    const beginSend = () => {
      if (!this.#maySend) throw new PermitExpiredError();
      permit.beginSend();
    };
    await limits.refresh();
    const item = await client.updateInventory(row.petId, row.after, { permit: { ...permit, beginSend }, timeout });
    this.#failuresInARow = 0;
    this.#refusal = undefined;
    onItem?.(item);
    if (item.petId !== row.petId) {
      throw new FailureError(`The service returned pet ${item.petId}, not ${row.petId}`);
    }
    const { quantity } = item;
    if (quantity === row.after) return void Object.assign(row, { result: 'applied', quantity, error: undefined });
    const message = `the service set the stock to ${quantity}, not to ${row.after}`;
    Object.assign(row, { result: 'differs', quantity, error: { code: 'unexpected_quantity', message } });
    this.#rejection ??= new FailureError(`Pet ${row.petId}: ${message}`);
  }

  #fail(row: Row, error: unknown): void {
    if (error instanceof PermitExpiredError) return void this.#unsent.add(row);
    const { kind, stop, mayBeInFlight } = classifyFailure(error);
    row.error = rowErrorOf(error);
    if (kind === 'refused') {
      row.result = 'failed';
      if (error instanceof PetstockError) this.#rejection ??= error;
      return;
    }
    this.#refusal = error instanceof RateLimitedError ? error : undefined;
    if (this.#refusal === undefined) {
      this.#failuresInARow += 1;
      this.#failures += 1;
      this.#failure = { error, row };
    }
    if (stop) this.#stoppedBy ??= error;
    if (stop || this.#failuresInARow >= maxFailures) this.stop();
    if (kind === 'notSent') return void this.#unsent.add(row);
    row.result = 'unknown';
    if (!mayBeInFlight) row.inFlightUntil = undefined;
    if (!(error instanceof PetstockError) || error.status === undefined) this.#lost.add(row);
  }
}

/** Reports whether `work` ends within `ms`. */
export function isOverWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const deadline = clock.deadline(ms, () => resolve(false));
    void work.finally(() => {
      deadline.clear();
      resolve(true);
    });
  });
}
