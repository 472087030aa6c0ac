import { setMaxListeners } from 'node:events';
import type { ColumnBatches } from '../inventory/item-columns.ts';
import type { InventoryItem } from '../inventory/items.ts';
import type { Permit } from '../rate-limit/governor.ts';
import type { PetstockError } from '../shared/errors.ts';
import { decodeItem, decodeJson, type Operation } from './decode.ts';
import { errorOfAnswer } from './error-answer.ts';
import type { Answer } from './exchange.ts';
import { readInventory } from './inventory-body.ts';
import type { Json } from './json.ts';
import { pushToPull } from './push-to-pull.ts';
import { type SendOptions, send, sendOnce } from './send.ts';
import type { HttpResponse } from './transport.ts';

export interface ClientOptions extends SendOptions {
  /** Ends in `/v1`, without a slash behind it. */
  readonly baseUrl: string;
  readonly key: string;
  /** `petstock/1.2.3` */
  readonly userAgent: string;
}

/** An answer whose shape the specification does not show. */
export interface Payload {
  readonly value: Json;
  readonly headers: HttpResponse['headers'];
}

/** An answer as it came, whatever its status. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  readonly body: Uint8Array;
  /** The error for a status that is no success. */
  readonly failure: PetstockError | undefined;
}

export interface ReadOptions {
  /** For the first try; others are admitted. */
  readonly permit?: Permit | undefined;
}

export interface UpdateOptions {
  /**
   * Exactly one request is sent, with this. Without it the request is admitted, and sent again only where it certainly was
   * not carried out: after a 429, or where it never left.
   */
  readonly permit?: Permit | undefined;
  /**
   * Ends it, before it leaves or on its way. Without it, and without a permit, the client's own signal does; with a permit only
   * its time-out.
   */
  readonly signal?: AbortSignal | undefined;
}

/** The operations of the pet store inventory service, governed and decoded. */
export interface Client {
  /**
   * `GET /inventory`. In batches, in the order of the service, as the answer comes in. Who stops early drops the connection.
   * What fails after the first batch is not tried again; the message says that the list is not whole.
   */
  listInventory(options?: ReadOptions): AsyncIterable<readonly InventoryItem[]>;
  /** The same without an object for each item. */
  scanInventory(options?: ReadOptions): ColumnBatches;
  /**
   * `PATCH /inventory/{petId}` sets the stock of one pet. It is never sent again after an unknown outcome.
   *
   * @returns the item as the service answered it
   * @throws OvertakenError where the permit held no longer: nothing was sent. Else errors that say what is certain: `unsent`,
   *   `status` (an answer came), `mayStillArrive`
   */
  updateInventory(petId: bigint, quantity: number, options?: UpdateOptions): Promise<InventoryItem>;
  /** `GET /pets/{petId}`, deprecated. */
  getPet(petId: bigint): Promise<Payload>;
  /** `GET /store/orders` */
  listOrders(): Promise<Payload>;
  /** `GET /inventory` for its headers alone. The body is not read. */
  probe(): Promise<void>;
  /**
   * Any request. A status of 400 and above is no error here, but for a 429, and for a 502, 503 or 504 that stays.
   * @param path below the base URL, with its leading slash
   */
  request(method: string, path: string, body?: string | Uint8Array): Promise<RawAnswer>;
}

const repeatableMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

interface Call {
  readonly method: string;
  /** Below the base URL, with its leading slash. */
  readonly path: string;
  readonly body?: string | Uint8Array | undefined;
  readonly permit?: Permit | undefined;
  readonly signal?: AbortSignal | undefined;
}

export function createClient(options: ClientOptions): Client {
  // Any number of requests may wait for one signal; Node would take more than ten for a leak, and say so on stderr.
  setMaxListeners(0, options.interrupted);
  const call = <T>({ method, path, body, permit, signal }: Call, use: (answer: Answer) => Promise<T>): Promise<T> => {
    const request = { method, url: options.baseUrl + path, headers: headersOf(options, body), body };
    const repeatable = repeatableMethods.has(method);
    if (permit !== undefined && !repeatable) {
      return sendOnce({ ...request, repeatable, permit }, { ...options, interrupted: signal }, use);
    }
    const interrupted = signal ?? options.interrupted;
    return send({ ...request, repeatable, permit }, { ...options, interrupted }, use);
  };
  const callJson = (outgoing: Call, operation: Operation, isSuccess = succeeded): Promise<Payload> =>
    call(outgoing, async (answer) => {
      if (!isSuccess(answer)) throw errorOfAnswer(answer.status, await answer.textOrNothing());
      return { value: decodeJson(await answer.text(), operation), headers: answer.headers };
    });
  const scanInventory = ({ permit }: ReadOptions = {}): ColumnBatches =>
    pushToPull((give) =>
      call({ method: 'GET', path: '/inventory', permit }, async (answer) => {
        if (!isOk(answer)) throw errorOfAnswer(answer.status, await answer.textOrNothing());
        await readInventory(answer, give);
      }),
    );

  return {
    async *listInventory(read) {
      for await (const batch of scanInventory(read)) yield batch.items();
    },
    scanInventory,
    async updateInventory(petId, quantity, { permit, signal } = {}) {
      if (signal) setMaxListeners(0, signal);
      const path = `/inventory/${petId}`;
      const operation = { name: `PATCH ${path}`, experimental: true };
      const body = JSON.stringify({ quantity });
      const { value } = await callJson({ method: 'PATCH', path, body, permit, signal }, operation, isOk);
      return decodeItem(value, operation);
    },
    getPet: (petId) => callJson({ method: 'GET', path: `/pets/${petId}` }, { name: `GET /pets/${petId}` }),
    listOrders: () => callJson({ method: 'GET', path: '/store/orders' }, { name: 'GET /store/orders' }),
    probe: () =>
      call({ method: 'GET', path: '/inventory' }, async (answer) => {
        if (!isOk(answer)) throw errorOfAnswer(answer.status, await answer.textOrNothing());
      }),
    request: (method, path, body) => call({ method, path, body }, (answer) => rawAnswer(answer, options.key)),
  };
}

function headersOf({ key, userAgent }: ClientOptions, body: Call['body']): Record<string, string> {
  const headers = {
    authorization: `Bearer ${key}`,
    accept: 'application/json',
    'accept-encoding': 'gzip, deflate, br',
    'user-agent': userAgent,
  };
  return body === undefined ? headers : { ...headers, 'content-type': 'application/json' };
}

async function rawAnswer(answer: Answer, key: string): Promise<RawAnswer> {
  const { status, headers } = answer;
  const body = await answer.bytes();
  const text = () => Buffer.from(body).toString('utf8').replaceAll(key, '[key]');
  return { status, headers, body, failure: succeeded(answer) ? undefined : errorOfAnswer(status, text()) };
}

/** What the service answers where it has done what was asked. A 202 has not yet, a 206 is a part. */
function isOk({ status }: Answer): boolean {
  return status === 200;
}

function succeeded({ status }: Answer): boolean {
  return status >= 200 && status <= 299;
}
