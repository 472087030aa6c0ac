import { type Faults, type Injection, injectionOf, matches, NOTHING } from '../../faults/fault-set.ts';
import type { Fault } from '../../faults/grammar.ts';
import { parseFault } from '../../faults/grammar.ts';
import type { Connections } from './connections.ts';

interface Known {
  readonly position: bigint;
  readonly fault: Fault;
}

const CHANGED = 'UPDATE petstock_service.service SET faults_version = faults_version + 1';

/** The faults of all services on the database, who count together. */
export class PostgresFaults implements Faults {
  readonly #connections: Connections;
  #version: bigint | null = null;
  #known: { readonly version: bigint; readonly faults: readonly Known[] } | null = null;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** With every admission, so that no request is made for them where there are none. */
  seen(version: bigint): void {
    this.#version = version;
  }

  async specs(): Promise<readonly string[]> {
    this.#known = null;
    return (await this.#current()).map(({ fault }) => fault.spec);
  }

  add(specs: readonly string[]): Promise<void> {
    return this.#put(specs.map(parseFault), '');
  }

  replace(specs: readonly string[]): Promise<void> {
    return this.#put(specs.map(parseFault), 'DELETE FROM petstock_service.faults;');
  }

  async draw(method: string, path: string): Promise<Injection> {
    const matching = (await this.#current()).filter(({ fault }) => matches(fault, method, path));
    if (matching.length === 0) return NOTHING;
    const rows = await this.#connections.change<{ readonly position: bigint; readonly matched: bigint }>(
      `WITH locked AS MATERIALIZED (
         SELECT position FROM petstock_service.faults WHERE position = ANY($1::bigint[]) ORDER BY position FOR NO KEY UPDATE
       )
       UPDATE petstock_service.faults AS f SET matched = matched + 1 FROM locked WHERE f.position = locked.position
       RETURNING f.position, f.matched`,
      [matching.map(({ position }) => position)],
    );
    const counts = new Map(rows.map(({ position, matched }) => [position, matched]));
    return injectionOf(
      matching.flatMap(({ position, fault }) => {
        const matched = counts.get(position);
        return matched === undefined ? [] : [{ fault, matched }];
      }),
    );
  }

  async #current(): Promise<readonly Known[]> {
    if (this.#known !== null && this.#known.version === this.#version) return this.#known.faults;
    const rows = await this.#connections.read<{ version: bigint; position: bigint | null; spec: string | null }>(
      `SELECT s.faults_version AS version, f.position, f.spec
       FROM petstock_service.service AS s LEFT JOIN petstock_service.faults AS f ON true ORDER BY f.position`,
    );
    const version = rows[0]?.version ?? 0n;
    const faults = rows.flatMap(({ position, spec }) =>
      position === null || spec === null ? [] : [{ position, fault: parseFault(spec) }],
    );
    this.#known = { version, faults };
    this.#version = version;
    return faults;
  }

  async #put(faults: readonly Fault[], before: string): Promise<void> {
    if (faults.length === 0 && before === '') return;
    const specs = faults.map(({ spec }) => spec);
    await this.#connections.transact(async (client) => {
      // First, so that two who change them come one after the other.
      await client.query(`${CHANGED};${before}`);
      await client.query('INSERT INTO petstock_service.faults (spec) SELECT unnest($1::text[])', [specs]);
    });
    this.#known = null;
  }
}
