import type { Connection } from './connection.ts';

/** @returns the last number that was given out in the order of all writes */
export function lastSequence(connection: Connection): number {
  return Number(connection.get('SELECT last FROM sequence')?.last);
}

/** Inside a transaction. @param work is given what gives out the next number */
export function numbered<Result>(connection: Connection, work: (next: () => number) => Result): Result {
  const before = lastSequence(connection);
  let last = before;
  const result = work(() => {
    last += 1;
    return last;
  });
  if (last > before) connection.run('UPDATE sequence SET last = ?', last);
  return result;
}
