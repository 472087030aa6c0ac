import { describe, expect, test } from 'vitest';
import { changeFile } from '../../support/changes.ts';
import { openShop } from '../../support/shop.ts';

const widthOf = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

describe.each([80, 60])('at %i columns', (terminal) => {
  test.each(['exit-codes', 'environment', 'output', 'files', 'options'])(
    'help %s is wrapped at words',
    async (topic) => {
      const shop = await openShop();
      const { stdout } = await shop.run(`help ${topic}`, { terminal });
      expect(widthOf(stdout)).toBeLessThanOrEqual(terminal);
      const wide = await shop.run(`help ${topic}`, { terminal: 100 });
      expect(stdout.split(/\s+/)).toEqual(wide.stdout.split(/\s+/));
    },
  );

  test.each(['inventory apply', 'config get', 'config set', 'sandbox serve'])('%s --help', async (command) => {
    const shop = await openShop();
    const { stdout } = await shop.run(`${command} --help`, { terminal });
    const text = stdout.split('\n').filter((line) => !/^ *(petstock|#) /.test(line));
    expect(widthOf(text.join('\n'))).toBeLessThanOrEqual(terminal);
  });
});

test('the help of a command has its own options, and says where the global ones are', async () => {
  const shop = await openShop();
  const { stdout } = await shop.run('inventory list --help');
  expect(stdout).toContain('--status');
  expect(stdout).not.toContain('--max-wait');
  expect(stdout).toContain('\nGlobal options: petstock help options\n');
  expect((await shop.run('help options')).stdout).toMatch(/--max-wait <seconds> +longest/);
});

test('at 40 columns the history and failures are records, a field a line', async () => {
  const shop = await openShop({ quantityBounds: { max: 100n } });
  const file = changeFile(shop, 'petId,quantity\n4,12\n5,900\n');
  const options = { terminal: 40, env: { NO_COLOR: '1' } };
  const applied = await shop.run(['inventory', 'apply', file, '--yes'], options);
  expect(applied.stdout).toMatch(/^Line +2\nPet ID +4\nBefore +39\nAfter +12\nResult +applied\n\nLine +3\n/);
  const { stdout } = await shop.run('history list', options);
  expect(stdout).toMatch(
    /^At +15 Jan 07:00\nChange +2 pets\nCommand +apply\nResult +1 failed, 1 of 2 applied\nRun +\w{4}\nEnv +staging\n$/,
  );
  expect(widthOf(stdout)).toBeLessThanOrEqual(40);
});

test('a message after Ctrl-C begins on a line of its own on a terminal', async () => {
  const shop = await openShop();
  const controller = new AbortController();
  const { InterruptedError } = await import('../../../src/shared/errors.ts');
  const onSent = () => controller.abort(new InterruptedError('Interrupted'));
  const file = changeFile(shop, 'petId,quantity\n4,12\n');
  const command = ['inventory', 'apply', file, '--yes'];
  const run = { onSent, interrupted: controller.signal };
  const result = await shop.run(command, { ...run, terminal: 80, env: { NO_COLOR: '1' } });
  expect(result.code).toBe(130);
  expect(result.stderr).toContain('\n\nError: Interrupted; nothing was written.\nHint: petstock inventory apply ');
  const piped = await shop.run(command, run);
  expect(piped.stderr).not.toContain('\n\n');
});
