import { once } from 'node:events';
import { createServer, type OutgoingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * Starts a service that gives the same response to every request.
 * @returns its base URL
 */
export async function answering(status: number, body: string, headers: OutgoingHttpHeaders = {}): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  return listening(server);
}

/** Like `portOf`, but returns the base URL of a service. */
export async function listening(server: Server): Promise<string> {
  return `http://127.0.0.1:${await portOf(server)}/v1`;
}

/**
 * Makes a server listen on a free port of loopback. When the test is finished, the server and its connections close.
 * @returns its port
 */
export async function portOf(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** Returns a port of loopback at which nobody listens. */
export async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
