import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run prepare`: builds, unless nothing has changed since it did: the first `npx petstock` after `npm ci` runs it again.
 * `npm install --global .` links a fresh clone without installing what it is built with, so that comes first where it is missing.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
/** Says when the last build that ended well began; its own time is when that ended. */
const stamp = join(root, 'node_modules', '.cache', 'petstock', 'built');
const sources = ['.ci', 'bin', 'src', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsup.config.ts'];

if (!existsSync(join(root, 'node_modules', 'tsup', 'package.json')))
  run('npm ci --include=dev --ignore-scripts --no-audit --no-fund');
if (!isBuilt()) {
  const began = Date.now();
  run('npm run build');
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, `${began}`);
}

/** Settings of the install that runs this are not those of what it runs. */
function run(command) {
  const ofInstall = /^(npm_config_(global|prefix|location|omit|only|production)|NODE_ENV)$/i;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofInstall.test(name)));
  const { status } = spawnSync(command, { cwd: root, env, shell: true, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function isBuilt() {
  if (!existsSync(stamp) || !existsSync(dist) || statSync(dist).mtimeMs > statSync(stamp).mtimeMs) return false;
  const began = Number(readFileSync(stamp, 'utf8'));
  return sources.every((name) => changedAt(join(root, name)) < began);
}

/** A folder has the time at which a file was last added to it or taken away. */
function changedAt(path) {
  const stats = statSync(path);
  const below = stats.isDirectory() ? readdirSync(path).map((name) => changedAt(join(path, name))) : [];
  return Math.max(stats.mtimeMs, ...below);
}
