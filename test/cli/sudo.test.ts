import { chownSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect } from 'vitest';
import { refuseSudoInHome } from '../../src/settings/folders.ts';
import { UsageError } from '../../src/shared/errors.ts';
import { isRoot } from '../support/capabilities.ts';
import { temporaryFolders, test } from '../support/shop.ts';

describe('sudo with the folders of the user who ran it', () => {
  test('is refused, by the owner of the nearest folder that is there', async () => {
    const folders = await temporaryFolders();
    const owner = statSync(dirname(folders.config)).uid;
    const caller = owner === 0 ? '4321' : String(owner);
    const refuse = (env: Record<string, string>, user: number) => () => refuseSudoInHome(folders, env, user);
    if (owner !== 0) expect(refuse({ SUDO_UID: caller }, 0)).toThrow(UsageError);
    expect(refuse({ SUDO_UID: caller }, 1234)).not.toThrow();
    expect(refuse({}, 0)).not.toThrow();
    expect(refuse({ SUDO_UID: '0' }, 0)).not.toThrow();
    expect(refuse({ SUDO_UID: '99999' }, 0)).not.toThrow();
  });

  test.runIf(isRoot)('says so, and makes and gives away nothing', async ({ shop }) => {
    const home = `${shop.folders.config}/home`;
    mkdirSync(home, { recursive: true, mode: 0o700 });
    chownSync(home, 4321, 4321);
    const folders = { config: `${home}/.config/petstock`, state: `${home}/.local/state/petstock` };
    for (const command of ['inventory list', 'inventory set 1 5', 'config set low-stock 3']) {
      const result = await shop.run(command, { folders, env: { SUDO_UID: '4321' } });
      expect(result).toMatchObject({ code: 2, stdout: '', requests: [] });
      expect(result.stderr).toContain('petstock runs as root, by sudo');
      expect(result.stderr).toContain('sudo -H');
    }
    expect(existsSync(`${home}/.config`)).toBe(false);
    expect(statSync(home).uid).toBe(4321);
  });
});
