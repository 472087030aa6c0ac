import { onlyRun, readRunId } from '../run-id.ts';
import type { Connection } from './connection.ts';

/**
 * @param text a whole id, or its last four characters
 * @throws UsageError for what is no id, or stands for more than one run; NotFoundError where there is no such run
 */
export function findRun(connection: Connection, text: string): string {
  const wanted = readRunId(text);
  const rows =
    'end' in wanted
      ? connection.all('SELECT run FROM runs WHERE substr(run, -4) = ? ORDER BY run', wanted.end)
      : connection.all('SELECT run FROM runs WHERE run = ?', wanted.whole);
  return onlyRun(
    text,
    rows.map(({ run }) => String(run)),
  );
}
