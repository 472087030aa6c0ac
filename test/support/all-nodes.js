import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run test:nodes`: all tests with the oldest release of Node that is supported and with each line, one after the other. Each is
 * installed from the registry into a temporary folder. `npm run test:nodes -- 24` takes only that one.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const projects = ['unit', 'e2e', 'system'].flatMap((name) => ['--project', name]);
const wanted = process.argv.slice(2);
const lines = wanted.length > 0 ? wanted : ['20.18.1', '20', '22', '24', '26'];
let failed = false;

for (const line of lines) {
  const folder = mkdtempSync(join(tmpdir(), `petstock-node-${line}-`));
  try {
    const started = performance.now();
    const passed = await testWith(line, folder);
    failed ||= !passed;
    const seconds = Math.round((performance.now() - started) / 1000);
    process.stdout.write(`Node ${line}: ${passed ? 'passed' : 'FAILED'}, ${seconds} s\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exitCode = failed ? 1 : 0;

async function testWith(line, folder) {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  if (!(await succeeds('npm', ['install', '--no-audit', '--no-fund', `${name}@${line}`], { cwd: folder })))
    return false;
  const bin = join(folder, 'node_modules', name, 'bin');
  const env = { ...process.env, PATH: bin + delimiter + process.env.PATH };
  await succeeds(join(bin, 'node'), ['--version'], { env });
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  return succeeds(join(bin, 'node'), [vitest, 'run', ...projects, '--reporter=dot'], { cwd: root, env });
}

function succeeds(file, args, options) {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: 'inherit', ...options });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}
