import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { listening } from '../support/servers.ts';

export type Answerer = (response: ServerResponse) => void;

/** Opens a server that can do what the sandbox can't. It sends its answers in turn, then repeats the last one. */
export async function openServer(...answers: readonly Answerer[]) {
  const requests: { method: string; path: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const connections = { opened: 0, open: 0 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    requests.push({ method, path: url, headers, body: Buffer.concat(chunks).toString('utf8') });
    answers[Math.min(requests.length, answers.length) - 1]?.(response);
  });
  server.on('connection', (socket) => {
    connections.opened += 1;
    connections.open += 1;
    socket.on('close', () => {
      connections.open -= 1;
    });
  });
  const url = await listening(server);
  /** `connections` has the number of connections opened so far, and of those still open. */
  return { origin: new URL(url).origin, url, requests, connections };
}

export const stock = '[{"petId":7,"quantity":3,"status":"available"}]';
export const item = '{"petId":7,"quantity":3,"status":"available"}';

/** Sends a whole response, without a Date header so that the test's clock counts. */
export const answer =
  (
    status: number,
    body: string | Uint8Array = '',
    headers: Readonly<Record<string, string | readonly string[]>> = {},
  ): Answerer =>
  (response) => {
    response.sendDate = false;
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) } as never).end(body);
  };

/** Sends bytes unchanged, then closes the connection. */
export const raw =
  (text: string): Answerer =>
  (response) => {
    response.socket?.end(text);
  };

/** Resets the connection without a response. */
export const reset: Answerer = (response) => {
  response.socket?.resetAndDestroy();
};

/** Sends a head and the start of a body, then resets the connection. */
export const resetInBody: Answerer = (response) => {
  response.writeHead(200, { 'content-length': 1000 }).write(stock, () => response.socket?.resetAndDestroy());
};

/** Sends a head and the start of a body, then closes the connection. */
export const truncated: Answerer = (response) => {
  response.writeHead(200, { 'content-length': 1000 }).write(stock, () => response.socket?.destroy());
};

export const hang: Answerer = () => {};

/** Sends a head and the start of a body, and nothing more. */
export const hangInBody: Answerer = (response) => {
  response.writeHead(200).write(stock.slice(0, 10));
};

/** Waits without the clock, turn by turn of the event loop, until this has happened. */
export async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await turns(1);
}

/** Waits for turns of the event loop, in which data between sockets of this process arrives. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
