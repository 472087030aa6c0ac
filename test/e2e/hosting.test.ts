import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { temporaryDatabase } from '../support/postgres.ts';
import { startProgram, temporaryHome } from '../support/program.ts';

/** Starts `sandbox serve` with an administration port. */
async function start(args: readonly string[], env: Readonly<Record<string, string>> = {}, through?: string[]) {
  const words = ['sandbox', 'serve', '--port', '0', '--admin-port', '0', '--json', ...args];
  const program = startProgram(words, { env, through });
  const line: Readonly<Record<'url' | 'key' | 'admin', string>> = JSON.parse(await program.until('stdout', '\n'));
  return { program, ...line };
}

async function statusOf(url: string, token?: string): Promise<number> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return (await fetch(url, { headers })).status;
}

test('fails /readyz, but answers requests, from SIGTERM until sandbox serve exits with 0', async () => {
  const { program, url, key, admin } = await start(['--file', ':memory:', '--drain', '2']);
  expect(await statusOf(`${admin}/readyz`)).toBe(200);
  program.kill('SIGTERM');
  await expect.poll(() => statusOf(`${admin}/readyz`)).toBe(503);
  expect(await statusOf(`${url}/inventory`, key)).toBe(200);
  expect(await program.result).toMatchObject({ code: 0, signal: null });
});

test('ends sandbox serve with exit code 0 after SIGTERM even if nobody reads its log', async () => {
  const through = ['bash', '-c', 'exec "$@" 2> >(exec sleep 600 >&- 2>&-)', 'bash'];
  const { program, url } = await start(['--file', ':memory:', '--log'], {}, through);
  // These requests write more to the log than a pipe holds.
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 100 }, () => statusOf(`${url}/inventory`, 'psk_wrong')));
  }
  program.kill('SIGTERM');
  expect(await program.result).toMatchObject({ code: 0, signal: null });
});

test('serves a renewed certificate after SIGHUP, and keeps it if the next certificate is broken', async () => {
  const { folder } = temporaryHome();
  mkdirSync(folder, { recursive: true });
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const install = (name: string) => {
    copyFileSync(join(import.meta.dirname, `../support/certificates/${name}.pem`), cert);
    copyFileSync(join(import.meta.dirname, `../support/certificates/${name}-key.pem`), key);
  };
  install('server');
  const { program, url } = await start(['--file', ':memory:', '--tls-cert', cert, '--tls-key', key]);
  const before = await fingerprint(url);
  install('renewed');
  program.kill('SIGHUP');
  await program.until('stderr', 'The certificate was reloaded.');
  const renewed = await fingerprint(url);
  expect(renewed).not.toBe(before);
  writeFileSync(cert, 'broken');
  program.kill('SIGHUP');
  expect(await program.until('stderr', 'The previous one stays in use.')).toMatch(/The certificate .* can.t be used: /);
  expect(await fingerprint(url)).toBe(renewed);
  program.kill('SIGINT');
  expect((await program.result).code).toBe(0);
});

test('ends sandbox serve with exit code 129 after SIGHUP if it has no certificate', async () => {
  const { program } = await start(['--file', ':memory:']);
  program.kill('SIGHUP');
  const { code } = await program.result;
  expect(code).toBe(129);
});

function fingerprint(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(url);
    const socket: TLSSocket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    }).on('error', reject);
  });
}

test('shares limits in PostgreSQL between two replicas that are configured by variables', async () => {
  const env = {
    PETSTOCK_SERVE_DATABASE: await temporaryDatabase(),
    PETSTOCK_SERVE_KEY: 'a-constant-key-of-ours',
    PETSTOCK_SERVE_ADMIN_TOKEN: 'a-constant-token-of-ours',
    PETSTOCK_SERVE_LIMIT_DAY: '5',
    PETSTOCK_SERVE_NO_BAN: '1',
  };
  const replicas = [await start([], env), await start([], env)];
  const statuses: number[] = [];
  for (let sent = 0; sent < 8; sent++)
    statuses.push(await statusOf(`${replicas[sent % 2]?.url}/inventory`, env.PETSTOCK_SERVE_KEY));
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  for (const { admin, program } of replicas) {
    const headers = { Authorization: `Bearer ${env.PETSTOCK_SERVE_ADMIN_TOKEN}` };
    const metrics = await (await fetch(`${admin}/metrics`, { headers })).text();
    expect(metrics).toMatch(/petstock_key_used\{key="\w+",name="",window="day"\} 5\n/);
    expect(metrics).toMatch(/process_resident_memory_bytes \d/);
    program.kill('SIGTERM');
    const { code, stdout, stderr } = await program.result;
    expect(code).toBe(0);
    expect(stderr).not.toContain(env.PETSTOCK_SERVE_KEY);
    expect(JSON.parse(stdout)).toMatchObject({ key: env.PETSTOCK_SERVE_KEY });
  }
});
