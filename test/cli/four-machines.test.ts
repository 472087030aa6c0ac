import { expect, test } from 'vitest';
import type { ListedRun } from '../support/petstock.ts';
import { temporaryDatabase } from '../support/postgres.ts';
import { stockOf } from '../support/shop.ts';
import { type Machine, openTeam, type Team } from '../support/team.ts';

const limits = { limits: { minute: 40, day: 1_000_000 }, windowSeconds: 2, pets: 60 };
const skews = [
  ['till-1', { wall: 0, monotonic: 0 }],
  ['till-2', { wall: 30_000, monotonic: 5_000_000 }],
  ['office', { wall: -30_000, monotonic: 123 }],
  ['ci', { wall: 7000, monotonic: 900_000_000 }],
] as const;

async function openFour(): Promise<Team & { readonly machines: readonly [Machine, Machine, Machine, Machine] }> {
  const team = await openTeam(await temporaryDatabase(), limits);
  const [one, two, three, four] = await Promise.all(skews.map(([host, ahead]) => team.machine(host, ahead)));
  if (!one || !two || !three || !four) throw new Error('a machine is missing');
  return { ...team, machines: [one, two, three, four] };
}

const inTurn = async (machine: Machine, commands: readonly string[]) => {
  const codes: number[] = [];
  for (const command of commands) codes.push((await machine.run(command)).code);
  return codes;
};

test('gets no 429 and loses no adjust with four machines whose clocks are up to 30 s off', async () => {
  const { machines, service } = await openFour();
  const [apply, set, adjust, other] = machines;
  const before = await stockOf(apply);
  const pets = [...before.keys()];
  const [shared, ...rest] = pets;
  const wanted = rest.slice(0, 40).map((petId, index) => [petId, index + 100] as const);
  const file = apply.file('counts.csv', ['petId,quantity', ...wanted.map((cells) => cells.join(','))]);
  const sets = rest.slice(40, 52).map((petId) => `inventory set ${petId} 7 -q`);
  const codes = await Promise.all([
    apply.run(`inventory apply ${file} --yes`).then(({ code }) => [code]),
    inTurn(set, sets),
    inTurn(adjust, Array<string>(6).fill(`inventory adjust ${shared} +1 -q`)),
    inTurn(other, Array<string>(6).fill(`inventory adjust ${shared} +10 -q`)),
  ]);
  expect(codes.flat().filter((code) => code !== 0)).toEqual([]);
  const refused = service.journal().filter(({ status }) => status === 429);
  expect(refused).toEqual([]);
  const after = await stockOf(other);
  expect(after.get(shared ?? '')).toBe((before.get(shared ?? '') ?? 0) + 6 + 60);
  for (const [petId, quantity] of wanted) expect(after.get(petId)).toBe(quantity);

  const runs = JSON.parse((await set.run('history list --json')).stdout) as ListedRun[];
  expect(runs).toHaveLength(1 + 12 + 12);
  const people = new Set(runs.map(({ host, user }) => `${user}@${host}`));
  expect([...people].sort()).toEqual(['of-ci@ci', 'of-office@office', 'of-till-1@till-1', 'of-till-2@till-2']);
  expect(runs.filter(({ state }) => state !== 'done')).toEqual([]);
  expect(await adjust.run('state check')).toMatchObject({ code: 0 });
});

test('stops all machines until the wait is over after one of them gets a 429', async () => {
  const { machines, service } = await openFour();
  await machines[0].run('inventory get 1');
  service.setFaults(['*:first=1:status=429:retry-after=3']);
  const work = machines.map((machine) => inTurn(machine, Array<string>(6).fill('inventory get 1 -q')));
  expect((await Promise.all(work)).flat()).toEqual(Array(24).fill(0));
  const journal = service.journal();
  const refusal = journal.find(({ status }) => status === 429);
  if (refusal === undefined) throw new Error('there was no 429');
  const lifted = refusal.time + 3000;
  // At most one request of each other machine was already admitted when the database had the gate.
  const meanwhile = journal.filter(({ time }) => time > refusal.time && time < lifted);
  expect(meanwhile.length).toBeLessThan(machines.length);
  // An answer of the database counts as fresh for 250 ms, and a busy machine may take longer to send.
  expect(meanwhile.filter(({ time }) => time > refusal.time + 1500)).toEqual([]);
  expect(journal.filter(({ time }) => time >= lifted).length).toBeGreaterThanOrEqual(24 - machines.length);
});

test("shows and undoes a colleague's run, but not with --last", async () => {
  const { machines } = await openFour();
  const [ann, ben] = machines;
  const [petId] = (await stockOf(ann)).keys();
  await ann.run(`inventory adjust ${petId} +5 -q`);
  expect(await ben.run('history list', {})).toMatchObject({ stdout: expect.stringContaining('of-till-1\ttill-1') });
  expect(await ben.run('undo --last --yes')).toMatchObject({ code: 9 });
  const [run] = JSON.parse((await ben.run('history list --json')).stdout) as ListedRun[];
  expect(await ben.run(`undo ${run?.run} --yes`)).toMatchObject({ code: 0 });
  expect((await ann.run(`history show ${run?.run}`)).stderr).toContain('of-till-1');
  const own = JSON.parse((await ben.run('history list --user of-till-2 --json')).stdout) as ListedRun[];
  expect(own.map(({ command, undoes }) => [command, undoes])).toEqual([['undo', run?.run]]);
});
