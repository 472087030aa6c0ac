import { type Client, createClient, type Payload, type RawAnswer } from '../api/client.ts';
import type { InventoryItem } from '../inventory/items.ts';
import { parseBaseUrl } from '../settings/base-url.ts';
import { parseKey } from '../settings/keys.ts';
import { parseDatabaseUrl } from '../shared/database-url.ts';
import { UsageError } from '../shared/errors.ts';
import {
  countOf,
  type PetIdInput,
  petIdOf,
  type QuantityInput,
  quantityOf,
  requireObject,
  signalOf,
  textOf,
} from './arguments.ts';
import { Calls } from './calls.ts';
import { openConnection } from './open-connection.ts';
import type { PetstoreClientOptions } from './options.ts';
import type { ChangeInput } from './read-changes.ts';
import {
  type ApplyOptions,
  adjustStock,
  applyChanges,
  type RunReport,
  resumeRun,
  setStock,
  undoRun,
  type WrittenItem,
} from './runs.ts';

export interface CallOptions {
  /** Ends this call: it rejects with the reason of the signal. A write that has left may still be carried out. */
  readonly signal?: AbortSignal | undefined;
}

/** The pet store inventory service. Every method throws UsageError, with nothing sent, for an argument that is not exact. */
export interface PetstoreClient {
  /** In batches, in the order of the service, as the answer comes in. Who stops early drops the connection. */
  listInventory(options?: CallOptions): AsyncIterable<readonly InventoryItem[]>;
  /**
   * Sets the stock of one pet. With a state it is a run of its own, as `petstock inventory set`: other commands take turns with
   * it, and it can be undone. Without one it is never sent again after an unknown outcome.
   * @returns the item as the service answered it
   */
  updateInventory(petId: PetIdInput, quantity: QuantityInput, options?: CallOptions): Promise<WrittenItem>;
  /**
   * Adds to the stock of one pet, as `petstock inventory adjust`: from any number of calls, processes and machines with one state
   * all of it counts.
   * @returns the item as the service answered it
   */
  adjust(petId: PetIdInput, delta: QuantityInput, options?: CallOptions): Promise<WrittenItem>;
  /**
   * Writes several changes as one run, as `petstock inventory apply` does: read, plan, write each row, and record all of it in
   * the state folder, so that the run can be undone.
   * @returns what became of each row; `error` where not every row is as it should be
   * @throws UsageError for a fault in the changes or a guard: nothing was written
   */
  apply(changes: Iterable<ChangeInput>, options?: ApplyOptions): Promise<RunReport>;
  /**
   * Takes back what a run has written where the stock has not been changed since.
   * @param run its id, or the last four characters of it
   */
  undo(run: string, options?: ApplyOptions): Promise<RunReport>;
  /**
   * Goes on with a run that was interrupted, or whose process has exited. A row that has its answer is never sent again.
   * @param run its id, or the last four characters of it
   */
  resume(run: string, options?: ApplyOptions): Promise<RunReport>;
  /** Deprecated by the service. */
  getPet(petId: PetIdInput, options?: CallOptions): Promise<Payload>;
  listOrders(options?: CallOptions): Promise<Payload>;
  /** Asks for the inventory and reads its headers alone. */
  probe(options?: CallOptions): Promise<void>;
  /**
   * Any request. A status of 400 and above is no error here, except for a 429, and for a 502, 503 or 504 that stays.
   * @param path below the base URL, with its leading slash
   */
  request(method: string, path: string, body?: string | Uint8Array, options?: CallOptions): Promise<RawAnswer>;
  /** Waits for calls under way, writes out what is buffered, and closes the state. Later calls throw UsageError. */
  close(): Promise<void>;
}

/** @throws UsageError for options that can't be used */
export function createPetstoreClient(options: PetstoreClientOptions): PetstoreClient {
  requireObject(options, 'options');
  const baseUrl = usable('baseUrl', parseBaseUrl(textOf(options.baseUrl, 'baseUrl') ?? ''));
  const key = usable('key', parseKey(textOf(options.key, 'key') ?? ''));
  countOf(options.timeout, 'timeout', 1);
  countOf(options.maxWait, 'maxWait');
  textOf(options.stateFolder, 'stateFolder');
  const stateUrl = textOf(options.stateUrl, 'stateUrl');
  if (stateUrl !== undefined) usable('stateUrl', parseDatabaseUrl(stateUrl));
  textOf(options.name, 'name');
  const connection = openConnection(options, { baseUrl, key });
  const calls = new Calls(signalOf(options.signal));
  const clientFor = (interrupted: AbortSignal): Client => createClient({ ...connection.sending, interrupted });
  const call = <T>(given: CallOptions | undefined, work: (client: Client, signal: AbortSignal) => Promise<T>) =>
    calls.run(signalOf(given?.signal), (signal) => work(clientFor(signal), signal));

  return {
    async *listInventory(given) {
      const one = calls.begin(signalOf(given?.signal));
      try {
        yield* clientFor(one.signal).listInventory();
      } finally {
        one.end();
      }
    },
    updateInventory: async (petId, quantity, given) => {
      const [id, target] = [petIdOf(petId), quantityOf(quantity)];
      return call(given, (client, signal) => setStock({ connection, client, signal }, id, target));
    },
    adjust: async (petId, delta, given) => {
      const [id, change] = [petIdOf(petId), quantityOf(delta, 'delta')];
      return call(given, (client, signal) => adjustStock({ connection, client, signal }, id, change));
    },
    resume: async (run, given = {}) => {
      const id = textOf(run, 'run') ?? '';
      return call(given, (client, signal) => resumeRun({ connection, client, signal }, id, given));
    },
    apply: async (changes, given = {}) =>
      call(given, (client, signal) => applyChanges({ connection, client, signal }, changes, given)),
    undo: async (run, given = {}) => {
      const id = textOf(run, 'run') ?? '';
      return call(given, (client, signal) => undoRun({ connection, client, signal }, id, given));
    },
    getPet: async (petId, given) => {
      const id = petIdOf(petId);
      return call(given, (client) => client.getPet(id));
    },
    listOrders: async (given) => call(given, (client) => client.listOrders()),
    probe: async (given) => call(given, (client) => client.probe()),
    request: async (method, path, body, given) => {
      requireRequest(method, path, body);
      return call(given, (client) => client.request(method, path, body));
    },
    close: () => calls.close(() => connection.close()),
  };
}

function requireRequest(method: unknown, path: unknown, body: unknown): void {
  if (typeof method !== 'string' || !/^[A-Z]+$/.test(method)) {
    throw new UsageError('method must be a word in capital letters, such as GET');
  }
  // What URL would resolve or cut off would go somewhere else than where it says.
  const segments =
    typeof path === 'string' ? (path.split('?')[0] ?? '').replace(/%2e/gi, '.').split(/[/\\]|%2f|%5c/i) : [];
  if (typeof path !== 'string' || !/^\/[!-"$-[\]-~]*$/.test(path) || segments.some((one) => /^\.\.?$/.test(one))) {
    throw new UsageError('path must begin with a slash, below the base URL, without white space, # or ..');
  }
  if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new UsageError('body must be a string or bytes');
  }
}

function usable<T>(
  name: string,
  parsed: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: string },
): T {
  if (parsed.ok) return parsed.value;
  throw new UsageError(`${name}: ${parsed.fault}`);
}
