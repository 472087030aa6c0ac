import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run prepare`: builds, unless nothing has changed since it did: the first `npx petstock` after `npm ci` runs it again.
 * `npm install --global .` links a fresh clone without installing what it is built with, so that comes first where it is missing.
 */
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
/** Says when the last build that ended well began; its own time is when that ended. */
const stamp = 'node_modules/.cache/petstock/built';
const sources = [
  ...['.ci', 'bin', 'src', 'test/support/reference'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsup.config.ts'],
];

if (!existsSync('node_modules/tsup/package.json')) run('npm ci --include=dev --ignore-scripts --no-audit --no-fund');
const isBuilt = existsSync(stamp) && existsSync('dist') && statSync('dist').mtimeMs <= statSync(stamp).mtimeMs;
if (!isBuilt || Math.max(...sources.flatMap(changes)) >= Number(readFileSync(stamp, 'utf8'))) {
  const began = Date.now();
  run('npm run build');
  mkdirSync(join(stamp, '..'), { recursive: true });
  writeFileSync(stamp, `${began}`);
}

/** When a file, or what is in a folder, was changed. A folder has the time at which a file was last added to it or taken away. */
function changes(path) {
  const below = statSync(path).isDirectory() ? readdirSync(path, { recursive: true }) : [];
  return [path, ...below.map((name) => join(path, name))].map((name) => statSync(name).mtimeMs);
}

/** Settings of the install that runs this are not those of what it runs. */
function run(command) {
  const ofInstall = /^(npm_config_(global|prefix|location|omit|only|production)|NODE_ENV)$/i;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofInstall.test(name)));
  const { status } = spawnSync(command, { env, shell: true, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
