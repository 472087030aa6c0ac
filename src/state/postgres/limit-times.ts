import { type Gate, type InFlight, type KeyState, maxGateMs } from '../../rate-limit/key-state.ts';
import type { LimitRecord } from '../../rate-limit/limit-records.ts';
import type { Window } from '../../rate-limit/window.ts';
import type { Clock } from '../../shared/clock.ts';
import type { DatabaseClock } from './database-clock.ts';

/** The boot id used in shared records: all machines use the database's clock. */
export const sharedBoot = 'database';

/**
 * Converts the times of a record to the database's clock, in milliseconds since the Unix epoch (there, the monotonic
 * clock and the wall clock are the same). If a time is not known exactly, it is rounded so that no request is sent too
 * early: the receipt of a response and the end of a request as late as possible, all other times as early as possible.
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
 * Converts a state to this machine's clocks. Gates end as late as possible, and requests expire as early as possible.
 * @param state times by the database's clock
 */
export function inLocalTime(state: KeyState, time: DatabaseClock, clock: Clock): KeyState {
  const { gate, offset } = state;
  return {
    ...state,
    boot: state.boot === '' ? '' : clock.boot(),
    bootedAt: clock.now() - clock.monotonic(),
    // The service's offset to the database's clock, plus that clock's offset to this machine's monotonic clock.
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

/**
 * Converts a gate, and limits it to the longest gate, because another user of the database may have stored any time.
 */
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
