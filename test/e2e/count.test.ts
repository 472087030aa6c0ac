import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setInterval } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { petstockAt } from '../support/petstock.ts';
import { type Program, serve, temporaryHome } from '../support/program.ts';

/** The number of kills. A longer test: `PETSTOCK_RUNS=100`. */
const kills = Number(process.env.PETSTOCK_RUNS ?? 2);
const scansPerKill = 20;
/** The number of large ids in the stock, which come after 1, 2, 3, …. */
const largeIds = 3;
const pace = 25;

/** Returns the scanned pet ids in a file. */
function scansIn(file: string): number[] {
  return [...readFileSync(file, 'utf8').matchAll(/^(\d+)(?: x1)?$/gm)].map(([, id]) => Number(id));
}

/** Kills the program itself, not the pseudo-terminal around it. */
function killOnTerminal({ pid }: Program): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  for (const child of children) process.kill(Number(child), 'SIGKILL');
}

/** Scans the pet ids from `next` to `most`, 40 a second, until `stopped`. @returns the first id that was not scanned */
async function scan(program: Program, next: number, most: number, stopped: () => boolean): Promise<number> {
  let id = next;
  for await (const _ of setInterval(pace)) {
    if (id > most || stopped()) break;
    program.type(`${id}\n`);
    id += 1;
  }
  return id;
}

test(`neither loses nor doubles a scan at 40 codes a second if count is killed ${kills} times`, {
  timeout: 600_000,
}, async () => {
  const most = kills * scansPerKill;
  const { env } = await serve({ pets: most + largeIds });
  const home = temporaryHome();
  const file = join(home.folder, 'scans.txt');
  const petstock = petstockAt({ env }, home);
  let next = 1;
  for (let kill = 1; kill <= kills; kill += 1) {
    const program = petstock.start(['inventory', 'count', file], { terminal: kill % 2 === 0 ? 40 : 80 });
    await program.until('stdout', ' > ');
    let isKilled = false;
    // Kills at a different point each time, between two scans or within one.
    const wanted = next + Math.floor((kill * 7) % scansPerKill);
    const scanning = scan(program, next, most, () => isKilled);
    // Ids increase, so longer ids that end like this one are shown later.
    if (wanted > next) await program.until('stdout', `${Math.min(wanted, most)}: 1\r`).catch(() => {});
    killOnTerminal(program);
    isKilled = true;
    const { stdout } = await program.result;
    const typed = await scanning;
    const kept = scansIn(file);
    const shown = [...stripVTControlCharacters(stdout).matchAll(/^(\d+): 1\r?$/gm)].map(([, id]) => Number(id));
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => index + 1));
    expect(kept.length).toBeGreaterThanOrEqual(Math.max(next - 1, ...shown));
    expect(kept.length).toBeLessThan(typed);
    next = kept.length + 1;
  }
  const last = petstock.start(['inventory', 'count', file, '--yes', '-o', 'json'], { terminal: 80 });
  await last.until('stdout', ' > ');
  await scan(last, next, most, () => false);
  last.type('\x04');
  expect((await last.result).code).toBe(0);
  expect(scansIn(file)).toEqual(Array.from({ length: most }, (_, index) => index + 1));
  const stock = (await petstock.run('inventory list -o tsv')).stdout.trim().split('\n');
  expect(stock.slice(0, most).filter((line) => line.split('\t')[1] !== '1')).toEqual([]);
});

test('counts a burst of 500 scans into a new file, and asks for confirmation after Ctrl-D', async () => {
  const { env } = await serve();
  const home = temporaryHome();
  const petstock = petstockAt({ env }, home);
  const program = petstock.start('inventory count', {
    terminal: 40,
    through: ['sh', '-c', 'cd "$0" && exec "$@"', home.folder],
  });
  await program.until('stdout', ' > ');
  for (let burst = 0; burst < 5; burst += 1) program.type('4\n'.repeat(100));
  await program.until('stdout', '4: 500\r');
  program.type('\x04');
  await program.until('stdout', 'Write this change? (y/N)');
  program.type('y\r');
  expect((await program.result).code).toBe(0);
  expect((await petstock.run('inventory get 4 -o tsv')).stdout).toMatch(/^4\t500\t/);
  const [name, ...others] = readdirSync(home.folder).filter((each) => each.endsWith('.txt'));
  expect([name, others]).toEqual([expect.stringMatching(/^count-\d{4}-\d\d-\d\d-\d{6}\.txt$/), []]);
});

test('exits with 130 after Ctrl-C in a count, and prints the command that goes on', async () => {
  const { env } = await serve();
  const home = temporaryHome();
  const file = join(home.folder, 'a.txt');
  const petstock = petstockAt({ env }, home);
  const program = petstock.start(`inventory count ${file} --color never`, { terminal: 160 });
  await program.until('stdout', ' > ');
  program.type('4 x3\n');
  await program.until('stdout', '4: 3');
  program.type('\x03');
  const { code, stdout } = await program.result;
  expect(code).toBe(130);
  const [, command = ''] = /Hint: petstock (inventory count \S+ --color never --env staging)\r/.exec(stdout) ?? [];
  expect(await petstock.run(`${command} --yes -o tsv`)).toMatchObject({
    code: 0,
    stdout: '1\t4\t39\t3\tapplied\t\t\n',
  });
});

test.for(['xterm', 'dumb'])('counts codes that a scanner frames with STX and ETX, with TERM=%s', async (TERM) => {
  const { env } = await serve();
  const home = temporaryHome();
  const petstock = petstockAt({ env: { ...env, TERM } }, home);
  const program = petstock.start(`inventory count ${join(home.folder, 'a.txt')} --color never`, { terminal: 80 });
  await program.until('stdout', TERM === 'dumb' ? 'help for more' : ' > ');
  program.type('\x024\x03\r\x024 x2\x03\r');
  await program.until('stdout', '4: 3 (+2)');
  // The scan arrives in pieces, as over a slow line, with Enter inside the frame.
  for (const piece of ['\x02', '5\r', '\x03']) program.type(piece);
  await program.until('stdout', '5: 1');
  program.type('\x03');
  expect(await program.result).toMatchObject({ code: 130, stdout: expect.stringContaining('4 units, 2 pets') });
});
