import { describe, expect } from 'vitest';
import { changeFileText } from '../../src/change-files/change-file-text.ts';
import type { Change } from '../../src/inventory/change.ts';
import fc, { property, propertyRuns } from '../support/properties.ts';
import { cut, faultLines, read, readChunks } from './reading.ts';

type Row = Omit<Change, 'line'>;

const int64 = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: 0n, max: 500n }));
const integer = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -3, max: 50 }));
const awkward = fc.stringMatching(/^['"=+@\-\t,;|\r\n éλ😀\\a1]{1,12}$/u);
const text = fc.option(fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), awkward), {
  nil: undefined,
});
const amount = fc.oneof(
  fc.record({ quantity: integer, delta: fc.constant(undefined) }),
  fc.record({ quantity: fc.constant(undefined), delta: integer }),
  fc.constant({ quantity: undefined, delta: undefined }),
);
const row: fc.Arbitrary<Row> = fc
  .record({ petId: int64, amount, expected: fc.option(integer, { nil: undefined }), reason: text, ref: text })
  .map(({ amount: { quantity, delta }, ...others }) => ({ ...others, quantity, delta }));
const rows = fc.uniqueArray(row, { selector: ({ petId }) => petId, maxLength: 12 });
const chunkLengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

const spellings = {
  petId: ['petId', 'PETID', 'pet_id', 'Pet ID', 'pet-id', ' id ', 'Id'],
  quantity: ['quantity', 'QTY', 'Qty', 'quan_tity'],
  delta: ['delta', 'Adjust', 'ADJUST'],
  expected: ['expected', 'Ex pected'],
  reason: ['reason', 'REASON'],
  ref: ['ref', 'R_E_F'],
  status: ['status', 'Status'],
} as const;
type Column = keyof typeof spellings;
const columns = fc.shuffledSubarray(Object.keys(spellings) as Column[], { minLength: 7 });
const header = fc.record(
  Object.fromEntries(Object.entries(spellings).map(([column, names]) => [column, fc.constantFrom(...names)])),
) as fc.Arbitrary<Record<Column, string>>;
const numberForm = fc.constantFrom(
  (digits: string) => digits,
  (digits: string) => `="${digits}"`,
  (digits: string) => `'${digits}`,
  (digits: string) => ` ${digits}\u00a0`,
);
const dialect = fc.record({
  columns,
  header,
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  quoteAll: fc.boolean(),
  mark: fc.constantFrom('', '\ufeff'),
  declared: fc.boolean(),
  blankLines: fc.constantFrom('', '  ', 'end'),
  numberForm,
  ended: fc.boolean(),
});
type Dialect = typeof dialect extends fc.Arbitrary<infer T> ? T : never;

function cellOf(change: Row, column: Column, { numberForm: form }: Dialect): string {
  if (column === 'status') return 'sold';
  const value = change[column];
  if (value === undefined) return '';
  // A quote before a formula is removed when the file is read, so a real quote is doubled.
  if (typeof value === 'string') return /^'+[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return form(column === 'delta' && value >= 0 ? `+${value}` : `${value}`);
}

