import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { InterruptedError } from '../../../../src/shared/errors.ts';
import { changeFile, stockOf, withReport } from '../../../support/changes.ts';
import { openShop, type Shop, type ShopRunOptions } from '../../../support/shop.ts';

/** Counts what is given as lines, off a terminal. */
async function count(shop: Shop, lines: string, args = '--yes --json', options: ShopRunOptions = {}) {
  const words = args === '' ? [] : args.split(' ');
  const result = await shop.run(['inventory', 'count', ...words], { stdin: lines, ...options });
  return withReport(result.stdout.startsWith('{') ? result : { ...result, stdout: '' });
}

/** A person at a terminal of 80 columns, who says yes. */
const person: ShopRunOptions = {
  terminal: 80,
  env: { NO_COLOR: '1' },
  prompts: { confirm: async () => true, text: async () => 'production' },
};

/** The only session of the shop, by its last four characters. */
function sessionIn(shop: Shop): string {
  const [name = ''] = readdirSync(join(shop.folders.state, 'counts'));
  return name.slice(-10).replace(/^.*-/, '').slice(0, 4);
}

const writes = (result: Awaited<ReturnType<typeof count>>) =>
  result.requests.filter(({ method }) => method === 'PATCH').map(({ path, body }) => `${path.slice(14)} ${body}`);

test('what is scanned becomes the stock', async () => {
  const shop = await openShop();
  const result = await count(shop, '4\n4\n5 x3\n8*2\n-\n= 1 12\n\ndone\n7\n');
  expect(result.code).toBe(0);
  expect(result.report).toMatchObject({
    env: 'staging',
    dryRun: false,
    counts: { applied: 2, unchanged: 1, failed: 0, conflict: 0 },
  });
  expect(result.report.rows.map(({ petId, after, result }) => [petId, after, result])).toEqual([
    [4, 2, 'applied'],
    [5, 3, 'applied'],
    [1, 12, 'unchanged'],
  ]);
  expect(writes(result)).toEqual(['4 {"quantity":2}', '5 {"quantity":3}']);
  expect(result.requests).toHaveLength(3);
});

test('it is a run of the history, and can be taken back', async () => {
  const shop = await openShop();
  const before = await stockOf(shop);
  expect((await count(shop, '4\n')).code).toBe(0);
  const [run] = JSON.parse((await shop.run('history list --json')).stdout);
  expect(run).toMatchObject({ command: 'inventory count', reason: 'stock-take', state: 'done' });
  expect((await shop.run('undo --last --yes')).code).toBe(0);
  expect(await stockOf(shop)).toEqual(before);
});

test('every digit of an id counts, and an int64 is counted', async () => {
  const shop = await openShop();
  const { stdout } = await count(shop, '9007199254740993 x2\n9223372036854775807\n');
  expect(stdout).toContain('"petId":9007199254740993,');
  expect(stdout).toContain('"petId":9223372036854775807,');
});

test('without a terminal, --yes or --to is needed before anything is read or sent', async () => {
  const shop = await openShop();
  const result = await count(shop, '4\n', '');
  expect(result).toMatchObject({ code: 2, requests: [], stdout: '' });
  expect(result.stderr).toMatch(/Confirmation required.*\nHint: petstock inventory count --dry-run/);
  expect(() => readdirSync(join(shop.folders.state, 'counts'))).toThrow('ENOENT');
});

test('codes are text: leading zeros count, and several may stand for one pet', async () => {
  const shop = await openShop();
  const codes = changeFile(shop, 'petId;Bar Code;name\n4;004;Rex\n4;4006381333931;\n5;AB 12 x2;\n', 'codes.csv');
  const result = await count(shop, '004\n4006381333931\nAB 12 x2\n4\n', `--yes --json --codes ${codes}`);
  expect(result.code).toBe(0);
  expect(writes(result)).toEqual(['4 {"quantity":3}']);
  expect(result.report.rows.map(({ petId, after }) => [petId, after])).toEqual([
    [4, 3],
    [5, 1],
  ]);
});

