import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/state/intents-and-outcomes.ts';
import { OutcomeBuffer } from '../../src/state/outcome-buffer.ts';

const outcome: Outcome = { row: 1, petId: 7n, result: 'applied', quantity: 8 };

/** Returns a buffer with one outcome that was written on connection 1, durably or not. */
function bufferOf(written: { readonly isDurable: boolean }): OutcomeBuffer {
  const buffer = new OutcomeBuffer();
  buffer.add([outcome]);
  buffer.written(buffer.take(1), 1, written.isDurable, 1);
  return buffer;
}

const rowsOf = (buffer: OutcomeBuffer, generation: number) => [...buffer.take(generation).keys()];

describe('OutcomeBuffer', () => {
  it('repeats outcomes on a new connection if they may not be on disk', () => {
    const buffer = bufferOf({ isDurable: false });
    expect(buffer.mustRepeat(1)).toBe(false);
    expect(rowsOf(buffer, 1)).toEqual([]);
    expect(buffer.mustRepeat(2)).toBe(true);
    expect(rowsOf(buffer, 2)).toEqual([1]);
  });

  it('does not repeat an outcome that is on disk', () => {
    expect(rowsOf(bufferOf({ isDurable: true }), 2)).toEqual([]);
  });

  it('drops the buffered outcome of a row that is sent again', () => {
    const buffer = bufferOf({ isDurable: false });
    buffer.drop([1]);
    expect(rowsOf(buffer, 2)).toEqual([]);
  });

  it('keeps an outcome added to a row while the earlier outcome of the row is being written', () => {
    const buffer = new OutcomeBuffer();
    buffer.add([{ ...outcome, result: 'unknown' }]);
    const taken = buffer.take(1);
    buffer.add([outcome]);
    buffer.written(taken, 1, true, 1);
    expect(buffer.take(1).get(1)).toBe(outcome);
  });
});
