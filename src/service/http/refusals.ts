import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { clearTimeout, setTimeout } from 'node:timers';
import { CODINGS, JSON_TYPE, malformed, notImplemented, Refusal, refusalAnswer } from './answer.ts';
import type { Exchange } from './exchange.ts';

/** The methods of RFC 9110, and PATCH of RFC 5789. Any other one is not implemented anywhere here. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE']);

/** A name, an IPv4 address, or an IPv6 address in brackets, each with a port or without; or nothing (RFC 9112, 3.2). */
const HOST = /^(?:\[[\dA-Fa-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\dA-Fa-f]{2})*)(?::\d*)?$/;

/** Values of `TE` that ask for no coding: `trailers`; chunked goes without saying. */
const TAKEN_CODINGS = /^(?:trailers|chunked)?$/i;

/** Refuses what no operation could take, whatever the address. @throws Refusal 400, 417 or 501 */
export function requireWellFormed(exchange: Exchange): void {
  const { request, method, target } = exchange;
  if (target.malformed) throw new Refusal(400, 'malformed_path', 'The percent-encoding of the path is malformed.');
  requireOneHost(exchange);
  if (request.headers.expect !== undefined && request.headers.expect.toLowerCase() !== '100-continue') {
    throw new Refusal(417, 'expectation_failed', 'The only expectation that can be met is 100-continue.');
  }
  if (!METHODS.has(method)) throw notImplemented(`The method ${method} is not implemented.`);
  requireNoCoding(exchange);
}

function requireOneHost({ request }: Exchange): void {
  const hosts = request.headersDistinct.host ?? [];
  if (hosts.length === 0 && request.httpVersion === '1.1') throw malformed('The Host header is missing.');
  if (hosts.length > 1) throw malformed('There is more than one Host header.');
  if (!HOST.test(hosts[0] ?? '')) throw malformed('The Host header is not a host and a port.');
}

function requireNoCoding({ request: { headers } }: Exchange): void {
  const { te = '', 'transfer-encoding': coding = 'chunked' } = headers;
  if (coding.trim().toLowerCase() !== 'chunked') throw notImplemented(CODINGS);
  const asked = String(te).split(',');
  if (!asked.every((one) => TAKEN_CODINGS.test(one.replace(/;.*$/s, '').trim()))) throw notImplemented(CODINGS);
}

/** A token (RFC 9110, 5.1). */
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** As many as Node takes by default, before it leaves the rest out. */
const MAX_HEADERS = 2_000;

/**
 * Returns the refusal of headers that the parser lets through and should not; null if there are none. That of Node 20.18 takes a blank
 * before the colon for a part of the name: where the request ends, a proxy may see otherwise.
 * @param rawHeaders names and values in turn
 */
export function headersRefusal(rawHeaders: readonly string[]): Refusal | null {
  if (rawHeaders.length > 2 * MAX_HEADERS)
    return new Refusal(431, 'headers_too_large', 'There are too many header fields.');
  return rawHeaders.every((text, index) => index % 2 === 1 || FIELD_NAME.test(text)) ? null : malformed();
}

export interface ParserError extends NodeJS.ErrnoException {
  /** In words: "Transfer-Encoding can't be present with Content-Length". */
  readonly reason?: string;
  readonly rawPacket?: Buffer;
  /** How much of the packet was read before the error. */
  readonly bytesParsed?: number;
}

const REQUEST_LINE = /^([\w!#$%&'*+.^`|~-]+) \S+ HTTP\/1\.[01]\r?\n/;

/** The refusal that an error of node's HTTP parser amounts to; null for an error of the connection itself. */
export function parserRefusal(error: ParserError): Refusal | null {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Refusal(431, 'headers_too_large', 'The header fields are too large.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Refusal(413, 'payload_too_large', 'The chunk extensions are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Refusal(408, 'request_timeout', 'The request was not complete in time.');
    case 'HPE_INVALID_TRANSFER_ENCODING':
      // A length beside a coding: where the request ends, a proxy may see otherwise.
      return /content-length/i.test(error.reason ?? '') ? malformed() : notImplemented(CODINGS);
    case 'HPE_INVALID_METHOD': {
      const method = methodAt(error);
      return method === undefined ? malformed() : notImplemented(`The method ${method} is not implemented.`);
    }
    default:
      return error.code?.startsWith('HPE_') === true ? malformed() : null;
  }
}

/** The method of the request line that the parser failed at; undefined if that is no request line. */
function methodAt({ rawPacket, bytesParsed = 0 }: ParserError): string | undefined {
  const text = rawPacket?.toString('latin1') ?? '';
  const start = bytesParsed === 0 ? 0 : text.lastIndexOf('\n', bytesParsed - 1) + 1;
  return REQUEST_LINE.exec(text.slice(start, start + 8192))?.[1]?.slice(0, 40);
}

/** How long what the client still sends is read and ignored. Closing at once could take its answer from it. */
const LINGER_MS = 1_000;

/** Answers on a connection without a response object, and ends it. */
export function refuseConnection(socket: Duplex, refusal: Refusal, common: Readonly<Record<string, string>>): void {
  const { status, headers, body } = refusalAnswer(refusal);
  const text = String(body);
  const fields = {
    ...common,
    'Content-Type': JSON_TYPE,
    'Content-Length': String(Buffer.byteLength(text)),
    Connection: 'close',
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`);
  socket.on('error', () => socket.destroy()).resume();
  const lingering = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(lingering));
}
