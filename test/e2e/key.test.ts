import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, temporaryHome } from '../support/program.ts';

test('files that hold a key are for their owner alone, whatever the umask', async () => {
  const home = temporaryHome();
  const through = ['sh', '-c', 'umask 0; exec "$@"', 'sh'];
  const file = join(home.config, 'config.json');
  await runProgram('config set-key --env staging', { home, through, stdin: 'psk_0123456789' });
  expect([mode(home.config), mode(file)]).toEqual(['700', '600']);
});

function mode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}
