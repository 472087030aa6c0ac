import { setMaxListeners } from 'node:events';
import type { ColumnBatches } from '../inventory/item-columns.ts';
import type { InventoryItem, UnreadableItem } from '../inventory/items.ts';
import type { Permit } from '../rate-limit/governor.ts';
import { type PetstockError, UnavailableError } from '../shared/errors.ts';
import type { Json } from '../shared/json.ts';
import { redactorOf } from '../shared/redact.ts';
import type { AttemptOptions } from './attempt.ts';
import { HeldBytes, maxBodyBytes } from './body.ts';
import { decodeItemOf, decodeJson } from './decode.ts';
import { Controllers, type ReceivedResponse } from './exchange.ts';
import { errorOf, errorOfAnswer, NetworkFailure, redactError } from './failures.ts';
import { type Outgoing, type SendOptions, send, sendOnce } from './send.ts';
import type { HttpResponse } from './transport.ts';

export interface ClientOptions extends Omit<SendOptions, 'controllers' | 'redact'> {
  readonly key: string;
  /** `petstock/1.2.3` */
  readonly userAgent: string;
}

/** An answer whose shape the specification does not show. */
export interface Payload {
  readonly value: Json;
  readonly headers: HttpResponse['headers'];
}

/** An answer whatever its status, without its body. */
export interface CheckedHead {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  /** The error for a status that is no success. */
  readonly failure: PetstockError | undefined;
}

/** An answer as it came, whatever its status. */
export interface RawResponse extends CheckedHead {
  readonly body: Uint8Array;
}

export interface ReadOptions extends Pick<Outgoing, 'permit' | 'beforeRetry'> {
  /** One try, whatever it ends with. */
  readonly once?: boolean | undefined;
  /** Ends it, before it leaves or on its way. Without it the client's own signal does. */
  readonly signal?: AbortSignal | undefined;
}

export interface ScanOptions extends ReadOptions {
  /** Is called for pets whose quantity can't be held exactly, which the list then lacks. Without it the list fails. */
  readonly onUnreadable?: ((item: UnreadableItem) => void) | undefined;
}

export interface UpdateOptions {
  /**
   * Exactly one request is sent, with this, and only its time-out ends it. Without it the request is admitted, and sent again only
   * if it was definitely not carried out: after a 429, or if it never left. Then the client's own signal ends it.
   */
  readonly permit?: Permit | undefined;
}

/** The operations of the pet store inventory service, governed and decoded. */
export interface Client {
  /**
   * `GET /inventory`. In batches, in the order of the service, as the answer comes in. Who stops early drops the connection.
   * A failure after the first batch is not tried again; the message says that the list is not whole.
   */
  scanInventory(options?: ScanOptions): ColumnBatches;
  /**
   * `PATCH /inventory/{petId}` sets the stock of one pet. It is never sent again after an unknown outcome.
   *
   * @returns the item as the service answered it
   * @throws PermitExpiredError if the permit held no longer: nothing was sent. Else errors that say what is certain: `notCarriedOut`,
   *   `status` (an answer came), `mayBeInFlight`
   */
  updateInventory(petId: bigint, quantity: number, options?: UpdateOptions): Promise<InventoryItem>;
  /** `GET /pets/{petId}`, deprecated. */
  getPet(petId: bigint): Promise<Payload>;
  /** `GET /store/orders` */
  listOrders(): Promise<Payload>;
  /** `GET /inventory` for its headers alone. The body is not read. */
  probe(): Promise<void>;
  /**
   * Any request. A status of 400 and above is no error here, except for a 429, and for a 502, 503 or 504 that stays.
   * @param path below the base URL, with its leading slash
   * @throws FailureError for a body of more than 16 MiB
   */
  request(method: string, path: string, body?: string | Uint8Array): Promise<RawResponse>;
  /**
   * The same for a body of any length, which is given away as it comes. What fails after its first chunk is not tried again.
   * @param give is waited for; meanwhile the time-out stands still
   */
  stream(
    request: Pick<Call, 'method' | 'path' | 'body' | 'headers'>,
    give: (chunk: Uint8Array, head: Pick<CheckedHead, 'status' | 'headers'>) => Promise<void>,
  ): Promise<CheckedHead>;
}

const repeatableMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** The request of one operation. */
export interface Call extends ReadOptions {
  readonly method: string;
  /** Below the base URL, with its leading slash. */
  readonly path: string;
  readonly body?: string | Uint8Array | undefined;
  /** Further headers, by their names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function createClient(options: ClientOptions): Client {
  // Any number of requests may wait for one signal; Node would take more than ten for a leak, and say so on stderr.
  setMaxListeners(0, options.interrupted);
  const redact = redactorOf([options.key]);
  const sending: SendOptions = { ...options, controllers: new Controllers(), redact };
  /** For requests that no signal ends. */
  const unending: AttemptOptions = { ...sending, interrupted: undefined };
  const headers = headersOf(options);
  const headersOfBody = { ...headers, 'content-type': 'application/json' };
  const call = <T>(outgoing: Call, use: (answer: ReceivedResponse) => Promise<T>): Promise<T> =>
    sendCall(outgoing, use).catch((error) => {
      throw redactError(error, redact);
    });
  const sendCall = <T>(
    { method, path, body, headers: own, signal, ...tries }: Call,
    use: (answer: ReceivedResponse) => Promise<T>,
  ): Promise<T> => {
    const url = options.baseUrl + path;
    const repeatable = repeatableMethods.has(method);
    const sent = { ...(body === undefined ? headers : headersOfBody), ...own };
    const { permit } = tries;
    if (permit !== undefined && !repeatable) {
      return sendOnce({ method, url, headers: sent, body, repeatable, permit }, unending, use);
    }
    const tried = signal === undefined ? sending : { ...sending, interrupted: signal };
    return send({ method, url, headers: sent, body, repeatable, ...tries }, tried, use);
  };
  const callJson = (path: string): Promise<Payload> =>
    call({ method: 'GET', path }, async (answer) => {
      if (!succeeded(answer)) throw await errorOf(answer);
      const name = `GET ${path}`;
      const text = await answer.text({ most: maxBodyBytes.payload, of: name });
      return { value: decodeJson(text, { name }), headers: answer.headers };
    });
  const getInventory = (read: ReadOptions, use: (answer: ReceivedResponse) => Promise<void>): Promise<void> =>
    call({ method: 'GET', path: '/inventory', ...read }, async (answer) => {
      if (!isOk(answer)) throw await errorOf(answer);
      await use(answer);
    });

  return {
    async *scanInventory({ onUnreadable, ...read } = {}) {
      const { pushToPull, readInventory } = await import('./inventory-body.ts');
      yield* pushToPull((give) => getInventory(read, (answer) => readInventory(answer, { give, onUnreadable })));
    },
    updateInventory(petId, quantity, { permit } = {}) {
      const path = `/inventory/${petId}`;
      return call({ method: 'PATCH', path, body: JSON.stringify({ quantity }), permit }, async (answer) => {
        if (!isOk(answer)) throw await errorOf(answer);
        const name = `PATCH ${path}`;
        return decodeItemOf(await answer.bytes({ most: maxBodyBytes.item, of: name }), { name, experimental: true });
      });
    },
    getPet: (petId) => callJson(`/pets/${petId}`),
    listOrders: () => callJson('/store/orders'),
    probe: () => getInventory({}, async () => {}),
    request: (method, path, body) => call({ method, path, body }, (answer) => rawAnswer(answer, `${method} ${path}`)),
    stream: (outgoing, give) => call(outgoing, (answer) => streamedAnswer(answer, give)),
  };
}

function headersOf({ key, userAgent }: ClientOptions): Readonly<Record<string, string>> {
  return {
    authorization: `Bearer ${key}`,
    accept: 'application/json',
    'accept-encoding': 'gzip, deflate, br',
    'user-agent': userAgent,
  };
}

async function rawAnswer(answer: ReceivedResponse, of: string): Promise<RawResponse> {
  const body = await answer.bytes({ most: maxBodyBytes.payload, of });
  return { ...headOf(answer, body), body };
}

async function streamedAnswer(
  answer: ReceivedResponse,
  give: (chunk: Uint8Array, head: Pick<CheckedHead, 'status' | 'headers'>) => Promise<void>,
): Promise<CheckedHead> {
  // The words of an error are read once more when it is over.
  const words = new HeldBytes();
  let length = 0;
  try {
    for await (const chunk of answer.chunks()) {
      length += chunk.length;
      if (!succeeded(answer) && length <= maxBodyBytes.item) words.add(chunk);
      await answer.pauseTimeout(() => give(chunk, answer));
    }
  } catch (error) {
    if (length === 0 || !(error instanceof NetworkFailure)) throw error;
    const where = `The answer broke off after ${length} bytes`;
    throw new UnavailableError(`${where}, so it is not whole: ${error.message}`, { cause: error });
  }
  return headOf(answer, length <= maxBodyBytes.item ? words.bytes : Buffer.alloc(0));
}

function headOf(answer: ReceivedResponse, body: Uint8Array): CheckedHead {
  const { status, headers, redact } = answer;
  const text = () => Buffer.from(body).toString('utf8');
  return { status, headers, failure: succeeded(answer) ? undefined : errorOfAnswer(status, text(), { redact }) };
}

/** The statuses of an operation that was carried out. A 202 has not yet, a 206 is a part. */
function isOk({ status }: ReceivedResponse): boolean {
  return status === 200;
}

function succeeded({ status }: ReceivedResponse): boolean {
  return status >= 200 && status <= 299;
}
