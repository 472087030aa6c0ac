import { lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Folders } from '../../settings/folders.ts';
import { type Environment, ownState, unnamedStore, variable } from '../../settings/variables.ts';
import { environmentNames, targetName } from '../../shared/hint.ts';
import { effectiveUser } from '../../shared/private-files.ts';
import { sqlite } from '../../shared/sqlite-engine.ts';
import { stateFile } from '../../state/state-file.ts';
import type { Answer } from '../../state/statements.ts';
import type { Word } from './command-table.ts';
import type { Knowledge } from './complete.ts';

export interface KnowledgeSources {
  readonly folders: Folders;
  readonly env: Environment;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

const maxRuns = 50;
const maxPets = 50;

/**
 * Creates the source of the runs, pets, stores and targets that are known on this machine. Each kind is read
 * on demand, and nothing is written.
 */
export function createKnowledge(sources: KnowledgeSources): Knowledge {
  return async (what, typed) => {
    if (what === 'stores') return storeWords(sources);
    if (what === 'targets') return targetWords(sources);
    const runs = await recentRuns(sources);
    if (what === 'pets') return petWords(runs, sources.now);
    return runWords(what === 'runs' ? runs : runs.filter(({ open }) => open > 0), typed, sources.now);
  };
}

/**
 * The parts of the configuration that completion uses. They are not validated here, because every other command
 * validates them.
 */
interface StoredNames {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly stores: Readonly<Record<string, { readonly urls?: object } | null>>;
}

async function storedConfig({ config }: Folders): Promise<StoredNames> {
  try {
    const { settings, stores } = JSON.parse(await readFile(join(config, 'config.json'), 'utf8'));
    return { settings: { ...settings }, stores: { ...stores } };
  } catch {
    return { settings: {}, stores: {} };
  }
}

/**
 * Returns the whole ids of runs. If no id begins with the typed text, returns the ends of the ids, such as `k3x9`,
 * because the user may be typing one.
 */
function runWords(runs: readonly RecentRun[], typed: string, now: number): readonly Word[] {
  const isEnd = !runs.some(({ run }) => run.startsWith(typed));
  return runs.map((run) => [isEnd ? run.run.slice(-4) : run.run, runText(run, now)]);
}

function runText(facts: RecentRun, now: number): string {
  const { at, command, file, reason, pets, changes, open } = facts;
  const what = [command.replace(/^inventory /, ''), ...(file === undefined ? [] : [file])].join(' ');
  const whose = changes === 1 ? `pet ${pets[0]}` : `${changes} pets`;
  const why = reason === undefined ? [] : [reason];
  const parts = [ago(now - at), `${what}, ${whose}`, targetName(facts), ...(open > 0 ? ['incomplete'] : []), ...why];
  return parts.join(' · ');
}

/** Returns the pets of the latest runs, each once. */
function petWords(runs: readonly RecentRun[], now: number): readonly Word[] {
  const words = new Map<string, string>();
  for (const { pets, command, at } of runs) {
    for (const pet of pets) if (!words.has(pet)) words.set(pet, `${command}, ${ago(now - at)}`);
  }
  return [...words].slice(0, maxPets);
}

/** Returns an age in one unit, rounded down: `3 min ago`. */
function ago(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

async function storeWords({ folders }: KnowledgeSources): Promise<readonly Word[]> {
  const { stores } = await storedConfig(folders);
  const words = Object.entries(stores).map(([name, store]): Word => [name, Object.keys(store?.urls ?? {}).join(', ')]);
  return [...words, [unnamedStore, 'the store without a name']];
}

async function targetWords({ folders }: KnowledgeSources): Promise<readonly Word[]> {
  const { stores } = await storedConfig(folders);
  const ofStores = Object.entries(stores).flatMap(([name, store]) =>
    Object.keys(store?.urls ?? {}).map((environment): Word => [`${name}/${environment}`, '']),
  );
  return [...environmentNames.map((name): Word => [name, '']), ...ofStores];
}

type RecentRun = Awaited<ReturnType<typeof recentRuns>>[number];

/**
 * Returns the newest runs of this machine; returns none with a shared state, because completion never sends anything.
 */
async function recentRuns({ folders, env }: KnowledgeSources) {
  const given = variable(env, 'PETSTOCK_STATE_URL');
  const url = given ?? (await storedConfig(folders)).settings['state-url'];
  if (url !== undefined && given !== ownState) return [];
  const query = `
    SELECT run, at, command, env, store, file, reason, pets, changes, CASE WHEN discarded = 1 THEN 0 ELSE
      (SELECT count(*) FROM rows WHERE rows.run = runs.run AND result IN ('pending', 'sent', 'unknown')) END AS open
    FROM runs ORDER BY number DESC LIMIT ?`;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return (await rowsAtOnce(folders.state, query)).map((row) => ({
    run: String(row.run),
    at: Number(row.at),
    command: String(row.command),
    env: String(row.env),
    store: text(row.store),
    file: text(row.file),
    reason: text(row.reason),
    // The record of a run has its first 20 pets, in decimal.
    pets: String(row.pets).match(/-?\d+/g) ?? [],
    changes: Number(row.changes),
    open: Number(row.open),
  }));
}

/** How long to wait for another process that writes, in milliseconds. */
const timeout = 200;

/**
 * Returns rows of this machine's state; none if another process keeps it busy for longer than `timeout`, or if it can't
 * be read. The state is opened read-only: nothing is created, moved or imported.
 * @param sql has a parameter for the maximum number of rows
 */
async function rowsAtOnce(folder: string, sql: string): Promise<readonly Answer[]> {
  try {
    const file = stateFile(folder);
    if (!isOurs(file)) return [];
    const database = new (sqlite().DatabaseSync)(file, { readOnly: true, timeout });
    try {
      return database.prepare(sql).all(maxRuns) as Answer[];
    } finally {
      database.close();
    }
  } catch {
    return [];
  }
}

/** Reports whether a path is a file of this user. On Windows, where files have no such owner, any file is. */
function isOurs(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && (effectiveUser() ?? stats.uid) === stats.uid;
}
