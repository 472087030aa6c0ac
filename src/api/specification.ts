/** A value in a path. */
interface PathParameter<Value> {
  /** Returns the segment of the path. */
  write(value: Value): string;
  /** Whether messages show the value. A text that was typed may be a misplaced key. */
  readonly isLoggable: boolean;
}

const id: PathParameter<bigint> = { write: (value) => `${value}`, isLoggable: true };

/** An operation of the service. */
export interface Operation<Values = Readonly<Record<string, never>>> {
  readonly method: 'GET' | 'PATCH';
  /** The path below the base URL, with its parameters in braces. */
  readonly path: string;
  readonly parameters: { readonly [Name in keyof Values]: PathParameter<Values[Name]> };
  /** Whether the service marks the operation as experimental, so that its response may change its shape. */
  readonly experimental?: boolean;
}

function operation<Values = Readonly<Record<string, never>>>(declared: Operation<Values>): Operation<Values> {
  return declared;
}

/** The operations of the specification. */
export const operations = {
  listInventory: operation({ method: 'GET', path: '/inventory', parameters: {} }),
  updateInventory: operation<{ readonly petId: bigint }>({
    method: 'PATCH',
    path: '/inventory/{petId}',
    parameters: { petId: id },
    experimental: true,
  }),
  getPet: operation<{ readonly petId: bigint }>({ method: 'GET', path: '/pets/{petId}', parameters: { petId: id } }),
  listOrders: operation({ method: 'GET', path: '/store/orders', parameters: {} }),
} as const;

/** Returns the path of a request, and its name in messages, like `GET /pets/4`. */
export function requestOf<Values extends object>(
  { method, path, parameters }: Operation<Values>,
  values: Values,
): { readonly path: string; readonly name: string } {
  const withValues = (textOf: (name: keyof Values & string) => string) =>
    path.replace(/\{(\w+)\}/g, (_, name) => textOf(name));
  const text = (name: keyof Values) => parameters[name].write(values[name]);
  const shown = withValues((name) => (parameters[name].isLoggable ? text(name) : `{${name}}`));
  return { path: withValues(text), name: `${method} ${shown}` };
}
