import type { Output } from '../../context.ts';

/** Lines that may wait for whoever reads the log. */
const maxWaiting = 1_000;

/**
 * Returns how a line of the log is written, as JSON. Nobody waits for its reader: while that stands still some lines wait, and what comes
 * then is dropped and counted. A log whose reader has gone away is no reason to stop serving.
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
