import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createSystemClock } from '../../../src/shared/clock.ts';
import { temporaryPostgres } from '../../support/postgres.ts';
import { answers, normally } from '../../support/scripted-actions.ts';
import { tenEach } from '../../support/scripted-service.ts';
import { openTill } from '../../support/till.ts';

vi.setConfig({ testTimeout: 300_000 });

const pets = Array.from({ length: 40 }, (_, index) => index + 1);
const fives = `petId,delta\n${pets.map((petId) => `${petId},+5\n`).join('')}`;

/** Opens a till whose state is in its own PostgreSQL server, which can be restored from a copy of its folder. */
async function openRestorable() {
  const server = await temporaryPostgres();
  const till = await openTill({ stock: tenEach(pets.length + 1) }, createSystemClock(process.hrtime.bigint), {
    PETSTOCK_STATE_URL: server.url,
  });
  const [data, copy] = [join(server.folder, 'data'), join(server.folder, 'copy')];
  const replace = async (from: string, to: string) => {
    await server.kill();
    rmSync(to, { recursive: true, force: true });
    execFileSync('cp', ['-a', from, to]);
    await server.restart();
  };
  const stocks = () => pets.map((petId) => till.service.stockOf(petId));
  return { till, stocks, keep: () => replace(data, copy), restore: () => replace(copy, data) };
}

/** Begins a run that ends when its first row is refused, so that the others stay pending. */
async function begun({ till }: Awaited<ReturnType<typeof openRestorable>>): Promise<string> {
  till.service.next('PATCH', answers(400));
  await till.run(`inventory apply ${till.file('a.csv', fives)} --yes --concurrency 1 --fail-fast`);
  return (await till.history())[0]?.run ?? '';
}

describe('a PostgreSQL that is restored from a copy of its data folder', () => {
  test('neither adds a delta twice nor suggests a resume if PostgreSQL is restored between two commands', async () => {
    const shop = await openRestorable();
    const { till, stocks, keep, restore } = shop;
    const run = await begun(shop);
    await keep();
    await till.exits(`inventory apply --resume ${run} --yes`, 8);
    const written = [10, ...Array(pets.length - 1).fill(15)];
    expect(stocks()).toEqual(written);
    await restore();
    const { stderr } = await till.exits(`history show ${run}`, 0, 'earlier copy');
    expect(stderr).not.toContain('--resume');
    await till.exits(`inventory apply --resume ${run} --yes`, 8, 'earlier copy');
    await till.run(`inventory apply --resume ${run} --yes`);
    await till.exits(`inventory apply ${till.file('a.csv', fives)} --yes`, 2, 'may have been applied');
    expect(stocks()).toEqual(written);
    await till.exits('state check', 0);
  });

  test.each([3, 14, 25])(
    'writes each row at most once if PostgreSQL is restored before the response to row %i',
    async (row) => {
      const shop = await openRestorable();
      const { till, stocks, keep, restore } = shop;
      const run = await begun(shop);
      const until = Array<typeof normally>(row - 1).fill(normally);
      let isKept = false;
      till.service.next('PATCH', ...until, async (exchange) => {
        await restore();
        await normally(exchange);
      });
      till.service.next('GET /inventory', async (exchange) => {
        if (!isKept) await keep();
        isKept = true;
        await normally(exchange);
      });
      await till.run(`inventory apply --resume ${run} --yes --concurrency 4`);
      for (let again = 0; again < 3; again += 1) {
        for (const stock of stocks()) expect([10, 15]).toContain(stock);
        await till.run(`inventory apply --resume ${run} --yes`);
      }
      for (const stock of stocks()) expect([10, 15]).toContain(stock);
      const results = new Map((await till.rows()).map(({ petId, result }) => [Number(petId), result]));
      for (const petId of pets) {
        if (results.get(petId) === 'applied') expect(till.service.stockOf(petId)).toBe(15);
      }
      await till.exits('state check', 0);
    },
  );
});
