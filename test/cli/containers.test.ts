import { chmodSync, chownSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test as plain, vi } from 'vitest';
import { isRoot } from '../support/capabilities.ts';
import { newFolder } from '../support/new-folder.ts';
import { openShop, test } from '../support/shop.ts';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('narrows folders and files to which a group of the process can write, with a warning', async ({ shop }) => {
  await shop.exits('inventory set 4 12', 0);
  await shop.exits('config set low-stock 7', 0);
  const { config, state } = shop.folders;
  const paths = [config, join(config, 'config.json'), state, join(state, 'state.db'), join(state, 'locks')];
  // Kubernetes does this to a volume when a container with fsGroup starts.
  for (const path of paths) chmodSync(path, statSync(path).isDirectory() ? 0o2770 : 0o660);
  const warned = [config, state].map((folder) => `could write to ${folder}. It is now private (0700)`);
  await shop.exits('inventory set 4 13', 0, warned);
  expect(paths.map(modeOf)).toEqual(['700', '600', '700', '600', '700']);
  const again = await shop.exits('inventory set 4 14', 0);
  expect(again.stderr).not.toContain('Warning');
});

test('refuses a folder to which everybody can write', async ({ shop }) => {
  await shop.exits('inventory set 4 12', 0);
  chmodSync(shop.folders.state, 0o777);
  await shop.exits('inventory set 4 13', 1, 'others can write to it');
  expect(modeOf(shop.folders.state)).toBe('777');
});

plain.runIf(isRoot)('reads the configuration of another user as root, but does not change it', async () => {
  const shop = await openShop();
  await shop.exits('config set low-stock 30', 0);
  const { config } = shop.folders;
  for (const path of [join(config, 'config.json'), config]) chownSync(path, 4321, 4321);
  await shop.exits('inventory list --low', 0);
  expect(await shop.json('config get low-stock --json')).toMatchObject({ value: 30 });
  const said = [/belongs to another user \(uid 4321\)/, `Hint: export PETSTOCK_CONFIG_DIR=`];
  await shop.exits('config set low-stock 3', 1, said);
  expect(statSync(join(config, 'config.json')).uid).toBe(4321);
});

plain.runIf(isRoot)('hints at a folder below the mount point of another user', async () => {
  const shop = await openShop();
  const mounted = newFolder();
  chownSync(mounted, 4321, 4321);
  const folders = { ...shop.folders, state: mounted };
  await shop.exits('inventory set 4 12', 1, `Hint: export PETSTOCK_STATE_DIR=${join(mounted, 'petstock')}\n`, {
    folders,
  });
  await shop.exits('inventory set 4 12', 0, [], { folders: { ...folders, state: join(mounted, 'petstock') } });
});

afterEach(() => vi.unstubAllEnvs());

test('hints at the home of the account if HOME is no folder, and shows what needs none', async ({ shop }) => {
  vi.stubEnv('HOME', '/dev/null');
  const folders = { config: '/dev/null/config', state: '/dev/null/state' };
  const hint = (name: string, folder: string) => `Hint: export ${name}=${join(userInfo().homedir, folder)}\n`;
  const ofState = hint('PETSTOCK_STATE_DIR', '.petstock-state');
  await shop.exits('inventory set 4 12', 1, ofState, { folders });
  await shop.exits('--env sandbox inventory list', 1, ofState, { folders });
  await shop.exits('config set low-stock 3', 1, hint('PETSTOCK_CONFIG_DIR', '.petstock-config'), { folders });
  await shop.exits('limits', 0, [], { folders });
});
