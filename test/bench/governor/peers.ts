import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Which package each client of `clients/` is, as the table names it. */
const packages: Readonly<Record<string, string>> = {
  undici: 'undici',
  got: 'got',
  bottleneck: 'bottleneck',
  'p-throttle': 'p-throttle',
  discord: '@discordjs/rest',
  octokit: '@octokit/plugin-throttling',
};

/** The clients that the governor is measured beside. */
export const peers = Object.keys(packages);

/** Installs what is missing, as the lock file says. @returns why it could not */
export async function installPeers(): Promise<string | undefined> {
  if (peers.every((peer) => versionOf(peer) !== undefined)) return undefined;
  // npm tells its scripts by the environment which project they are in: this is another one.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package_|lifecycle_|config_local_prefix)/i.test(name)),
  );
  const options = { cwd: folder, env, timeout: 120_000 };
  return promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], options).then(
    () => undefined,
    (error) => `npm ci failed: ${/^npm error (.*)$/m.exec(error.stderr)?.[1] ?? error.message}`,
  );
}

/** `got 14.6.5` */
export function nameOf(client: string): string {
  const name = packages[client];
  return name === undefined ? client : `${name} ${versionOf(client) ?? ''}`.trim();
}

function versionOf(client: string): string | undefined {
  const manifest = join(folder, 'node_modules', packages[client] ?? client, 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}
