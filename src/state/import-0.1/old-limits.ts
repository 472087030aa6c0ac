import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { fold } from '../../rate-limit/fold.ts';
import { decodeState, emptyState, type KeyState } from '../../rate-limit/key-state.ts';
import type { LimitRecord } from '../../rate-limit/records.ts';

const fileName = /^([0-9a-f]+)\.(\d{1,15})\.ledger$/;

/** The files of the rate ledger of petstock 0.1.0, by scope: of each the last generation. */
export function oldLedgers(folder: string): ReadonlyMap<string, string> {
  const latest = new Map<string, { readonly name: string; readonly generation: number }>();
  for (const name of namesIn(folder)) {
    const [, scope, digits] = fileName.exec(name) ?? [];
    if (scope === undefined) continue;
    const generation = Number(digits);
    if (generation > (latest.get(scope)?.generation ?? 0)) latest.set(scope, { name, generation });
  }
  return new Map([...latest].map(([scope, { name }]) => [scope, name]));
}

/** What a ledger says of its key. @throws where the file can't be read, or makes no sense */
export function readOldLedger(folder: string, name: string): KeyState {
  let state = emptyState();
  for (const line of readFileSync(join(folder, name), 'latin1').split('\n')) {
    const record = decode(line);
    if (record?.type === 'seal') break;
    if (record?.type === 'summary') state = state.boot === '' ? decodeState(record.state as object) : state;
    else if (record !== undefined) fold(state, modern(record));
  }
  return state;
}

/** In 0.1.0 an intent was of one request, and did not say whose. */
function modern(record: Readonly<Record<string, unknown>>): LimitRecord {
  const { id, ...rest } = record;
  return (record.type === 'intent' ? { ...rest, ids: [id], least: 1, by: '' } : record) as unknown as LimitRecord;
}

/** A line of JSON with its checksum in front. @returns undefined for one that is torn */
function decode(line: string): Readonly<Record<string, unknown>> | undefined {
  const json = line.slice(9);
  if (!line.startsWith(' {', 8) || line.slice(0, 8) !== crc32(json).toString(16).padStart(8, '0')) return undefined;
  return JSON.parse(json);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
