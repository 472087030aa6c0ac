import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Harm } from '../faults/grammar.ts';
import { type Answer, JSON_TYPE } from './answer.ts';
import { type Exchange, isCut } from './exchange.ts';

/**
 * Sends a response. Resolves once all of it was handed to Node, or the client has disconnected.
 * @param harm a fault that damages the response
 * @throws the error of a streamed body, after closing the connection
 */
export async function send(
  exchange: Exchange,
  answer: Answer,
  common: Readonly<Record<string, string>>,
  harm: Harm | null = null,
): Promise<void> {
  const { response } = exchange;
  const body = harm?.kind === 'malform' ? malformed(answer.body) : answer.body;
  const isTruncated = harm?.kind === 'truncate';
  const headers: Record<string, string> = { ...common, ...contentHeaders(body), ...answer.headers };
  if (exchange.awaitsContinue) headers.Connection = 'close';
  if (harm?.kind === 'without') {
    for (const name of Object.keys(headers)) if (harm.headers.includes(name.toLowerCase())) delete headers[name];
  }
  if (isCut(exchange)) return discard(body);

  response.writeHead(answer.status, headers);
  exchange.entry.status = answer.status;
  if (exchange.method === 'HEAD' || body === undefined) {
    await discard(body);
    response.end();
  } else if (typeof body === 'string') {
    if (isTruncated) return cutOff(exchange, body.slice(0, Math.ceil(body.length / 2)));
    response.end(body);
  } else {
    await stream(exchange, body, isTruncated);
  }
}

function contentHeaders(body: Answer['body']): Record<string, string> {
  if (body === undefined) return {};
  if (typeof body !== 'string') return { 'Content-Type': JSON_TYPE };
  return { 'Content-Type': JSON_TYPE, 'Content-Length': String(Buffer.byteLength(body)) };
}

/**
 * Writes a body as fast as the client reads, and handles other requests between two chunks. A client that stops reading
 * for too long is disconnected, because its snapshot would keep the database from cleaning up.
 */
async function stream(exchange: Exchange, pieces: AsyncGenerator<string, void>, truncated: boolean): Promise<void> {
  const { request, response } = exchange;
  const cutStalled = () => request.socket.destroy();
  request.socket.setTimeout(exchange.readMs).once('timeout', cutStalled);
  try {
    for await (const piece of pieces) {
      if (isCut(exchange)) return;
      if (truncated) return await cutOff(exchange, piece);
      // A socket that accepts everything drains within this turn; the next chunk still waits for another turn.
      if (!response.write(piece)) await drained(exchange);
      await nextTurn();
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    request.socket.setTimeout(0).off('timeout', cutStalled);
  }
}

/** Resolves when the socket accepts more, or when the client has disconnected. */
function drained({ request, response }: Exchange): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      request.socket.off('close', done);
      resolve();
    };
    response.once('drain', done);
    request.socket.once('close', done);
  });
}

function cutOff({ response }: Exchange, start: string): Promise<void> {
  return new Promise((resolve) => {
    response.write(start, () => {
      response.destroy();
      resolve();
    });
  });
}

/** Releases the source of a body that is not sent. A generator cleans up only if it was started. */
export async function discard(body: Answer['body']): Promise<void> {
  if (typeof body !== 'object') return;
  await body.next();
  await body.return();
}

/** Makes JSON invalid by replacing its first character. */
function malformed(body: Answer['body']): Answer['body'] {
  if (typeof body !== 'object') return body === undefined ? undefined : `<${body.slice(1)}`;
  return (async function* () {
    let first = true;
    for await (const piece of body) {
      yield first ? `<${piece.slice(1)}` : piece;
      first = false;
    }
  })();
}
