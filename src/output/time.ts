/** A moment as the clock on the wall shows it: `09:14:05`, with the date in front where it is not within a day. */
export function localTime(ms: number, now: number = ms): string {
  const text = localDateTime(ms);
  return Math.abs(ms - now) < 20 * 3600_000 ? text.slice(-8) : text;
}

/** A moment as the calendar and the clock on the wall show it: `2026-01-15 09:14:05`. */
function localDateTime(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** A recorded moment, ISO 8601, in local time to the minute; what is no time is shown as it was recorded. */
export function recordedTime(at: string): string {
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? at : localDateTime(ms).slice(0, -3);
}

/** A moment for programs: `2026-01-01T00:00:00Z`. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
