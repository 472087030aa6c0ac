import { mayArriveLater } from '../rate-limit/waits.ts';
import {
  AuthError,
  FailureError,
  NotFoundError,
  PetstockError,
  RateLimitedError,
  RejectedError,
  type ServiceError,
  statusSentence,
  UnavailableError,
} from '../shared/errors.ts';
import { isJsonObject, parseJson, toInteger } from '../shared/json.ts';
import type { HttpResponse } from './transport.ts';

/** The response of a proxy that refused a tunnel to the service. */
export type ProxyRefusal = Pick<HttpResponse, 'status' | 'headers'>;

/**
 * Thrown if there was no response, or only a part (the connection failed, broke, or timed out), or if the response is
 * not valid HTTP or can't be decompressed.
 */
export class NetworkFailure extends Error {
  override readonly name = 'NetworkFailure';
  /** Whether the head of a response had arrived. */
  readonly hasHead: boolean;

  constructor(
    message: string,
    { cause, hasHead = false }: { readonly cause?: unknown; readonly hasHead?: boolean } = {},
  ) {
    super(message, { cause });
    this.hasHead = hasHead;
  }

  /** Whether the certificate of the service was rejected. */
  get isUntrusted(): boolean {
    return untrustedCodes.test(this.code);
  }

  /** Whether another attempt would fail the same way, because a proxy requires a password. */
  get needsProxyPassword(): boolean {
    return this.code === 'EPROXYAUTH';
  }

  /** The response of a proxy that refused a tunnel; undefined for a 407, which has the code `EPROXYAUTH`. */
  get refusal(): ProxyRefusal | undefined {
    return ((this.cause ?? {}) as { readonly refusal?: ProxyRefusal }).refusal;
  }

  /** Whether the response is not HTTP at all. */
  get isNotHttp(): boolean {
    const { name, message = '' } = (this.cause ?? {}) as Partial<Error>;
    return name === 'HTTPParserError' && message.includes('Expected HTTP/');
  }

  /** Whether the service switched to another protocol; there is no further response then. */
  get isUpgrade(): boolean {
    return this.code === upgradeCode;
  }

  /** The code of the cause, like `ECONNREFUSED`, `CERT_HAS_EXPIRED` or `UND_ERR_SOCKET`; empty if it has none. */
  get code(): string {
    const { code = '' } = (this.cause ?? {}) as NodeJS.ErrnoException;
    return code;
  }
}

export const upgradeCode = 'EUPGRADE';

/** Matches the codes of certificate errors. They occur before anything is sent. */
const untrustedCodes =
  /^(?:CERT_|ERR_TLS_CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$)/;

/** Describes network errors of Node and undici in a few words, like `connect ECONNREFUSED 127.0.0.1:4010`. */
export function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0]);
  const { message, code } = error as { message?: string; code?: string };
  // Node's message repeats all names in the certificate.
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'it is for another host';
  // A message of OpenSSL looks like `802C64:error:0A00010B:SSL routines:ssl3_get_record:wrong version
  // number:../deps/…`.
  const [, reason] = /^[\dA-F]+:error:[\dA-F]+:[^:]*:[^:]*:([^:]+):/.exec(message ?? '') ?? [];
  if (reason !== undefined) return `no TLS connection can be made (${reason})`;
  return message || code || String(error);
}

/** Maximum length of a code or message of the service, in characters. */
const maxMessage = 1000;

/**
 * Parses a body with the `Error` object of the specification.
 * @returns undefined for anything else, such as HTML, an empty body, or a truncated body
 */
export function parseServiceError(text: string, status: number, redact: Redact = same): ServiceError | undefined {
  try {
    const body = parseJson(text);
    if (!isJsonObject(body)) return undefined;
    const { code, message } = body;
    if (typeof code !== 'string' || typeof message !== 'string') return undefined;
    const stated = Number(toInteger(body.status));
    return {
      // The decoded text is redacted before it is truncated, because half of a key could not be recognized.
      code: redact(code).slice(0, maxMessage),
      message: redact(message).slice(0, maxMessage),
      status: stated >= 100 && stated <= 599 ? stated : status,
    };
  } catch {
    return undefined;
  }
}

interface Refusal {
  readonly status: number;
  readonly redact: (text: string) => string;
  textOrNothing(): Promise<string>;
}

type Redact = Refusal['redact'];
const same: Redact = (text) => text;

/** Reads the body of a failed response, and returns its error. `retryAfter`: as in `errorOfResponse`. */
export async function errorOf(response: Refusal, retryAfter?: number): Promise<PetstockError> {
  return errorOfResponse(response.status, await response.textOrNothing(), { retryAfter, redact: response.redact });
}

/**
 * Returns the error for a failed response.
 * @param text the body, of any kind
 * @param details.retryAfter the wait that the response asks for, in milliseconds
 */
export function errorOfResponse(
  status: number,
  text: string,
  { retryAfter, redact }: { readonly retryAfter?: number | undefined; readonly redact?: Redact } = {},
): PetstockError {
  const service = parseServiceError(text, status, redact);
  const retryAfterSeconds = retryAfter === undefined ? undefined : Math.ceil(retryAfter / 1000);
  const details = {
    status,
    serviceError: service,
    retryAfterSeconds,
    mayBeInFlight: mayArriveLater(status),
  };
  const says = statusSentence(status);
  if (status === 401) return new AuthError('The service did not accept the key', details);
  if (status === 404) return new NotFoundError(says, details);
  if (status === 429) return new RateLimitedError(says, details);
  if (status >= 500) return new UnavailableError(says, details);
  if (status < 300) return new FailureError(`${says} instead of 200`, details);
  // Such as a 300 or 304: other redirects are followed, or have errors of their own.
  if (status < 400) return new FailureError(says, details);
  return new RejectedError(says, details);
}

/** Returns the refusal of a further request with the message and details of the 429 before it. */
export function withServiceMessage(last: PetstockError, error: RateLimitedError): RateLimitedError {
  const { message, serviceError, status } = last;
  return error.with({ message, serviceError, status });
}

/** Returns the error without the key, because the service's text appears on screens, in logs and in the history. */
export function redactError(error: unknown, redact: (text: string) => string): unknown {
  if (!(error instanceof PetstockError)) return error;
  const { serviceError } = error;
  const message = redact(error.message);
  const words = serviceError && {
    ...serviceError,
    code: redact(serviceError.code),
    message: redact(serviceError.message),
  };
  const isClean =
    message === error.message && words?.code === serviceError?.code && words?.message === serviceError?.message;
  return isClean ? error : error.with({ message, serviceError: words, cause: error.cause });
}
