import { describe, expect, test } from 'vitest';
import { pidNamespace } from '../support/capabilities.ts';
import { petstockAt } from '../support/petstock.ts';
import { hold, normally, scriptedService, slowly } from '../support/scripted-service.ts';

const container = pidNamespace ?? [];
const describeContained = describe.runIf(pidNamespace !== undefined);

describeContained('containers that share one state folder', () => {
  test('adds up 5 simultaneous adjusts of one pet, each in its own pid namespace', async () => {
    const service = await scriptedService({ stock: { 1: 0 } });
    service.always('GET', slowly(20));
    const petstock = petstockAt(service);
    const adjusts = Array.from({ length: 5 }, () => petstock.run('inventory adjust 1 +1 -q', { through: container }));
    expect((await Promise.all(adjusts)).map(({ code }) => code)).toEqual(Array(5).fill(0));
    expect(service.stockOf(1)).toBe(5);
  });

  test('shows a run of another process as running, and refuses to resume it', async () => {
    const { service, petstock, program, run, release } = await running();
    const listed = await petstock.run('history list --json', { through: container });
    expect(JSON.parse(listed.stdout)).toMatchObject([{ run, state: 'running' }]);
    const sent = service.seen('PATCH').length;
    const resumes = [run, 'latest'].map((name) =>
      petstock.run(`inventory apply --resume ${name} --yes`, { through: container }),
    );
    expect((await Promise.all(resumes)).map(({ code }) => code)).toEqual([7, 7]);
    expect(service.seen('PATCH')).toHaveLength(sent);
    release();
    expect(await program.result).toMatchObject({ code: 0 });
    expect([1, 2, 3].map(service.stockOf)).toEqual([51, 52, 53]);
  });

  /** Starts an apply of three rows in a container, and holds its first PATCH. */
  async function running() {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    const first = hold(normally);
    service.next('PATCH', first.action);
    const file = petstock.file('a.csv', ['petId,quantity', '1,51', '2,52', '3,53']);
    const program = petstock.start(`inventory apply ${file} --yes --concurrency 1`, { through: container });
    await first.reached;
    return { service, petstock, program, run: (await petstock.newest()).run, release: first.release };
  }
});
