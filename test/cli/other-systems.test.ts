import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { test } from '../support/shop.ts';

test('without owners and modes, as on Windows, a folder that is open to all will do', async ({
  shop: { run, folders },
}) => {
  for (const folder of Object.values(folders)) {
    mkdirSync(folder);
    chmodSync(folder, 0o777);
  }
  expect((await run('inventory adjust 4 +1')).code).toBe(1);
  expect((await run('config set low-stock 3')).code).not.toBe(0);
  const { geteuid } = process;
  Object.assign(process, { geteuid: undefined });
  onTestFinished(() => void Object.assign(process, { geteuid }));
  for (const command of ['config set low-stock 3', 'inventory adjust 4 +1', 'undo --last --yes'])
    expect([command, await run(command)]).toEqual([command, expect.objectContaining({ code: 0 })]);
  chmodSync(join(folders.config, 'config.json'), 0o666);
  expect(await run('config get low-stock')).toMatchObject({ code: 0, stdout: '3\n' });
});
