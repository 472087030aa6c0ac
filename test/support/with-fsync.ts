import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Replaces `fs.fsync` while the work is done. */
export async function withFsync(
  fsync: (descriptor: number, done: fs.NoParamCallback) => void,
  work: () => Promise<unknown>,
) {
  const real = fs.fsync;
  fs.fsync = fsync as typeof fs.fsync;
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    fs.fsync = real;
    syncBuiltinESMExports();
  }
}
