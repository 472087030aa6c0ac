import { describe, expect, test } from 'vitest';
import { nameOf, type Petstock, petstockAt, reportOf, rowOf } from '../../support/petstock.ts';
import type { ProgramResult } from '../../support/program.ts';
import { commitThenHang, hang } from '../../support/scripted-actions.ts';
import { type Action, type ScriptedService, scriptedService, tenEach } from '../../support/scripted-service.ts';

/** A killed command's request can't be on its way for longer. */
const soon = '--timeout 2';

describe('--resume asks the history what was written since', () => {
  test('a delta whose answer the kill has lost, and a later adjust back: it is not doubled', async () => {
    const { service, petstock, run } = await killedAt(commitThenHang, ['petId,delta', '1,+5', '2,+5']);
    expect(await petstock.run('inventory adjust 1 -5')).toMatchObject({ code: 0 });
    expect(service.stockOf(1)).toBe(10);
    const resumed = await petstock.run(`inventory apply --resume ${run} --yes --json`);
    expect(service.stockOf(1)).toBe(10);
    // The adjust has read the sum, so the delta had arrived.
    expect(rowOf(resumed, 1)).toMatchObject({ result: 'applied' });
    expect(resumed.code).toBe(0);
    expect(service.stockOf(2)).toBe(15);
  });

  test('an absolute row that was never sent, and a later write of this state: it stays, though the stock is equal', async () => {
    const { service, petstock, run } = await killedAt(hang, ['petId,quantity', '1,50', '2,60']);
    expect(await petstock.run('inventory adjust 2 +3')).toMatchObject({ code: 0 });
    expect(await petstock.run('inventory adjust 2 -3')).toMatchObject({ code: 0 });
    const later = (await petstock.history()).slice(0, 2);
    const resumed = await petstock.run(`inventory apply --resume ${run} --yes --json`);
    expect(service.stockOf(2)).toBe(10);
    expectConflictWith(later, resumed, 2);
    expect(service.stockOf(1)).toBe(50);
    expect(resumed.code).toBe(8);
  });
});

describe('undo asks the history what was written since', () => {
  test('later writes are not taken back, though the stock is equal: a conflict that names the run', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    const run = await applied(petstock, ['petId,quantity', '1,20']);
    expect(await petstock.run('inventory adjust 1 +5')).toMatchObject({ code: 0 });
    expect(await petstock.run('inventory adjust 1 -5')).toMatchObject({ code: 0 });
    const later = (await petstock.history()).slice(0, 2);
    const undone = await petstock.run(`undo ${run} --yes --json`);
    expect(service.stockOf(1)).toBe(20);
    expect(undone.code).toBe(7);
    expectConflictWith(later, undone, 1);
    // Once the later ones are taken back, they are in the way no longer.
    for (const { run: latest } of later) expect(await petstock.run(`undo ${latest} --yes`)).toMatchObject({ code: 0 });
    expect(await petstock.run(`undo ${run} --yes`)).toMatchObject({ code: 0 });
    expect(service.stockOf(1)).toBe(10);
  });

  test('a row is taken back once: not again after an undo whose answer a kill has lost', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    const run = await applied(petstock, ['petId,quantity', '1,20']);
    const killed = await kill(service, petstock, commitThenHang, `undo ${run} --yes ${soon}`);
    expect(service.stockOf(1)).toBe(10);
    expect(await petstock.run('inventory set 1 20')).toMatchObject({ code: 0 });
    const sent = service.seen('PATCH').length;
    expect((await petstock.run(`undo ${run} --yes`)).code).not.toBe(0);
    expect((await petstock.run(`inventory apply --resume ${killed} --yes`)).code).not.toBe(0);
    expect(service.stockOf(1)).toBe(20);
    expect(service.seen('PATCH')).toHaveLength(sent);
  });
});

