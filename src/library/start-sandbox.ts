import process from 'node:process';
import type { InventoryItem, PetStatus } from '../inventory/items.ts';
import type { Controls, RunningService, ServiceOptions, StockItem } from '../service/index.ts';
import { type Clock, createSystemClock, machineTime } from '../shared/clock.ts';
import { UsageError } from '../shared/errors.ts';
import {
  countOf,
  type PetIdInput,
  petIdOf,
  type QuantityInput,
  quantityOf,
  requireObject,
  wordOf,
} from './arguments.ts';
import type { PetstoreClientOptions } from './client-options.ts';
import { openPetstoreClient, type PetstoreClient } from './petstore-client.ts';

export interface SandboxOptions {
  /** The port to listen on; 0, the default, means any free port. */
  readonly port?: number | undefined;
  /** Number of pets; default 24. */
  readonly pets?: number | undefined;
  /** The same `seed`, `pets` and `ids` give the same stock; default 1. */
  readonly seed?: number | undefined;
  /** `small`: all ids are below 2^53. `large`, the default: up to three ids are 2^53 or above. */
  readonly ids?: 'large' | 'small' | undefined;
  /** Number of requests per minute and per day; default 1,000 and 100,000. */
  readonly limits?: { readonly minute: number; readonly day: number } | undefined;
  /** Length of the minute window in seconds; default 60. */
  readonly windowSeconds?: number | undefined;
  /** Faults to inject, like `PATCH /inventory/*:every=3:status=503`. */
  readonly faults?: readonly string[] | undefined;
}

/** A sandbox in memory, on a loopback port. */
export interface Sandbox {
  readonly url: string;
  readonly key: string;
  /** Returns the last 10,000 requests, oldest first. */
  requests(): readonly SandboxRequest[];
  /**
   * Replaces all faults.
   * @throws UsageError for an invalid fault
   */
  setFaults(faults: readonly string[]): void;
  /**
   * Advances the clock of the service and of the clients that `client` has created. Waits that are over by then end at
   * once.
   */
  advanceClock(seconds: number): void;
  /** Returns a client of this service that uses the service's clock. */
  client(options?: Partial<PetstoreClientOptions>): PetstoreClient;
  /** Returns a pet of the service; undefined if it does not exist. */
  pet(petId: PetIdInput): Promise<SandboxItem | undefined>;
  /**
   * Adds or changes a pet. Omitted values stay as they are. A new pet needs a quantity, and is available by default.
   * @throws UsageError for a new pet without a quantity
   */
  setPet(petId: PetIdInput, change: SandboxChange): Promise<SandboxItem>;
  /** @returns whether the pet existed */
  removePet(petId: PetIdInput): Promise<boolean>;
  /** Replaces the stock, and removes all orders. Keys and their usage stay. */
  importStock(items: Iterable<SandboxItem>): Promise<void>;
  /** Restores the initial stock, and clears the usage of the key. */
  reset(): Promise<void>;
  /**
   * Bans the key.
   * @param seconds the length of the ban; null lifts it and clears the strikes
   */
  ban(seconds: number | null): Promise<void>;
  /** Returns the stock, the orders and the usage of the key, for `restore`. */
  snapshot(): Promise<SandboxSnapshot>;
  /** @throws UsageError for an object that `snapshot` of this sandbox did not return, such as a copy */
  restore(snapshot: SandboxSnapshot): Promise<void>;
  close(): Promise<void>;
}

export interface SandboxChange {
  readonly quantity?: QuantityInput | undefined;
  readonly status?: PetStatus | undefined;
}

export interface SandboxItem extends InventoryItem {
  readonly status: PetStatus;
}

/** The stock of a sandbox at one moment. The orders and usage that `restore` also needs are not shown. */
export interface SandboxSnapshot {
  readonly items: readonly SandboxItem[];
}

export interface SandboxRequest {
  /** Milliseconds since the Unix epoch, by the service's clock. */
  readonly time: number;
  readonly method: string;
  /** The path without its query, like `/v1/inventory/5`; `{petId}` replaces an invalid id, `…` an unknown path. */
  readonly path: string;
  /** The first 1,024 characters; null if there was no complete body, or if it was not UTF-8. */
  readonly body: string | null;
  /** The status of the response; null while the request is pending, and if no response was sent. */
  readonly status: number | null;
}

