import { connect, createServer } from 'node:net';
import { expect, onTestFinished, vi } from 'vitest';
import { startService } from '../../src/service/index.ts';
import { portOf } from '../support/answering.ts';
import { temporaryDatabase } from '../support/postgres.ts';
import { openShop, test } from '../support/shop.ts';

/** The first test starts the server. */
vi.setConfig({ testTimeout: 60_000 });

/** What PgBouncer lets a client say as it connects, unless it is set to let more pass. */
const letThrough =
  /^(user|database|replication|client_encoding|datestyle|timezone|standard_conforming_strings|application_name)$/i;

/** In front of the database of a URL, a pooler with the settings that it comes with. @returns its URL */
async function poolerOf(url: string): Promise<string> {
  const [, path = '', folder = ''] = /@(\/[^?]+)\?host=(.*)$/.exec(url) ?? [];
  const server = createServer((near) => {
    const far = connect(`${decodeURIComponent(folder)}/.s.PGSQL.5432`);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).pipe(near);
    near.once('data', (first) => {
      const words = first.subarray(8).toString('latin1').split('\0');
      const refused = words.find((word, index) => index % 2 === 0 && word !== '' && !letThrough.test(word));
      if (refused === undefined) far.write(first);
      else near.end(errorMessage(`unsupported startup parameter: ${refused}`));
      near.pipe(far);
    });
  });
  return `postgresql://postgres@127.0.0.1:${await portOf(server)}${path}?sslmode=disable`;
}

/** As a server says it: `E`, a length, fields with a letter each. */
function errorMessage(text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${text}\0\0`);
  const head = Buffer.from('E....');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

test('the state behind a pooler', async ({ shop: { run } }) => {
  const url = await temporaryDatabase();
  const env = { PETSTOCK_STATE_URL: await poolerOf(url) };
  for (const command of ['inventory adjust 4 +1', 'undo --last --yes', 'state check']) {
    expect(await run(command, { env })).toMatchObject({ code: 0 });
  }
});

test('the service behind a pooler', async () => {
  const service = await startService({ database: await poolerOf(await temporaryDatabase()), clock: Date });
  onTestFinished(() => service.close());
  const { run } = await openShop();
  const env = { PETSTOCK_URL_STAGING: service.url, PETSTOCK_API_KEY_STAGING: service.key };
  expect(await run('inventory adjust 4 +1', { env })).toMatchObject({ code: 0 });
  expect(await run('inventory list -q', { env })).toMatchObject({ code: 0 });
});
