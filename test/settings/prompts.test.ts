import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createPrompts } from '../../src/cli/prompts.ts';
import { InterruptedError } from '../../src/shared/errors.ts';

/** A question on streams of its own; `type` sends keys as soon as the question is drawn. */
function terminal(signal?: AbortSignal) {
  const input = new PassThrough();
  const output = new PassThrough();
  let drawn = '';
  const asked = new Promise<void>((resolve) => {
    output.on('data', (chunk: Buffer) => {
      drawn += chunk.toString();
      if (drawn.includes('?')) resolve();
    });
  });
  return {
    prompts: createPrompts({ input, output, signal }),
    input,
    output,
    asked,
    type: (keys: string) => asked.then(() => input.write(keys)),
    drawn: () => drawn,
  };
}

test('a password is given back and never drawn', async () => {
  const { prompts, type, drawn } = terminal();
  void type('psk_s3cret\r');
  expect(await prompts.password('Key?')).toBe('psk_s3cret');
  expect(drawn()).toContain('Key?');
  expect(drawn()).not.toContain('s3cret');
});

test('Ctrl-Z is no key', async () => {
  const { prompts, type } = terminal();
  void type('psk_\u001as3cret\r');
  expect(await prompts.password('Key?')).toBe('psk_s3cret');
});

test.each([
  ['\r', false],
  ['y\r', true],
  ['Yes\r', true],
  ['n\r', false],
  // Typed ahead, or scanned.
  ['hello\r', false],
  ['PYTHON-12\r', false],
  ['y4\r', false],
])('a confirmation: %j is %s', async (keys, answer) => {
  const { prompts, type } = terminal();
  void type(keys);
  expect(await prompts.confirm('Sure?')).toBe(answer);
});

test.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
  ['Ctrl-C after some letters', 'abc\u0003'],
  ['Ctrl-D after some letters', 'abc\u0004'],
])('%s interrupts', async (_name, keys) => {
  const { prompts, type } = terminal();
  void type(keys);
  await expect(prompts.password('Key?')).rejects.toBeInstanceOf(InterruptedError);
});

test('a terminal that goes away interrupts', async () => {
  const { prompts, input, asked } = terminal();
  void asked.then(() => input.end());
  await expect(prompts.confirm('Sure?')).rejects.toBeInstanceOf(InterruptedError);
  await expect(prompts.confirm('Sure?')).rejects.toBeInstanceOf(InterruptedError);
});

test('the signal interrupts, before and during a question', async () => {
  const controller = new AbortController();
  const { prompts, asked } = terminal(controller.signal);
  void asked.then(() => controller.abort());
  await expect(prompts.password('Key?')).rejects.toBeInstanceOf(InterruptedError);
  await expect(prompts.password('Key?')).rejects.toBeInstanceOf(InterruptedError);
});

test('no listener stays behind', async () => {
  const { prompts, type, input } = terminal();
  const count = () => ['end', 'close', 'keypress'].map((name) => input.listenerCount(name));
  void type('\r');
  await prompts.confirm('Sure?');
  const after = count();
  void type('\r');
  await prompts.confirm('Sure?');
  expect(count()).toEqual(after);
});

test('a terminal that says 0 by 0 gets whole lines', async () => {
  const { prompts, type, drawn, output } = terminal();
  Object.assign(output, { columns: 0, rows: 0 });
  void type('y\r');
  expect(await prompts.confirm('Is this a whole line?')).toBe(true);
  expect(drawn()).toContain('Is this a whole line?');
});
