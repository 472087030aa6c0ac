import { setMaxListeners } from 'node:events';
import type { InventoryItem } from '../inventory/item-fields.ts';
import { counted } from '../inventory/items.ts';
import type { Permit } from '../rate-limit/permits.ts';
import type { RequestKind } from '../rate-limit/waits.ts';
import { FailureError, type PetstockError, UnavailableError } from '../shared/errors.ts';
import type { Json } from '../shared/json.ts';
import { redactorOf } from '../shared/sanitize.ts';
import { HeldBytes, maxBodyBytes } from './body.ts';
import { decodeItemOf, decodeJson, type WrittenItem } from './decode.ts';
import { errorOf, errorOfResponse, NetworkFailure, redactError } from './failures.ts';
import type { AttemptOptions } from './request.ts';
import { type Outgoing, type SendOptions, send, sendOnce } from './request.ts';
import type { ReceivedResponse } from './response.ts';
import { type Operation, operations, requestOf } from './specification.ts';
import type { HttpResponse } from './transport.ts';

export interface ClientOptions extends Omit<SendOptions, 'redact'> {
  readonly key: string;
  /** The `User-Agent` header, like `petstock/1.2.3`. */
  readonly userAgent: string;
}

/** A response whose body the specification does not define. */
export interface Payload {
  readonly value: Json;
  readonly headers: HttpResponse['headers'];
}

/** The head of a response of any status. */
export interface CheckedHead {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  /** The error for a status other than 2xx; undefined for success. */
  readonly failure: PetstockError | undefined;
}

export interface ReadOptions extends Pick<Outgoing, 'permit' | 'once' | 'time'> {
  /** Aborts the request, before or after it was sent. By default the client's own signal aborts it. */
  readonly signal?: AbortSignal | undefined;
  /** The time limit of each request, in milliseconds. Default: that of the client. */
  readonly timeout?: number | undefined;
}

export interface UpdateOptions {
  readonly permit: Permit;
  /** The time limit of the request, in milliseconds. Default: that of the client. */
  readonly timeout?: number | undefined;
}

/** The operations of the pet store inventory service, rate-limited and decoded. */
export interface Client {
  /**
   * Sends `GET /inventory`. Yields the items in batches, in the service's order, while the response streams in.
   * Stopping early closes the connection. A network error after the first batch is not retried; its message says that
   * the list is incomplete.
   */
  scanInventory(options?: ReadOptions): AsyncIterable<readonly InventoryItem[]>;
  /**
   * Sets the stock of one pet with `PATCH /inventory/{petId}`. Sends at most one request, which only its timeout aborts,
   * and follows no redirect.
   * @returns the item that the service returned
   * @throws PermitExpiredError if the given permit has expired and nothing was sent; otherwise errors that tell what is
   * certain: `notCarriedOut`, `status` (there was a response), `mayBeInFlight`
   */
  updateInventory(petId: bigint, quantity: number, options: UpdateOptions): Promise<WrittenItem>;
  /** Sends an operation whose response the specification does not define. */
  getPayload<Values extends object>(operation: Operation<Values>, values: Values): Promise<Payload>;
  /**
   * Sends `GET /inventory`, but reads only the headers of a response with status 200.
   * @throws the error for any other status
   */
  probe(): Promise<void>;
  /**
   * Sends any request, and passes on a body of any length as it arrives. A status of 400 or above is returned, not
   * thrown. Only a 429 is thrown, once no further wait is allowed. Errors after the first chunk are not retried.
   * @param give called with each chunk and awaited; the timeout is paused meanwhile
   */
  stream(
    request: Pick<Call, 'method' | 'path' | 'body' | 'headers'>,
    give: (chunk: Uint8Array, head: Pick<CheckedHead, 'status' | 'headers'>) => Promise<void>,
  ): Promise<CheckedHead>;
}

/** Methods whose requests have the same effect if they are sent twice. */
const repeatableMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

function kindOf(method: string): RequestKind {
  if (repeatableMethods.has(method)) return 'repeatable';
  return method === 'PATCH' ? 'write' : 'other';
}

