import { Pool } from 'undici';
import { median } from '../support/table.ts';
import { atOnce, writes } from './scenario.ts';
import { serve } from './served.ts';

/** The ids of the stock, and how long one write takes where nothing limits it, so many at a time: the median, in milliseconds. */
export async function measureRoundTrip(program: string): Promise<{ petIds: readonly string[]; roundTrip: number }> {
  const served = await serve({ program, limit: 1_000_000, windowMs: 60_000, pets: writes });
  const { origin, pathname } = new URL(served.url);
  const pool = new Pool(origin);
  try {
    const petIds = [...(await served.stock()).keys()];
    const times: number[] = [];
    const queue = [...petIds, ...petIds, ...petIds].values();
    const work = async () => {
      for (const petId of queue) {
        const began = performance.now();
        const { body } = await pool.request({
          path: `${pathname}/inventory/${petId}`,
          method: 'PATCH',
          headers: { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' },
          body: '{"quantity":1}',
        });
        times.push(performance.now() - began);
        await body.dump();
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return { petIds, roundTrip: median(times) };
  } finally {
    await pool.destroy();
    await served.stop();
  }
}