test('a file of codes with faults is refused, with all of them', async () => {
  const shop = await openShop();
  const codes = changeFile(shop, 'code,petId\n007,4\n007,5\n,6\n-,7\n8,x\n', 'codes.csv');
  const result = await count(shop, '4\n', `--yes --codes ${codes}`);
  expect(result).toMatchObject({ code: 2, requests: [] });
  expect(result.stderr.split('\n').filter((line) => line.startsWith('  line '))).toHaveLength(4);
  for (const other of ['petId,quantity\n4,5\n', '', 'nothing.csv']) {
    const file = other.endsWith('.csv') ? other : changeFile(shop, other, 'other.csv');
    expect((await count(shop, '4\n', `--yes --codes ${file}`)).code).toBe(2);
  }
});

test('what is not known is kept apart, listed, and not written: exit 8', async () => {
  const shop = await openShop();
  const result = await count(shop, '4\n004\n004\n777777\nfoo x2\n4 x0\n');
  expect(result.code).toBe(8);
  expect(writes(result)).toEqual(['4 {"quantity":1}']);
  expect(result.stderr).toMatch(/^Not counted, since no pet is known for them:\n( {2}.+\n){4}/m);
  for (const line of ['  004     2\n', '  777777  1\n', '  foo     2\n', '  4 x0    1\n'])
    expect(result.stderr).toContain(line);
  expect(result.stderr.trimEnd().split('\n').at(-1)).toMatch(/Not counted: 6 units of 4 unknown codes/);
});

test('where nothing is known nothing is written, and the session stays', async () => {
  const shop = await openShop();
  expect(await count(shop, 'foo\n')).toMatchObject({ code: 9 });
  const codes = changeFile(shop, 'code,petId\nfoo,4\n', 'codes.csv');
  const later = await count(shop, '', `${sessionIn(shop)} --yes --json --codes ${codes}`);
  expect(later.code).toBe(0);
  expect(writes(later)).toEqual(['4 {"quantity":1}']);
});

test('--all sets what was not scanned to 0, guarded by max-zero, and never beside an unknown code', async () => {
  const shop = await openShop({ pets: 5 });
  const guarded = await count(shop, '1\n', '--yes --all --max-zero 1');
  expect(guarded).toMatchObject({ code: 2 });
  expect(guarded.stderr).toContain('max-zero allows 1');
  expect(writes(guarded)).toEqual([]);
  const unknown = await count(shop, 'foo\n', `${sessionIn(shop)} --yes --all`);
  expect(unknown).toMatchObject({ code: 2 });
  expect(writes(unknown)).toEqual([]);
  const dropped = await count(shop, '= foo 0\n', `${sessionIn(shop)} --yes --all`);
  expect(dropped.code).toBe(0);
  expect(new Set((await stockOf(shop)).values())).toEqual(new Set([0, 1]));
  expect((await stockOf(shop)).get('1')).toBe(1);
});

test('--to writes a change file with what is expected, and no stock', async () => {
  const shop = await openShop();
  const file = join(shop.folders.state, '..', 'counted.csv');
  const result = await count(shop, '4\n1 x12\n', `--to ${file}`);
  expect(result).toMatchObject({ code: 0, stdout: '' });
  expect(writes(result)).toEqual([]);
  expect(readFileSync(file, 'utf8')).toBe(
    'petId,status,expected,quantity,reason,ref\n4,,39,1,stock-take,\n1,,12,12,stock-take,\n',
  );
  expect((await shop.run(['inventory', 'apply', file, '--yes'])).code).toBe(0);
  expect((await stockOf(shop)).get('4')).toBe(1);
  expect((await count(shop, '4\n', '--to counted.json')).code).toBe(2);
  writeFileSync(file, 'mine\n');
  expect((await count(shop, '4\n', `--to ${file}`)).code).toBe(2);
  const toStdout = await shop.run('inventory count --to -', { stdin: '4\n' });
  expect(toStdout).toMatchObject({
    code: 0,
    stdout: 'petId,status,expected,quantity,reason,ref\n4,,1,1,stock-take,\n',
  });
});

