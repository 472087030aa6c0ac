import type { Output } from '../../context.ts';

/** Maximum number of bytes waiting for the reader of the log, beside as many that were already handed to the stream. */
const maxWaiting = 1_000_000;

/**
 * Returns a function that writes a line of the log as JSON. Nothing waits for a slow reader: of the waiting lines the oldest are dropped,
 * since the newest tell how things are now and are continued by what follows; those that were handed on have how it began. Once the
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