/**
 * Starts a sandbox, for tests of programs that use this library.
 * @throws UsageError if an option is invalid; the system's error if the port can't be used, such as EADDRINUSE
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  requireObject(options, 'options');
  const { FaultSpecError, startService } = await import('../service/index.ts');
  const asUsageError = (error: unknown): unknown =>
    error instanceof FaultSpecError ? new UsageError(error.message, { cause: error }) : error;
  const clock = movableClock(createSystemClock(machineTime(process)));
  const given = { file: ':memory:', testControls: true, clock, ...validOptionsOf(options) };
  const service = await startService(given).catch((error) => {
    throw asUsageError(error);
  });
  const { url, key } = service;
  return {
    url,
    key,
    requests: () => service.journal(),
    setFaults: (faults) => {
      try {
        service.setFaults(faults);
      } catch (error) {
        throw asUsageError(error);
      }
    },
    advanceClock: (seconds) => clock.advance((countOf(seconds, 'seconds') ?? 0) * 1000),
    client: (own = {}) => openPetstoreClient({ baseUrl: url, key, clock, ...own }),
    ...administration(service),
    close: () => service.close(),
  };
}

type Snapshot = Awaited<ReturnType<Controls['snapshot']>>;

function administration({ controls, keyId }: RunningService) {
  const snapshots = new WeakMap<SandboxSnapshot, Snapshot>();
  return {
    pet: async (petId: PetIdInput) => {
      const found = await controls.setPet(petIdOf(petId), {});
      return found === null ? undefined : itemOf(found.item);
    },
    setPet: async (petId: PetIdInput, { quantity, status }: SandboxChange) => {
      const change = { status, quantity: quantity === undefined ? undefined : BigInt(quantityOf(quantity)) };
      const found = await controls.setPet(petIdOf(petId), change);
      if (found === null) throw new UsageError(`There is no pet ${petId}: a new one needs a quantity`);
      return itemOf(found.item);
    },
    removePet: (petId: PetIdInput) => controls.removePet(petIdOf(petId)),
    importStock: (items: Iterable<SandboxItem>) => {
      const stock = Array.from(items, ({ quantity, ...item }) => ({ ...item, quantity: BigInt(quantityOf(quantity)) }));
      return controls.importStock({ items: stock, orders: [] });
    },
    reset: () => controls.reset(),
    ban: async (seconds: number | null) => {
      await controls.ban(keyId, seconds === null ? null : (countOf(seconds, 'seconds') ?? 0));
    },
    snapshot: async () => {
      const taken = await controls.snapshot();
      const snapshot = { items: Array.from(taken.stock.items, itemOf) };
      snapshots.set(snapshot, taken);
      return snapshot;
    },
    restore: async (snapshot: SandboxSnapshot) => {
      const taken = snapshots.get(snapshot);
      if (taken === undefined) throw new UsageError('The snapshot was not returned by this sandbox');
      await controls.restore(taken);
    },
  };
}

function itemOf({ petId, quantity, status }: StockItem): SandboxItem {
  return { petId, quantity: Number(quantity), status };
}

/** @throws UsageError if an option is invalid */
function validOptionsOf({
  port,
  pets,
  seed,
  ids,
  limits,
  windowSeconds,
  faults,
}: SandboxOptions): Partial<ServiceOptions> {
  if (port !== undefined && port > 65_535) throw new UsageError('port must be at most 65535');
  const limit = (name: 'minute' | 'day') => countOf(limits?.[name], `limits.${name}`) ?? 0;
  return {
    ...{ faults, limits: limits && { minute: limit('minute'), day: limit('day') } },
    ids: wordOf(ids, 'ids', ['large', 'small']),
    port: countOf(port, 'port'),
    pets: countOf(pets, 'pets'),
    seed: countOf(seed, 'seed'),
    windowSeconds: countOf(windowSeconds, 'windowSeconds', 1),
  };
}

/** A clock that a test can advance. Sleeps that are over by then end at once. */
export interface MovableClock extends Clock {
  advance(ms: number): void;
}

/** Returns a clock that can be advanced. Its deadlines stay in real time, because tests skip waits, not responses. */
export function movableClock(base: Clock): MovableClock {
  let ahead = 0;
  let moved = new AbortController();
  const now = () => base.monotonic() + ahead;
  return {
    now: () => base.now() + ahead,
    monotonic: now,
    boot: () => base.boot(),
    deadline: (ms, onPassed) => base.deadline(ms, onPassed),
    sleep: async (ms, signal) => {
      const until = now() + ms;
      for (let left = ms; left > 0; left = until - now()) {
        signal?.throwIfAborted();
        const ends = signal === undefined ? moved.signal : AbortSignal.any([signal, moved.signal]);
        // `sleep` rejects if the clock is advanced or the signal aborts. The loop checks both.
        await base.sleep(left, ends).catch(() => {});
      }
      signal?.throwIfAborted();
    },
    advance: (ms) => {
      ahead += ms;
      moved.abort();
      moved = new AbortController();
    },
  };
}
