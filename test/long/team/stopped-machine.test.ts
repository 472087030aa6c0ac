import { expect, test } from 'vitest';
import { expectResumed, oneMoment, setting, untilAnswered } from '../../support/interrupted-run.ts';

test.each(oneMoment)(
  'a machine that stands still once %i rows are answered sends nothing when it goes on',
  async (count) => {
    const given = await setting();
    const program = given.begin();
    await untilAnswered(given.service, count);
    program.kill('SIGSTOP');
    given.release();
    // Another machine takes over once the lease is over: 15 s.
    await expectResumed(given);
    const third = given.machine();
    expect(await third.run('inventory adjust 1 +5 -q')).toMatchObject({ code: 0 });
    const [stock, sent] = [given.stock(), given.service.seen('PATCH').length];
    program.kill('SIGCONT');
    const { code, stderr } = await program.result;
    expect(given.service.seen('PATCH')).toHaveLength(sent);
    expect([5, 7, 8]).toContain(code);
    expect(stderr).toMatch(/was taken over by|does not answer/);
    expect(given.stock()).toEqual(stock);
    expect(await third.newest()).toMatchObject({ command: 'inventory adjust', state: 'done' });
    const [, resumed] = await third.history();
    expect(resumed).toMatchObject({ command: 'inventory apply', state: 'done' });
    expect(await third.run('state check')).toMatchObject({ code: 0 });
  },
  300_000,
);
