import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sync as writeFileAtomic } from 'write-file-atomic';
import { createTransientMemory, type KeyState, type LimitsMemory } from './memory.ts';

/**
 * Memory in the state folder: `limits/<scope>.json` for what the service told, `limits/<scope>.gate` for a gate. They
 * are two files so that a process which writes limits can't lose the gate that another one has just raised.
 *
 * @param scope names the service and the key, by `scopeOf`
 * @param onFallback told once, with the reason, when the folder can't be written: from then on the memory is this process's own
 */
export function createFileMemory(folder: string, scope: string, onFallback: (reason: Error) => void): LimitsMemory {
  const limitsFile = join(folder, 'limits', `${scope}.json`);
  const gateFile = join(folder, 'limits', `${scope}.gate`);
  const own = createTransientMemory();
  let fallenBack = false;
  const write = (file: string, text: string) => {
    if (fallenBack) return;
    try {
      mkdirSync(join(folder, 'limits'), { recursive: true, mode: 0o700 });
      writeFileAtomic(file, text, { mode: 0o600, fsync: false });
    } catch (error) {
      fallenBack = true;
      onFallback(error as Error);
    }
  };
  return {
    limits: () => own.limits() ?? readLimits(folder, scope),
    rememberLimits: (state) => {
      own.rememberLimits(state);
      write(limitsFile, encodeLimits(state));
    },
    gate: () => Math.max(own.gate(), decodeGate(read(gateFile))),
    raiseGate: (until) => {
      own.raiseGate(until);
      if (until > decodeGate(read(gateFile))) write(gateFile, String(Math.ceil(until)));
    },
  };
}

/** A name for a key at a service: a hash, since the key itself is written nowhere but in the configuration. */
export function scopeOf(service: string, key: string): string {
  return createHash('sha256').update(`${service}\n${key}`).digest('hex').slice(0, 32);
}

/** The last known limits of one key. */
export function readLimits(folder: string, scope: string): KeyState | undefined {
  return decodeLimits(read(join(folder, 'limits', `${scope}.json`)));
}

/** The last known limits of every key that was used on this machine. */
export function readAllLimits(folder: string): KeyState[] {
  let names: string[];
  try {
    names = readdirSync(join(folder, 'limits'));
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => decodeLimits(read(join(folder, 'limits', name))))
    .filter((state) => state !== undefined)
    .sort((a, b) => a.env.localeCompare(b.env) || b.asOf - a.asOf);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function encodeLimits(state: KeyState): string {
  return JSON.stringify({ ...state, limit: String(state.limit), remaining: String(state.remaining) });
}

/** A file that is missing, torn or of another version tells nothing; the next answer writes it anew. */
function decodeLimits(text: string | undefined): KeyState | undefined {
  try {
    const { env, limit, remaining, resetAt, asOf } = JSON.parse(text ?? '');
    if (typeof env !== 'string' || !Number.isFinite(resetAt) || !Number.isFinite(asOf)) return undefined;
    return { env, limit: BigInt(limit), remaining: BigInt(remaining), resetAt, asOf };
  } catch {
    return undefined;
  }
}

function decodeGate(text: string | undefined): number {
  const until = Number(text ?? 0);
  return Number.isFinite(until) ? until : 0;
}
