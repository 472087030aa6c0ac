import { Refusal } from './http/answer.ts';
import { type Operation, operations } from './operations.ts';

const BASE = '/v1';

/** All operations on one path. */
export interface Route {
  readonly path: string;
  readonly parts: readonly string[];
  readonly operations: readonly Operation[];
  /** Headers of every response on this path. */
  readonly headers: Readonly<Record<string, string>>;
}

const routes: readonly Route[] = [...new Set(operations.map(({ path }) => path))].map((path) => {
  const onPath = operations.filter((operation) => operation.path === path);
  const headers = Object.assign({}, ...onPath.map((operation) => operation.headers ?? {}));
  return { path, parts: path.slice(1).split('/'), operations: onPath, headers };
});

/** The target of a request. */
export interface Target {
  /** The path below the base URL, as it was sent, without the query; the whole path if it is outside the base URL. */
  readonly path: string;
  /** Null if the service has no such path. */
  readonly route: Route | null;
  /** The decoded segments; null if the percent-encoding of the path is malformed. */
  readonly segments: readonly string[] | null;
}

/** @param url the target of a request, such as `/v1/inventory/5?x` */
export function targetOf(url: string): Target {
  const [whole = ''] = url.split('?', 1);
  if (!whole.startsWith(`${BASE}/`)) return { path: whole, route: null, segments: [] };
  const path = whole.slice(BASE.length);
  const sent = path.slice(1).split('/');
  const segments = path.includes('%') ? decoded(sent) : sent;
  return { path, segments, route: routes.find(({ parts }) => isMatch(parts, segments ?? sent)) ?? null };
}

function decoded(segments: readonly string[]): readonly string[] | null {
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return null;
  }
}

function isMatch(parts: readonly string[], segments: readonly string[]): boolean {
  return (
    parts.length === segments.length &&
    parts.every((part, at) => (isParameter(part) ? segments[at] !== '' : part === segments[at]))
  );
}

function isParameter(part: string): boolean {
  return part.startsWith('{');
}

/** Yields the parameters of an operation: name, declaration, and the text in the path. */
function* parametersIn({ parts }: Route, { parameters }: Operation, segments: readonly string[]) {
  for (const [at, part] of parts.entries()) {
    const name = part.slice(1, -1);
    const parameter = isParameter(part) ? parameters[name] : undefined;
    if (parameter !== undefined) yield { name, parameter, text: segments[at] ?? '' };
  }
}

/** Returns the values of the parameters in a path. @throws Refusal 400 for one that is not valid */
export function parametersOf(route: Route, operation: Operation, segments: readonly string[]) {
  const values: Record<string, unknown> = {};
  for (const { name, parameter, text } of parametersIn(route, operation, segments)) {
    const value = parameter.read(text);
    if (value === null) throw new Refusal(400, parameter.code, parameter.message);
    values[name] = value;
  }
  return values;
}

/**
 * Returns the path of a request as it may be recorded: `/v1/inventory/5`, or `/v1/inventory/{petId}` if the value is
 * not valid or not loggable; `…` outside the API.
 */
export function loggablePath({ route, segments }: Target): string {
  const [operation] = route?.operations ?? [];
  if (route === null || operation === undefined) return '…';
  let path = BASE + route.path;
  for (const { name, parameter, text } of parametersIn(route, operation, segments ?? [])) {
    if (parameter.isLoggable && parameter.read(text) !== null) path = path.replace(`{${name}}`, text);
  }
  return path;
}

/** Returns the value of the Allow header: HEAD if there is GET, and always OPTIONS. */
export function allowedMethods(route: Route | null): string {
  const methods = route?.operations.map(({ method }) => method) ?? [];
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}
