import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Claims } from '../../../src/history/claims/claims.ts';
import { claimsFiles } from '../../../src/history/claims/files.ts';
import { encodeClaim } from '../../../src/history/claims/log.ts';
import { type ClaimsRig, createClaimsRig as createRig } from './rig.ts';

const pet = 9_007_199_254_740_993n;

describe('a pet is ours', () => {
  test('where nobody else writes it', async () => {
    const rig = await createRig();
    const [a, b] = [rig.open('10.a'), rig.open('20.b')];
    const mark = a.mark();
    expect(b.claim(pet - 1n, b.mark())).toBeUndefined();
    expect(a.claim(pet, mark)).toBeUndefined();
    expect(rig.reasons).toEqual([]);
  });

  test('where another has written it before we looked', async () => {
    const rig = await createRig();
    const [a, b] = [rig.open('10.a'), rig.open('20.b')];
    expect(b.claim(pet, b.mark())).toBeUndefined();
    b.done(pet);
    expect(a.claim(pet, a.mark())).toBeUndefined();
  });

  test('where it is ours already', async () => {
    const rig = await createRig();
    const a = rig.open('10.a');
    const mark = a.mark();
    for (let n = 0; n < 3; n += 1) expect(a.claim(pet, mark)).toBeUndefined();
    a.done(pet);
    expect(a.claim(pet, mark)).toBeUndefined();
  });

  test('always, where it relies on no stock; and others are told', async () => {
    const rig = await createRig();
    const [a, b] = [rig.open('10.a'), rig.open('20.b')];
    const mark = b.mark();
    expect(b.claim(pet, mark)).toBeUndefined();
    expect(a.claim(pet, undefined)).toBeUndefined();
    a.done(pet);
    b.done(pet);
    expect(b.claim(pet, mark)).toBe('10.a');
  });
});

describe('a pet is another\u2019s', () => {
  test('that has claimed it since we looked, whether or not that is done', async () => {
    const rig = await createRig();
    const [a, b] = [rig.open('10.a'), rig.open('20.b')];
    const mark = a.mark();
    b.claim(pet, b.mark());
    expect(a.claim(pet, mark)).toBe('20.b');
    b.done(pet);
    expect(a.claim(pet, mark)).toBe('20.b');
    expect(a.claim(pet, a.mark())).toBeUndefined();
  });

  test('that was at it when we looked, whether or not that is done', async () => {
    const rig = await createRig();
    const [a, b] = [rig.open('10.a'), rig.open('20.b')];
    b.claim(pet, b.mark());
    const mark = a.mark();
    expect(a.claim(pet, mark)).toBe('20.b');
    b.done(pet);
    expect(a.claim(pet, mark)).toBe('20.b');
  });

  test('also where that was written once more and withdrawn', async () => {
    const rig = await createRig();
    const [a, b] = [rig.open('10.a'), rig.open('20.b')];
    const mark = a.mark();
    b.claim(pet, b.mark());
    b.done(pet);
    b.claim(pet, b.mark());
    b.withdraw(pet);
    expect(a.claim(pet, mark)).toBe('20.b');
  });

  test('but not where it was withdrawn before; a refused claim is withdrawn by itself', async () => {
    const rig = await createRig();
    const [a, b, c] = [rig.open('10.a'), rig.open('20.b'), rig.open('30.c')];
    const [markA, markB] = [a.mark(), b.mark()];
    c.claim(pet, c.mark());
    c.withdraw(pet);
    expect(b.claim(pet, markB)).toBeUndefined();
    expect(a.claim(pet, markA)).toBe('20.b');
    b.withdraw(pet);
    expect(c.claim(pet, markA)).toBeUndefined();
  });
});

