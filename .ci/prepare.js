import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * `npm run prepare`: builds. `npm install --global .` links a fresh clone without installing what it is built with, so that
 * comes first where it is missing.
 */
const root = fileURLToPath(new URL('..', import.meta.url));

/** Settings of the install that runs this are not those of what it runs. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(npm_config_(global|prefix|location|omit|only|production)|NODE_ENV)$/i.test(name),
  ),
);

if (!existsSync(new URL('../node_modules/tsup/package.json', import.meta.url))) {
  run('npm ci --include=dev --ignore-scripts --no-audit --no-fund');
}
run('npm run build');

function run(command) {
  const { status } = spawnSync(command, { cwd: root, env, shell: true, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
