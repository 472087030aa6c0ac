import { setMaxListeners } from 'node:events';
import type { ColumnBatches } from '../inventory/item-columns.ts';
import type { InventoryItem } from '../inventory/items.ts';
import type { PetstockError } from '../shared/errors.ts';
import { decodeItem, decodeJson, type Operation } from './decode.ts';
import { errorOfAnswer } from './error-answer.ts';
import type { Answer } from './exchange.ts';
import { readInventory } from './inventory-body.ts';
import type { Json } from './json.ts';
import { handOver } from './push-to-pull.ts';
import { type SendOptions, send } from './send.ts';
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

export interface UpdateOptions {
  /**
   * For whoever looks at the stock before sending it again: it is not repeated after a network fault or 5xx. This signal,
   * rather than an interruption, ends its wait for the rate limit; once it is on its way it is let finish.
   */
  readonly once?: AbortSignal;
}

/** The operations of the pet store inventory service, governed and decoded. */
export interface Client {
  /**
   * `GET /inventory`. In batches, in the order of the service, as the answer comes in. Who stops early drops the connection.
   * What fails after the first batch is not tried again; the message says that the list is not whole.
   */
  listInventory(): AsyncIterable<readonly InventoryItem[]>;
  /** The same without an object for each item. */
  scanInventory(): ColumnBatches;
  /** `PATCH /inventory/{petId}` sets the stock of one pet. @returns the item as the service answered it */
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

export function createClient(options: ClientOptions): Client {
  // Any number of requests may wait for one signal; Node would take more than ten for a leak, and say so on stderr.
  setMaxListeners(0, options.interrupted);
  const call = <T>(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    use: (answer: Answer) => Promise<T>,
    { once }: UpdateOptions = {},
  ): Promise<T> => {
    const headers: Record<string, string> = {
      authorization: `Bearer ${options.key}`,
      accept: 'application/json',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': options.userAgent,
    };
    if (body !== undefined) headers['content-type'] = 'application/json';
    // A PATCH of this service sets an absolute quantity, so sending it again changes nothing.
    const isUpdate = method === 'PATCH' && path.startsWith('/inventory/');
    const repeatable = once === undefined && (repeatableMethods.has(method) || isUpdate);
    return send({ method, url: options.baseUrl + path, headers, body, repeatable, turn: once }, options, use);
  };

  const callJson = (
    method: string,
    path: string,
    body: string | undefined,
    operation: Operation,
    update?: UpdateOptions,
  ): Promise<Payload> => {
    const use = async (answer: Answer): Promise<Payload> => {
      if (!succeeded(answer)) throw errorOfAnswer(answer.status, await answer.textOrNothing());
      return { value: decodeJson(await answer.text(), operation), headers: answer.headers };
    };
    return call(method, path, body, use, update);
  };

  const scanInventory = (): ColumnBatches =>
    handOver((give) =>
      call('GET', '/inventory', undefined, async (answer) => {
        if (!succeeded(answer)) throw errorOfAnswer(answer.status, await answer.textOrNothing());
        await readInventory(answer, give);
      }),
    );

  return {
    async *listInventory() {
      for await (const batch of scanInventory()) yield batch.items();
    },
    scanInventory,
    async updateInventory(petId, quantity, update) {
      const path = `/inventory/${petId}`;
      const operation = { name: `PATCH ${path}`, experimental: true };
      const { value } = await callJson('PATCH', path, JSON.stringify({ quantity }), operation, update);
      return decodeItem(value, operation);
    },
    getPet: (petId) => callJson('GET', `/pets/${petId}`, undefined, { name: `GET /pets/${petId}` }),
    listOrders: () => callJson('GET', '/store/orders', undefined, { name: 'GET /store/orders' }),
    probe: () =>
      call('GET', '/inventory', undefined, async (answer) => {
        if (!succeeded(answer)) throw errorOfAnswer(answer.status, await answer.textOrNothing());
      }),
    request: (method, path, body) =>
      call(method, path, body, async (answer) => {
        const { status, headers } = answer;
        const body = await answer.bytes();
        const failure = succeeded(answer)
          ? undefined
          : errorOfAnswer(status, Buffer.from(body).toString('utf8').replaceAll(options.key, '[key]'));
        return { status, headers, body, failure };
      }),
  };
}

function succeeded({ status }: Answer): boolean {
  return status >= 200 && status <= 299;
}
