import { createHash } from 'node:crypto';

/**
 * Ad hoc signatures of executables for macOS, which ends a program whose pages do not have the hashes of its signature. bun 1.4.4 signs
 * what it makes for arm64, and leaves its own signature, which is wrong by then, in what it makes for x64 (3,325 pages of it). No
 * package of npm signs without Apple's `codesign`. The format is that of `cs_blobs.h` in Apple's xnu.
 */
const pageSize = 4096;
const hashLength = 32;
/** `LC_SEGMENT_64` and `LC_CODE_SIGNATURE`. */
const segmentCommand = 0x19;
const signatureCommand = 0x1d;
/** Version 0x20400, which has the bounds of the segment that is executed. */
const directoryHeader = 88;
const identifier = 'petstock\0';

interface Layout {
  /** Offsets of commands in the file. */
  readonly signature: number;
  readonly linkedit: number;
  readonly text: number;
  /** Where the signature begins: all before it is signed. */
  readonly end: number;
}

/** Returns the file with an ad hoc signature in place of the one that it has. @throws Error for what is no such file */
export function signed(file: Buffer): Buffer {
  const { signature, linkedit, end } = layoutOf(file);
  const pages = Math.ceil(end / pageSize);
  const size = 20 + directoryHeader + identifier.length + pages * hashLength;
  const result = Buffer.alloc(end + align(size, 16));
  file.copy(result, 0, 0, end);
  result.writeUInt32LE(result.length - end, signature + 12);
  const linkeditSize = result.length - Number(file.readBigUInt64LE(linkedit + 40));
  // Its size in memory, in whole pages of arm64, and in the file.
  result.writeBigUInt64LE(BigInt(align(linkeditSize, 16_384)), linkedit + 32);
  result.writeBigUInt64LE(BigInt(linkeditSize), linkedit + 48);
  // The head is one of the pages, so the hashes come last.
  writeSignature(result, layoutOf(result), size);
  return result;
}

/** Writes a signature of one blob, the directory of hashes: big-endian, unlike the rest of the file. */
function writeSignature(file: Buffer, { end, text }: Layout, size: number): void {
  const pages = Math.ceil(end / pageSize);
  const hashes = directoryHeader + identifier.length;
  const superBlob = [0xfade0cc0, size, 1, 0, 20];
  for (const [index, value] of superBlob.entries()) file.writeUInt32BE(value, end + 4 * index);
  const directory = end + 20;
  // Magic, length, version, ad hoc, hashes, identifier, special slots, slots, limit of the code.
  const head = [0xfade0c02, size - 20, 0x20400, 0x2, hashes, directoryHeader, 0, pages, end];
  for (const [index, value] of head.entries()) file.writeUInt32BE(value, directory + 4 * index);
  // SHA-256, of pages of 2^12 bytes.
  file.set([hashLength, 2, 0, 12], directory + 36);
  const [start, length] = [file.readBigUInt64LE(text + 40), file.readBigUInt64LE(text + 48)];
  // The segment that is executed, and that it is the main one.
  for (const [index, value] of [start, length, 1n].entries()) file.writeBigUInt64BE(value, directory + 64 + 8 * index);
  file.write(identifier, directory + directoryHeader, 'latin1');
  for (let page = 0; page < pages; page += 1) {
    const hash = hashOf(file.subarray(page * pageSize, Math.min((page + 1) * pageSize, end)));
    file.set(hash, directory + hashes + page * hashLength);
  }
}

function layoutOf(file: Buffer): Layout {
  if (file.readUInt32LE(0) !== 0xfeedfacf) throw new Error('this is no executable for macOS with 64 bits');
  const found: { signature?: number; linkedit?: number; text?: number } = {};
  let at = 32;
  for (let count = file.readUInt32LE(16); count > 0; count -= 1) {
    const command = file.readUInt32LE(at);
    const name = file.toString('latin1', at + 8, at + 24).replace(/\0.*$/s, '');
    if (command === signatureCommand) found.signature = at;
    if (command === segmentCommand && name === '__LINKEDIT') found.linkedit = at;
    if (command === segmentCommand && name === '__TEXT') found.text = at;
    at += file.readUInt32LE(at + 4);
  }
  const { signature, linkedit, text } = found;
  if (signature === undefined || linkedit === undefined || text === undefined)
    throw new Error('this executable for macOS has no room for a signature');
  return { signature, linkedit, text, end: file.readUInt32LE(signature + 8) };
}

function hashOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function align(size: number, to: number): number {
  return Math.ceil(size / to) * to;
}
