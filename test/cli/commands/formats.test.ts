import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test as plain } from 'vitest';
import { commandNames, everyCommand, runEvery, type TriedOutput } from '../../support/every-command.ts';
import { errorJson, jsonLines, openShop, test } from '../../support/shop.ts';

type Value = Readonly<Record<string, unknown>>;

/** Parses CSV as in RFC 4180. */
function csvRecords(text: string): readonly string[][] {
  const cells = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)];
  expect(cells.map(([whole]) => whole).join('')).toBe(text);
  const records: string[][] = [[]];
  for (const [, quoted, bare = '', end] of cells) {
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? bare);
    if (end === '\n') records.push([]);
  }
  return records.slice(0, -1);
}

function tsvRecords(text: string): readonly string[][] {
  return text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => line.split('\t'));
}

/** Returns the rows of a JSON report or list, or the one object. */
function rowsOf(stdout: string): readonly Value[] {
  const value = JSON.parse(stdout);
  return Array.isArray(value) ? value : 'rows' in value && Array.isArray(value.rows) ? value.rows : [value];
}

const cellOf = (value: unknown): string => (value === null || value === undefined ? '' : `${value}`);

const isScalar = (value: unknown) => typeof value !== 'object' || value === null;

/**
 * Runs every command in a new shop, off a terminal and without the tests' own PETSTOCK_VERBOSE.
 * Ids, times and written stock differ between two calls.
 */
async function runsIn(format: string): Promise<readonly TriedOutput[]> {
  const shop = await openShop();
  const env = { PETSTOCK_VERBOSE: undefined };
  // A body is printed unchanged, so `api` refuses --string-ids.
  const more = (command = '') => (format === 'json' && command !== 'api' ? ['--string-ids'] : []);
  const run = (argv: readonly string[], stdin: string) => shop.run([...argv, ...more(argv[0])], { stdin, env });
  return runEvery(run, dirname(shop.folders.state), format);
}

const known = new Map<string, Promise<readonly TriedOutput[]>>();

/** Returns the outputs in a format. They are made once for all tests of this file. */
function outputsIn(format: string): Promise<readonly TriedOutput[]> {
  const outputs = known.get(format) ?? runsIn(format);
  known.set(format, outputs);
  return outputs;
}

plain('covers every command in the tests of formats', async () => {
  expect(Object.keys(everyCommand).toSorted()).toEqual((await commandNames()).toSorted());
});

/** Checks that a refusal is reported as an error, and that a result is readable in its format. */
function requireReadable({ name, code, stdout, stderr }: TriedOutput, format: string): void {
  const isJson = format === 'json' || format === 'ndjson';
  if (code !== 0) {
    expect(stdout, name).toBe('');
    if (isJson) expect(errorJson(stderr).error, name).toMatchObject({ kind: 'usage', exitCode: 2 });
    else expect(stderr, name).toContain('Error: ');
    return;
  }
  // The shop has no orders, and its state has no problems.
  if (name !== 'orders list' && name !== 'state check') expect(stdout, name).not.toBe('');
  if (format === 'json') expect(() => JSON.parse(stdout), name).not.toThrow();
  if (format === 'ndjson' && stdout !== '') expect(() => jsonLines(stdout), name).not.toThrow();
  if (format !== 'csv' && format !== 'tsv') return;
  const records = format === 'csv' ? csvRecords(stdout) : tsvRecords(stdout);
  expect(
    records.every(({ length }) => length === records[0]?.length),
    name,
  ).toBe(true);
  if (format === 'csv') expect(new Set(records[0]).size, name).toBe(records[0]?.length ?? 0);
}

test.for(['json', 'ndjson', 'csv', 'tsv', 'table'])('obeys -o %s in every command, or exits with 2', async (format) => {
  for (const output of await outputsIn(format)) {
    const { name, code, stderr, expectedCode } = output;
    expect({ name, code, stderr }).toEqual({ name, code: expectedCode, stderr });
    requireReadable(output, format);
  }
});