function written(changes: readonly Row[], dialect: Dialect): string {
  const { delimiter, lineEnd, quoteAll, mark, declared, blankLines, ended } = dialect;
  const quote = (cell: string) =>
    quoteAll || /["\r\n]|^ +"/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const line = (cells: readonly string[]) => cells.map(quote).join(delimiter);
  const lines = [line(dialect.columns.map((column) => dialect.header[column]))];
  for (const change of changes) {
    if (blankLines !== 'end') lines.push(blankLines);
    lines.push(line(dialect.columns.map((column) => cellOf(change, column, dialect))));
  }
  if (blankLines === 'end') lines.push(delimiter.repeat(dialect.columns.length));
  if (declared) lines.unshift(`sep=${delimiter}`);
  return mark + lines.join(lineEnd) + (ended ? lineEnd : '');
}

const jsonForm = fc.boolean().chain((lines) =>
  fc.record({
    lines: fc.constant(lines),
    columns,
    header,
    space: fc.stringMatching(lines ? /^[ \t]{0,3}$/ : /^[ \n\r\t]{0,3}$/),
    numberAsText: fc.boolean(),
    blankAsNull: fc.boolean(),
  }),
);
type JsonForm = typeof jsonForm extends fc.Arbitrary<infer T> ? T : never;

function writtenObject(change: Row, form: JsonForm): string {
  const { space } = form;
  const members = form.columns
    .map((column) => [form.header[column], jsonValue(change, column, form)] as const)
    .filter(([, value]) => value !== 'null' || form.blankAsNull)
    .map(([name, value]) => `${JSON.stringify(name)}${space}:${space}${value}`);
  return `{${space}${members.join(`${space},${space}`)}${space}}`;
}

function jsonValue(change: Row, column: Column, { numberAsText }: JsonForm): string {
  const value = column === 'status' ? 'sold' : change[column];
  if (value === undefined) return 'null';
  if (typeof value === 'string') return JSON.stringify(value);
  return numberAsText ? `"${value}"` : `${value}`;
}

async function expectReadAs(content: string, changes: readonly Row[], lengths: readonly number[]) {
  const file = await readChunks(cut(Buffer.from(content), lengths));
  expect(faultLines(file)).toEqual([]);
  const wanted = changes.map(({ ref, ...change }) => ({ ...change, ref: ref?.trim() || undefined }));
  expect(file.ok && file.changes.map(({ line, ...change }) => change)).toEqual(wanted);
  return file.ok ? file.changes : [];
}

describe('readChanges', () => {
  property(
    'reads rows in any dialect, wherever the bytes are split',
    [rows, dialect, chunkLengths],
    propertyRuns(40),
    async (changes, form, lengths) => {
      const content = written(changes, form);
      const read = await expectReadAs(content, changes, lengths);
      const lines = content.split(/\r\n?|\n/);
      // Line ends in the cells before the id move the id to a later line of the row.
      const isFirst = form.columns.slice(0, form.columns.indexOf('petId')).every((name) => !/reason|ref/.test(name));
      for (const { line, petId } of isFirst ? read : []) expect(lines[line - 1]).toContain(`${petId}`);
    },
  );

  property('reads rows in JSON', [rows, jsonForm, chunkLengths], propertyRuns(40), async (changes, form, lengths) => {
    const { space, lines } = form;
    const objects = changes.map((change) => writtenObject(change, form));
    const array = `${space}[${space}${objects.join(`${space},${space}`)}${space}]${space}`;
    const content = lines && changes.length > 0 ? `${objects.join(`${space}\n`)}\n` : array;
    await expectReadAs(content, changes, lengths);
  });

  property(
    'reads back an export, plain or for a spreadsheet',
    [rows, fc.boolean(), text, chunkLengths],
    propertyRuns(40),
    async (changes, spreadsheet, status, lengths) => {
      const exported = changes.map(({ petId, quantity, expected, reason, ref }) => ({
        petId,
        status,
        quantity,
        expected,
        reason,
        ref,
      }));
      let content = '';
      for await (const piece of changeFileText([exported], { spreadsheet })) content += piece;
      const wanted = changes.map((change) => ({ ...change, delta: undefined }));
      await expectReadAs(content, wanted, lengths);
    },
  );
});

const valid = fc.tuple(rows, dialect).map(([changes, form]) => Buffer.from(written(changes, form)));
const damaged = fc.tuple(valid, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 })).map(([bytes, damages]) => {
  const copy = Uint8Array.from(bytes);
  for (const [place, byte] of damages) copy[place % copy.length] = byte;
  return copy;
});
const json = fc.json().map((content) => Buffer.from(content));
const almostJson = fc.stringMatching(/^[[{][[\]{}",:0-9\\a \n]{0,60}$/).map((content) => Buffer.from(content));
const bytes = fc.oneof(fc.uint8Array({ maxLength: 200 }), damaged, json, almostJson);
const format = fc.constantFrom(undefined, 'csv', 'tsv', 'json', 'ndjson');

property(
  'reads or refuses any bytes the same way, wherever they are split',
  [bytes, format, chunkLengths],
  propertyRuns(80),
  async (content, wanted, lengths) => {
    const whole = await read(content, { format: wanted });
    const pieces = await readChunks(cut(content, lengths), { format: wanted });
    expect(pieces).toEqual(whole);
    if (whole.ok) return;
    expect(whole.total).toBe(whole.problems.length);
    expect(whole.total).toBeGreaterThan(0);
    const lines = Buffer.from(content)
      .toString('latin1')
      .split(/\r\n?|\n/).length;
    for (const { line, column = '', message } of whole.problems) {
      expect(line).toBeGreaterThanOrEqual(1);
      if (whole.unit === 'line') expect(line).toBeLessThanOrEqual(lines);
      expect(`${column}${message}`).not.toMatch(/[\x00-\x1f]|\.$/);
    }
  },
);
