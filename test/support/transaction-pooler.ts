import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { portOf } from './answering.ts';

/** A connection to the server, and the client whose transaction it is in. */
interface Backend {
  readonly socket: Socket;
  client: Socket | null;
}

/** Puts a pooler before a database that gives each transaction the connection that idled last, as PgBouncer does. @returns its URL */
export async function transactionPooler(url: string): Promise<string> {
  const [, path = '', folder = ''] = /@(\/[^?]+)\?host=(.*)$/.exec(url) ?? [];
  const idle: Backend[] = [];
  const backends: Socket[] = [];
  onTestFinished(() => {
    for (const socket of backends) socket.destroy();
  });
  const owned = new Map<Socket, Backend>();
  const backend = async (startup: Buffer): Promise<Backend> => {
    const known = idle.pop();
    if (known !== undefined) return known;
    const socket = connect(`${decodeURIComponent(folder)}/.s.PGSQL.5432`).on('error', () => {});
    backends.push(socket);
    socket.write(startup);
    const made: Backend = { socket, client: null };
    await new Promise<void>((resolve) => {
      let isReady = false;
      eachMessage(socket, (type, message) => {
        made.client?.write(message);
        if (type !== 'Z') return;
        if (!isReady) resolve();
        isReady = true;
        if (made.client === null || message.at(-1) !== 'I'.charCodeAt(0)) return;
        owned.delete(made.client);
        made.client = null;
        idle.push(made);
      });
    });
    return made;
  };
  const server = createServer((client) => {
    client.on('error', () => {});
    client.once('data', (startup) => {
      // Welcome, a process id of its own, ready.
      client.write(Buffer.from('520000000800000000' + '4b0000000c7f0000017f000001' + '5a0000000549', 'hex'));
      let queue = Promise.resolve();
      eachMessage(client, (type, message) => {
        if (type === 'X') return client.end();
        queue = queue.then(async () => {
          const held = owned.get(client) ?? (await backend(startup));
          owned.set(client, held);
          held.client = client;
          held.socket.write(message);
        });
      });
    });
  });
  return `postgresql://postgres@127.0.0.1:${await portOf(server)}${path}?sslmode=disable`;
}

/** A letter, a length that counts itself, and the rest. */
function eachMessage(socket: Socket, take: (type: string, message: Buffer) => void): void {
  let rest = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const length = rest.readInt32BE(1) + 1;
      take(String.fromCharCode(rest[0] ?? 0), rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  });
}
