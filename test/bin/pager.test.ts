import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPager } from '../../bin/pager.ts';
import { newFolder } from '../support/new-folder.ts';

test('runs a pager without a shell on Windows if its name is a Windows path', async () => {
  const folder = newFolder();
  const program = join(folder, 'tools\\less.exe');
  writeFileSync(program, `#!/bin/sh\ncat > '${folder}/shown'\n`, { mode: 0o755 });
  const command = { command: program, env: process.env };
  const pager = openPager(command, true);
  await pager.write('a list');
  pager.end();
  expect([await pager.ended, readFileSync(join(folder, 'shown'), 'utf8')]).toEqual(['left', 'a list']);
  expect(await openPager(command, false).ended).toBe('missing');
});

test.each([
  ['exit 127 #|', false, 'missing'],
  ['exit 1 #|', false, 'failed'],
  ['exit 1 #|', true, 'missing'],
  ['exit 0 #|', true, 'left'],
  ['no-such-pager | cat', false, 'left'],
  ['kill -9 $$', false, 'failed'],
])(
  "detects from the shell's exit code whether it found the pager: %s (Windows: %s)",
  async (command, isWindows, how) => {
    expect(await openPager({ command, env: process.env }, isWindows).ended).toBe(how);
  },
);
