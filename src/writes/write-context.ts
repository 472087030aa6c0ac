import type { Client } from '../api/client.ts';
import type { InventoryItem } from '../inventory/item-fields.ts';
import type { Limits } from '../rate-limit/limits.ts';
import type { Clock, TimeBudget } from '../shared/clock.ts';
import type { PetstockError } from '../shared/errors.ts';
import type { History } from '../state/history.ts';
import type { Row } from '../state/open-run.ts';
import type { Store } from '../state/state-store.ts';
import type { Stock } from './stock.ts';

/** What writes need of their surroundings: one service, its state, and its limits. */
export interface WriteContext {
  readonly state: Store;
  readonly history: History;
  readonly limits: Limits;
  readonly client: Pick<Client, 'scanInventory' | 'updateInventory'>;
  readonly clock: Clock;
  readonly interrupted: AbortSignal;
  readonly suspension: Suspension;
  /** The time limit of a request, in milliseconds. */
  readonly timeout: number;
  /** How often a row may be sent again, or a failed read be repeated. */
  readonly retries: number;
  /** The longest wait for a turn, in milliseconds, and after how long it is told. */
  readonly turnWait: { readonly most: number; readonly silent: number };
  /** Whether the service may have replicas that are behind. */
  readonly mayLag: boolean;
  random(): number;
  /** Tells why the command waits. `attempt`: how often it has tried in vain. */
  onDelay(sentence: string, attempt?: number): unknown;
  /** Tells which command's request or turn this one waits for. `ms`: how long it will wait, if that is known. */
  onWaitForOthers(sentence: string, ms?: number): unknown;
}

/** What is to be done before the process is stopped, as by Ctrl-Z. */
export interface Suspension {
  /** @returns a function that takes `release` out again */
  add(release: () => Promise<void>): () => void;
}

export interface ExecuteOptions {
  /** The stock that the rows were planned with, if it was read. */
  readonly stock: Stock | undefined;
  /** The most requests at a time. */
  readonly concurrency: number;
  readonly failFast: boolean;
  /** How many more deltas may bring a stock to 0, besides those in the plan. */
  readonly zerosLeft: number;
  /** Set for a command that changes a single pet: it takes its turn before bulk runs. */
  readonly single: SinglePlan | undefined;
  onSettled?(row: Row): void;
}

/**
 * What is special about a single change: its run is recorded with its first intent, and can be resumed only if its
 * outcome is unknown; messages are about its pet.
 */
export interface SinglePlan {
  /** Whether the stock is read before the write although the row has no delta. */
  readonly readsFirst: boolean;
  /** The time that all of its requests may take. */
  readonly time: TimeBudget;
  /** Called with each item that the service returns. */
  onItem(item: InventoryItem): void;
}

/** How the work on a run has ended. The outcomes are in its rows. */
export interface Execution {
  /** Why the run ended before each row had its outcome. */
  readonly stoppedBy: unknown;
  /** The first rejection, or answer with another quantity than requested. */
  readonly rejection: PetstockError | undefined;
  /** Whether the outcome of a request was not known when it ended, so that it may be carried out later. */
  readonly hasUnanswered: boolean;
  /** Rows that were sent and certainly not carried out. */
  readonly unwritten: ReadonlySet<Row>;
  /** The stock of pets that was read after the last request; undefined if none was. */
  readonly quantities: Stock['quantities'] | undefined;
}
