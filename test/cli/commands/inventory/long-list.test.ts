import { describe, expect, test } from 'vitest';
import { answering } from '../../../support/servers.ts';
import { openShop } from '../../../support/shop.ts';

const count = 10_000;
const texts = Array.from(
  { length: count },
  (_, id) => `{"petId":${id},"quantity":${id % 700},"status":"${id % 3 === 0 ? 'sold' : 'available'}"}`,
);
const body = `[${texts.join(',')}]`;

async function run(answer: string, command: string, terminal?: number) {
  const shop = await openShop();
  return await shop.run(command, { env: { PETSTOCK_URL_STAGING: await answering(200, answer) }, terminal });
}

describe('a response that breaks off', () => {
  const cut = body.slice(0, -100_000);

  test.each([
    ['tsv', 'inventory list'],
    ['csv', 'inventory list -o csv'],
    ['ndjson', 'inventory list -o ndjson'],
    ['json', 'inventory list -o json'],
    ['a table', 'inventory list -o table'],
    ['a filter', 'inventory list --min-quantity 1 --fields status,petId'],
  ])('prints whole lines if a response breaks off, and reports the list as incomplete: %s', async (_what, command) => {
    const { code, stdout, stderr } = await run(cut, command);
    const whole = await run(body, command);
    expect(code).toBe(1);
    expect(whole.stdout.startsWith(stdout)).toBe(true);
    expect(stdout.length).toBeGreaterThan(10_000);
    expect(stdout.length).toBeLessThan(whole.stdout.length);
    expect(stdout).toMatch(/\n$/);
    expect(stderr).toContain('is cut off after ');
    expect(stderr).toContain('The list is incomplete.');
  });

  test.each([
    ['list --sort quantity', 1, /^$/],
    ['list --summary', 1, /^$/],
    ['list --limit 9990', 1, /\n$/],
    // The pet may appear again after the break.
    ['get 17', 1, /^$/],
    ['get 9999', 1, /^$/],
    // The last requested pet comes before the break.
    ['list --limit 2', 0, /^0\t.*\n1\t.*\n$/],
  ])('%s exits with %i if the response breaks off', async (command, code, printed) => {
    const { stderr, ...result } = await run(cut, `inventory ${command}`);
    expect(result).toMatchObject({ code, stdout: expect.stringMatching(printed) });
    expect(stderr.includes('is incomplete.')).toBe(code === 1);
  });
});

test('marks pets at 0 as out of stock unless they are sold, in a short and a long list', async () => {
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
    // The status counts even if its column is not shown.
    const noStatus = await run(`[${items.join(',')}]`, 'inventory list --fields petId,quantity', 80);
    expect(noStatus.stdout.match(/out of stock/g)).toHaveLength(stdout.match(/out of stock/g)?.length ?? 0);
  }
});