test('prints nothing on stderr off a terminal if a command went well', async () => {
  for (const { name, code, stderr, expectedCode } of await outputsIn('json')) {
    if (code !== 0 || expectedCode !== 0) continue;
    expect({ name, notes: stderr.replace(/^Warning: .*\n( .*\n)*/gm, '') }).toEqual({ name, notes: '' });
  }
});

test('prints the scalar fields of JSON as CSV columns with the same numbers', async () => {
  const [json, csv] = await Promise.all([outputsIn('json'), outputsIn('csv')]);
  let compared = 0;
  for (const [index, { name, code, stdout }] of json.entries()) {
    const text = csv[index]?.stdout ?? '';
    if (code !== 0 || csv[index]?.code !== 0 || text === '') continue;
    // In CSV, each problem is a row; in JSON, the result is one object.
    if (name === 'state check') continue;
    const [header = [], ...records] = csvRecords(text);
    const rows = rowsOf(stdout);
    expect(records.length, name).toBe(rows.length);
    const scalars = Object.entries(rows[0] ?? {}).filter(([, value]) => isScalar(value));
    for (const [field] of scalars) expect(header, name).toContain(field);
    for (const field of header) {
      const values = rows.map((row) => row[field]);
      if (!values.every((value) => typeof value === 'number' || value === null) && field !== 'petId') continue;
      compared += 1;
      const column = records.map((cells) => cells[header.indexOf(field)]);
      const isMeasured = ['bytes', 'remaining'].includes(field);
      if (!isMeasured) expect([name, field, column.toSorted()]).toEqual([name, field, values.map(cellOf).toSorted()]);
    }
    // A number has no unit, grouped digits or words beside it.
    expect(text, name).not.toMatch(/\d [KM]?B\b|\d,\d{3}"|\bleft\b|\d bytes/);
  }
  expect(compared).toBeGreaterThan(40);
});

test.for([
  ['PETSTOCK_OUTPUT', { PETSTOCK_OUTPUT: 'json' }, undefined],
  ['the setting output', {}, 'config set output json'],
] as const)(
  "uses the format of %s if the command supports it, otherwise the command's default",
  async ([, env, before], { shop }) => {
    if (before !== undefined) await shop.exits(before, 0);
    const { stdout } = await shop.exits('inventory get 4', 0, [], { env });
    expect(JSON.parse(stdout)).toMatchObject({ petId: 4 });
    expect((await shop.exits('inventory get 4 -o tsv', 0, [], { env })).stdout).toMatch(/^4\t/);
    expect((await shop.exits('config get low-stock', 0, [], { env })).stdout).toBe('5\n');
    expect((await shop.exits('completion bash', 0, [], { env })).stdout).toContain('complete -F');
    expect((await shop.exits('inventory watch --now --for 1 --pet 4', 0, [], { env })).stdout).toMatch(
      /^\{"at".*\}\n$/,
    );
  },
);

test('refuses html from PETSTOCK_OUTPUT like -o html in commands without that format', async ({ shop }) => {
  const env = { PETSTOCK_OUTPUT: 'html' };
  for (const command of ['inventory get 4', 'completion bash']) {
    expect(await shop.refused(command, { env })).toBe(await shop.refused(`${command} -o html`));
  }
  expect((await shop.run('inventory list', { env })).stdout).toContain('<!doctype html>');
  expect((await shop.run('inventory get 4 --json', { env })).stdout).toMatch(/^\{"petId":4,/);
  expect((await shop.run('inventory get 4 -o tsv', { env })).stdout).toMatch(/^4\t/);
});

test('takes the format of an export from the file name, and refuses a different -o', async ({ shop }) => {
  await shop.exits('inventory adjust 4 +1', 0);
  const file = (name: string) => join(dirname(shop.folders.state), name);
  const first = async (name: string) => {
    await shop.exits(['history', 'export', file(name)], 0);
    return readFileSync(file(name), 'utf8').charAt(0);
  };
  expect([await first('h.csv'), await first('h.json'), await first('h.jsonl'), await first('h')]).toEqual([
    'r',
    '[',
    '{',
    '{',
  ]);
  expect(await shop.refused(['history', 'export', file('h.json'), '-o', 'csv'])).toContain('has the extension of json');
});
