import { type Gate, type InFlight, type KeyState, maxGateMs } from '../../rate-limit/key-state.ts';
import type { LimitRecord } from '../../rate-limit/records.ts';
import type { Window } from '../../rate-limit/window.ts';
import type { Clock } from '../../shared/clock.ts';
import type { DatabaseClock } from './database-clock.ts';

/** Names the one clock that all machines share, where the records of one machine name its boot. */
export const sharedBoot = 'database';

/**
 * A record with its times by the clock of the database, in milliseconds since the Unix epoch: there the monotonic clock and the
 * wall clock are one. Where a time is not known exactly, it is taken so that nothing leaves too early: now as early, the receipt
 * of an answer as late, and the sending of its request as early as they may have been.
 */
export function inSharedTime(record: LimitRecord, time: DatabaseClock): LimitRecord {
  if (!('at' in record)) return record;
  const at = record.type === 'answer' ? time.latest(record.at) : time.earliest(record.at);
  switch (record.type) {
    case 'start':
      return { ...record, boot: sharedBoot, at, wall: at };
    case 'intent':
      return { ...record, at, expires: time.latest(record.expires) };
    case 'answer': {
      const { leftAt } = record;
      return { ...record, at, wall: at, leftAt: leftAt === undefined ? undefined : time.earliest(leftAt) };
    }
  }
}

/**
 * A state by the clocks of this machine. Gates end as late, and our own requests are over as early, as they may.
 * @param state by the clock of the database
 */
export function inLocalTime(state: KeyState, time: DatabaseClock, clock: Clock): KeyState {
  const { gate, offset } = state;
  return {
    ...state,
    boot: state.boot === '' ? '' : clock.boot(),
    bootedAt: clock.now() - clock.monotonic(),
    // What is ahead of the database by so much is ahead of us by that and by how far the database is ahead of us.
    offset: offset && {
      ...offset,
      least: offset.least + time.earliest(0),
      most: offset.most + time.latest(0),
      at: time.localEarliest(offset.at),
    },
    windows: Object.fromEntries(
      Object.entries(state.windows).map(([kind, window]) => [kind, localWindow(window, time)]),
    ),
    inFlight: new Map([...state.inFlight].map(([id, request]) => [id, localRequest(request, time)])),
    gate: gate.at === 0 ? gate : localGate(gate, time, clock),
  };
}

/** Whoever can write to the database may have put any time there: none is believed that is farther away than a gate can be. */
function localGate(gate: Gate, time: DatabaseClock, clock: Clock): Gate {
  const at = Math.min(time.localLatest(gate.at), clock.monotonic() + maxGateMs);
  return { ...gate, at, wall: Math.min(time.localWall(gate.wall), clock.now() + maxGateMs) };
}

function localWindow(window: Window, time: DatabaseClock): Window {
  const at = time.localLatest(window.first.at);
  const toldAt = time.localLatest(window.toldAt);
  return { ...window, toldAt, asOf: time.localWall(window.asOf), first: { ...window.first, at } };
}

function localRequest(request: InFlight, time: DatabaseClock): InFlight {
  const { sentAt, expires } = request;
  return { ...request, sentAt: time.localEarliest(sentAt), expires: time.localEarliest(expires) };
}
