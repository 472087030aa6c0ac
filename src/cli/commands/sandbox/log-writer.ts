import type { Output } from '../../context.ts';

/**
 * Maximum number of bytes that wait for the reader of the log, besides those that were already handed to the stream.
 */
const maxWaiting = 1_000_000;

/**
 * Creates a function that writes an entry to the log, as a line of JSON. The server never waits for a slow reader. If
 * too many bytes wait, the oldest lines are dropped, because the newest lines describe the current situation. Once the
 * reader takes lines again, the log says how many were dropped. A closed log does not stop the server.
 */
export function logWriter(stderr: Pick<Output, 'write'>, now: () => number): (entry: object) => void {
  let waiting: string[] = [];
  let [bytes, dropped, isWriting] = [0, 0, false];
  const writeWaiting = async () => {
    isWriting = true;
    while (waiting.length > 0) {
      const warning = { time: new Date(now()).toISOString(), level: 'warning', message: 'Lines were dropped', dropped };
      const lines = dropped > 0 ? [lineOf(warning), ...waiting] : waiting;
      [waiting, bytes, dropped] = [[], 0, 0];
      await stderr.write(lines.join('')).catch(() => {});
    }
    isWriting = false;
  };
  return (entry) => {
    const line = lineOf(entry);
    bytes += Buffer.byteLength(line);
    waiting.push(line);
    while (bytes > maxWaiting) {
      bytes -= Buffer.byteLength(waiting.shift() ?? '');
      dropped++;
    }
    if (!isWriting) void writeWaiting();
  };
}

const lineOf = (entry: object): string => `${JSON.stringify(entry)}\n`;
