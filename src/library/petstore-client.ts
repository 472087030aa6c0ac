import type { Client } from '../api/client.ts';
import { itemsOf } from '../inventory/item-columns.ts';
import type { InventoryItem } from '../inventory/items.ts';
import type { SingleWrite } from '../runs/single-write.ts';
import { parseBaseUrl, parseKey, serviceNameOf } from '../settings/key-and-url.ts';
import { parseDatabaseUrl } from '../shared/database-url.ts';
import { UsageError } from '../shared/errors.ts';
import { parseJson } from '../shared/json.ts';
import type { Parsed } from '../shared/parsed.ts';
import type { State } from '../state/state.ts';
import {
  countOf,
  deltaOf,
  type PetIdInput,
  petIdOf,
  type QuantityInput,
  quantityOf,
  requireObject,
  signalOf,
  textOf,
  wordOf,
} from './arguments.ts';
import { Calls, PetQueue } from './calls.ts';
import { type HistoryFilter, type HistoryRun, historyOf } from './client-history.ts';
import type { ClientDependencies, LimitState, PetstoreClientOptions } from './client-options.ts';
import { LazyConnection, type LibraryConnection } from './open-connection.ts';
import { type PlainJson, type PlainOptions, plainJson } from './plain-json.ts';
import {
  type ApplyOptions,
  applyChanges,
  type ChangeInput,
  type RunOperation,
  type RunReport,
  resumeRun,
  runOptions,
  runReport,
  undoRun,
  type WrittenItem,
  writeSingle,
} from './runs.ts';

export interface CallOptions {
  /**
   * Aborts this call; the call rejects with the signal's reason. A write that was already sent may still be carried
   * out. With a state, the call then waits up to `timeout` for the response, and rejects with an InterruptedError whose
   * `run` identifies the run.
   */
  readonly signal?: AbortSignal | undefined;
}

export interface PlainCallOptions extends CallOptions, PlainOptions {}