test('a dry run of what comes through a pipe leaves nothing behind', async () => {
  const shop = await openShop();
  const result = await count(shop, '4\n', '--dry-run --exit-code');
  expect(result.code).toBe(3);
  expect(writes(result)).toEqual([]);
  expect((await count(shop, '4\n')).code).toBe(0);
});

test('nothing counted is refused, whatever --yes and --all say, and leaves nothing behind', async () => {
  const shop = await openShop({ pets: 5 });
  const before = await stockOf(shop);
  for (const lines of ['', '\n-\n', 'done\n', '4\n-\n', '= foo 0\n']) {
    for (const args of ['--yes', '--yes --new --all', '--new --all --to -', '--new --all --dry-run']) {
      const result = await count(shop, lines, args);
      expect(result, `${args}: ${lines}`).toMatchObject({ code: 2, stdout: '' });
      expect(result.stderr).toContain('Nothing was counted');
      expect(writes(result)).toEqual([]);
    }
  }
  expect(await stockOf(shop)).toEqual(before);
  expect((await count(shop, '1\n')).code).toBe(0);
});

test('--to keeps to --max-changes and --max-zero', async () => {
  const shop = await openShop({ pets: 5 });
  const file = join(shop.folders.state, '..', 'guarded.csv');
  for (const guard of ['--all --max-zero 1', '--all --max-changes 1']) {
    const refused = await count(shop, '1\n', `--new --to ${file} ${guard}`);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('The plan is refused, and nothing was written');
    expect(existsSync(file)).toBe(false);
  }
  expect((await count(shop, '1\n', `--new --to ${file} --all --max-zero 4`)).code).toBe(0);
});

test('while a session is unfinished a script is refused, with the command that goes on', async () => {
  const shop = await openShop();
  await count(shop, '4 x2\n', '--yes --max-changes 0');
  const name = sessionIn(shop);
  const refused = await count(shop, '5\n');
  expect(refused).toMatchObject({ code: 2, requests: [] });
  expect(JSON.parse(refused.stderr.trim().split('\n').at(-1) ?? '').error.hint).toBe(
    `petstock inventory count ${name} --env staging`,
  );
  const other = await count(shop, '5\n', '--new --yes --json');
  expect(writes(other)).toEqual(['5 {"quantity":1}'].filter(() => other.report.rows[0]?.result === 'applied'));
  const same = await count(shop, '4\n', `${name} --yes --json`);
  expect(writes(same)).toEqual(['4 {"quantity":3}']);
  const again = await count(shop, '4\n', `${name} --yes`);
  expect(again).toMatchObject({ code: 2, requests: [] });
  expect(again.stderr).toMatch(/is finished: it was applied, by run .*\nHint: petstock history show /);
});

test('a session is of one environment, and is named right', async () => {
  const shop = await openShop();
  await count(shop, '4 x2\n', '--yes --max-changes 0');
  const name = sessionIn(shop);
  const elsewhere = await count(shop, '', `${name} --yes --env sandbox`);
  expect(elsewhere.code).toBe(2);
  expect(elsewhere.stderr).toContain(`Hint: petstock inventory count ${name} --env staging`);
  const moved = await count(shop, '', `${name} --yes`, { env: { PETSTOCK_URL_STAGING: 'http://localhost:9/v1' } });
  expect(moved).toMatchObject({ code: 2, requests: [] });
  expect((await count(shop, '', 'zzzz --yes')).code).toBe(9);
  expect((await count(shop, '', '../x --yes')).code).toBe(2);
});

test('a person sees the sum, hears what is unknown, and is asked', async () => {
  const shop = await openShop();
  const questions: string[] = [];
  const confirm = async (question: string) => questions.push(question) > 0;
  const result = await count(shop, '4\n4 x2\n777777\n-\n\ndone\n', '', { ...person, prompts: { confirm } });
  expect(result.code).toBe(0);
  const stderr = result.stderr.replaceAll('\r\x1b[K', '');
  expect(stderr).toMatch(/^▸ staging · .*\nSession [0-9a-z]{4}\. Scan, or type a pet id and Enter\.\n- takes /);
  expect(stderr).toContain('0 units, 0 pets > 4: 1\n1 unit, 1 pet > 4: 3 (+2)\n3 units, 1 pet > ');
  expect(stderr).toContain('\x07777777: 1 kept apart, there is no such pet\n3 units, 1 pet, 1 unknown > ');
  expect(stderr).toMatch(/777777: 0 \(taken back\)\n(3 units, 1 pet > )?3 units, 1 pet in 2 scans\n3 units, 1 pet > /);
  expect(stderr).toContain('4   39 → 3  (-36)\n');
  expect(questions).toEqual(['Write 1 change to staging?']);
  expect(result.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'PATCH']);
});

