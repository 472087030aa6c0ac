import {
  AuthError,
  FailureError,
  NotFoundError,
  PetstockError,
  RateLimitedError,
  RejectedError,
  type ServiceError,
  UnavailableError,
} from '../shared/errors.ts';
import { statusMeaning } from '../shared/http-status.ts';
import { isJsonObject, parseJson, toInteger } from '../shared/json.ts';
import { isBlank } from '../shared/sanitize.ts';
import type { HttpResponse } from './transport.ts';

/** The answer of a proxy that did not make a tunnel to the service. */
export type ProxyRefusal = Pick<HttpResponse, 'status' | 'headers'>;

/** No answer, or half of one: the connection failed, broke, or took too long. */
export class NetworkFailure extends Error {
  override readonly name = 'NetworkFault';
  /** The head of an answer had come. */
  readonly answered: boolean;

  constructor(
    message: string,
    { cause, answered = false }: { readonly cause?: unknown; readonly answered?: boolean } = {},
  ) {
    super(message, { cause });
    this.answered = answered;
  }

  /** There was not even a connection, or none that can be trusted, so nothing was sent. */
  get unconnected(): boolean {
    const { syscall = 'connect' } = (this.cause ?? {}) as NodeJS.ErrnoException;
    // An open connection may fail with the same codes, behind what was sent.
    const isOpen = syscall === 'read' || syscall === 'write';
    return (unconnectedCodes.has(this.code) && !isOpen) || this.untrusted;
  }

  /** The certificate of the service was refused. */
  get untrusted(): boolean {
    return untrusted.test(this.code);
  }

  /** Another try would fail the same way: a proxy wants a password. */
  get hopeless(): boolean {
    return this.code === 'EPROXYAUTH';
  }

  /** What a proxy answered in place of making a tunnel. */
  get refusal(): ProxyRefusal | undefined {
    return ((this.cause ?? {}) as { readonly refusal?: ProxyRefusal }).refusal;
  }

  /** What came does not even begin as HTTP does. */
  get isForeign(): boolean {
    const { name, message = '' } = (this.cause ?? {}) as Partial<Error>;
    return name === 'HTTPParserError' && message.includes('Expected HTTP/');
  }

  /** The service changed to another protocol: that is its whole answer. */
  get isUpgrade(): boolean {
    return this.code === upgradeCode;
  }

  /** As Node and OpenSSL name it: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  get code(): string {
    const { code = '' } = (this.cause ?? {}) as NodeJS.ErrnoException;
    return code;
  }
}

/** The code of an answer that changes to another protocol. */
export const upgradeCode = 'EUPGRADE';

const unconnectedCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPROXY',
  'EPROXYAUTH',
]);
/** Faults of a certificate, which are found before anything is sent. */
const untrusted =
  /^(?:CERT_|ERR_TLS_CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$)/;

/** Node's and undici's network errors in a few words: `connect ECONNREFUSED 127.0.0.1:4010`. */
export function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0]);
  const { message, code } = error as { message?: string; code?: string };
  // Node's message repeats all names in the certificate.
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'it is for another host';
  // OpenSSL: `802C64:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/…`
  const [, reason] = /^[\dA-F]+:error:[\dA-F]+:[^:]*:[^:]*:([^:]+):/.exec(message ?? '') ?? [];
  if (reason !== undefined) return `no TLS connection can be made (${reason})`;
  return message || code || String(error);
}

/** In characters: a message is a line for a person. */
const maxMessage = 1000;

/** Reads an Error body. @returns undefined for anything else: HTML, nothing, half of something */
export function parseServiceError(text: string, status: number, redact: Redact = same): ServiceError | undefined {
  try {
    const body = parseJson(text);
    if (!isJsonObject(body)) return undefined;
    const { code, message } = body;
    if (typeof code !== 'string' || typeof message !== 'string') return undefined;
    const stated = Number(toInteger(body.status));
    return {
      // Decoded text, and before it is cut: half of a key is no key that could be found.
      code: redact(code).slice(0, maxMessage),
      message: redact(message).slice(0, maxMessage),
      status: stated >= 100 && stated <= 599 ? stated : status,
    };
  } catch {
    return undefined;
  }
}

/** An answer that is not a success. */
interface Refusal {
  readonly status: number;
  readonly redact: (text: string) => string;
  textOrNothing(): Promise<string>;
}

type Redact = Refusal['redact'];
const same: Redact = (text) => text;

/** The error for an answer that is not a success; it reads the body. @param retryAfter as `errorOfAnswer` */
export async function errorOf(answer: Refusal, retryAfter?: number): Promise<PetstockError> {
  return errorOfAnswer(answer.status, await answer.textOrNothing(), { retryAfter, redact: answer.redact });
}

/**
 * The error for an answer that is not a success.
 * @param text the body, whatever it is
 * @param details.retryAfter what it asks to wait, in milliseconds
 * @param details.redact takes the key out of its words
 */
export function errorOfAnswer(
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
    mayBeInFlight: statusMeaning(status) === 'undecided',
  };
  const words = service === undefined || isBlank(service.message) ? undefined : service.message;
  const says = asSentence(words, 'The service refused it') ?? `The service answered ${status}`;
  if (status === 401) {
    const refused = 'The service did not accept the key';
    return new AuthError(asSentence(words, refused) ?? refused, details);
  }
  if (status === 404) return new NotFoundError(says, details);
  if (status === 429) return new RateLimitedError(says, details);
  if (status >= 500)
    return new UnavailableError(
      words === undefined ? says : `${asSentence(words, 'The service failed')} (${status})`,
      details,
    );
  if (status < 300) return new FailureError(`The service answered ${status}, where 200 was expected`, details);
  // A redirect that leads nowhere, or a "not modified" that was not asked for.
  if (status < 400) return new FailureError(says, details);
  return new RejectedError(says, details);
}

/** Words of the service as a message: half a sentence of its own is put after `who`. */
function asSentence(words: string | undefined, who: string): string | undefined {
  return words !== undefined && /^\p{Ll}/u.test(words) ? `${who}: ${words}` : words;
}

/**
 * Returns the error for what the governor refuses after a 429, as the service said it.
 * @param refusal the error of that answer
 */
export function withServiceMessage(refusal: PetstockError, error: RateLimitedError): RateLimitedError {
  const { serviceError, status, message } = refusal;
  // Without a status it is a proxy that has refused.
  if (serviceError === undefined) return error.with(status === undefined ? { message } : { status });
  return error.with({ message: serviceError.message, serviceError, status });
}

/** The same error without the key: what is made of the service's words goes to screens, logs and the history. */
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
