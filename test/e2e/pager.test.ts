import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { runProgram, serve, startProgram } from '../support/program.ts';

const list = 'inventory list --color never';

/** Returns the lines that the terminal showed. */
function linesOf(stdout: string): string[] {
  return stripVTControlCharacters(stdout).replaceAll('\r', '').trimEnd().split('\n');
}

test('ends a list of 200,000 pets quietly if its pager quits early', async () => {
  const { env } = await serve({ pets: 50000 });
  const { code, stdout } = await runProgram(list, { env: { ...env, PAGER: 'head -n 5' }, terminal: 80 });
  expect(code).toBe(0);
  expect(linesOf(stdout)).toHaveLength(7);
  expect(linesOf(stdout)[0]).toBe('▸ staging');
  expect(linesOf(stdout).at(-1)).toMatch(/^Rate limit: /);
});

/**
 * Returns the command of a pager that prints `ready` once it handles Ctrl-C, and quits on Enter. It is not a shell
 * script, because a shell ignores its `trap` for a signal that comes just before its `read`.
 */
function ownPager(onInterrupt: string, atStart = ''): string {
  const keyboard = `require('fs').createReadStream('/dev/tty').once('data', () => { console.log('left'); process.exit(); })`;
  const source = `process.on('SIGINT', () => { ${onInterrupt} }); ${keyboard}; ${atStart}; console.log('ready');`;
  return `node -e "${source}"`;
}

test('waits for the pager to quit after Ctrl-C', async () => {
  const { env } = await serve();
  const pager = ownPager(`console.log('heard ' + (this.times = (this.times ?? 0) + 1))`, 'process.stdin.resume()');
  const program = startProgram(list, { env: { ...env, PAGER: pager }, terminal: 80 });
  await program.until('stdout', 'ready');
  for (const times of [1, 2, 3]) {
    program.type('\x03');
    await program.until('stdout', `heard ${times}`);
  }
  program.type('\n');
  const { code, stdout } = await program.result;
  expect(code).toBe(0);
  expect(stdout).toMatch(/heard[\s\S]*left[\s\S]*Rate limit: /);
});

test('stops an unread list on Ctrl-C, and reports the interruption once the pager has quit', async () => {
  const { env } = await serve({ pets: 50000 });
  const pager = ownPager(`process.stdin.resume().once('end', () => console.log('read all'))`);
  const program = startProgram(list, { env: { ...env, PAGER: pager }, terminal: 80 });
  await program.until('stdout', 'ready');
  program.type('\x03');
  await program.until('stdout', 'read all');
  program.type('\n');
  const { code, stdout } = await program.result;
  expect(code).toBe(130);
  expect(stdout).toMatch(/left[\s\S]*Error: Interrupted/);
});
