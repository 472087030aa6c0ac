import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { decodedChunks, decodeUtf8, wholeBody } from '../../src/api/body.ts';
import type { Context } from '../../src/cli/context.ts';
import { guardedContext } from '../../src/cli/guarded-context.ts';
import { bell, harmless, wipeLine } from '../../src/output/terminal.ts';
import { FailureError } from '../../src/shared/errors.ts';
import fc, { anyText, propertyRuns } from '../support/properties.ts';

/**
 * Numbers of runs for each of the two places that handle untrusted input. A long run prints its seeds:
 * `PETSTOCK_RUNS=1000000 npx vitest run --project unit test/cli/untrusted.property.test.ts`
 */
const sink = propertyRuns(1000);
const body = propertyRuns(75, 1 / 10);
const isLong = process.env.PETSTOCK_RUNS !== undefined;
const options = { timeout: isLong ? 24 * 60 * 60 * 1000 : 30_000 };

afterAll(() => {
  if (isLong) process.stderr.write(`${JSON.stringify({ sink, body })}\n`);
});

/** Text whose only control characters are tabs, line feeds and styles. */
const allowed =
  /^(?:[^\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\x1b\[(?:1|2|22|31|32|33|36|39)m)*$/;
const evil = fc.constantFrom(
  ...'\x1b \\ [ ] P m 0 2 31 ; ? \x07 \x08 \x9b \x9c \x9d'.split(' '),
  ' ',
  '\r',
  '\n',
  '\t',
  'K',
  '\u202e',
  '\u2066',
  '\u061c',
  '\u200f',
  '\u2028',
  'é',
  '犬',
  '😀',
  wipeLine,
  '\x1b[31m',
  '\x1b[39m',
);
const evilText = fc.oneof(fc.string({ unit: evil, maxLength: 40 }), anyText({ maxLength: 40 }));

test('removes characters that move the cursor or hide text before writing to a terminal', options, async () => {
  const pieces = fc.array(fc.oneof(evilText, fc.uint8Array({ maxLength: 20 })), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(pieces, fc.boolean(), async (written, cutsCharacters) => {
      const shown: string[] = [];
      const { stdout } = guardedContext(terminalContext((text) => shown.push(text)));
      for (const piece of written) {
        for (const chunk of cutsCharacters ? halves(Buffer.from(piece)) : [piece]) await stdout.write(chunk);
      }
      for (const text of shown) {
        const line = text.startsWith(wipeLine) ? text.slice(wipeLine.length) : text;
        // A line may be a bell alone, which a count rings for an unknown code.
        if (line !== bell) expect(line).toMatch(allowed);
        if (harmless(text) !== text) expect(harmless(text)).toBe(text);
      }
    }),
    sink,
  );
});

test('removes characters that move the cursor or hide text before writing to a pager', options, async () => {
  await fc.assert(
    fc.asyncProperty(evilText, async (text) => {
      const shown: string[] = [];
      const context = guardedContext(terminalContext((written) => shown.push(written)));
      const pager = await context.openPager({ command: 'less', env: {} });
      await pager.write(text);
      expect(shown.join('').replaceAll(wipeLine, '').replaceAll(bell, '')).toMatch(allowed);
    }),
    sink,
  );
});

test('reads a compressed, split or damaged body up to its limit, or fails', options, async () => {
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc
      .tuple(fc.constantFrom(' ', 'x', '[', '\\u0041', '犬'), fc.nat(3000))
      .map(([unit, times]) => Buffer.from(unit.repeat(times))),
  );
  const damage = fc.option(fc.record({ at: fc.nat(4000), remove: fc.nat(3), insert: fc.uint8Array({ maxLength: 3 }) }));
  const encoding = fc.constantFrom('identity', 'gzip', 'x-gzip', 'deflate', 'br');
  const lengths = fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(content, encoding, damage, lengths, fc.nat(5000), async (plain, packing, harm, sizes, most) => {
      const packed = harm === null ? pack(packing, plain) : damaged(pack(packing, plain), harm);
      const response = {
        status: 200,
        headers: { 'content-encoding': packing },
        body: inPieces(packed, sizes),
        discard: () => {},
      };
      const result = await wholeBody(decodedChunks(response), { most, of: 'x' }).catch((error: unknown) => error);
      if (result instanceof Uint8Array) {
        expect(result.length).toBeLessThanOrEqual(most);
        if (harm === null) expect(Buffer.compare(result, plain)).toBe(0);
        expectTextOrFailure(result);
      } else if (harm === null) {
        expect(result).toBeInstanceOf(FailureError);
        expect(plain.length).toBeGreaterThan(most);
      } else {
        // An error of zlib has a code, and is therefore treated as a network error.
        expect(result instanceof FailureError || typeof (result as NodeJS.ErrnoException).code === 'string').toBe(true);
      }
    }),
    body,
  );
});

function expectTextOrFailure(bytes: Uint8Array): void {
  try {
    expect(typeof decodeUtf8(bytes)).toBe('string');
  } catch (error) {
    expect(error).toBeInstanceOf(FailureError);
  }
}

function pack(encoding: string, bytes: Uint8Array): Buffer {
  if (encoding === 'gzip' || encoding === 'x-gzip') return gzipSync(bytes);
  if (encoding === 'deflate') return deflateSync(bytes);
  if (encoding === 'br') return brotliCompressSync(bytes);
  return Buffer.from(bytes);
}

interface Damage {
  readonly at: number;
  readonly remove: number;
  readonly insert: Uint8Array;
}

function damaged(bytes: Buffer, { at, remove, insert }: Damage): Buffer {
  const place = at % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, place), insert, bytes.subarray(place + remove)]);
}

async function* inPieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const size of sizes) {
    if (from < bytes.length) yield bytes.subarray(from, from + size);
    from += size;
  }
  if (from < bytes.length) yield bytes.subarray(from);
}

function halves(bytes: Buffer): readonly Buffer[] {
  const middle = Math.floor(bytes.length / 2);
  return [bytes.subarray(0, middle), bytes.subarray(middle)];
}

/** Creates a context that has only what the guard of the output uses. */
function terminalContext(onWrite: (text: string) => void): Context {
  const output = {
    isTerminal: true,
    columns: 80,
    write: async (chunk: string | Uint8Array) => onWrite(Buffer.from(chunk).toString('utf8')),
  };
  return {
    stdout: output,
    stderr: output,
    prompts: {},
    interrupted: new AbortController().signal,
    openPager: async () => ({ write: output.write, end: () => {}, ended: new Promise<never>(() => {}) }),
  } as unknown as Context;
}
