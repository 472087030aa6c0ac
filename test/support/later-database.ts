import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { onTestFinished } from 'vitest';

/** A way to a database on which nobody listens at first. */
export async function laterDatabase(database: string) {
  const { pathname, searchParams } = new URL(database.replace('@/', '@localhost/'));
  const server = createServer((client) =>
    client.pipe(connect(`${searchParams.get('host')}/.s.PGSQL.5432`)).pipe(client),
  );
  const listen = (port: number) => once(server.listen(port, '127.0.0.1'), 'listening');
  await listen(0);
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  onTestFinished(() => void server.close());
  return { stateUrl: `postgresql://postgres@127.0.0.1:${port}${pathname}`, listen: () => listen(port) };
}