describe('whether another is at it still', () => {
  test('until it is done, withdrawn or closed', async () => {
    const rig = await createRig();
    const [a, b] = [rig.open('10.a'), rig.open('20.b')];
    expect(a.waitsFor(pet)).toBe(false);
    for (const end of [() => b.done(pet), () => b.withdraw(pet), () => b.close()]) {
      b.claim(pet, undefined);
      expect(a.waitsFor(pet)).toBe(true);
      expect(b.waitsFor(pet)).toBe(false);
      end();
      expect(a.waitsFor(pet)).toBe(false);
    }
  });

  test('one that came behind us waits for us, and not we for it', async () => {
    const rig = await createRig();
    const [a, b, c] = [rig.open('10.a'), rig.open('20.b'), rig.open('30.c')];
    for (const claims of [a, b, c]) claims.claim(pet, undefined);
    const waiting = () => [a, b, c].map((claims) => claims.waitsFor(pet));
    expect(waiting()).toEqual([false, true, true]);
    a.done(pet);
    expect(waiting()).toEqual([true, false, true]);
    rig.alive.delete(20);
    expect(waiting()).toEqual([true, false, false]);
    c.withdraw(pet);
    expect(a.waitsFor(pet)).toBe(false);
  });

  test('what was claimed twice is done at once', async () => {
    const rig = await createRig();
    const [a, b] = [rig.open('10.a'), rig.open('20.b')];
    const mark = a.mark();
    b.claim(pet, undefined);
    b.claim(pet, undefined);
    b.done(pet);
    expect(a.waitsFor(pet)).toBe(false);
    expect(a.claim(pet, mark)).toBe('20.b');
  });

  test('one that died is over, but may have written', async () => {
    const rig = await createRig();
    const [a, b] = [rig.open('10.a'), rig.open('20.b')];
    const mark = a.mark();
    b.claim(pet, b.mark());
    rig.alive.delete(20);
    expect(a.waitsFor(pet)).toBe(false);
    expect(a.claim(pet, mark)).toBe('20.b');
    expect(a.claim(pet, a.mark())).toBeUndefined();
  });

  test('one that died after we looked was at it then', async () => {
    const rig = await createRig();
    const [a, b] = [rig.open('10.a'), rig.open('20.b')];
    b.claim(pet, b.mark());
    const mark = a.mark();
    rig.alive.delete(20);
    expect(a.claim(pet, mark)).toBe('20.b');
  });

  test('one that has closed without being done may have written', async () => {
    const rig = await createRig();
    const [a, b] = [rig.open('10.a'), rig.open('20.b')];
    const mark = a.mark();
    b.claim(pet, b.mark());
    b.close();
    expect(a.claim(pet, mark)).toBe('20.b');
    expect(a.claim(pet, a.mark())).toBeUndefined();
  });

  test('one of this process is told from one that had its number before', async () => {
    const rig = await createRig();
    const a = rig.open('10.a');
    appendFileSync(rig.log(), encodeClaim({ type: 'claim', by: '10.before', petId: String(pet) }));
    expect(a.waitsFor(pet)).toBe(false);
    rig.open('10.b').claim(pet, undefined);
    expect(a.waitsFor(pet)).toBe(true);
  });
});

test('services and starts of the machine are apart', async () => {
  const rig = await createRig();
  const a = rig.open('10.a');
  for (const other of [{ service: 'production' }, { boot: 'next' }]) {
    const mark = a.mark();
    rig.open('20.b', other).claim(pet, undefined);
    expect(a.waitsFor(pet)).toBe(false);
    expect(a.claim(pet, mark)).toBeUndefined();
  }
});

describe('a torn record', () => {
  test('at any byte counts for nothing, and the next one counts', async () => {
    const rig = await createRig();
    const line = encodeClaim({ type: 'claim', by: '20.b', petId: String(pet) });
    const a = rig.open('10.a');
    rig.alive.add(20);
    for (let length = 0; length < line.length; length += 1) {
      appendFileSync(rig.log(), line.slice(0, length));
      expect(a.waitsFor(pet)).toBe(false);
      expect(a.claim(pet, a.mark())).toBeUndefined();
      const mark = a.mark();
      appendFileSync(rig.log(), line);
      expect(a.claim(pet, mark)).toBe('20.b');
      appendFileSync(rig.log(), encodeClaim({ type: 'withdraw', by: '20.b', petId: String(pet) }));
    }
    expect(rig.reasons).toEqual([]);
  });

  test('on its way still, it is read when it is whole', async () => {
    const rig = await createRig();
    const line = encodeClaim({ type: 'claim', by: '20.b', petId: String(pet) });
    const a = rig.open('10.a');
    rig.alive.add(20);
    appendFileSync(rig.log(), line.slice(0, 9));
    expect(a.waitsFor(pet)).toBe(false);
    appendFileSync(rig.log(), line.slice(9));
    expect(a.waitsFor(pet)).toBe(true);
  });

  test.each([
    '\n',
    '\0'.repeat(200_000),
    'x'.repeat(200_000),
    '\nc 20.b;',
    '\nc 20.b one;',
    '\nz 20.b 7;',
    '\ns 20.b 3;',
  ])('garbage is passed over: %#', async (garbage) => {
    const rig = await createRig();
    const a = rig.open('10.a');
    appendFileSync(rig.log(), garbage);
    const mark = a.mark();
    const b = rig.open('20.b');
    expect(b.claim(pet, b.mark())).toBeUndefined();
    expect(a.claim(pet, mark)).toBe('20.b');
    expect(rig.reasons).toEqual([]);
  });
});

