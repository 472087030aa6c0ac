import { expect, test } from 'vitest';
import type { Difference } from '../../src/inventory/stock-list.ts';
import { seenChangesLines, seenChangesView } from '../../src/output/difference-view.ts';
import { createPaint } from '../../src/output/terminal.ts';
import { render } from './render.ts';

const at = Date.parse('2026-01-15T12:00:20Z');
const item = (petId: bigint, quantity: number, status = 'available') => ({ petId, quantity, status });
const changes = [
  { petId: 4n, change: 'changed', left: item(4n, 39), right: item(4n, 3) },
  { petId: 5n, change: 'changed', left: item(5n, 0, 'pending'), right: item(5n, 0, 'sold') },
  { petId: 6n, change: 'added', right: item(6n, 12) },
  { petId: 7n, change: 'removed', left: item(7n, 2) },
  { petId: 8n, change: 'changed', left: item(8n, 1), right: item(8n, -1) },
] as unknown as Difference[];
const reading = { at, changes, isPresent: false, longestId: 8n };
const names = new Map([[4n, 'Rex']]);

test('prints each change of a watch as a row', async () => {
  expect(await render('ndjson', seenChangesView(reading, names))).toMatchInlineSnapshot(`
    "{"at":"2026-01-15T12:00:20.000Z","petId":4,"before":39,"after":3,"status":"available","change":"changed","name":"Rex"}
    {"at":"2026-01-15T12:00:20.000Z","petId":5,"before":0,"after":0,"status":"sold","change":"changed","statusBefore":"pending","name":null}
    {"at":"2026-01-15T12:00:20.000Z","petId":6,"before":null,"after":12,"status":"available","change":"added","name":null}
    {"at":"2026-01-15T12:00:20.000Z","petId":7,"before":2,"after":null,"status":"available","change":"removed","name":null}
    {"at":"2026-01-15T12:00:20.000Z","petId":8,"before":1,"after":-1,"status":"available","change":"changed","name":null}
    "
  `);
  const present = { ...reading, changes: changes.slice(0, 1), isPresent: true };
  expect(await render('csv', seenChangesView(present, undefined))).toMatchInlineSnapshot(`
    "at,petId,before,after,status,change,statusBefore
    2026-01-15T12:00:20.000Z,4,39,3,available,now,
    "
  `);
});

test('lines up the changes of a watch in a terminal', async () => {
  const paint = await createPaint(false);
  const lines = (width: number, known?: typeof names) => {
    const { head, of } = seenChangesLines(8n, known, { width, paint, low: { standard: 5 } });
    return `${head}${of(reading)}`;
  };
  expect(lines(100, names)).toMatchInlineSnapshot(`
    "Time      Pet ID  Before  After  Change           Status               Name
    07:00:20       4      39      3     -36  low      available            Rex
    07:00:20       5       0      0                   pending → sold       -
    07:00:20       6       -     12   added           available            -
    07:00:20       7       2      -  removed           available            -
    07:00:20       8       1     -1      -2  below 0  available            -
    "
  `);
  expect(lines(50)).toMatchInlineSnapshot(`
    "Time      Pet ID  Before  After  Change
    07:00:20       4      39      3     -36  low
    07:00:20       5       0      0
    07:00:20       6       -     12   added
    07:00:20       7       2      -  removed
    07:00:20       8       1     -1      -2  below 0
    "
  `);
});
