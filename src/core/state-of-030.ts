import type { Answer, Statement } from './statements.ts';

type Run = (sql: string, values?: Statement['values']) => Promise<readonly Answer[]>;
export async function migrateSchema(_run: Run, _now: number): Promise<void> {}
