/** A moment as the clock on the wall shows it: `09:14:05`, with the date in front where it is not within a day. */
export function localTime(ms: number, now: number = ms): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  if (Math.abs(ms - now) < 20 * 3600_000) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** A moment for programs: `2026-01-01T00:00:00Z`. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
