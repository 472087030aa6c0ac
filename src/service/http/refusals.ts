import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { clearTimeout, setTimeout } from 'node:timers';
import { CODINGS, JSON_TYPE, malformed, notImplemented, Refusal, refusalAnswer } from './answer.ts';
import type { Exchange } from './exchange.ts';

/** The methods of RFC 9110, and PATCH of RFC 5789. Any other method gets a 501. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE']);

/** A name, an IPv4 address, or an IPv6 address in brackets, each with a port or without; or nothing (RFC 9112, 3.2). */
const HOST = /^(?:\[[\dA-Fa-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\dA-Fa-f]{2})*)(?::\d*)?$/;

/** Values of `TE` that request no coding: `trailers`, and `chunked` (always supported). */
const TAKEN_CODINGS = /^(?:trailers|chunked)?$/i;

/** Refuses requests that no operation could handle, on any path. @throws Refusal 400, 417 or 501 */
export function requireWellFormed(exchange: Exchange): void {
  const { request, method, target } = exchange;
  if (target.malformed) throw new Refusal(400, 'malformed_path', 'The percent-encoding of the path is malformed.');
  requireOneHost(exchange);
  if (request.headers.expect !== undefined && request.headers.expect.toLowerCase() !== '100-continue') {
    throw new Refusal(417, 'expectation_failed', 'The only supported expectation is 100-continue.');
  }
  if (!METHODS.has(method)) throw notImplemented(`The method ${method} is not implemented.`);
  requireNoCoding(exchange);
}

function requireOneHost({ request }: Exchange): void {
  const hosts = request.headersDistinct.host ?? [];
  if (hosts.length === 0 && request.httpVersion === '1.1') throw malformed('The Host header is missing.');
  if (hosts.length > 1) throw malformed('There is more than one Host header.');
  if (!HOST.test(hosts[0] ?? '')) throw malformed('The Host header is not a host with an optional port.');
}

function requireNoCoding({ request: { headers } }: Exchange): void {
  const { te = '', 'transfer-encoding': coding = 'chunked' } = headers;
  if (coding.trim().toLowerCase() !== 'chunked') throw notImplemented(CODINGS);
  const asked = String(te).split(',');
  if (!asked.every((one) => TAKEN_CODINGS.test(one.replace(/;.*$/s, '').trim()))) throw notImplemented(CODINGS);
}

/** Matches a token (RFC 9110, 5.1). */
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Maximum number of headers: Node's own default. Node itself would drop any further headers. */
const MAX_HEADERS = 2_000;

/**
 * Returns the refusal of too many headers, or of invalid ones that the parser accepts; null if there are none. Node
 * 20.18's parser treats a blank before the colon as a part of the name, so a proxy may disagree about where the request
 * ends.
 * @param rawHeaders names and values in turn
 */
export function headersRefusal(rawHeaders: readonly string[]): Refusal | null {
  if (rawHeaders.length > 2 * MAX_HEADERS)
    return new Refusal(431, 'headers_too_large', 'There are too many header fields.');
  return rawHeaders.every((text, index) => index % 2 === 1 || FIELD_NAME.test(text)) ? null : malformed();
}

export interface ParserError extends NodeJS.ErrnoException {
  /** A text like "Transfer-Encoding can't be present with Content-Length". */
  readonly reason?: string;
  readonly rawPacket?: Buffer;
  /** Number of bytes of the packet that were read before the error. */
  readonly bytesParsed?: number;
}

const REQUEST_LINE = /^([\w!#$%&'*+.^`|~-]+) \S+ HTTP\/1\.[01]\r?\n/;

/** Returns the refusal for an error of Node's HTTP parser; null for an error of the connection itself. */
export function parserRefusal(error: ParserError): Refusal | null {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Refusal(431, 'headers_too_large', 'The header fields are too large.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Refusal(413, 'payload_too_large', 'The chunk extensions are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Refusal(408, 'request_timeout', 'The request did not arrive completely in time.');
    case 'HPE_INVALID_TRANSFER_ENCODING':
      // There are both a length and a coding, so a proxy may disagree about where the request ends.
      return /content-length/i.test(error.reason ?? '') ? malformed() : notImplemented(CODINGS);
    case 'HPE_INVALID_METHOD': {
      const method = methodAt(error);
      return method === undefined ? malformed() : notImplemented(`The method ${method} is not implemented.`);
    }
    default:
      return error.code?.startsWith('HPE_') === true ? malformed() : null;
  }
}

/**
 * Returns the method of the request line at which the parser failed; undefined if the text there is not a request line.
 */
function methodAt({ rawPacket, bytesParsed = 0 }: ParserError): string | undefined {
  const text = rawPacket?.toString('latin1') ?? '';
  const start = bytesParsed === 0 ? 0 : text.lastIndexOf('\n', bytesParsed - 1) + 1;
  return REQUEST_LINE.exec(text.slice(start, start + 8192))?.[1]?.slice(0, 40);
}

/**
 * Milliseconds for which further input is read and ignored. Closing at once could keep the client from reading the
 * response.
 */
const LINGER_MS = 1_000;

/** Responds on a connection without a response object, and ends it. */
export function refuseConnection(
  socket: Duplex,
  refusal: Refusal,
  common: Readonly<Record<string, string>>,
  lingerMs = LINGER_MS,
): void {
  const { status, headers, body } = refusalAnswer(refusal);
  const text = String(body);
  const length = String(Buffer.byteLength(text));
  const fields = { ...common, 'Content-Type': JSON_TYPE, 'Content-Length': length, Connection: 'close', ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`);
  socket.on('error', () => socket.destroy()).resume();
  const lingering = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(lingering));
}