/** A response whose body the specification does not define: the body as plain data, and the headers. */
export interface PlainResponse {
  readonly value: PlainJson;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface RequestResult {
  readonly status: number;
  readonly headers: PlainResponse['headers'];
  readonly body: Uint8Array;
  /** The body as plain data; undefined if it is not JSON. */
  readonly value: PlainJson | undefined;
}

/**
 * A client of the pet store inventory service. Every method rejects with a UsageError, before sending anything, if an
 * argument is invalid. `adjust`, `apply`, `undo`, `resume` and `history` need a state (`stateFolder` or `stateUrl`).
 */
export interface PetstoreClient {
  /**
   * Yields the items in batches, in the service's order, while the response streams in. Stopping early closes the
   * connection.
   */
  listInventory(options?: CallOptions): AsyncIterable<readonly InventoryItem[]>;
  /**
   * Sets the stock of one pet. With a state, the write is recorded as a run, like `petstock inventory set`: it takes
   * turns with the writes of other commands, and can be undone if the history knows the previous stock. Without a
   * state, it is never retried after an unknown outcome.
   * @returns the item as the service last returned it
   */
  updateInventory(petId: PetIdInput, quantity: QuantityInput, options?: CallOptions): Promise<WrittenItem>;
  /**
   * Adds `delta` to the stock of one pet, like `petstock inventory adjust`. Concurrent adjustments all count, from any
   * number of calls, processes and machines that share a state.
   * @returns the item as the service last returned it
   */
  adjust(petId: PetIdInput, delta: QuantityInput, options?: CallOptions): Promise<WrittenItem>;
  /**
   * Writes several changes as one run, like `petstock inventory apply`: reads the stock, plans, writes each row, and
   * records everything in the state, so that the run can be undone.
   * @returns a report with the outcome of each row, and `error` unless every row succeeded
   * @throws UsageError if a change is invalid, or if `maxChanges` or `maxZero` rejects the plan: nothing was written
   */
  apply(changes: Iterable<ChangeInput>, options?: ApplyOptions): Promise<RunReport>;
  /**
   * Undoes a run: restores each stock whose earlier value is known, unless it has changed since.
   * @param run the run's id, or its last four characters
   */
  undo(run: string, options?: ApplyOptions): Promise<RunReport>;
  /**
   * Resumes a run that was interrupted or whose process has exited. Rows with a final outcome are never sent again.
   * @param run the run's id, or its last four characters
   */
  resume(run: string, options?: ApplyOptions): Promise<RunReport>;
  /** Sends `GET /pets/{petId}`. The service has deprecated it. */
  getPet(petId: PetIdInput, options?: PlainCallOptions): Promise<PlainResponse>;
  listOrders(options?: PlainCallOptions): Promise<PlainResponse>;
  /** Yields the runs at this service in the history, newest first. */
  history(filter?: HistoryFilter): AsyncIterable<HistoryRun>;
  /**
   * Returns the minute and day limits of the key, as last reported, without sending a request. A limit is missing if
   * its window has ended, or if the service never reported it.
   */
  limits(): Promise<readonly LimitState[]>;
  /** Checks that the service responds and accepts the key. Requests the inventory, but reads only the headers. */
  probe(options?: CallOptions): Promise<void>;
  /**
   * Sends any request. A status of 400 or above is returned, not thrown. Only a 429, 502, 503 or 504 is thrown, once no
   * retry is left or allowed.
   * @param path the path below the base URL, with a leading slash
   */
  request(
    method: string,
    path: string,
    body?: string | Uint8Array | undefined,
    options?: PlainCallOptions,
  ): Promise<RequestResult>;
  /**
   * Waits for pending calls, flushes buffered records, and closes the connections and the state. Later calls reject
   * with a UsageError.
   */
  close(): Promise<void>;
  /** Calls `close`, for `await using client = createPetstoreClient(…)`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates a client. The client opens its state with the first call.
 * @throws UsageError if an option is invalid
 */
export function createPetstoreClient(options: PetstoreClientOptions): PetstoreClient {
  return openPetstoreClient(options);
}

/** Like `createPetstoreClient`, with an injected clock and transport. */
export function openPetstoreClient(options: PetstoreClientOptions & ClientDependencies): PetstoreClient {
  const checked = checkedOptions(options);
  const connection = new LazyConnection({ ...options, ...checked });
  const calls = new Calls(signalOf(options.signal));
  const turns = new PetQueue();
  const call = <T>(
    given: CallOptions | undefined,
    work: (connection: LibraryConnection, signal: AbortSignal) => Promise<T>,
  ) => calls.run(signalOf(given?.signal), async (signal) => work(await connection.open(), signal));
  const ask = <T>(given: PlainCallOptions | undefined, work: (client: Client) => Promise<T>) => {
    wordOf(given?.ids, 'ids', ['exact', 'string']);
    return call(given, (connection, signal) => work(connection.clientFor(signal)));
  };
  const perform = async (given: ApplyOptions, work: RunOperation): Promise<RunReport> => {
    const own = runOptions(given);
    return call(given, async (connection, signal) => {
      return runReport(await work(connection.runContextFor(signal, requireState(connection)), own));
    });
  };
  const write = (connection: LibraryConnection, signal: AbortSignal, one: SingleWrite) =>
    turns.take(one.petId, signal, () => writeSingle(connection.runContextFor(signal, requireState(connection)), one));
  async function* stream<T>(
    given: CallOptions | undefined,
    work: (connection: LibraryConnection, signal: AbortSignal) => AsyncIterable<T>,
  ): AsyncGenerator<T, void> {
    const one = calls.begin(signalOf(given?.signal));
    try {
      yield* work(await connection.open(), one.signal);
    } finally {
      one.end();
    }
  }
  const close = () => calls.close(() => connection.close());

  return {
    listInventory: (given) =>
      stream(given, (connection, signal) => itemsOf(connection.clientFor(signal).scanInventory())),
    updateInventory: async (petId, quantity, given) => {
      const one = { command: 'inventory set', petId: petIdOf(petId), quantity: quantityOf(quantity) };
      return call(given, (connection, signal) => {
        if (connection.state !== undefined) return write(connection, signal, one);
        return connection.clientFor(signal).updateInventory(one.petId, one.quantity);
      });
    },
    adjust: async (petId, delta, given) => {
      const one = { command: 'inventory adjust', petId: petIdOf(petId), delta: deltaOf(delta) };
      return call(given, (connection, signal) => write(connection, signal, one));
    },
    resume: async (run, given = {}) => perform(given, resumeRun(textOf(run, 'run') ?? '')),
    apply: async (changes, given = {}) => perform(given, applyChanges(changes)),
    undo: async (run, given = {}) => perform(given, undoRun(textOf(run, 'run') ?? '')),
    getPet: async (petId, given) => {
      const id = petIdOf(petId);
      return ask(given, async (client) => plainResponse(await client.getPet(id), given));
    },
    listOrders: async (given) => ask(given, async (client) => plainResponse(await client.listOrders(), given)),
    history: (filter = {}) =>
      stream({}, (connection) => {
        return historyOf({ state: requireState(connection), serviceName: serviceNameOf(checked.baseUrl) }, filter);
      }),
    limits: async () => call({}, async (connection) => connection.limits()),
    probe: async (given) => ask(given, (client) => client.probe()),
    request: async (method, path, body, given) => {
      requireRequest(method, path, body);
      const { status, headers, body: bytes } = await ask(given, (client) => client.request(method, path, body));
      return { status, headers, body: bytes, value: plainBody(bytes, given) };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Parses the base URL and the key, and checks the other texts and numbers.
 * @throws UsageError if one of them is invalid
 */
function checkedOptions(options: PetstoreClientOptions): { readonly baseUrl: string; readonly key: string } {
  requireObject(options, 'options');
  const baseUrl = requireParsed('baseUrl', parseBaseUrl(textOf(options.baseUrl, 'baseUrl') ?? ''));
  const key = requireParsed('key', parseKey(textOf(options.key, 'key') ?? ''));
  countOf(options.timeout, 'timeout', 1);
  countOf(options.maxWait, 'maxWait');
  countOf(options.retries, 'retries');
  textOf(options.stateFolder, 'stateFolder');
  const stateUrl = textOf(options.stateUrl, 'stateUrl');
  if (stateUrl !== undefined) requireParsed('stateUrl', parseDatabaseUrl(stateUrl));
  textOf(options.name, 'name');
  return { baseUrl, key };
}

function requireState({ state }: LibraryConnection): State {
  if (state !== undefined) return state;
  throw new UsageError(
    'apply, adjust, resume, undo and history need a usable stateFolder or stateUrl, because every write is recorded there first',
  );
}

function plainResponse(
  { value, headers }: Awaited<ReturnType<Client['getPet']>>,
  options: PlainOptions = {},
): PlainResponse {
  return { value: plainJson(value, options), headers };
}

function plainBody(body: Uint8Array, options: PlainOptions = {}): PlainJson | undefined {
  try {
    return plainJson(parseJson(Buffer.from(body).toString('utf8')), options);
  } catch {
    // The body is not JSON; the bytes are still returned.
    return undefined;
  }
}

function requireRequest(method: unknown, path: unknown, body: unknown): void {
  if (typeof method !== 'string' || !/^[A-Z]+$/.test(method)) {
    throw new UsageError('method must be a word in capital letters, such as GET');
  }
  // `..`, `#` and white space would be resolved or dropped when the URL is parsed, so the request would go to another
  // path.
  const segments =
    typeof path === 'string' ? (path.split('?')[0] ?? '').replace(/%2e/gi, '.').split(/[/\\]|%2f|%5c/i) : [];
  if (typeof path !== 'string' || !/^\/[!-"$-[\]-~]*$/.test(path) || segments.some((one) => /^\.\.?$/.test(one))) {
    throw new UsageError(
      'path must begin with a slash. It must be ASCII text without white space, # and \\, and no part may be . or ..',
    );
  }
  if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new UsageError('body must be a string or bytes');
  }
}

function requireParsed<T>(name: string, parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new UsageError(`${name}: ${parsed.problem}`);
}
