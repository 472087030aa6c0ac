import { expect, test } from 'vitest';
import { expectResumed, oneMoment, setting, untilAnswered } from '../../support/interrupted-run.ts';

test.each(oneMoment)(
  'a machine that stands still once %i rows are answered sends nothing when it goes on',
  async (count) => {
    const given = await setting();
    const before = await given.stock();
    const program = given.begin();
    await untilAnswered(given.served, count);
    program.kill('SIGSTOP');
    given.release();
    // Another machine takes over once the lease is over: 15 s.
    await expectResumed(given, before);
    const third = given.machine();
    const [pet = ''] = before.keys();
    expect(await third.run(`inventory adjust ${pet} +5 -q`)).toMatchObject({ code: 0 });
    const [stock, sent] = [await given.stock(), (await given.served.journal()).length];
    program.kill('SIGCONT');
    const { code, stderr } = await program.result;
    const meanwhile = (await given.served.journal()).slice(sent);
    expect(meanwhile.filter(({ method }) => method === 'PATCH')).toEqual([]);
    expect([5, 7, 8]).toContain(code);
    expect(stderr).toMatch(/was taken over by|does not answer/);
    expect(await given.stock()).toEqual(stock);
    expect(await third.newest()).toMatchObject({ command: 'inventory adjust', state: 'done' });
    const [, resumed] = await third.history();
    expect(resumed).toMatchObject({ command: 'inventory apply', state: 'done' });
    expect(await third.run('state check')).toMatchObject({ code: 0 });
  },
  300_000,
);
