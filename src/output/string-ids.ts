import { isLosslessNumber } from './exact-json.ts';

/**
 * A value for JSON with its pet ids as strings, for readers that keep 53 bits of a number: what is called `petId` or stands in a
 * list called `pets`, however deep. All else is as it was.
 */
export function withStringIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withStringIds);
  if (value instanceof Map) return new Map([...value].map(([name, member]) => [name, memberOf(`${name}`, member)]));
  if (typeof value !== 'object' || value === null || isLosslessNumber(value) || 'toJSON' in value) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, memberOf(name, member)]));
}

function memberOf(name: string, member: unknown): unknown {
  if (name === 'petId') return idText(member);
  if (name === 'pets' && Array.isArray(member)) return member.map(idText);
  return withStringIds(member);
}

function idText(value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return `${value}`;
  if (typeof value === 'object' && value !== null && isLosslessNumber(value)) return value.value;
  return withStringIds(value);
}