test('at 40 columns no line of it is longer, whatever the code', async () => {
  const shop = await openShop();
  const long = `${'9'.repeat(60)}\n4\n9223372036854775807 x99999\n\ndone\n`;
  const { stderr } = await count(shop, long, '--dry-run', { ...person, terminal: 40 });
  const lines = stderr.split(/\n|(?<= > )/).map((line) => line.replace('\x07', ''));
  const drawn = lines.filter((line) => / > $|^\S+: |^ {2}9| → /.test(line));
  expect(drawn.length).toBeGreaterThan(8);
  expect(drawn.filter((line) => line.length > 40 && !/^(Error|Hint|Rate limit|Warning): /.test(line))).toEqual([]);
});

test('TERM=dumb: plain lines with the sum, and nothing is drawn', async () => {
  const shop = await openShop();
  const { stderr } = await count(shop, '4\n777777\ndone\n', '--yes', { ...person, env: { TERM: 'dumb' } });
  expect(stderr).toContain('\n4: 1. Sum: 1 unit, 1 pet\n');
  expect(stderr).toContain('kept apart, there is no such pet. Sum: 1 unit, 1 pet, 1 unknown\n');
  expect(stderr.replace('\x07', '')).not.toMatch(/ > |[\x00-\x09\x0b-\x1f]/);
});

test('no is no: the session stays, and a person is asked to go on with it', async () => {
  const shop = await openShop();
  const no = await count(shop, '4\ndone\n', '', { ...person, prompts: { confirm: async () => false } });
  expect(no).toMatchObject({ code: 2 });
  const name = sessionIn(shop);
  expect(no.stderr).toMatch(new RegExp(`Hint: petstock inventory count ${name} --env staging\n$`));
  expect(writes(no)).toEqual([]);
  const questions: string[] = [];
  const text = async (question: string) => ['4006381333931', 'never', ''][questions.push(question) - 1] ?? '';
  const on = await count(shop, '4\ndone\n', '', { ...person, prompts: { confirm: async () => true, text } });
  expect(questions).toHaveLength(3);
  expect(questions[1]).toContain('"4006381333931" is not an answer, and was not counted. Session ');
  expect(questions[0]).toMatch(
    new RegExp(`^Session ${name} of .* is not finished \\(1 unit, 1 pet\\)\\. Go on with it\\?`),
  );
  expect(on.stderr).toContain(`Session ${name} goes on: 1 unit, 1 pet.`);
  expect(writes(on)).toEqual(['4 {"quantity":2}']);
});

test('for production its name has to be typed', async () => {
  const shop = await openShop();
  const { PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key } = shop.env;
  const env = { PETSTOCK_URL_PRODUCTION: url, PETSTOCK_API_KEY_PRODUCTION: key };
  const prompts = { text: async () => 'yes' };
  const refused = await count(shop, '4\ndone\n', '--env production', { ...person, env, prompts });
  expect(refused.code).toBe(2);
  expect(writes(refused)).toEqual([]);
});

