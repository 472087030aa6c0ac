import { createServer } from 'node:net';
import { portOf } from './servers.ts';

/**
 * Starts a server that looks like PgBouncer in transaction mode: each client gets its own process id when it connects,
 * but one backend serves all clients.
 */
export async function transactionPooler() {
  const statements: string[] = [];
  const server = createServer((client) => {
    client.on('error', () => {});
    client.once('data', () => {
      client.write(Buffer.concat([message('R', int32(0)), message('K', int32(127), int32(1)), message('Z', 'I')]));
      client.on('data', (bytes) => {
        for (let at = 0; at < bytes.length; at += bytes.readInt32BE(at + 1) + 1) {
          if (bytes.toString('latin1', at, at + 1) !== 'Q') return client.end();
          const statement = bytes.toString('latin1', at + 5, at + bytes.readInt32BE(at + 1));
          statements.push(statement);
          client.write(
            Buffer.concat([...(/pid/.test(statement) ? rowOfPid : []), message('C', 'DONE\0'), message('Z', 'I')]),
          );
        }
      });
    });
  });
  /** `statements` lists the statements of all clients. */
  return { url: `postgresql://postgres@127.0.0.1:${await portOf(server)}/postgres?sslmode=disable`, statements };
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** Returns a message of the PostgreSQL protocol: a letter, a length that includes itself, and the parts. */
function message(type: string, ...parts: readonly (string | Buffer)[]): Buffer {
  const rest = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from(type), int32(rest.length + 4), rest]);
}

/** The description of one column, a 32-bit integer as text, and its row. */
const rowOfPid = [
  message('T', '\0\x01pid\0', int32(0), '\0\0', int32(23), '\0\x04', int32(-1), '\0\0'),
  message('D', '\0\x01', int32(4), '4711'),
];
