import { type Row, rewriting, type Statement } from '../statements.ts';

/**
 * The internal interface of `pg` that is used here:
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export interface Protocol {
  readonly stream: { destroy(): void; cork(): void; uncork(): void; ref(): void; unref(): void };
  parse(message: { readonly text: string; readonly name: string; readonly types: readonly number[] }): void;
  describe(message: { readonly type: 'S'; readonly name: string }): void;
  bind(message: {
    readonly portal: string;
    readonly statement: string;
    readonly values: readonly (string | null)[];
  }): void;
  execute(message: { readonly portal: string; readonly rows: number }): void;
  sync(): void;
  on(event: 'parameterStatus', listener: (message: { parameterName: string; parameterValue: string }) => void): void;
}

/**
 * Statements that are sent together in one round trip and succeed or fail as a whole. Equal SQL texts in a row are
 * parsed once. Nothing is named, because a pooler may pass the next pipeline to another server process.
 */
export class Pipeline {
  readonly #statements: readonly Statement[];
  /** Called once by `pg`, which adds a time limit. */
  callback: (error: Error | null, rows?: Row[][]) => void;
  /** The column names of the last parsed text. */
  #columns: readonly string[] = [];
  readonly #answers: Row[][] = [];
  #rows: Row[] = [];

  constructor(statements: readonly Statement[], callback: Pipeline['callback']) {
    this.#statements = statements;
    this.callback = callback;
  }

  submit(protocol: Protocol): null {
    protocol.stream.cork();
    try {
      let last: string | undefined;
      for (const { sql, values } of this.#statements) {
        if (sql !== last) {
          protocol.parse({ text: numbered(sql), name: '', types: [] });
          protocol.describe({ type: 'S', name: '' });
          last = sql;
        }
        protocol.bind({
          portal: '',
          statement: '',
          values: values.map((value) => (value === null ? null : String(value))),
        });
        protocol.execute({ portal: '', rows: 0 });
      }
      protocol.sync();
    } finally {
      protocol.stream.uncork();
    }
    return null;
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly name: string }[] }): void {
    this.#columns = fields.map(({ name }) => name);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#rows.push(Object.fromEntries(this.#columns.map((name, index) => [name, fields[index] ?? null])));
  }

  handleCommandComplete(): void {
    this.#answers.push(this.#rows);
    this.#rows = [];
  }

  handleError(error: Error): void {
    const statement = this.#statements[this.#answers.length];
    this.callback(Object.assign(error, statement && { statement: statement.sql }));
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#answers);
  }
}

/** Replaces each `?` by `$1`, `$2` and so on. No SQL text contains a quoted `?`. */
const numbered = rewriting((sql) => {
  const [first = '', ...parts] = sql.split('?');
  return parts.reduce((text, part, index) => `${text}$${index + 1}${part}`, first);
});
