import { whereName } from '../shared/where.ts';
import { localMinute } from './time.ts';
import { type Column, plainColumns, type Row, type View } from './view.ts';

/** A session of a stock-take, for `inventory count --list`. */
export interface CountFacts {
  readonly session: string;
  /** When it began: milliseconds since the Unix epoch. */
  readonly at: number;
  readonly mode: 'count' | 'add' | 'take';
  readonly env: string;
  readonly store: string | undefined;
  readonly scans: number;
  readonly pets: number;
  readonly units: number;
  readonly unknown: number;
  readonly state: 'open' | 'counting' | 'applied' | 'written' | 'merged' | 'discarded';
  /** The run, the file, or the session that became of it. */
  readonly became: string | undefined;
}

/** Sessions in the order given. */
export function countListView(sessions: readonly CountFacts[]): View {
  const rows = sessions.map(({ became, at, env, store, ...facts }): Row => {
    return { ...facts, at: new Date(at).toISOString(), env, store: store ?? null, became: became ?? null };
  });
  return {
    shape: 'list',
    isWordy: true,
    columns: plainColumns(fields),
    rows: [rows.map((row) => Object.fromEntries(fields.map((field) => [field, row[field] ?? null])))],
    table: { columns, rows: [sessions.map(tableRow)] },
  };
}

const fields = ['session', 'mode', 'at', 'env', 'store', 'scans', 'pets', 'units', 'unknown', 'state', 'became'];

const columns: readonly Column[] = [
  { field: 'name', title: 'Session', whole: true },
  { field: 'at', title: 'At' },
  { field: 'mode', title: 'Mode' },
  { field: 'env', title: 'Env', whole: true },
  { field: 'scans', title: 'Scans', align: 'right' },
  { field: 'pets', title: 'Pets', align: 'right' },
  { field: 'units', title: 'Units', align: 'right' },
  { field: 'unknown', title: 'Unknown', align: 'right' },
  { field: 'state', title: 'State' },
];

function tableRow({ session, at, became, env, store, ...facts }: CountFacts): Row {
  const { state } = facts;
  const link = state === 'applied' ? ' by ' : state === 'written' ? ' to ' : ' into ';
  const shown = became === undefined ? '' : `${link}${state === 'written' ? became : became.slice(-4)}`;
  return {
    ...facts,
    env: whereName({ store, env }),
    name: session.slice(-4),
    at: localMinute(at),
    state: state + shown,
  };
}
