import { describe, expect, test } from 'vitest';
import { answering } from '../../../support/answering.ts';
import { errorJson, openShop, sent } from '../../../support/shop.ts';

const count = 30_000;
const texts = Array.from(
  { length: count },
  (_, id) => `{"petId":${id},"quantity":${id % 700},"status":"${id % 3 === 0 ? 'sold' : 'available'}"}`,
);
const body = `[${texts.join(',')}]`;

async function run(answer: string, command: string, terminal?: number) {
  const shop = await openShop();
  return await shop.run(command, { env: { PETSTOCK_URL_STAGING: await answering(200, answer) }, terminal });
}

describe('an answer that breaks off', () => {
  const cut = body.slice(0, -100_000);

  test.each([
    ['tsv', 'inventory list'],
    ['csv', 'inventory list -o csv'],
    ['ndjson', 'inventory list -o ndjson'],
    ['json', 'inventory list -o json'],
    ['a table', 'inventory list -o table'],
    ['a filter', 'inventory list --min-quantity 1 --fields status,petId'],
  ])('%s: whole lines are printed, and stderr says that they are not all', async (_what, command) => {
    const { code, stdout, stderr } = await run(cut, command);
    const whole = await run(body, command);
    expect(code).toBe(1);
    expect(whole.stdout.startsWith(stdout)).toBe(true);
    expect(stdout.length).toBeGreaterThan(10_000);
    expect(stdout.length).toBeLessThan(whole.stdout.length);
    expect(stdout).toMatch(/\n$/);
    expect(stderr).toContain('ends in the middle, after ');
    expect(stderr).toContain('The list is not whole.');
  });

  test('JSON is not closed, and the error is all that stderr has', async () => {
    const { stdout, stderr } = await run(cut, 'inventory list --json');
    expect(stdout).not.toContain(']');
    expect(errorJson(stderr)).toMatchObject({ error: { code: 'failure', exitCode: 1 } });
  });

  test.each([
    ['list --sort quantity', 1, /^$/],
    ['list --summary', 1, /^$/],
    ['list --limit 29990', 1, /\n$/],
    // The pet may be there once more behind the break.
    ['get 17', 1, /^$/],
    ['get 29999', 1, /^$/],
    // The last that was asked for was before it.
    ['list --limit 2', 0, /^0\t.*\n1\t.*\n$/],
  ])('%s is exit %i', async (command, code, printed) => {
    const { stderr, ...result } = await run(cut, `inventory ${command}`);
    expect(result).toMatchObject({ code, stdout: expect.stringMatching(printed) });
    expect(stderr.includes('is not whole.')).toBe(code === 1);
  });
});

test('a long list is sorted, cut and counted', async () => {
  const sorted = await run(body, 'inventory list --sort quantity --desc --limit 2 --status sold');
  expect(sorted.stdout).toBe('699\t699\tsold\n2799\t699\tsold\n');
  const summary = await run(body, 'inventory list --summary --json');
  expect(JSON.parse(summary.stdout)).toMatchObject({ pets: count, byStatus: { sold: { pets: count / 3 } } });
});

test('a reader that is gone ends the request too', async () => {
  const shop = await openShop({ pets: 30_000 });
  const result = await shop.run('inventory list --limit 1');
  expect(result).toMatchObject({ code: 0, stdout: '1\t12\tavailable\n' });
  expect(sent(result)).toEqual(['GET /v1/inventory']);
});

test.each([
  ['-o', 'table'],
  ['--max-quantity', '0'],
  ['-o', 'csv'],
])('the item that makes no sense is told by its number (%s %s)', async (...flags) => {
  const good = Array.from(
    { length: 9_999 },
    (_, index) => `{"petId":${index},"quantity":${index % 3},"status":"sold"}`,
  );
  const url = await answering(200, `[${good.join(',')},{"petId":7,"quantity":"x","status":"sold"}]`);
  const shop = await openShop();
  await shop.exits(['inventory', 'list', ...flags], 1, '"quantity" in item 10000 of the answer', {
    env: { PETSTOCK_URL_STAGING: url },
  });
});

test('a sold pet at 0 is not out of stock, in a list of any length', async () => {
  for (const length of [5, 900]) {
    const items = Array.from({ length }, (_, index) => {
      const status = index % 2 === 0 ? 'sold' : 'available';
      return `{"petId":${index + 1},"quantity":${index % 3 === 0 ? 0 : 50},"status":"${status}"}`;
    });
    const { stdout } = await run(`[${items.join(',')}]`, 'inventory list', 80);
    const lines = stdout.trimEnd().split('\n').slice(1);
    expect(lines).toHaveLength(length);
    for (const [index, line] of lines.entries()) {
      expect(line.includes('out of stock')).toBe(index % 3 === 0 && index % 2 === 1);
    }
    // What is not shown counts too.
    const noStatus = await run(`[${items.join(',')}]`, 'inventory list --fields petId,quantity', 80);
    expect(noStatus.stdout.match(/out of stock/g)).toHaveLength(stdout.match(/out of stock/g)?.length ?? 0);
  }
});
