import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createPlainPrompts, createPrompts } from '../../src/cli/prompts.ts';
import { InterruptedError } from '../../src/shared/errors.ts';

/** A question on streams of its own; `type` sends keys as soon as the question is drawn. */
function terminal(signal?: AbortSignal, create = createPrompts) {
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
    prompts: create({ input, output, signal }),
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

test.each([createPrompts, createPlainPrompts])(
  'a terminal that is closed at a question ends it, and nothing else',
  async (create) => {
    const { prompts, input, asked } = terminal(undefined, create);
    // As a stream that nothing listens to, once its terminal takes no mode any more.
    const setRawMode = (mode: boolean) => {
      if (!mode) throw Object.assign(new Error('setRawMode EIO'), { code: 'EIO' });
    };
    Object.assign(input, { setRawMode, isTTY: true });
    void asked.then(() => input.end());
    await expect(prompts.password('Key?')).rejects.toThrow(InterruptedError);
  },
);

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

describe('on a terminal that only prints', () => {
  const plain = (signal?: AbortSignal) => terminal(signal, createPlainPrompts);

  test('a question is a line, and its answer one', async () => {
    const { prompts, type, drawn } = plain();
    void type('y\n');
    expect(await prompts.confirm('Sure?')).toBe(true);
    expect(drawn()).toBe('Sure? (y/N) ');
  });

  test.each([
    ['\n', false],
    ['yes\r\n', true],
    ['PYTHON-12\n', false],
  ])('a confirmation: %j is %s', async (keys, answer) => {
    const { prompts, type } = plain();
    void type(keys);
    expect(await prompts.confirm('Sure?')).toBe(answer);
  });

  test('what is typed ahead answers the next question, however it is cut', async () => {
    const { prompts, type, input, drawn } = plain();
    void type('pro');
    void type('duction\nzw\u00f6');
    expect(await prompts.text('Which? Type production to go on')).toBe('production');
    input.write('lf\n');
    expect(await prompts.text('Again?')).toBe('zw\u00f6lf');
    expect(drawn()).toBe('Which? Type production to go on: Again? ');
  });

  test('a password is read without being shown, and edited', async () => {
    const { prompts, type, drawn, input } = plain();
    const modes: boolean[] = [];
    Object.assign(input, { setRawMode: (mode: boolean) => modes.push(mode) });
    void type('wrong\x15psk_\x1b[D\x1as3cx\x7fret\r');
    expect(await prompts.password('Key?')).toBe('psk_s3cret');
    expect(drawn()).toBe('Key? \n');
    expect(modes).toEqual([true, false]);
  });

  test.each([['\x03'], ['\x04'], ['\x1b'], ['half\x03']])('%j at a password interrupts', async (keys) => {
    const { prompts, type } = plain();
    void type(keys);
    await expect(prompts.password('Key?')).rejects.toBeInstanceOf(InterruptedError);
  });

  test.each([
    ['Ctrl-D', (input: PassThrough) => input.end()],
    ['Ctrl-D behind some letters', (input: PassThrough) => input.end('ye')],
    ['the end of the terminal', (input: PassThrough) => input.destroy()],
  ])('%s ends the line of the question, so that what is said next begins one', async (_what, end) => {
    for (const kind of ['confirm', 'text', 'password'] as const) {
      const { prompts, asked, input, drawn } = plain();
      void asked.then(() => end(input));
      await expect(prompts[kind]('Sure?')).rejects.toBeInstanceOf(InterruptedError);
      expect(drawn()).toMatch(/^Sure\?[^\n]* \n$/);
    }
  });

  test('a terminal that goes away, and the signal, interrupt; no listener stays behind', async () => {
    const controller = new AbortController();
    const { prompts, input, asked } = plain(controller.signal);
    void asked.then(() => controller.abort());
    await expect(prompts.text('Which?')).rejects.toBeInstanceOf(InterruptedError);
    expect(['data', 'end', 'close'].map((name) => input.listenerCount(name))).toEqual(
      ['data', 'end', 'close'].map((name) => new PassThrough().listenerCount(name)),
    );
    const other = plain();
    void other.asked.then(() => other.input.end('half'));
    await expect(other.prompts.confirm('Sure?')).rejects.toBeInstanceOf(InterruptedError);
  });
});