export interface Call extends ReadOptions {
  readonly method: string;
  /** The path below the base URL, with a leading slash. */
  readonly path: string;
  readonly body?: string | Uint8Array | undefined;
  /** Further headers, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function createClient(options: ClientOptions): Client {
  // Any number of requests may listen to one signal; Node would warn about a leak after ten.
  setMaxListeners(0, options.interrupted);
  const redact = redactorOf([options.key]);
  const sending: SendOptions = { ...options, redact };
  /** Options of requests that only their timeout aborts. */
  const unending: AttemptOptions = { ...sending, interrupted: undefined };
  const headers = headersOf(options);
  const headersOfBody = { ...headers, 'content-type': 'application/json' };
  const redacted = <T>(sending: Promise<T>): Promise<T> =>
    sending.catch((error) => {
      throw redactError(error, redact);
    });
  const call = <T>(outgoing: Call, use: (response: ReceivedResponse) => Promise<T>): Promise<T> =>
    redacted(sendCall(outgoing, use));
  const sendCall = <T>(
    { method, path, body, headers: own, signal, timeout = options.timeout, ...tries }: Call,
    use: (response: ReceivedResponse) => Promise<T>,
  ): Promise<T> => {
    const sent = { ...(body === undefined ? headers : headersOfBody), ...own };
    const request = { method, url: options.baseUrl + path, headers: sent, body, kind: kindOf(method) };
    const tried = { ...sending, timeout, interrupted: signal ?? sending.interrupted };
    return send({ ...request, ...tries }, tried, use);
  };
  const getInventory = <T>(read: ReadOptions, use: (response: ReceivedResponse) => Promise<T>): Promise<T> =>
    call({ ...operations.listInventory, ...read }, async (response) => {
      if (!isOk(response)) throw await errorOf(response);
      return use(response);
    });

  return {
    async *scanInventory(read = {}) {
      const { readItems } = await import('./read-items.ts');
      const { name } = requestOf(operations.listInventory, {});
      const batches = await getInventory(read, async (response) => {
        const items = readItems(response.chunks(), { name });
        // Until the first items have arrived, the request may be repeated.
        return response.readOn(items, await items.next());
      });
      try {
        yield* batches;
      } catch (error) {
        throw redactError(incompleteError(error, name), redact);
      }
    },
    updateInventory(petId, quantity, { permit, timeout = options.timeout }) {
      const operation = operations.updateInventory;
      const { path, name } = requestOf(operation, { petId });
      const { method } = operation;
      const body = JSON.stringify({ quantity });
      const request = {
        method,
        url: options.baseUrl + path,
        headers: headersOfBody,
        body,
        kind: 'write',
        permit,
      } as const;
      return redacted(
        sendOnce(request, { ...unending, timeout }, async (response) => {
          if (!isOk(response)) throw await errorOf(response);
          const bytes = await response.bytes({ most: maxBodyBytes.item, of: name });
          return decodeItemOf(bytes, { ...operation, name });
        }),
      );
    },
    getPayload(operation, values) {
      const { path, name } = requestOf(operation, values);
      return call({ method: operation.method, path }, async (response) => {
        if (!succeeded(response)) throw await errorOf(response);
        const text = await response.text({ most: maxBodyBytes.payload, of: name });
        return { value: decodeJson(text, { ...operation, name }), headers: response.headers };
      });
    },
    probe: () => getInventory({}, async () => {}),
    stream: (outgoing, give) => call(outgoing, (response) => streamResponse(response, give)),
  };
}

/** Returns the error for a list that fails after its first items. */
function incompleteError(cause: unknown, name: string): unknown {
  if (cause instanceof NetworkFailure) {
    return new UnavailableError(`The response to ${name} broke off, so the list is incomplete: ${cause.message}`, {
      cause,
    });
  }
  if (cause instanceof FailureError) return new FailureError(`${cause.message}. The list is incomplete`, { cause });
  return cause;
}

function headersOf({ key, userAgent }: ClientOptions): Readonly<Record<string, string>> {
  return {
    authorization: `Bearer ${key}`,
    accept: 'application/json',
    'accept-encoding': 'gzip, deflate, br',
    'user-agent': userAgent,
  };
}

async function streamResponse(
  response: ReceivedResponse,
  give: (chunk: Uint8Array, head: Pick<CheckedHead, 'status' | 'headers'>) => Promise<void>,
): Promise<CheckedHead> {
  // The body of an error is collected, because it can only be parsed as a whole.
  const errorBody = new HeldBytes();
  let length = 0;
  try {
    for await (const chunk of response.chunks()) {
      length += chunk.length;
      if (!succeeded(response) && length <= maxBodyBytes.item) errorBody.add(chunk);
      await response.pauseTimeout(() => give(chunk, response));
    }
  } catch (error) {
    if (length === 0 || !(error instanceof NetworkFailure)) throw error;
    const where = `The response broke off after ${counted(length, 'byte')}`;
    throw new UnavailableError(`${where}, so it is incomplete: ${error.message}`, { cause: error });
  }
  return headOf(response, length <= maxBodyBytes.item ? errorBody.bytes : Buffer.alloc(0));
}

function headOf(response: ReceivedResponse, body: Uint8Array): CheckedHead {
  const { status, headers, redact } = response;
  const text = () => Buffer.from(body).toString('utf8');
  return { status, headers, failure: succeeded(response) ? undefined : errorOfResponse(status, text(), { redact }) };
}

/** Reports whether an operation was carried out: a 202 means "not yet", and a 206 is only a part. */
function isOk({ status }: ReceivedResponse): boolean {
  return status === 200;
}

function succeeded({ status }: ReceivedResponse): boolean {
  return status >= 200 && status <= 299;
}
