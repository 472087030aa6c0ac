import { CODINGS, malformed, notImplemented, Refusal } from './answer.ts';
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
