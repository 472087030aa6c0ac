const units = [
  { name: 'd', seconds: 86_400, rest: { name: 'h', seconds: 3_600 } },
  { name: 'h', seconds: 3_600, rest: { name: 'min', seconds: 60 } },
  { name: 'min', seconds: 60, rest: { name: 's', seconds: 1 } },
] as const;

/**
 * A length of time in at most two units: `42 s`, `3 min 20 s`, `9 h 12 min`, `2 d 3 h`.
 * Rounded up, since it is mostly a time to wait: nobody is sent back too early. Below zero is `0 s`.
 */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'an unknown time';
  const whole = Math.max(0, Math.ceil(seconds));
  for (const { name, seconds: size, rest } of units) {
    const rounded = Math.ceil(whole / rest.seconds) * rest.seconds;
    if (rounded < size) continue;
    const left = (rounded % size) / rest.seconds;
    return left === 0
      ? `${Math.floor(rounded / size)} ${name}`
      : `${Math.floor(rounded / size)} ${name} ${left} ${rest.name}`;
  }
  return `${whole} s`;
}
