import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { portOf } from './answering.ts';
import type { PostgresServer } from './postgres-server.ts';

/** Starts a proxy in front of PostgreSQL, on a port of loopback, whose connections a test can disturb. */
export async function postgresProxy(first: PostgresServer) {
  const pairs = new Set<readonly [client: Socket, server: Socket]>();
  const silent = new WeakSet<Socket>();
  let behind = first;
  let awaited: { readonly text: string; reached(client: Socket): void } | null = null;
  const unanswered = new WeakSet<Socket>();
  const listener = createServer((client) => {
    const server = connect(`${behind.folder}/.s.PGSQL.5432`);
    const pair = [client, server] as const;
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of pair) socket.on('error', end).on('close', () => (silent.has(client) ? undefined : end()));
    client.on('data', (bytes) => {
      if (silent.has(client)) return;
      if (awaited !== null && bytes.includes(awaited.text)) {
        const { reached } = awaited;
        awaited = null;
        reached(client);
      }
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (!silent.has(client) && !unanswered.has(client)) client.write(bytes);
    });
  });
  const port = await portOf(listener);
  const atMessage = (text: string, act: (client: Socket) => void) =>
    new Promise<void>((resolve) => {
      awaited = {
        text,
        reached: (client) => {
          act(client);
          resolve();
        },
      };
    });
  const cut = () => {
    for (const [client, server] of pairs) {
      client.destroy();
      server.destroy();
    }
  };
  onTestFinished(cut);
  return {
    /** The URL of the database through this proxy. */
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    /** Returns how many connections are open. */
    open: () => pairs.size,
    /** Stops passing on bytes of the open connections, in both directions, without closing them: a pulled cable. */
    swallow: () => {
      for (const [client] of pairs) silent.add(client);
    },
    /** Makes new connections lead to this server. Open connections stay as they are. */
    lead: (server: PostgresServer) => {
      behind = server;
    },
    /**
     * Calls `act` right before the next message with this text is passed on.
     * @returns a promise that resolves after `act`
     */
    before: (text: string, act: () => void) => atMessage(text, act),
    /** Passes on no more responses on the connection of the next message with this text, from that message on. */
    unanswered: (text: string) => atMessage(text, (client) => void unanswered.add(client)),
    /** Closes all open connections. */
    cut,
  };
}
