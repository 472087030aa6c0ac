import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run prepare`: builds, unless nothing has changed since it did: the first `npx petstock` after `npm ci` runs it again.
 * `npm install --global .` links a fresh clone without installing what it is built with, so that comes first where it is missing.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
/** Says when the last build that ended well began; its own time is when that ended. */
const stamp = join(root, 'node_modules', '.cache', 'petstock', 'built');
const sources = ['.ci', 'bin', 'src', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsup.config.ts'];

/** Settings of the install that runs this are not those of what it runs. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(npm_config_(global|prefix|location|omit|only|production)|NODE_ENV)$/i.test(name),
  ),
);

if (!existsSync(join(root, 'node_modules', 'tsup', 'package.json'))) {
  run('npm ci --include=dev --ignore-scripts --no-audit --no-fund');
}
if (!isBuilt()) {
  const began = Date.now();
  run('npm run build');
  mkdirSync(join(stamp, '..'), { recursive: true });
  writeFileSync(stamp, `${began}`);
}

function run(command) {
  const { status } = spawnSync(command, { cwd: root, env, shell: true, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** A folder has the time at which a file was last added to it or taken away. */
function isBuilt() {
  if (!existsSync(stamp) || !existsSync(join(root, 'dist'))) return false;
  const began = Number(readFileSync(stamp, 'utf8'));
  const isOld = (path) => {
    const stats = statSync(path);
    if (stats.mtimeMs >= began) return false;
    return !stats.isDirectory() || readdirSync(path).every((name) => isOld(join(path, name)));
  };
  return (
    statSync(join(root, 'dist')).mtimeMs <= statSync(stamp).mtimeMs && sources.every((name) => isOld(join(root, name)))
  );
}
