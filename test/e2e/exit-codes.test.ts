import { expect, test } from 'vitest';
import { type ExitCodeName, exitCodes } from '../../src/shared/errors.ts';
import { runProgram, serve } from '../support/program.ts';

// Every class of failure is in test/cli/commands/errors.test.ts; here is that the process ends with what main gives.
test.each<[serve: string, command: string, exit: ExitCodeName]>([
  ['', 'inventory list', 'ok'],
  ['', 'inventory lst', 'usage'],
  ['*:hang', 'api POST /inventory --timeout 0.05', 'unavailable'],
  ['', 'inventory set 4242 5', 'not-found'],
])('%s: %s: %s', async (fault, command, exit) => {
  const { env } = await serve(fault === '' ? [] : ['--fault', fault]);
  const { code, signal, stdout, stderr } = await runProgram(command, { env });
  expect({ code, signal }).toEqual({ code: exitCodes[exit], signal: null });
  if (exit === 'ok') return expect(stderr).not.toContain('Error: ');
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^Error: .+$/m);
});

test('the version is that of the package, with the commit of a build that is no release', async () => {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
  const { code, stdout, stderr } = await runProgram('--version');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.replace(/\+[\da-f]{7,}\n$/, '\n')).toBe(`${manifest.version}\n`);
});
