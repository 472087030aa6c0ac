import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createPrompts } from '../../src/cli/prompts.ts';
import { InterruptedError } from '../../src/shared/errors.ts';

/** Creates prompts with their own streams. `type` sends keys once a question is drawn. */
function terminal(signal?: AbortSignal, suspend?: () => Promise<void>) {
  const input = new PassThrough();
  const output = new PassThrough();
  let drawn = '';
  const asked = new Promise<void>((resolve) => {
    output.on('data', (chunk: Buffer) => {
      drawn += chunk.toString();
      if (drawn.includes('?')) resolve();
    });
  });
  const prompts = createPrompts({ input, output, signal, ...(suspend && { suspend }) });
  return {
    prompts,
    input,
    output,
    asked,
    type: (keys: string) => asked.then(() => input.write(keys)),
    drawn: () => drawn,
  };
}

describe('prompts', () => {
  test.each([
    ['', false],
    ['y', true],
    ['Yes', true],
    ['n', false],
    // Text that was typed ahead or scanned is no confirmation.
    ['hello', false],
  ])('reads the confirmation %j as %s', async (keys, answer) => {
    const { prompts, type } = terminal();
    void type(`${keys}\n`);
    expect(await prompts.confirm('Sure?')).toBe(answer);
  });

  test('does not take a scan for an answer, and says that it was not counted', async () => {
    const { prompts, type, drawn } = terminal();
    void type('2000000000060\ny4\n42 x3\ny\n');
    expect(await prompts.confirm('Sure?')).toBe(true);
    expect(drawn()).toBe(
      [
        'Sure? (y/N) ',
        ...['2000000000060', 'y4', '42 x3'].map(
          (scan) => `"${scan}" is not an answer, and was not counted. Sure? (y/N) `,
        ),
      ].join(''),
    );
  });

  test('interrupts a password question if its terminal is closed', async () => {
    const { prompts, input, asked } = terminal();
    // Simulates a terminal that refuses to leave raw mode, because it was closed.
    const setRawMode = (mode: boolean) => {
      if (!mode) throw Object.assign(new Error('setRawMode EIO'), { code: 'EIO' });
    };
    Object.assign(input, { setRawMode, isTTY: true });
    void asked.then(() => input.end());
    await expect(prompts.password('Key?')).rejects.toThrow(InterruptedError);
  });

  test('interrupts a question on an abort before or during it', async () => {
    const controller = new AbortController();
    const { prompts, asked } = terminal(controller.signal);
    void asked.then(() => controller.abort());
    for (const kind of ['password', 'text', 'confirm'] as const)
      await expect(prompts[kind]('Key?')).rejects.toBeInstanceOf(InterruptedError);
  });

  test('leaves no listener behind after a second question', async () => {
    const { prompts, type, input } = terminal();
    const count = () => ['data', 'end', 'close', 'keypress'].map((name) => input.listenerCount(name));
    void type('\n');
    await prompts.confirm('Sure?');
    const after = count();
    void type('\n');
    await prompts.confirm('Sure?');
    expect(count()).toEqual(after);
  });

  test.each(['\x03', '\x04', '\x1b', 'half\x03', 'half\x04'])(
    'interrupts a password question after %j',
    async (keys) => {
      const { prompts, type } = terminal();
      void type(keys);
      await expect(prompts.password('Key?')).rejects.toBeInstanceOf(InterruptedError);
    },
  );

  test.each(['', 'ye'])('interrupts every kind of question if the terminal is closed after %j', async (keys) => {
    const { prompts, input, asked } = terminal();
    void asked.then(() => input.end(keys));
    for (const kind of ['confirm', 'text', 'password'] as const)
      await expect(prompts[kind]('Sure?')).rejects.toBeInstanceOf(InterruptedError);
  });

  test.each(['y\n', 'yes\r\n'])('asks a plain question on one line, and reads %j as one answer', async (keys) => {
    const { prompts, type, drawn, input } = terminal();
    const names = ['data', 'end', 'close'];
    const before = names.map((name) => input.listenerCount(name));
    void type(keys);
    expect(await prompts.confirm('Sure?')).toBe(true);
    expect(drawn()).toBe('Sure? (y/N) ');
    expect(names.map((name) => input.listenerCount(name))).toEqual(before);
    // No part of the answer is left for the next question.
    input.write('no\n');
    expect(await prompts.text('Which?')).toBe('no');
  });

  test.each([
    [40, 'Write 2 changes to sandbox? Units: 4\n  added. (y/N) '],
    // A terminal whose size was never set has 0 columns.
    [0, 'Write 2 changes to sandbox? Units: 4 added. (y/N) '],
  ])('breaks a question between words if the width of the terminal is known (%i columns)', async (columns, lines) => {
    const { prompts, type, drawn, output } = terminal();
    Object.assign(output, { columns });
    void type('y\n');
    expect(await prompts.confirm('Write 2 changes to sandbox? Units: 4 added.')).toBe(true);
    expect(drawn()).toBe(lines);
  });

  test('answers the next question with text typed ahead, however it is split', async () => {
    const { prompts, type, input, drawn } = terminal();
    void type('pro');
    void type('duction\nzw\u00f6');
    expect(await prompts.text('Which? Type production to continue')).toBe('production');
    input.write('lf\n');
    expect(await prompts.text('Again?')).toBe('zw\u00f6lf');
    expect(drawn()).toBe('Which? Type production to continue: Again? ');
  });

  test('suspends a password question on Ctrl-Z, then asks it again, and keeps what was typed', async () => {
    const events: string[] = [];
    const { prompts, input, type, drawn } = terminal(undefined, async () => {
      events.push(`suspended after ${drawn().trimEnd()}`);
      setImmediate(() => input.write('de\n'));
    });
    Object.assign(input, { setRawMode: (mode: boolean) => events.push(`raw ${mode}`) });
    void type('abc\x1a');
    expect(await prompts.password('Key?')).toBe('abcde');
    expect(events).toEqual(['raw true', 'raw false', 'suspended after Key?', 'raw true', 'raw false']);
    expect(drawn()).toBe('Key? \nKey? \n');
  });

  test('reads a password without showing it, and allows editing', async () => {
    const { prompts, type, drawn, input } = terminal();
    const modes: boolean[] = [];
    Object.assign(input, { setRawMode: (mode: boolean) => modes.push(mode) });
    void type('wrong\x15psk_\x1b[D\x1as3cx\x7fret\r');
    expect(await prompts.password('Key?')).toBe('psk_s3cret');
    expect(drawn()).toBe('Key? \n');
    expect(modes).toEqual([true, false]);
  });

  test.each([
    ['Ctrl-D', (input: PassThrough) => input.end()],
    ['Ctrl-D after some letters', (input: PassThrough) => input.end('ye')],
    ['the terminal is closed', (input: PassThrough) => input.destroy()],
  ])('ends the line of the question after %s', async (_what, end) => {
    for (const kind of ['confirm', 'text', 'password'] as const) {
      const { prompts, asked, input, drawn } = terminal();
      void asked.then(() => end(input));
      await expect(prompts[kind]('Sure?')).rejects.toBeInstanceOf(InterruptedError);
      expect(drawn()).toMatch(/^Sure\?[^\n]* \n$/);
    }
  });
});
