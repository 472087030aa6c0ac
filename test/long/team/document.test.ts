import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { runSql, temporaryPostgres } from '../../support/postgres.ts';
import { type Home, programCommand, temporaryHome } from '../../support/program.ts';

const text = readFileSync(new URL('../../../docs/guide/team.md', import.meta.url), 'utf8');
const blocks = (kind: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${kind}\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, body = '']) => body);

test('sets up a team with the commands from docs/guide/team.md', async () => {
  const access = ['host all petstock,staging 127.0.0.1/32 scram-sha-256'];
  const { url: socket, port } = await temporaryPostgres({ tcp: 'plain', access });
  for (const statement of blocks('sql').join('').split(';\n')) {
    if (statement.trim() !== '') await runSql(socket, statement);
  }
  const lines = blocks('sh').flatMap((block) => block.trim().split('\n'));
  const serving = lines.filter((line) => line.includes('sandbox serve'));
  const others = lines.filter((line) => !line.includes('sandbox serve'));
  expect([serving.length, others.length]).toEqual([1, 12]);
  const at = `127.0.0.1:${port}`;
  const shop = workFolder({ 'staging.txt': `postgresql://staging:another-long-password@${at}/staging\n` });
  const url = await serveFor(serving[0] ?? '', shop);
  for (const _machine of ['one', 'another']) {
    const key = readFileSync(join(shop.work, 'key.txt'), 'utf8');
    const machine = workFolder({
      'url.txt': `postgresql://petstock:a-long-password@${at}/petstock\n`,
      'key.txt': key,
      'stock.csv': 'petId,quantity\n4,12\n5,7\n',
    });
    for (const line of others) expect(run(line, machine, url), line).toEqual({ line, status: 0 });
  }
}, 240_000);

interface Folder {
  readonly home: Home;
  readonly work: string;
}

function workFolder(files: Readonly<Record<string, string>>): Folder {
  const home = temporaryHome();
  const work = join(home.folder, 'work');
  mkdirSync(work);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(work, name), content);
  return { home, work };
}

function shell(line: string, { home }: Folder): { readonly script: string; readonly env: NodeJS.ProcessEnv } {
  const command = programCommand()
    .map((word) => `'${word}'`)
    .join(' ');
  const env = { PETSTOCK_CONFIG_DIR: home.config, PETSTOCK_STATE_DIR: home.state };
  return { script: `petstock() { ${command} "$@"; }; ${line}`, env: { PATH: process.env.PATH, USER: 'ann', ...env } };
}

/** Runs the line on a free port until the test is finished. @returns the URL of the service */
async function serveFor(line: string, folder: Folder): Promise<string> {
  const port = await freePort();
  const { script, env } = shell(line.replace('4010', `${port}`), folder);
  const child = spawn('bash', ['-c', script], { cwd: folder.work, env, stdio: 'ignore', detached: true });
  onTestFinished(() => void process.kill(-(child.pid ?? 0), 'SIGKILL'));
  const url = `http://127.0.0.1:${port}/v1`;
  const status = async () => (await fetch(`${url}/inventory`)).status;
  await vi.waitFor(async () => expect(await status()).toBe(401), { timeout: 60_000, interval: 100 });
  return url;
}

/** Runs a line, with `<run>` replaced by the latest run, and the document's URL by that of the service. */
function run(line: string, folder: Folder, url: string) {
  const shown = line
    .replace('http://stock.example/v1', url)
    .replace('<run>', '$(petstock history list --mine --limit 1 -o tsv -q --no-header | cut -f1)');
  const { script, env } = shell(shown, folder);
  const { status, stderr } = spawnSync('bash', ['-c', script], { cwd: folder.work, encoding: 'utf8', env });
  if (status !== 0) process.stderr.write(`${line}\n${stderr}`);
  return { line, status };
}
