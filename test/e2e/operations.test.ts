import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { petstockAt } from '../support/petstock.ts';
import { programCommand } from '../support/program.ts';
import { scriptedService, tenEach, until } from '../support/scripted-service.ts';

/** Writes the script of docs/guide/scripts.md to a folder, with `petstock` on its PATH. */
async function openNight() {
  const service = await scriptedService({ stock: tenEach(40), limit: { limit: 20, seconds: 1 } });
  const production = { PETSTOCK_URL_PRODUCTION: service.env.PETSTOCK_URL_STAGING };
  const env = { ...production, PETSTOCK_API_KEY_PRODUCTION: service.env.PETSTOCK_API_KEY_STAGING };
  const petstock = petstockAt({ env });
  const bin = join(petstock.home.folder, 'bin');
  mkdirSync(bin);
  const command = programCommand().map((word) => `'${word}'`);
  writeFileSync(join(bin, 'petstock'), `#!/bin/sh\nexec ${command.join(' ')} "$@"\n`);
  chmodSync(join(bin, 'petstock'), 0o755);
  const document = readFileSync(new URL('../../docs/guide/scripts.md', import.meta.url), 'utf8');
  const script = petstock.file('night.sh', [/```sh\n(#!\/bin\/sh\n[\s\S]*?)```/.exec(document)?.[1] ?? 'exit 99']);
  const { folder, config, state } = petstock.home;
  const night = async () =>
    promisify(execFile)('sh', [script], {
      cwd: folder,
      env: { ...env, PATH: `${bin}:${process.env.PATH}`, PETSTOCK_CONFIG_DIR: config, PETSTOCK_STATE_DIR: state },
    }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    );
  const warehouse = () => {
    const files = readdirSync(folder).filter((name) => name.startsWith('warehouse-'));
    const bySeq = files.sort((a, b) => Number.parseInt(a.slice(10), 10) - Number.parseInt(b.slice(10), 10));
    return bySeq.flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'));
  };
  return { service, petstock, night, warehouse };
}

test('runs the nightly job from the documents without output, even after an apply was killed', async () => {
  const { service, petstock, night, warehouse } = await openNight();
  const quantities = Array.from({ length: 40 }, (_, index) => `${index + 1},${20 + index}`);
  const file = petstock.file('stock.csv', ['petId,quantity', ...quantities.slice(0, 4)]);
  expect(await night()).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(warehouse()).toHaveLength(4);
  expect(await night()).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(warehouse()).toHaveLength(4);

  petstock.file('stock.csv', ['petId,quantity', ...quantities]);
  const killed = petstock.start(['inventory', 'apply', file, '--env', 'production', '--yes', '-q', '--timeout', '2']);
  await until(() => expect(service.seen('PATCH').length).toBeGreaterThan(10));
  killed.kill('SIGKILL');
  await killed.result;
  expect(await night()).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(service.seen('PATCH')).toHaveLength(40);
  expect(Array.from({ length: 40 }, (_, index) => service.stockOf(index + 1))).toEqual(
    Array.from({ length: 40 }, (_, index) => 20 + index),
  );
  expect(warehouse().join('\n')).toBe((await petstock.run('history export -q')).stdout.trim());

  petstock.file('stock.csv', ['petId,quantity,expected', '1,5,777']);
  const conflict = await night();
  expect(conflict.code).toBe(7);
  expect(JSON.parse(conflict.stderr)).toMatchObject({ error: { kind: 'conflict', exitCode: 7 } });
});
