import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.ts';

/** Returns the URL of a database on which nothing listens until `listen` is called. */
export async function laterDatabase(database: string) {
  const { pathname, searchParams } = new URL(database.replace('@/', '@localhost/'));
  const server = createServer((client) =>
    client.pipe(connect(`${searchParams.get('host')}/.s.PGSQL.5432`)).pipe(client),
  );
  const port = await freePort();
  onTestFinished(() => void server.close());
  return {
    stateUrl: `postgresql://postgres@127.0.0.1:${port}${pathname}`,
    listen: () => once(server.listen(port, '127.0.0.1'), 'listening'),
  };
}
