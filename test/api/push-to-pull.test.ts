import { describe, expect, test } from 'vitest';
import { pushToPull } from '../../src/api/inventory-body.ts';

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const value of values) seen.push(value);
  return seen;
}

/** Gives the numbers from 1 on, and notes what it was told. */
function counting(upTo: number, end: () => Promise<void> = async () => {}) {
  const answers: boolean[] = [];
  let ended = false;
  const values = pushToPull<number>(async (give) => {
    for (let value = 1; value <= upTo && answers.at(-1) !== false; value += 1) answers.push(await give(value));
    await end();
    ended = true;
  });
  return { values, answers, ended: () => ended };
}

describe('pushToPull', () => {
  test('gives values in their order, and then ends', async () => {
    const { values, answers, ended } = counting(3);
    expect(await all(values)).toEqual([1, 2, 3]);
    expect(answers).toEqual([true, true, true]);
    expect(ended()).toBe(true);
  });

  test('of nothing', async () => {
    expect(await all(pushToPull(async () => {}))).toEqual([]);
  });

  test('does not go on before the next value is asked for', async () => {
    const { values, answers } = counting(3);
    await values.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(answers).toEqual([]);
    expect(await values.next()).toEqual({ done: false, value: 2 });
    expect(answers).toEqual([true]);
    await values.return(undefined);
  });

  test('tells when nobody wants more, and waits for the end', async () => {
    const { values, answers, ended } = counting(3, () => new Promise((resolve) => setImmediate(resolve)));
    for await (const value of values) {
      if (value === 2) break;
    }
    expect(answers).toEqual([true, false]);
    expect(ended()).toBe(true);
  });

  test('what fails is thrown where the next value was to come', async () => {
    const { values } = counting(2, () => Promise.reject(new Error('broke off')));
    const seen: number[] = [];
    const reading = async () => {
      for await (const value of values) seen.push(value);
    };
    await expect(reading()).rejects.toThrow('broke off');
    expect(seen).toEqual([1, 2]);
  });

  test('what fails at once', async () => {
    await expect(all(pushToPull(() => Promise.reject(new Error('no key'))))).rejects.toThrow('no key');
  });

  test('what fails when nobody wants more is nobody’s concern', async () => {
    const { values } = counting(3, () => Promise.reject(new Error('broke off')));
    for await (const value of values) {
      expect(value).toBe(1);
      break;
    }
  });
});
