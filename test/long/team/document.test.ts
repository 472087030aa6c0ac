import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSql, temporaryPostgres } from '../../support/postgres.ts';
import { type Home, programCommand, serveProgram, temporaryHome } from '../../support/program.ts';

const text = readFileSync(new URL('../../../docs/guide/team.md', import.meta.url), 'utf8');
const blocks = (kind: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${kind}\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, body = '']) => body);

test('sets up a team with the commands from docs/guide/team.md', async () => {
  const access = ['host all petstock 127.0.0.1/32 scram-sha-256'];
  const { url: socket, port } = await temporaryPostgres({ tcp: 'plain', access });
  for (const statement of blocks('sql').join('').split(';\n')) {
    if (statement.trim() !== '') await runSql(socket, statement);
  }
  const lines = blocks('sh').flatMap((block) => block.trim().split('\n'));
  expect(lines).toHaveLength(12);
  const at = `127.0.0.1:${port}`;
  // In a process of its own, because this one waits for each command.
  const service = await serveProgram();
  for (const _machine of ['one', 'another']) {
    const machine = workFolder({
      'url.txt': `postgresql://petstock:a-long-password@${at}/petstock\n`,
      'key.txt': service.key,
      'stock.csv': 'petId,quantity\n4,12\n5,7\n',
    });
    for (const line of lines) expect(run(line, machine, service.url), line).toEqual({ line, status: 0 });
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

/** Runs a line, with `<run>` replaced by the latest run, and the document's URL by that of the service. */
function run(line: string, folder: Folder, url: string) {
  const shown = line
    .replace('https://stock.example/v1', url)
    .replace('<run>', '$(petstock history list --user ann --limit 1 -o tsv -q --no-header | cut -f1)');
  const { script, env } = shell(shown, folder);
  const { status, stderr } = spawnSync('bash', ['-c', script], { cwd: folder.work, encoding: 'utf8', env });
  if (status !== 0) process.stderr.write(`${line}\n${stderr}`);
  return { line, status };
}
