import { expect, test } from 'vitest';
import { signed } from '../../../.ci/release/sign-macho.ts';
import { wrongPages } from '../../support/wrong-pages.ts';

/** As much of an executable for macOS as a signature needs, with one that is too short, as bun leaves it. */
function executable(end: number): Buffer {
  const file = Buffer.alloc(end + 64, 0x90);
  file.fill(0, 0, 256);
  const segment = (at: number, name: string, start: number, length: number) => {
    file.writeUInt32LE(0x19, at);
    file.writeUInt32LE(72, at + 4);
    file.write(name, at + 8, 'latin1');
    file.writeBigUInt64LE(BigInt(start), at + 40);
    file.writeBigUInt64LE(BigInt(length), at + 48);
  };
  file.writeUInt32LE(0xfeedfacf, 0);
  file.writeUInt32LE(3, 16);
  segment(32, '__TEXT', 0, 8192);
  segment(104, '__LINKEDIT', 8192, end + 64 - 8192);
  for (const [index, value] of [0x1d, 16, end, 64].entries()) file.writeUInt32LE(value, 176 + 4 * index);
  return file;
}

test.each([12_288, 20_000])('each page of an executable of %s bytes has its hash', (end) => {
  const file = signed(executable(end));
  expect(wrongPages(file)).toBe(0);
  // The kernel takes the signature for the end of its segment, and of the file.
  const [at, size] = [file.readUInt32LE(184), file.readUInt32LE(188)];
  expect([at, at + size, Number(file.readBigUInt64LE(144) + file.readBigUInt64LE(152))]).toEqual([
    end,
    file.length,
    file.length,
  ]);
  expect(signed(file)).toEqual(file);
});

test('a page that was changed, and bytes behind the signature, are found', () => {
  const file = signed(executable(20_000));
  file.writeUInt8(1, 5000);
  expect(wrongPages(file)).toBe(1);
  expect(wrongPages(Buffer.concat([signed(executable(20_000)), Buffer.alloc(9000)]))).toBeGreaterThan(0);
});

test('what is none is refused', () => {
  expect(() => signed(Buffer.alloc(64))).toThrow('no executable for macOS');
});
