/**
 * Returns a time in this machine's time zone: `09:14:05`, with the date in front if it is 20 hours or more from now.
 */
export function localTime(ms: number, now: number = ms): string {
  const text = localDateTime(ms);
  return Math.abs(ms - now) < 20 * 3600_000 ? text.slice(-8) : text;
}

/** Returns a moment as local date and time, to the minute: `2026-01-15 09:14`. */
export function localMinute(ms: number): string {
  return localDateTime(ms).slice(0, -3);
}

/** Returns a moment as local date and time: `2026-01-15 09:14:05`. */
function localDateTime(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** Returns a time without its seconds if these are 0: `00:00`. */
export function minuteOf(time: string): string {
  return time.replace(/(\d\d:\d\d):00$/, '$1');
}

/** Returns a moment in a short form: `22 Nov 01:56`; in another year `22 Nov 2025`. */
export function shortTime(ms: number, now: number): string {
  const date = new Date(ms);
  const day = `${date.getDate()}`.padStart(2);
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return `${day} ${months[date.getMonth()]} ${isThisYear ? localMinute(ms).slice(-5) : `${date.getFullYear()}`}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns a moment for programs, in UTC with milliseconds: `2026-01-01T00:00:00.000Z`. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

const units = [
  { name: 'd', seconds: 86_400, rest: { name: 'h', seconds: 3_600 }, finest: 60 },
  { name: 'h', seconds: 3_600, rest: { name: 'min', seconds: 60 }, finest: 1 },
  { name: 'min', seconds: 60, rest: { name: 's', seconds: 1 }, finest: 1 },
] as const;

/**
 * Returns a duration in at most two units: `42 s`, `3 min 20 s`, `9 h 12 min`, `2 d 3 h`. Rounded up, because it is
 * mostly a time to wait. Negative values are `0 s`, infinite ones `an unknown time`.
 */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'an unknown time';
  const whole = Math.max(0, Math.ceil(seconds));
  for (const { name, seconds: size, rest, finest } of units) {
    // Without days the finest unit is a minute: 23 h 59.5 min rounds up to a day, but 23 h 1 min does not.
    if (roundedUp(whole, finest) < size) continue;
    const rounded = roundedUp(whole, rest.seconds);
    const left = (rounded % size) / rest.seconds;
    return left === 0
      ? `${Math.floor(rounded / size)} ${name}`
      : `${Math.floor(rounded / size)} ${name} ${left} ${rest.name}`;
  }
  return `${whole} s`;
}

function roundedUp(seconds: number, step: number): number {
  return Math.ceil(seconds / step) * step;
}

/** Returns an estimated duration without false precision: `20 min` rather than `19 min 42 s`. */
export function roughDuration(seconds: number): string {
  const step = seconds < 60 ? 1 : seconds < 600 ? 10 : seconds < 36_000 ? 60 : 3600;
  return formatDuration(roundedUp(seconds, step));
}
