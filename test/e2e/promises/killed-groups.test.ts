import { expect, test } from 'vitest';
import { petstockAt } from '../../support/petstock.ts';
import { temporaryDatabase } from '../../support/postgres.ts';
import { hold, normally } from '../../support/scripted-actions.ts';
import { scriptedService, tenEach } from '../../support/scripted-service.ts';

test.for(['the folder', 'PostgreSQL'])(
  'writes on resume the rows that a killed command never sent (state in %s)',
  async (kind) => {
    const service = await scriptedService({ stock: tenEach(4) });
    const shared = kind === 'PostgreSQL' ? { PETSTOCK_STATE_URL: await temporaryDatabase() } : {};
    const petstock = petstockAt({ env: { ...service.env, ...shared } });
    const first = hold(normally);
    service.next('PATCH', first.action);
    const file = petstock.file('a.csv', ['petId,delta', '1,+5', '2,+5', '3,+5', '4,+5']);
    const program = petstock.start(`inventory apply ${file} --yes --concurrency 1 --timeout 1`);
    await first.reached;
    program.kill('SIGKILL');
    await program.result;
    first.release();
    // Another client adds 5 to two pets, as the run would do.
    for (const petId of [2, 3]) service.sell(petId, -5);
    const { run } = await petstock.newest();
    expect(await petstock.run(`inventory apply --resume ${run} --yes --timeout 1`)).toMatchObject({ code: 0 });
    expect([2, 3, 4].map(service.stockOf)).toEqual([20, 20, 15]);
  },
);
