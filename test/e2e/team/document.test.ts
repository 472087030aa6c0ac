import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSql, temporaryPostgres } from '../../support/postgres.ts';
import { programCommand, serve, temporaryHome } from '../../support/program.ts';

const text = readFileSync(new URL('../../../docs/team.md', import.meta.url), 'utf8');
const blocks = (kind: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${kind}\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, body = '']) => body);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

test('a team is set up by the commands of docs/team.md as they stand', async () => {
  const port = await freePort();
  const server = await temporaryPostgres({
    settings: ["listen_addresses = '127.0.0.1'", `port = ${port}`],
    access: ['host all petstock 127.0.0.1/32 scram-sha-256'],
  });
  for (const statement of blocks('sql').join('').split(';\n')) {
    if (statement.trim() !== '') await runSql(`${server.url}&port=${port}`, statement);
  }
  const served = await serve();
  const lines = blocks('sh').flatMap((block) => block.trim().split('\n'));
  expect(lines.length).toBeGreaterThan(10);
  for (const _machine of ['one', 'another']) {
    const home = temporaryHome();
    const work = join(home.folder, 'work');
    mkdirSync(work);
    writeFileSync(join(work, 'url.txt'), `postgresql://petstock:a-long-password@127.0.0.1:${port}/petstock\n`);
    writeFileSync(join(work, 'key.txt'), `${served.key}\n`);
    writeFileSync(join(work, 'stock.csv'), 'petId,quantity\n4,12\n5,7\n');
    for (const line of lines) expect(run(line, work, home, served.url), line).toEqual({ line, status: 0 });
  }
}, 180_000);

/** `<run>` stands for the latest run, the address of the document for that of the service. */
function run(line: string, cwd: string, home: { readonly config: string; readonly state: string }, url: string) {
  const command = programCommand()
    .map((word) => `'${word}'`)
    .join(' ');
  const shown = line
    .replace('http://stock.example/v1', url)
    .replace('<run>', '$(petstock history list --mine --limit 1 -o tsv -q --no-header | cut -f1)');
  const { status, stderr } = spawnSync('bash', ['-c', `petstock() { ${command} "$@"; }; ${shown}`], {
    cwd,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      USER: 'ann',
      PETSTOCK_CONFIG_DIR: home.config,
      PETSTOCK_STATE_DIR: home.state,
    },
  });
  if (status !== 0) process.stderr.write(`${line}\n${stderr}`);
  return { line, status };
}
