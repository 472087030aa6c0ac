import { expect, test } from 'vitest';
import { pushToPull } from '../../src/api/inventory-body.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const breakOff = () => Promise.reject(new Error('broke off'));

/** Gives the numbers from 1 on, and notes what it was told; `seen` is what a reader has read until `wants` of them. */
function counting(upTo: number, end: () => Promise<void> = async () => {}) {
  const [answers, seen]: [boolean[], number[]] = [[], []];
  let ended = false;
  const values = pushToPull<number>(async (give) => {
    for (let value = 1; value <= upTo && answers.at(-1) !== false; value += 1) answers.push(await give(value));
    await end();
    ended = true;
  });
  const read = async (wants = Number.POSITIVE_INFINITY) => {
    for await (const value of values) if (seen.push(value) === wants) break;
  };
  return { values, answers, seen, read, ended: () => ended };
}

test.each([0, 3])('gives %i values in their order, and then ends', async (upTo) => {
  const { seen, answers, read, ended } = counting(upTo);
  await read();
  expect(seen).toEqual([1, 2, 3].slice(0, upTo));
  expect(answers).toEqual(seen.map(() => true));
  expect(ended()).toBe(true);
});

test('does not go on before the next value is asked for', async () => {
  const { values, answers } = counting(3);
  await values.next();
  await turn();
  expect(answers).toEqual([]);
  expect(await values.next()).toEqual({ done: false, value: 2 });
  expect(answers).toEqual([true]);
  await values.return(undefined);
});

test('tells when nobody wants more, and waits for the end', async () => {
  const { answers, read, ended } = counting(3, turn);
  await read(2);
  expect(answers).toEqual([true, false]);
  expect(ended()).toBe(true);
});

test.each([0, 2])('what fails is thrown where the next value was to come, after %i', async (upTo) => {
  const { seen, read } = counting(upTo, breakOff);
  await expect(read()).rejects.toThrow('broke off');
  expect(seen).toEqual([1, 2].slice(0, upTo));
});

test('what fails when nobody wants more is nobody’s concern', async () => {
  const { seen, read } = counting(3, breakOff);
  await read(1);
  expect(seen).toEqual([1]);
});
