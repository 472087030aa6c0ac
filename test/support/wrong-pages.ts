import { createHash } from 'node:crypto';

/**
 * Returns how many pages of an executable for macOS do not match their hash in its signature. Pages that the signature
 * does not cover count as wrong. This function reads the format (`cs_blobs.h` in Apple's xnu) by itself, since the code
 * that signs can't check its own work.
 * @throws Error if there is no signature with SHA-256 hashes
 */
export function wrongPages(file: Buffer): number {
  const [at, size] = signatureOf(file);
  const directory = directoryAt(file, at);
  const [hashes = 0, slots = 0, limit = 0] = [16, 28, 32].map((offset) => file.readUInt32BE(directory + offset));
  const pageSize = 2 ** file.readUInt8(directory + 39);
  let wrong = limit === at && at + size === file.length ? 0 : Math.abs(Math.ceil(file.length / pageSize) - slots);
  for (let page = 0; page < slots; page += 1) {
    const bytes = file.subarray(page * pageSize, Math.min((page + 1) * pageSize, limit));
    const hash = createHash('sha256').update(bytes).digest();
    const place = directory + hashes + page * hash.length;
    if (!hash.equals(file.subarray(place, place + hash.length))) wrong += 1;
  }
  return wrong;
}

/** Returns the offset and the length of the signature in bytes, from LC_CODE_SIGNATURE. */
function signatureOf(file: Buffer): readonly [at: number, size: number] {
  let command = 32;
  for (let left = file.readUInt32LE(16); left > 0; left -= 1) {
    if (file.readUInt32LE(command) === 0x1d) return [file.readUInt32LE(command + 8), file.readUInt32LE(command + 12)];
    command += file.readUInt32LE(command + 4);
  }
  throw new Error('there is no signature');
}

function directoryAt(file: Buffer, signature: number): number {
  if (file.readUInt32BE(signature) !== 0xfade0cc0) throw new Error('the signature is none');
  for (let index = 0; index < file.readUInt32BE(signature + 8); index += 1) {
    const at = signature + file.readUInt32BE(signature + 16 + 8 * index);
    if (file.readUInt32BE(at) === 0xfade0c02 && file.readUInt8(at + 37) === 2) return at;
  }
  throw new Error('the signature has no hashes of SHA-256');
}
