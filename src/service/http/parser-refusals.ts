import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { clearTimeout, setTimeout } from 'node:timers';
import { CODINGS, JSON_TYPE, malformed, notImplemented, Refusal, refusalAnswer } from './answer.ts';

/** The error that node gives to listeners of `clientError`. */
export interface ParserError extends NodeJS.ErrnoException {
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
      return notImplemented(CODINGS);
    case 'HPE_INVALID_METHOD': {
      const method = methodAt(error);
      return method === undefined ? malformed() : notImplemented(`The method ${method} is not implemented.`);
    }
    default:
      return error.code?.startsWith('HPE_') === true ? malformed() : null;
  }
}

/** The method of the request line that the parser failed at; undefined where that is no request line. */
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
