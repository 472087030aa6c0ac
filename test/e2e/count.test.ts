import { join } from 'node:path';
import { setInterval } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { loadEngine } from '../../src/state/sqlite/engine.ts';
import { petstockAt } from '../support/petstock.ts';
import { type Home, type Program, serve, temporaryHome } from '../support/program.ts';

/** The number of kills. A longer test: `PETSTOCK_RUNS=100`. */
const kills = Number(process.env.PETSTOCK_RUNS ?? 4);
const scansPerKill = 20;
/** The number of large ids in the stock, which come after 1, 2, 3, …. */
const largeIds = 3;
const pace = 25;

/** Returns the only count session of a home. */
async function countIn({ state }: Home): Promise<{ name: string; pid: number; codes: string[] }> {
  const { DatabaseSync } = await loadEngine();
  const database = new DatabaseSync(join(state, 'state.db'), { readOnly: true });
  const count = database.prepare('SELECT substr(session, -4) AS name, holder FROM counts').get();
  const scans = database.prepare("SELECT code FROM count_scans WHERE kind = 'add' ORDER BY session, number").all();
  database.close();
  const { pid = 0 } = JSON.parse(`${count?.holder ?? null}`) ?? {};
  return { name: `${count?.name}`, pid, codes: scans.map(({ code }) => `${code}`) };
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
  const { env } = await serve(['--pets', `${most + largeIds}`]);
  const home = temporaryHome();
  const petstock = petstockAt({ env }, home);
  let next = 1;
  for (let kill = 1; kill <= kills; kill += 1) {
    const words = ['inventory', 'count', ...(kill === 1 ? [] : [(await countIn(home)).name])];
    const program = petstock.start(words, { terminal: kill % 2 === 0 ? 40 : 80 });
    await program.until('stdout', ' > ');
    let isKilled = false;
    // Kills at a different point each time, between two scans or within one.
    const wanted = next + Math.floor((kill * 7) % scansPerKill);
    const scanning = scan(program, next, most, () => isKilled);
    // Ids increase, so longer ids that end like this one are shown later.
    if (wanted > next) await program.until('stdout', `${Math.min(wanted, most)}: 1\r`).catch(() => {});
    process.kill((await countIn(home)).pid, 'SIGKILL');
    isKilled = true;
    const { stdout } = await program.result;
    const typed = await scanning;
    const kept = (await countIn(home)).codes.map(Number);
    const shown = [...stripVTControlCharacters(stdout).matchAll(/^(\d+): 1\r?$/gm)].map(([, id]) => Number(id));
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => index + 1));
    expect(kept.length).toBeGreaterThanOrEqual(Math.max(next - 1, ...shown));
    expect(kept.length).toBeLessThan(typed);
    next = kept.length + 1;
  }
  const last = petstock.start(['inventory', 'count', (await countIn(home)).name, '--yes', '-o', 'json'], {
    terminal: 80,
  });
  await last.until('stdout', ' > ');
  await scan(last, next, most, () => false);
  last.type('\x04');
  expect((await last.result).code).toBe(0);
  expect((await countIn(home)).codes.map(Number)).toEqual(Array.from({ length: most }, (_, index) => index + 1));
  const stock = (await petstock.run('inventory list -o tsv')).stdout.trim().split('\n');
  expect(stock.slice(0, most).filter((line) => line.split('\t')[1] !== '1')).toEqual([]);
});

test('counts a burst of 500 scans, and asks for confirmation after Ctrl-D', async () => {
  const { env } = await serve();
  const petstock = petstockAt({ env });
  const program = petstock.start('inventory count', { terminal: 40 });
  await program.until('stdout', ' > ');
  for (let burst = 0; burst < 5; burst += 1) program.type('4\n'.repeat(100));
  await program.until('stdout', '4: 500\r');
  program.type('\x04');
  await program.until('stdout', 'Write this change? (y/N)');
  program.type('y\r');
  expect((await program.result).code).toBe(0);
  expect((await petstock.run('inventory get 4 -o tsv')).stdout).toMatch(/^4\t500\t/);
});

test('exits with 130 after Ctrl-C in a count, and prints the command that resumes it', async () => {
  const { env } = await serve();
  const petstock = petstockAt({ env });
  const program = petstock.start('inventory count --color never', { terminal: 80 });
  await program.until('stdout', ' > ');
  program.type('4 x3\n');
  await program.until('stdout', '4: 3');
  program.type('\x03');
  const { code, stdout } = await program.result;
  expect(code).toBe(130);
  const [, command = ''] = /Hint: petstock (inventory count \w{4} --color never --env staging)\r/.exec(stdout) ?? [];
  expect(await petstock.run(`${command} --yes -o tsv`)).toMatchObject({
    code: 0,
    stdout: '1\t4\t39\t3\tapplied\t\t\n',
  });
});

test('counts codes that a scanner frames with STX and ETX, and ends on Ctrl-C', async () => {
  const { env } = await serve();
  const petstock = petstockAt({ env });
  const program = petstock.start('inventory count --color never', { terminal: 80 });
  await program.until('stdout', ' > ');
  program.type('\x024\x03\r\x024 x2\x03\r');
  await program.until('stdout', '4: 3 (+2)');
  // The scan arrives in pieces, as over a slow line, with Enter inside the frame.
  for (const piece of ['\x02', '5\r', '\x03']) program.type(piece);
  await program.until('stdout', '5: 1');
  program.type('\x03');
  expect(await program.result).toMatchObject({ code: 130, stdout: expect.stringContaining('keeps 4 units, 2 pets') });
});