test('Ctrl-C keeps the session, and says how to go on', async () => {
  const shop = await openShop();
  const abort = new AbortController();
  const stopped = await count(shop, '4\n4\n4\n4\n4\n4\n', '', {
    ...person,
    interrupted: abort.signal,
    onStderr: (text) => {
      if (text.includes('4: 2')) abort.abort(new InterruptedError('Interrupted'));
    },
  });
  expect(stopped.code).toBe(130);
  const name = sessionIn(shop);
  const [, units = ''] =
    new RegExp(`Error: Interrupted; session ${name} keeps (\\d) units, 1 pet`).exec(stopped.stderr) ?? [];
  expect(Number(units)).toBeGreaterThanOrEqual(2);
  expect(Number(units)).toBeLessThan(6);
  expect(stopped.stderr).toContain(`Hint: petstock inventory count ${name} --env staging\n`);
  const on = await count(shop, '4\n', `${name} --yes --json`);
  expect(writes(on)).toEqual([`4 {"quantity":${Number(units) + 1}}`]);
});

test('two sessions become one: what each has counted is added up, once', async () => {
  const shop = await openShop();
  for (const lines of ['4 x2\n= 5 3\nfoo\n', '4\n5 x4\nfoo x2\n'])
    await count(shop, lines, '--new --yes --max-changes 0');
  const names = readdirSync(join(shop.folders.state, 'counts')).map((name) => name.slice(-10, -6));
  const [one = '', two = ''] = names;
  expect((await count(shop, '', `--merge ${one} ${one} --yes`)).code).toBe(2);
  expect((await count(shop, '', `--merge ${one} --yes`)).code).toBe(2);
  const merged = await count(shop, '-\n4\n', `--merge ${one} ${two} --yes --json`);
  expect(merged.code).toBe(8);
  expect(writes(merged)).toEqual(['4 {"quantity":4}', '5 {"quantity":7}']);
  expect(merged.stderr).toContain('  foo  3\n');
  const again = await count(shop, '', `--merge ${one} ${two} --yes`);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('is finished: it was merged into session ');
});

test('--list shows the sessions, and --discard gives one up after a question', async () => {
  const shop = await openShop();
  await count(shop, '4 x2\nfoo\n', '--yes --max-changes 0');
  const name = sessionIn(shop);
  const listed = await shop.run('inventory count --list --json');
  expect(listed.requests).toEqual([]);
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { env: 'staging', scans: 2, pets: 1, units: 2, unknown: 1, state: 'open', became: null },
  ]);
  expect((await shop.run(`inventory count --discard ${name}`)).code).toBe(2);
  expect((await shop.run(`inventory count --discard ${name} --yes`)).code).toBe(0);
  expect(JSON.parse((await shop.run('inventory count --list --json')).stdout)[0].state).toBe('discarded');
  expect((await count(shop, '4\n')).code).toBe(0);
});

test('a run of it that breaks off is resumed, and the session makes no other one', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/5:first=1:status=401'] });
  const broken = await count(shop, '4\n5 x9\n8\n', '--yes --json --concurrency 1');
  expect(broken.code).toBe(8);
  const { run } = broken.report;
  expect(broken.stderr).toContain(`petstock inventory apply --resume ${run} --env staging`);
  expect((await count(shop, '4\n', `${sessionIn(shop)} --yes`)).stderr).toContain(`it was applied, by run ${run}`);
  expect((await shop.run(`inventory apply --resume ${run} --yes`)).code).toBe(0);
  const stock = await stockOf(shop);
  expect(['4', '5', '8'].map((petId) => stock.get(petId))).toEqual([1, 9, 1]);
});

test('a crash once its run has begun: the session finds the run, and makes no other one', async () => {
  const shop = await openShop();
  const lost: Promise<never> = new Promise(() => {});
  await new Promise<void>((resolve) => {
    let isKilled = false;
    void count(shop, '4 x2\n', '--yes', {
      onSent: ({ method }) => {
        isKilled = method === 'PATCH';
        if (isKilled) resolve();
      },
      around: async (send) => {
        const answer = await send();
        return isKilled ? lost : answer;
      },
    });
  });
  const on = await count(shop, '4\n', `${sessionIn(shop)} --yes`);
  expect(on).toMatchObject({ code: 2, requests: [] });
  expect(on.stderr).toMatch(/Error: Session \w{4} was applied, (by run|and run) \S+/);
});

