import { isSameBoot } from '../rate-limit/key-state.ts';
import { type Answers, type Moment, number, type Row, type Statement, statement, text } from './store.ts';

/** A time as it is kept: it counts only with the start of the machine that it belongs to. */
export interface KeptTime {
  readonly boot: string;
  readonly expires: number;
  /** How far it lay ahead when it was written, in milliseconds. */
  readonly lasts: number;
}

/** Kept times by the clock of this start of the machine. */
export interface Ends {
  of(time: KeptTime | undefined): number | undefined;
}

/** A time that says nothing of how far ahead it lay, in milliseconds. */
const longest = 120_000;

/** @returns the time in the columns `boot`, `expires` and `lasts`; undefined if there is none */
export function keptTime({ boot, expires, lasts }: Row): KeptTime | undefined {
  const end = number(expires);
  return end === undefined ? undefined : { boot: text(boot) ?? '', expires: end, lasts: number(lasts) ?? longest };
}

/**
 * A time of another start of the machine says nothing by our clock: that one may be a container beside us, or over. It lasts from when a process
 * of this start has first seen it for as long as it lay ahead when it was written, and anew once it has been renewed.
 */
export function* endsOf(
  at: Moment,
  times: readonly (KeptTime | undefined)[],
): Generator<readonly Statement[], Ends, Answers> {
  const own = ({ boot }: KeptTime) => isSameBoot(boot, at.boot);
  const foreign = new Map<string, KeptTime>();
  for (const time of times) if (time !== undefined && !own(time)) foreign.set(keyOf(time), time);
  const known = new Map<string, number>();
  if (foreign.size > 0) {
    const asked = [...foreign.values()];
    const answers = yield asked.map(({ boot, expires }) => statement(selectSighting, at.boot, boot, expires));
    for (const [index, time] of asked.entries()) {
      const ends = number(answers[index]?.[0]?.ends);
      known.set(keyOf(time), ends ?? at.now + time.lasts);
      if (ends === undefined) at.writes.push(sighted(at, time));
    }
  }
  return {
    of: (time) => time && (own(time) ? time.expires : (known.get(keyOf(time)) ?? at.now + time.lasts)),
  };
}

const keyOf = ({ boot, expires }: KeptTime) => `${expires} ${boot}`;

const selectSighting = 'SELECT ends FROM petstock.sightings WHERE boot = ? AND of_boot = ? AND expires = ?';

function sighted({ boot, now, wall }: Moment, time: KeptTime): Statement {
  return statement(
    `INSERT INTO petstock.sightings (boot, of_boot, expires, ends, at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (boot, of_boot, expires) DO NOTHING`,
    boot,
    time.boot,
    time.expires,
    now + time.lasts,
    Math.round(wall),
  );
}