describe('a log that has grown', () => {
  const sealAt = 1000;
  const fill = (claims: Claims, count = 50) => {
    for (let n = 0; n < count; n += 1) {
      claims.claim(BigInt(n), undefined);
      claims.done(BigInt(n));
    }
  };
  const generations = (rig: ClaimsRig) =>
    readdirSync(rig.folder)
      .map((name) => Number(name.split('.')[1]))
      .sort();

  test('is left behind once nobody has it open, and two are kept at most', async () => {
    const rig = await createRig();
    for (let n = 0; n < 5; n += 1) {
      const claims = rig.open(`10.a${n}`, { sealAt });
      fill(claims);
      claims.close();
    }
    expect(statSync(rig.log(6)).size).toBe(0);
    rig.open('20.b', { sealAt });
    expect(generations(rig)).toEqual([5, 6]);
  });

  test('also where the last one that had it open was killed', async () => {
    const rig = await createRig();
    fill(rig.open('10.a', { sealAt }));
    rig.alive.delete(10);
    const b = rig.open('20.b', { sealAt });
    expect(generations(rig)).toEqual([1, 2]);
    expect(b.waitsFor(1n)).toBe(false);
  });

  test('but not while another has it open, who relies on it', async () => {
    const rig = await createRig();
    const a = rig.open('10.a', { sealAt });
    const mark = a.mark();
    const b = rig.open('20.b', { sealAt });
    fill(b);
    b.close();
    const c = rig.open('30.c', { sealAt });
    expect(c.claim(pet, undefined)).toBeUndefined();
    expect(a.claim(pet, mark)).toBe('30.c');
    expect(generations(rig)).toEqual([1]);
  });

  test('a seal that somebody came before does not hold', async () => {
    const rig = await createRig();
    const a = rig.open('10.a');
    const size = statSync(rig.log()).size;
    const b = rig.open('20.b');
    // What a third one writes that had read up to `size`, before b came.
    appendFileSync(rig.log(), encodeClaim({ type: 'seal', by: '30.c', at: size }));
    b.claim(pet, undefined);
    expect(a.waitsFor(pet)).toBe(true);
    expect(generations(rig)).toEqual([1]);
  });

  test('one who came behind a seal goes on behind it, and so does one that was taken for dead', async () => {
    const rig = await createRig();
    const a = rig.open('10.a');
    const mark = a.mark();
    expect(a.claim(pet, mark)).toBeUndefined();
    appendFileSync(rig.log(), encodeClaim({ type: 'seal', by: '30.c', at: statSync(rig.log()).size }));
    const b = rig.open('20.b');
    const markB = b.mark();
    expect(a.claim(7n, mark)).toBeUndefined();
    expect(b.claim(7n, markB)).toBe('10.a');
    expect(b.waitsFor(pet)).toBe(true);
    expect(generations(rig)).toEqual([1, 2]);
  });

  test('logs that nobody has written for a week are removed with the first record of a new one', async () => {
    const rig = await createRig();
    rig.open('10.a', { service: 'out of use' }).close();
    rig.open('10.b', { service: 'used yesterday' }).close();
    const { scope } = claimsFiles(rig.stateFolder, 'out of use', 'this');
    const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
    for (const name of readdirSync(rig.folder)) {
      const at = ago(name.startsWith(scope) ? 8 : 1);
      utimesSync(join(rig.folder, name), at, at);
    }
    rig.open('10.c');
    expect(readdirSync(rig.folder)).toHaveLength(2);
    expect(readdirSync(rig.folder).some((name) => name.startsWith(scope))).toBe(false);
  });
});

describe('a log that is taken away', () => {
  test('is begun anew, and the claims that are open go into it', async () => {
    const rig = await createRig();
    const [a, b] = [rig.open('10.a'), rig.open('20.b')];
    a.claim(pet, a.mark());
    const mark = b.mark();
    rmSync(rig.folder, { recursive: true });
    a.claim(7n, undefined);
    expect(b.claim(7n, mark)).toBe('10.a');
    expect(rig.open('30.c').waitsFor(pet)).toBe(true);
    expect(rig.reasons).toEqual([]);
  });
});

describe('a folder that takes no log', () => {
  test('is told once, and the process goes on alone', async () => {
    const rig = await createRig();
    mkdirSync(join(rig.folder, '..'), { recursive: true });
    writeFileSync(rig.folder, 'a file where the folder should be');
    const a = rig.open('10.a');
    const mark = a.mark();
    expect(a.claim(pet, mark)).toBeUndefined();
    a.done(pet);
    a.withdraw(pet);
    expect(a.waitsFor(pet)).toBe(false);
    a.close();
    a.done(pet);
    expect(rig.reasons.map(({ message }) => message)).toEqual([expect.stringMatching(/EEXIST|ENOTDIR/)]);
  });

  test('nor one that is cut short under our feet, or a disk that is full', async () => {
    const rig = await createRig();
    const a = rig.open('10.a');
    a.claim(pet, a.mark());
    truncateSync(rig.log(), 0);
    expect(a.claim(pet, a.mark())).toBeUndefined();
    expect(rig.reasons).toHaveLength(1);
    rmSync(rig.log());
    symlinkSync('/dev/full', rig.log());
    rig.open('20.b').claim(pet, undefined);
    expect(rig.reasons).toMatchObject([{}, { message: expect.stringContaining('ENOSPC') }]);
  });

  test('the folder is 0700 and the log 0600', async () => {
    const rig = await createRig();
    rig.open('10.a');
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect([rig.folder, rig.log()].map(mode)).toEqual(['700', '600']);
  });
});