test('without the service the count goes on, and the pets are looked at in the end', async () => {
  const shop = await openShop({ faults: ['GET /inventory:first=9:status=503'] });
  const result = await count(shop, '4\n777777\n-\n777777\ndone\n', '', person);
  expect(result.stderr).toMatch(/Warning: [\s\S]*Pet ids are checked once the count\sis done/);
  expect(result.stderr).toContain('777777: 1\n');
  expect(result.code).toBe(8);
});

test('a key that is refused is said before anything is scanned', async () => {
  const shop = await openShop();
  const env = { ...person.env, PETSTOCK_API_KEY_STAGING: 'psk_0123456789abcdefghijklmnopqrst' };
  expect(await count(shop, '4\n', '', { ...person, env })).toMatchObject({ code: 4 });
  expect((await count(shop, '4\ndone\n', '', person)).code).toBe(0);
});

test('a service that is away in the end, and Ctrl-C at the question: the session stays, and the hint goes on with it', async () => {
  const shop = await openShop({ faults: ['GET /inventory:first=5:status=503'] });
  const away = await count(shop, '4 x2\n', '--yes');
  expect(away.code).toBe(5);
  const name = sessionIn(shop);
  const hint = `Hint: petstock inventory count ${name} --env staging\n`;
  expect(away.stderr.endsWith(hint)).toBe(true);
  shop.service.setFaults([]);
  const confirm = () => Promise.reject(new InterruptedError('Interrupted: nothing was changed.'));
  const stopped = await count(shop, '4\ndone\n', name, { ...person, prompts: { confirm } });
  expect(stopped.code).toBe(130);
  expect(stopped.stderr.endsWith(hint)).toBe(true);
  expect(writes(await count(shop, '', `${name} --yes`))).toEqual(['4 {"quantity":3}']);
});

