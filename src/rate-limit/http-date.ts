const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const month = `(?<month>${months.join('|')})`;
const time = '(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})';

/** The three forms of RFC 9110, section 5.6.7: IMF-fixdate, RFC 850, asctime. All of them are UTC. */
const forms = [
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(
    `^(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday), (?<day>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT$`,
  ),
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
];

/**
 * Reads an HTTP-date.
 *
 * @param now milliseconds since the Unix epoch; decides the century of a two-digit year
 * @returns milliseconds since the Unix epoch, or undefined for anything else. `Date.parse` is not used, since it
 *   takes asctime for local time and accepts much that is no HTTP-date.
 */
export function parseHttpDate(text: string, now: number): number | undefined {
  for (const form of forms) {
    const groups = form.exec(text)?.groups;
    if (groups) return toMilliseconds(groups, now);
  }
  return undefined;
}

function toMilliseconds(groups: Record<string, string | undefined>, now: number): number | undefined {
  const number = (name: string) => Number(groups[name]);
  const year = groups.year?.length === 2 ? fullYear(number('year'), now) : number('year');
  const monthIndex = months.indexOf(groups.month ?? '');
  const [day, hour, minute, second] = [number('day'), number('hour'), number('minute'), number('second')];
  // A leap second is written as 60 and counts as the next second.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const date = new Date(Date.UTC(year, monthIndex, day));
  date.setUTCFullYear(year);
  if (date.getUTCMonth() !== monthIndex || date.getUTCDate() !== day) return undefined;
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000;
}

/** A two-digit year more than 50 years ahead is the most recent past year with those digits. */
function fullYear(twoDigits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}