describe('a file of deltas is remembered by its content', () => {
  const deltas = ['petId,delta', '1,+5', '2,+5', '3,+5', '4,+5'];

  test('after a crash: a conflict, exit 7, with the hint to resume, and the resume makes it whole', async () => {
    const { service, petstock, run } = await killedAt(commitThenHang, deltas);
    const sent = service.seen('PATCH').length;
    // Under another name too: it is the content that counts.
    const again = await petstock.run(`inventory apply ${petstock.file('b.csv', deltas)} --yes --json`);
    expect(again.code).toBe(7);
    expect(again.stderr).toContain(`petstock inventory apply --resume ${run}`);
    expect(service.seen('PATCH')).toHaveLength(sent);
    expect(await petstock.run(`inventory apply --resume ${run} --yes`)).toMatchObject({ code: 0 });
    expect([1, 2, 3, 4].map(service.stockOf)).toEqual([15, 15, 15, 15]);
  });

  test('after a finished run: off a terminal exit 2 unless --again', async () => {
    const service = await scriptedService({ stock: tenEach(4) });
    const petstock = petstockAt(service);
    const run = await applied(petstock, deltas);
    const again = await petstock.run(`inventory apply ${petstock.file('b.csv', deltas)} --yes`);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain(nameOf({ run }));
    expect([1, 2, 3, 4].map(service.stockOf)).toEqual([15, 15, 15, 15]);
    expect(await petstock.run(`inventory apply ${petstock.file('b.csv', deltas)} --yes --again`)).toMatchObject({
      code: 0,
    });
    expect([1, 2, 3, 4].map(service.stockOf)).toEqual([20, 20, 20, 20]);
  });
});

describe('a set can be taken back', () => {
  test('--read-first shows before and after, and undo restores it', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    const { code, stdout } = await petstock.run('inventory set 1 50 --read-first --json');
    expect({ code, before: JSON.parse(stdout || '{}').before }).toEqual({ code: 0, before: 10 });
    expect(service.requests.map(({ method }) => method)).toEqual(['GET', 'PATCH']);
    expect(await petstock.run(`undo ${(await petstock.newest()).run} --yes`)).toMatchObject({ code: 0 });
    expect(service.stockOf(1)).toBe(10);
  });

  test('the setting read-first does the same for every set', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    expect(await petstock.run('config set read-first always')).toMatchObject({ code: 0 });
    expect(await petstock.run('inventory set 1 50')).toMatchObject({ code: 0 });
    expect(service.requests.map(({ method }) => method)).toEqual(['GET', 'PATCH']);
    expect(await petstock.run(`undo ${(await petstock.newest()).run} --yes`)).toMatchObject({ code: 0 });
    expect(service.stockOf(1)).toBe(10);
  });

  test('a plain set is one request, and is taken back to what the history knows', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    await applied(petstock, ['petId,quantity', '1,20']);
    const sent = service.requests.length;
    expect(await petstock.run('inventory set 1 50')).toMatchObject({ code: 0 });
    expect(service.requests).toHaveLength(sent + 1);
    expect(await petstock.run(`undo ${(await petstock.newest()).run} --yes`)).toMatchObject({ code: 0 });
    expect(service.stockOf(1)).toBe(20);
  });
});

/** Applies a file one row at a time, and kills it once the first PATCH is there, which gets this action. */
async function killedAt(action: Action, lines: readonly string[]) {
  const service = await scriptedService({ stock: tenEach(4) });
  const petstock = petstockAt(service);
  const command = `inventory apply ${petstock.file('a.csv', lines)} --yes --concurrency 1 ${soon}`;
  return { service, petstock, run: await kill(service, petstock, action, command) };
}

/** @returns the run that the command was at */
async function kill(service: ScriptedService, petstock: Petstock, action: Action, command: string): Promise<string> {
  service.next('PATCH', action);
  const sent = service.seen('PATCH').length;
  const program = petstock.start(command);
  await service.untilSeen('PATCH', sent + 1);
  program.kill('SIGKILL');
  await program.result;
  return (await petstock.newest()).run;
}

async function applied(petstock: Petstock, lines: readonly string[]): Promise<string> {
  const result = await petstock.run(`inventory apply ${petstock.file('a.csv', lines)} --yes --json`);
  expect(result.code).toBe(0);
  return reportOf(result).run;
}

/** The row of a pet is a conflict whose words name the run, or one of the runs, that wrote in between. */
function expectConflictWith(
  runs: { readonly run: string } | readonly { readonly run: string }[],
  result: ProgramResult,
  petId: number,
): void {
  const row = rowOf(result, petId);
  expect(row).toMatchObject({ result: 'conflict' });
  const names = [runs].flat().map(nameOf);
  expect(names.filter((name) => row?.error?.message.includes(name))).not.toEqual([]);
}
