import type { HttpResponse } from './transport.ts';

/** The answer of a proxy that did not make a tunnel to the service. */
export type ProxyRefusal = Pick<HttpResponse, 'status' | 'headers'>;

/** No answer, or half of one: the connection failed, broke, or took too long. */
export class NetworkFault extends Error {
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

  /** As Node and OpenSSL name it: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  get code(): string {
    const { code = '' } = (this.cause ?? {}) as NodeJS.ErrnoException;
    return code;
  }
}

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
  // OpenSSL: `802C64:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/…`
  const [, reason] = /^[\dA-F]+:error:[\dA-F]+:[^:]*:[^:]*:([^:]+):/.exec(message ?? '') ?? [];
  if (reason !== undefined) return `no TLS connection can be made (${reason})`;
  return message || code || String(error);
}
