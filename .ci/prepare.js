import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run prepare`: builds, unless nothing has changed since the last build, because the first `npx petstock` after
 * `npm ci` runs `prepare` again. `npm install --global .` links a fresh clone without installing the build tools, so
 * they are installed first if they are missing.
 */
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
/** Contains the start time of the last successful build; its modification time is the end of that build. */
const stamp = 'node_modules/.cache/petstock/built';
const sources = [...['.ci', 'bin', 'src'], ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsup.config.ts']];

if (!existsSync('node_modules/tsup/package.json')) run('npm ci --include=dev --ignore-scripts --no-audit --no-fund');
const isBuilt = existsSync(stamp) && existsSync('dist') && statSync('dist').mtimeMs <= statSync(stamp).mtimeMs;
if (!isBuilt || Math.max(...sources.flatMap(changes)) >= Number(readFileSync(stamp, 'utf8'))) {
  const began = Date.now();
  run('npm run build');
  mkdirSync(join(stamp, '..'), { recursive: true });
  writeFileSync(stamp, `${began}`);
}

/**
 * Returns the modification times of a file, or of a folder and everything in it. A folder's own time changes when a
 * file in it is added or removed.
 */
function changes(path) {
  const below = statSync(path).isDirectory() ? readdirSync(path, { recursive: true }) : [];
  return [path, ...below.map((name) => join(path, name))].map((name) => statSync(name).mtimeMs);
}

/** Runs a command without the settings of the install that runs this script. */
function run(command) {
  const ofInstall = /^(npm_config_(global|prefix|location|omit|only|production)|NODE_ENV)$/i;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofInstall.test(name)));
  const { status } = spawnSync(command, { env, shell: true, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
