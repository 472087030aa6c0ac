import { createHash } from 'node:crypto';

/**
 * Ad hoc signatures of executables for macOS, which ends a program whose pages do not have the hashes of its signature. bun 1.4.4 signs
 * what it makes for arm64, and leaves its own signature, which is wrong by then, in what it makes for x64 (3,325 pages of it). No
 * package of npm signs without Apple's `codesign`. The format is that of `cs_blobs.h` in Apple's xnu.
 */
const pageSize = 4096;
const hashLength = 32;
/** Version 0x20400 of the directory of hashes, which has the bounds of the segment that is executed. */
const directoryHeader = 88;
const identifier = 'petstock\0';

/** Returns the file with an ad hoc signature in place of the one that it has. @throws Error for what is no such file */
export function signed(file: Buffer): Buffer {
  const { signature, linkedit, text } = commandsOf(file);
  // All before the signature is signed.
  const end = file.readUInt32LE(signature + 8);
  const pages = Math.ceil(end / pageSize);
  const hashes = directoryHeader + identifier.length;
  const size = 20 + hashes + pages * hashLength;
  const result = Buffer.alloc(end + align(size, 16));
  file.copy(result, 0, 0, end);
  result.writeUInt32LE(result.length - end, signature + 12);
  const linkeditSize = result.length - Number(file.readBigUInt64LE(linkedit + 40));
  // Its size in memory, in whole pages of arm64, and in the file.
  result.writeBigUInt64LE(BigInt(align(linkeditSize, 16_384)), linkedit + 32);
  result.writeBigUInt64LE(BigInt(linkeditSize), linkedit + 48);
  // The signature is big-endian, unlike the rest of the file, and has one blob: its size, and where that begins.
  const blobs = [0xfade0cc0, size, 1, 0, 20];
  // Of that: magic, length, version, ad hoc, hashes, identifier, special slots, slots, limit of the code.
  const head = [0xfade0c02, size - 20, 0x20400, 0x2, hashes, directoryHeader, 0, pages, end];
  for (const [index, value] of [...blobs, ...head].entries()) result.writeUInt32BE(value, end + 4 * index);
  const directory = end + 20;
  // SHA-256, of pages of 2^12 bytes.
  result.set([hashLength, 2, 0, 12], directory + 36);
  // Start and length of the segment that is executed, and that it is the main one.
  const bounds = [file.readBigUInt64LE(text + 40), file.readBigUInt64LE(text + 48), 1n];
  for (const [index, value] of bounds.entries()) result.writeBigUInt64BE(value, directory + 64 + 8 * index);
  result.write(identifier, directory + directoryHeader, 'latin1');
  for (let page = 0; page < pages; page += 1) {
    const bytes = result.subarray(page * pageSize, Math.min((page + 1) * pageSize, end));
    result.set(createHash('sha256').update(bytes).digest(), directory + hashes + page * hashLength);
  }
  return result;
}

/** Returns where the commands that a signature depends on are in the file. */
function commandsOf(file: Buffer): { readonly signature: number; readonly linkedit: number; readonly text: number } {
  if (file.readUInt32LE(0) !== 0xfeedfacf) throw new Error('this is no executable for macOS with 64 bits');
  const found = new Map<string, number>();
  let at = 32;
  for (let count = file.readUInt32LE(16); count > 0; count -= 1) {
    // LC_CODE_SIGNATURE has no name, LC_SEGMENT_64 that of the segment.
    const command = file.readUInt32LE(at);
    if (command === 0x1d) found.set('signature', at);
    if (command === 0x19) found.set(file.toString('latin1', at + 8, at + 24).replace(/\0.*$/s, ''), at);
    at += file.readUInt32LE(at + 4);
  }
  const [signature, linkedit, text] = ['signature', '__LINKEDIT', '__TEXT'].map((name) => found.get(name));
  if (signature === undefined || linkedit === undefined || text === undefined)
    throw new Error('this executable for macOS has no room for a signature');
  return { signature, linkedit, text };
}

function align(size: number, to: number): number {
  return Math.ceil(size / to) * to;
}
