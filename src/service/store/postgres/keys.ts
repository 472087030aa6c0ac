import { digestOf } from '../../keys/key.ts';
import { type Admission, admit, type LimitRules, type Usage } from '../../limits/admission.ts';
import { type KeyRow, recordOf, usageOf } from '../key-row.ts';
import { type Entitlement, type KeyRecord, type Registration, StorageError } from '../store.ts';
import type { Client, Connections } from './connections.ts';
import { Lane } from './lane.ts';
import { NOW } from './schema.ts';

interface Asked {
  readonly digest: string;
  readonly rules: LimitRules;
}

/** What every admission learns besides. */
export interface Seen {
  /** The time of the store. */
  readonly now: number;
  /** How far ahead of the clock of the database it has been moved: milliseconds. */
  readonly moved: number;
  /** Goes up whenever the faults change. */
  readonly faultsVersion: bigint;
}

const BY_ID = `encode(substring(digest FROM 1 FOR 6), 'hex') = $1`;

/** The keys with what they may use and have used. */
export class PostgresKeys {
  readonly #connections: Connections;
  readonly #onSeen: (seen: Seen) => void;
  readonly #admissions = new Lane<Asked, Admission | null>((asked) => this.#admitAll(asked));

  constructor(connections: Connections, onSeen: (seen: Seen) => void) {
    this.#connections = connections;
    this.#onSeen = onSeen;
  }

  idle(): Promise<void> {
    return this.#admissions.idle();
  }

  admit(key: string, rules: LimitRules): Promise<Admission | null> {
    return this.#admissions.run({ digest: digestOf(key), rules });
  }

  async register(key: string, { plan, limits }: Entitlement, { keepsKnown }: Registration): Promise<void> {
    const known = keepsKnown
      ? 'DO NOTHING'
      : `DO UPDATE SET plan = excluded.plan, minute_limit = excluded.minute_limit, day_limit = excluded.day_limit`;
    await this.#connections.change(
      `INSERT INTO petstock_service.keys (digest, plan, minute_limit, day_limit, created_at)
       VALUES ($1, $2, $3, $4, ${NOW}) ON CONFLICT (digest) ${known}`,
      [Buffer.from(digestOf(key), 'hex'), plan, limits.minute, limits.day],
    );
  }

  async revoke(id: string): Promise<KeyRecord | null> {
    const rows = await this.#connections.change<KeyRow>(
      `UPDATE petstock_service.keys SET revoked_at = coalesce(revoked_at, ${NOW}) WHERE ${BY_ID} RETURNING *`,
      [id],
    );
    return rows[0] === undefined ? null : recordOf(rows[0]);
  }

  async list(): Promise<readonly KeyRecord[]> {
    const rows = await this.#connections.read<KeyRow>(
      'SELECT * FROM petstock_service.keys ORDER BY created_at, digest',
    );
    return rows.map(recordOf);
  }

  changeUsage(id: string, change: (usage: Usage, now: number) => Usage): Promise<KeyRecord | null> {
    return this.#connections.transact(async (client) => {
      const { rows } = await client.query<KeyRow>(
        `SELECT * FROM petstock_service.keys WHERE ${BY_ID} FOR NO KEY UPDATE`,
        [id],
      );
      const row = rows[0];
      if (row === undefined) return null;
      const usage = change(usageOf(row), (await this.#look(client)).now);
      await client.query(writing([[digestOfRow(row), usage]]));
      return { ...recordOf(row), usage };
    });
  }

  /**
   * Two round trips for all: the rows are locked, in the order of their digests, and only then is the clock read, so that the
   * order of the times is the order of the charges; then what was decided is written and committed.
   */
  #admitAll(asked: readonly Asked[]): Promise<readonly (Admission | null)[]> {
    return this.#connections.session(
      async (client) => {
        const digests = [...new Set(asked.map(({ digest }) => `'\\x${digest}'::bytea`))];
        const [, found, looked] = await several<[unknown, KeyRow, Look]>(
          client,
          `BEGIN ISOLATION LEVEL READ COMMITTED;
           SELECT * FROM petstock_service.keys WHERE digest IN (${digests.join()}) AND revoked_at IS NULL
             ORDER BY digest FOR NO KEY UPDATE;
           ${LOOK}`,
        );
        const accounts = new Map(found.map((row) => [digestOfRow(row), accountOf(row)]));
        const { now } = this.#note(looked[0]);
        const admissions = asked.map(({ digest, rules }) => {
          const account = accounts.get(digest);
          if (account === undefined) return null;
          const admission = admit(account.usage, account.limits, rules, now);
          account.usage = admission.usage;
          return admission;
        });
        const usages = [...accounts].map(([digest, { usage }]) => [digest, usage] as const);
        await client.query(usages.length === 0 ? 'COMMIT' : `${writing(usages)}; COMMIT`);
        return admissions;
      },
      { onlyReads: false },
    );
  }

  async #look(client: Client): Promise<Seen> {
    const { rows } = await client.query<Look>(LOOK);
    return this.#note(rows[0]);
  }

  #note(row: Look | undefined): Seen {
    const seen = seenIn(row);
    this.#onSeen(seen);
    return seen;
  }
}

/** Runs several statements in one round trip. @returns the rows of each */
async function several<Rows extends readonly unknown[]>(
  client: Client,
  text: string,
): Promise<{ readonly [At in keyof Rows]: readonly Rows[At][] }> {
  // The declarations of `pg` know of a single result.
  const results = (await client.query(text)) as unknown as readonly { readonly rows: readonly unknown[] }[];
  return results.map(({ rows }) => rows) as unknown as { readonly [At in keyof Rows]: readonly Rows[At][] };
}

export interface Look {
  readonly now: bigint;
  readonly ahead: bigint;
  readonly faults_version: bigint;
}

export const LOOK = `SELECT ${NOW} AS now, ahead, faults_version FROM petstock_service.service`;

export function seenIn(row: Look | undefined): Seen {
  if (row === undefined) throw new StorageError('The table petstock_service.service is empty');
  return { now: Number(row.now), moved: Number(row.ahead), faultsVersion: row.faults_version };
}

function accountOf(row: KeyRow): { readonly limits: Entitlement['limits']; usage: Usage } {
  return { limits: { minute: row.minute_limit, day: row.day_limit }, usage: usageOf(row) };
}

function digestOfRow({ digest }: KeyRow): string {
  return Buffer.from(digest).toString('hex');
}

/** The statement that writes these usages: numbers and hex digits alone, so that it needs no parameters. */
function writing(usages: readonly (readonly [digest: string, usage: Usage])[]): string {
  const rows = usages.map(([digest, { minute, day, conduct }]) => {
    const { firstRefusalAt, strikes, bannedUntil } = conduct;
    const windows = [minute.start, minute.length, minute.used, day.start, day.used];
    const numbers = [...windows, firstRefusalAt, strikes, bannedUntil].map((value) =>
      value === null ? 'NULL::bigint' : `${value}::bigint`,
    );
    return `('\\x${digest}'::bytea, ${numbers.join()})`;
  });
  return `UPDATE petstock_service.keys AS k SET minute_start = v.a, minute_length = v.b, minute_used = v.c, day_start = v.d,
    day_used = v.e, first_refusal_at = v.f, strikes = v.g, banned_until = v.h
    FROM (VALUES ${rows.join()}) AS v (digest, a, b, c, d, e, f, g, h) WHERE k.digest = v.digest`;
}
