import type { Output } from '../../context.ts';

/** Maximum number of lines waiting for the reader of the log. */
const maxWaiting = 1_000;

/**
 * Returns a function that writes a line of the log as JSON. Nothing waits for a slow reader: some lines are buffered,
 * and further ones are dropped and counted. A closed log does not stop the server.
 */
export function logWriter(stderr: Pick<Output, 'write'>, now: () => number): (entry: object) => void {
  let [waiting, dropped] = [0, 0];
  const write = (entry: object) => {
    waiting++;
    const over = () => {
      waiting--;
    };
    void stderr.write(`${JSON.stringify(entry)}\n`).then(over, over);
  };
  return (entry) => {
    if (waiting >= maxWaiting) {
      dropped++;
      return;
    }
    if (dropped > 0)
      write({ time: new Date(now()).toISOString(), level: 'warning', message: 'Lines were dropped', dropped });
    dropped = 0;
    write(entry);
  };
}
