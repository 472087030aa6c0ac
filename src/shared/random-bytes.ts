import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import process from 'node:process';

/**
 * Returns so many random bytes of the system: by the device for it, or by Node's crypto, which takes 10 M instructions to load,
 * if there is none.
 */
export function randomBytes(count: number, device = '/dev/urandom'): Buffer {
  return fromDevice(count, device) ?? process.getBuiltinModule('node:crypto').randomBytes(count);
}

function fromDevice(count: number, device: string): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(device, 'r');
    const bytes = Buffer.alloc(count);
    // Anything else of that name would say the same each time.
    return fstatSync(file).isCharacterDevice() && readSync(file, bytes) === count ? bytes : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
