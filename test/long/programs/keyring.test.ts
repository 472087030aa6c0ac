import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, serve, temporaryHome } from '../../support/program.ts';

/**
 * A script that unlocks a keyring for its own session, stores the key there, and runs its arguments. It waits until the
 * keyring is on the bus, because otherwise the bus would start another keyring, which is locked.
 */
const session = `
set -e
printf 'password' | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
owner='--dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets'
until dbus-send --session --print-reply $owner | grep -q true; do :; done
printf %s "$KEY" | secret-tool store --label=petstock service petstock env staging
unset KEY
"$@"
`;

test('reads a key from the desktop keyring with a key command', async () => {
  const home = temporaryHome();
  const service = await serve();
  const script = join(home.folder, 'session.sh');
  writeFileSync(script, session);
  const env = { PETSTOCK_URL_STAGING: service.url, KEY: service.key };
  const inSession = { home, env, through: ['dbus-run-session', '--', 'bash', script] };
  const command = 'secret-tool lookup service petstock env staging';
  expect(await runProgram(['config', 'set-key', '--command', command], { home, env })).toMatchObject({ code: 0 });
  const { code, stdout } = await runProgram('inventory get 1 --json', inSession);
  expect([code, stdout]).toEqual([0, expect.stringContaining('"petId":1')]);
  const unreachable = await runProgram('inventory get 1', { home, env });
  expect(unreachable).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining(command) });
});
