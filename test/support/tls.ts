import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { portOf } from './servers.ts';

const folder = join(import.meta.dirname, 'certificates');
// With umask 002, the group may write to the files of a clone, and petstock does not trust a file that others can write
// to.
for (const name of readdirSync(folder))
  if ((statSync(join(folder, name)).mode & 0o022) !== 0) chmodSync(join(folder, name), 0o644);

export const pemFile = (name: string): string => join(folder, `${name}.pem`);
export const pem = (name: string): string => readFileSync(pemFile(name), 'utf8');

/**
 * The certificate of the authority that signed the server's certificate for 127.0.0.1 and stock.example. Its key was
 * not kept.
 */
export const authorityFile = pemFile('authority');

/** Starts a TLS server that passes the decrypted bytes on to a port of this machine. */
export async function openTlsFront(targetUrl: string) {
  const target = Number(new URL(targetUrl).port);
  let connections = 0;
  const server = createTlsServer({ cert: pem('server'), key: pem('server-key') });
  server.on('connection', () => {
    connections += 1;
  });
  server.on('secureConnection', (socket) => joinSockets(socket, connect(target, '127.0.0.1')));
  /** `connections()` also counts connections whose handshake failed. */
  return { port: await portOf(server), connections: () => connections };
}

/**
 * Starts a proxy that makes tunnels. `asked` records the target of each tunnel, such as `stock.example:443`, and the
 * credentials.
 * @param tunnel the port to which every tunnel leads, whatever its target; or the status line and headers with which
 * the proxy refuses
 */
export async function openProxy(tunnel: number | string) {
  const asked: { target: string; authorization: string | undefined }[] = [];
  const server = createServer();
  server.on('connect', (request, socket: Socket) => {
    asked.push({ target: request.url ?? '', authorization: request.headers['proxy-authorization'] });
    if (typeof tunnel === 'string') return socket.end(`HTTP/1.1 ${tunnel}\r\n\r\n`);
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    return joinSockets(socket, connect(tunnel, '127.0.0.1'));
  });
  const host = `127.0.0.1:${await portOf(server)}`;
  return { url: `http://${host}`, host, asked };
}

/**
 * Opens a port that closes every connection at once.
 * @returns the port with its host, and a function that counts the connections
 */
export async function openClosingPort() {
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  return { host: `127.0.0.1:${await portOf(server)}`, connections: () => connections };
}

function joinSockets(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one);
  one.on('error', () => other.destroy());
  other.on('error', () => one.destroy());
}
