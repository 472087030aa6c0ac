import { Refusal } from './http/answer.ts';
import { type Operation, operations, type Parameter } from './operations.ts';

const BASE = '/v1';

interface PathParameter {
  readonly name: string;
  readonly parameter: Parameter;
  /** The position of its segment in the path. */
  readonly at: number;
}

/** All operations on one path. They have the same parameters. */
export interface Route {
  readonly path: string;
  readonly parts: readonly string[];
  readonly parameters: readonly PathParameter[];
  readonly operations: readonly Operation[];
  /** The value of the Allow header: HEAD if there is GET, and always OPTIONS. */
  readonly allow: string;
  /** Headers of every response on this path. */
  readonly headers: Readonly<Record<string, string>>;
}

const routes: readonly Route[] = [...new Set(operations.map(({ path }) => path))].map((path) => {
  const onPath = operations.filter((operation) => operation.path === path);
  const methods: readonly string[] = onPath.map(({ method }) => method);
  const parts = path.slice(1).split('/');
  return {
    path,
    parts,
    parameters: onPath.slice(0, 1).flatMap((operation) => parametersIn(parts, operation)),
    operations: onPath,
    allow: [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', '),
    headers: Object.assign({}, ...onPath.map(({ headers = {} }) => headers)),
  };
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

/** Returns the parameters in a path: each name, its declaration, and the position of its segment. */
function parametersIn(parts: readonly string[], { parameters }: Operation): readonly PathParameter[] {
  return parts.flatMap((part, at) => {
    const name = part.slice(1, -1);
    const parameter = isParameter(part) ? parameters[name] : undefined;
    return parameter === undefined ? [] : [{ name, parameter, at }];
  });
}

/** Returns the values of the parameters in a path. @throws Refusal 400 for one that is not valid */
export function valuesIn({ parameters }: Route, segments: readonly string[]) {
  const values: Record<string, unknown> = {};
  for (const { name, parameter, at } of parameters) {
    const value = parameter.read(segments[at] ?? '');
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
  if (route === null) return '…';
  let path = BASE + route.path;
  for (const { name, parameter, at } of route.parameters) {
    const text = segments?.[at] ?? '';
    if (parameter.isLoggable && parameter.read(text) !== null) path = path.replace(`{${name}}`, text);
  }
  return path;
}