test('scans that come through a pipe to a terminal: what is unknown stays, once, and the sum is drawn', async () => {
  const shop = await openShop();
  const options = { terminal: 80, terminals: ['stdout', 'stderr'], env: { NO_COLOR: '1' } } as const;
  const { stderr } = await count(shop, '4\nfoo\n4\nfoo\n\n4\n', '--yes', options);
  expect(stderr.match(/foo: 1 kept apart, no known code/g)).toHaveLength(1);
  expect(stderr).toContain('\x07');
  expect(stderr).toMatch(/\r\x1b\[K\d units?, 1 pet/);
  expect(stderr).toContain('  foo  2\n');
  const silent = await count(shop, '5\nbar\n', '--yes -q');
  expect(silent.stderr).toMatch(
    /^bar: 1 kept apart, no known code\nError: Not counted: 1 unit of 1 unknown code\.\n {2}bar {2}1\n/,
  );
});

test('a session is of one store, and hints name it', async () => {
  const shop = await openShop();
  const { PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key } = shop.env;
  const env = { PETSTOCK_NORTH_URL_STAGING: url, PETSTOCK_NORTH_API_KEY_STAGING: key };
  await count(shop, '4 x2\n', '--yes --store north --max-changes 0', { env });
  const name = sessionIn(shop);
  const hint = `Hint: petstock inventory count ${name} --store north --env staging\n`;
  expect((await count(shop, '', `${name} --yes`)).stderr.endsWith(hint)).toBe(true);
  expect((await count(shop, '5\n', '--yes --store north', { env })).stderr.endsWith(hint)).toBe(true);
  expect((await count(shop, '5 x9\n', '--yes')).code).toBe(0);
  expect(writes(await count(shop, '', `${name} --yes --store north`, { env }))).toEqual(['4 {"quantity":2}']);
});

test('with others unfinished that is said, and no begins another', async () => {
  const shop = await openShop();
  for (const petId of [4, 7, 8]) await count(shop, `${petId}\n`, '--new --yes --max-changes 0');
  const prompts = { confirm: async () => true, text: async () => 'n' };
  const other = await count(shop, '1\ndone\n', '', { ...person, prompts });
  expect(other.stderr).toContain('There are 2 others that are not finished: petstock inventory count --list\n');
  expect(writes(other)).toEqual(['1 {"quantity":1}']);
});

/** Replaces a line of the only session, from 1. @returns its last four characters */
function damage(shop: Shop, line: number, text = '{"add":1,"co'): string {
  const folder = join(shop.folders.state, 'counts');
  const [name = ''] = readdirSync(folder);
  const lines = readFileSync(join(folder, name), 'utf8').split('\n');
  writeFileSync(join(folder, name), lines.with(line - 1, text).join('\n'));
  return sessionIn(shop);
}

const statesOf = async (shop: Shop, args = '') =>
  JSON.parse((await shop.run(`inventory count --list --json ${args}`.trim())).stdout).map(
    ({ state }: { state: string }) => state,
  );

test('a damaged session is listed as that, and is discarded or gone on with after a question', async () => {
  const shop = await openShop();
  await count(shop, '4 x2\n5\n8\n', '--yes --max-changes 0');
  const name = damage(shop, 4);
  expect(await statesOf(shop)).toEqual(['damaged']);
  const script = await count(shop, '', `${name} --yes`);
  expect(script).toMatchObject({ code: 1, requests: [] });
  expect(script.stderr).toMatch(/is damaged: line 4 of its file can't be read/);
  expect(script.stderr).toContain(`Hint: petstock inventory count --discard ${name}\n`);
  const no = await count(shop, 'done\n', name, { ...person, prompts: { confirm: async () => false } });
  expect(no).toMatchObject({ code: 1, requests: [] });
  const questions: string[] = [];
  const confirm = async (question: string) => questions.push(question) > 0;
  const on = await count(shop, 'done\n', name, { ...person, prompts: { confirm } });
  expect(questions[0]).toMatch(/line 4 of its file can't be read\. Go on with the rest \(3 units, 2 pets\)\?$/);
  expect(on.code).toBe(0);
  expect(writes(on)).toEqual(['4 {"quantity":2}', '8 {"quantity":1}']);
  expect(await statesOf(shop)).toEqual(['applied']);
});

test.each([[1], [4]])('a session with a damaged line %i is discarded', async (line) => {
  const shop = await openShop();
  await count(shop, '4 x2\n5\n8\n', '--yes --max-changes 0');
  const name = damage(shop, line);
  expect(await statesOf(shop, '--env staging')).toEqual(['damaged']);
  expect((await shop.run('inventory count --list -o table')).stdout).toContain('damaged');
  expect((await count(shop, '4\n', `${name} --yes`)).code).toBe(1);
  expect((await shop.run(`inventory count --discard ${name} --yes`)).code).toBe(0);
  expect(await statesOf(shop)).toEqual(line === 1 ? [] : ['discarded']);
  expect((await count(shop, '4\n')).code).toBe(0);
});

test('a finished session that is damaged is listed, is not counted on, and can be removed as others can', async () => {
  const shop = await openShop();
  await count(shop, '4 x2\n', '--yes');
  const name = damage(shop, 4, 'x');
  expect(await statesOf(shop)).toEqual(['damaged']);
  expect(await count(shop, '4\n', `${name} --yes`)).toMatchObject({ code: 1, requests: [] });
  expect((await shop.run(`inventory count --discard ${name}`)).code).toBe(2);
  expect((await shop.run(`inventory count --discard ${name} --yes`)).stderr).toContain(`Session ${name} is removed.`);
  expect(await statesOf(shop)).toEqual([]);
  await count(shop, '4 x3\n', '--yes');
  expect((await shop.run(`inventory count --discard ${sessionIn(shop)} --yes`)).code).toBe(0);
  expect(await statesOf(shop)).toEqual([]);
  expect(JSON.parse((await shop.run('history list --json')).stdout)).toHaveLength(2);
});

test('what is said of unknown codes does not depend on how the input ends', async () => {
  const shop = await openShop();
  for (const flag of ['', ' -q', ' --json']) {
    const [first, ...others] = await Promise.all(
      ['foo', 'foo\n', 'foo\ndone\n', 'foo\ndone', 'foo\n\ndone\n4\n'].map(async (tail) => {
        const { stderr, code } = await count(shop, `1 x12\n${tail}`, `--new --dry-run${flag}`);
        expect(stderr).toContain('foo: 1 kept apart, no known code\n');
        expect(stderr).toContain('foo  1');
        return { stderr: stderr.replace(/\d+ of 1000 left, resets in .*/, ''), code };
      }),
    );
    for (const other of others) expect(other).toEqual(first);
  }
});

test('a code of --codes whose pet the service lacks is named with its pet, at a terminal and in a script', async () => {
  const shop = await openShop();
  const codes = changeFile(shop, 'code,petId\n55,99999\n56,99999\n', 'codes.csv');
  const script = await count(shop, '4\n55 x2\n56\n99998\n', `--yes --codes ${codes}`);
  expect(script.code).toBe(8);
  expect(script.stderr).toMatch(/\n {2}55, 56 \(pet 99999, which the service does not have\) {2}3\n {2}99998 +1\n/);
  const typed = await count(shop, '4\n55 x2\ndone\n', `--codes ${codes}`, person);
  expect(typed.stderr).toContain('\n  55 (pet 99999, which the service does not have)  2\n');
  const narrow = await count(shop, '4\n55 x2\ndone\n', `--dry-run --codes ${codes}`, { ...person, terminal: 40 });
  expect(narrow.stderr).toContain(
    'Not counted, since no pet is known for\nit:\n  55 (pet 99999, which the\n  service does not have)',
  );
});

test('--codes takes no folder', async () => {
  const shop = await openShop();
  const folder = dirname(changeFile(shop, 'code,petId\n55,4\n', 'codes.csv'));
  const result = await count(shop, '4\n', `--yes --codes ${folder}`);
  expect(result).toMatchObject({ code: 2, requests: [] });
  expect(result.stderr).toContain(`${folder} is a folder; --codes takes a file`);
});

test('hints make the same plan', async () => {
  const shop = await openShop({ pets: 5 });
  const codes = changeFile(shop, 'code,petId\n55,1\n', 'codes.csv');
  const plan = `--codes ${codes} --all --reason year-end --ref=-7 --max-zero 1`;
  const words = `--codes ${codes} --all --reason year-end --ref=-7`;
  const refused = await count(shop, '55\n', `--yes ${plan}`);
  const name = sessionIn(shop);
  expect(refused.stderr).toContain(`Hint: petstock inventory count ${name} ${words} --max-zero 1 --env staging\n`);
  const open = await count(shop, '55\n', '--to counted.csv --all');
  expect(open.stderr).toContain(`Hint: petstock inventory count ${name} --all --to counted.csv --env staging\n`);
  const unasked = await count(shop, '55\n', `--new ${words}`);
  expect(unasked.stderr).toContain(`Hint: petstock inventory count --new ${words} --dry-run --env staging\n`);
  const merge = await count(shop, '', '--merge aaaa bbbb --all');
  expect(merge.stderr).toContain('Hint: petstock inventory count --merge aaaa bbbb --all --dry-run --env staging\n');
  const elsewhere = await count(shop, '', `${name} --yes --env sandbox --all`);
  expect(elsewhere.stderr).toContain(`Hint: petstock inventory count ${name} --all --env staging\n`);
  await shop.run(`inventory count --discard ${name} --yes`);
  const gone = await count(shop, '', `${name} --yes --all --reason 'x`);
  expect(gone.stderr).toContain(`Hint: petstock inventory count --new --all --reason ''\\''x' --env staging\n`);
});

test('quit, exit and help at the prompt say what ends the count; of a code, or in a script, they are scans', async () => {
  const shop = await openShop();
  const typed = await count(shop, '4\nquit\nEXIT\nhelp\n?\ndone\n', '', person);
  expect(typed.code).toBe(0);
  expect(typed.stderr.match(/done ends the count; Ctrl-C keeps it\n/g)).toHaveLength(4);
  expect(typed.stderr).not.toContain('unknown');
  const codes = changeFile(shop, 'code,petId\nquit,5\n', 'codes.csv');
  const code = await count(shop, 'quit\ndone\n', `--dry-run --codes ${codes}`, person);
  expect(code.stderr).toContain('quit = 5: 1\n');
  expect(await count(shop, '4\nquit\n', '--new --yes')).toMatchObject({ code: 8 });
});
