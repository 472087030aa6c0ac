import { describe, expect, test } from 'vitest';
import type { InventoryItem } from '../../src/inventory/items.ts';
import { inventoryListView } from '../../src/output/inventory-view.ts';
import { formats } from '../../src/output/view.ts';
import { batchesOf } from '../inventory/batches.ts';
import { render, renderPieces, withFields } from './render.ts';

const low = { standard: 5 };
const plenty = (count: number): InventoryItem[] =>
  Array.from({ length: count }, (_, index) => ({
    petId: index % 2 === 0 ? BigInt(index) : 9007199254740993n * BigInt(index % 1000),
    quantity: index % 90,
    status: index % 1000 === 0 ? `status ${index} ` : 'available',
  }));

describe('pieces', () => {
  test.each(formats)('prints %s in pieces of whole lines, without losing an item', async (format) => {
    const items = plenty(9000);
    const pieces = await renderPieces(format, inventoryListView(batchesOf(items, 4096), { low }));
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.every((piece) => piece.endsWith('\n') && piece.length <= 70_000)).toBe(true);
    expect(pieces.join('').match(/available|status \d/g)).toHaveLength(9000);
  });

  test('prints a status that is longer than a piece of the output', async () => {
    const status = 'x'.repeat(300_000);
    const items = ['sold', status, 'sold'].map((status) => ({ petId: 1n, quantity: 1, status }));
    const view = inventoryListView(batchesOf(items, 10), { low });
    expect(await render('tsv', view)).toBe(`1\t1\tsold\n1\t1\t${status}\n1\t1\tsold\n`);
  });

  test('leaves a JSON list unclosed if its source fails', async () => {
    async function* broken() {
      yield plenty(9000);
      throw new Error('broke off');
    }
    const pieces: string[] = [];
    const rendering = renderPieces('json', inventoryListView(broken(), { low }), {}, pieces);
    await expect(rendering).rejects.toThrow('broke off');
    expect(pieces.join('')).toMatch(/^\[\n\{.*\},\n$/s);
    expect(pieces.join('')).not.toContain(']');
  });
});

test('writes quantities of any length', async () => {
  const quantities = [0, 9, -9, 999_999_999, 1_000_000_000, -1_000_000_000, 2 ** 53 - 1, 1 - 2 ** 53];
  const items = quantities.map((quantity) => ({ petId: 1n, quantity, status: 'sold' }));
  const view = withFields(inventoryListView(batchesOf(items, 3), { low }), 'quantity');
  expect(await render('tsv', view)).toBe(`${quantities.join('\n')}\n`);
});
