import { FailureError, NotFoundError, UsageError } from '../../shared/errors.ts';
import type { Connection } from './connection.ts';

const runPattern = /^\d{8}T\d{6}Z-[0-9a-z]{4}$/;
const hint = 'petstock history list';

/**
 * @param text a whole id, or its last four characters
 * @throws UsageError for what is no id, or stands for more than one run; NotFoundError where there is no such run
 */
export function findRun(connection: Connection, text: string): string {
  const isEnd = /^[0-9a-z]{4}$/i.test(text);
  if (!isEnd && !runPattern.test(text)) {
    throw new UsageError(`${JSON.stringify(text)} is not the id of a run, such as 20260115T120020Z-k3x9`, { hint });
  }
  const rows = isEnd
    ? connection.all('SELECT run FROM runs WHERE substr(run, -4) = ? ORDER BY run', text.toLowerCase())
    : connection.all('SELECT run FROM runs WHERE run = ?', text);
  const [run, ...others] = rows.map((row) => String(row.run));
  if (run === undefined) throw new NotFoundError(`There is no run ${text} in the history`, { hint });
  // Whoever can write to the state can put anything there; it must not come into a command or the name of a file.
  if (!runPattern.test(run))
    throw new FailureError(`The history has a run ${JSON.stringify(run)}, which is no id`, { hint });
  if (others.length === 0) return run;
  throw new UsageError(`${text} may be ${[run, ...others].join(' or ')}: give the whole id`, { hint });
}
