import { setMaxListeners } from 'node:events';
import type { PetstockError } from '../errors.ts';
import type { InventoryItem } from '../inventory/items.ts';
import type { HttpResponse } from '../transport.ts';
import { decodeItem, decodeItems, decodeJson, type Operation } from './decode.ts';
import { errorOfAnswer } from './error-answer.ts';
import type { Answer } from './exchange.ts';
import type { Json } from './json.ts';
import { type SendOptions, send } from './send.ts';

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

/** The operations of the pet store inventory service, governed and decoded. */
export interface Client {
  /** `GET /inventory`. In batches, in the order of the service. */
  listInventory(): AsyncIterable<readonly InventoryItem[]>;
  /** `PATCH /inventory/{petId}` sets the stock of one pet. @returns the item as the service answered it */
  updateInventory(petId: bigint, quantity: number): Promise<InventoryItem>;
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
  ): Promise<T> => {
    const headers: Record<string, string> = {
      authorization: `Bearer ${options.key}`,
      accept: 'application/json',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': options.userAgent,
    };
    if (body !== undefined) headers['content-type'] = 'application/json';
    // A PATCH of this service sets an absolute quantity, so sending it again changes nothing.
    const repeatable = repeatableMethods.has(method) || (method === 'PATCH' && path.startsWith('/inventory/'));
    return send({ method, url: options.baseUrl + path, headers, body, repeatable }, options, use);
  };

  const callJson = (method: string, path: string, body: string | undefined, operation: Operation): Promise<Payload> =>
    call(method, path, body, async (answer) => {
      if (!succeeded(answer)) throw errorOfAnswer(answer.status, await answer.textOrNothing());
      return { value: decodeJson(await answer.text(), operation), headers: answer.headers };
    });

  return {
    async *listInventory() {
      const operation = { name: 'GET /inventory' };
      const { value } = await callJson('GET', '/inventory', undefined, operation);
      yield decodeItems(value, operation);
    },
    async updateInventory(petId, quantity) {
      const path = `/inventory/${petId}`;
      const operation = { name: `PATCH ${path}`, experimental: true };
      const { value } = await callJson('PATCH', path, JSON.stringify({ quantity }), operation);
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
