import { type Row, rewriting, type Statement } from '../statements.ts';

/** The part of the inside of `pg` that is used: https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING */
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
 * Statements that go to the server together and are answered together, whole or not at all, in one round trip. A text that comes several times
 * in a row is parsed once. Nothing has a name: a pooler may hand the next pipeline to another server process.
 */
export class Pipeline {
  readonly #statements: readonly Statement[];
  /** Called once by `pg`, which puts a time limit around it. */
  callback: (error: Error | null, rows?: Row[][]) => void;
  /** Their names, of the text that was parsed last. */
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

/** `$1`, `$2` and so on for each `?`. No text of ours has one in quotes. */
const numbered = rewriting((sql) => {
  const [first = '', ...parts] = sql.split('?');
  return parts.reduce((text, part, index) => `${text}$${index + 1}${part}`, first);
});
