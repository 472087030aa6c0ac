/** The places that petstock can talk to. */
export const environmentNames = ['staging', 'production', 'sandbox'] as const;
export type EnvironmentName = (typeof environmentNames)[number];

/** The environments that keep a key and a URL; the sandbox makes its own. */
export const remoteEnvironmentNames = ['staging', 'production'] as const;
export type RemoteEnvironmentName = (typeof remoteEnvironmentNames)[number];

/** A value and where it came from, in words for a person: `PETSTOCK_ENV`, `config file`, `default`, `--env`. */
export interface Sourced<T> {
  readonly value: T;
  readonly source: string;
}

/** What `config set` takes, after validation. Absent means not set. */
export interface StoredSettings {
  readonly 'default-env'?: EnvironmentName;
  readonly 'default-store'?: string;
  readonly confirm?: 'bulk' | 'always';
  readonly 'low-stock'?: number;
  readonly 'max-changes'?: number;
  readonly 'max-zero'?: number;
  readonly 'read-first'?: 'terminal' | 'always' | 'never';
  /** An absolute path. */
  readonly codes?: string;
  /** An absolute path. */
  readonly 'ca-file'?: string;
  /** `postgresql://…`: a secret, since it may hold a password. */
  readonly 'state-url'?: string;
  /** In seconds. */
  readonly 'state-patience'?: number;
  /** In days. */
  readonly 'keep-history'?: number;
  readonly output?: 'table' | 'json' | 'ndjson' | 'csv' | 'tsv';
}

/** A command that prints a key. */
export interface KeyCommand {
  /** As it was typed: `pass show petstock`. */
  readonly command: string;
  /** It is run by the shell of the system. Otherwise the program is started with its arguments, and nothing expands them. */
  readonly shell: boolean;
}

type ByEnvironment<Value> = Readonly<Partial<Record<RemoteEnvironmentName, Value>>>;

/** What is stored of one store, by environment: its keys and URLs. */
export interface StoredStore {
  /** Settings of this store alone go before those of all; of the store without a name, they are those of all. */
  readonly settings: StoredSettings;
  readonly keys: ByEnvironment<string>;
  readonly urls: ByEnvironment<string>;
  /** The origin that each key was stored for. Absent for a key from before origins were stored, or stored before any URL. */
  readonly keyOrigins?: ByEnvironment<string>;
  /** Absent: none. An environment has a key or a command, never both. */
  readonly keyCommands?: ByEnvironment<KeyCommand>;
}

/** The whole of the configuration file: the store without a name, and those that have one. */
export interface ConfigFile extends StoredStore {
  readonly stores: Readonly<Record<string, StoredStore>>;
}

/**
 * What counts for one store. No key and no URL of another store is in it, so that they can't be mixed.
 */
export interface StoredConfig extends StoredStore {
  /** Undefined: the one without a name. */
  readonly store?: string | undefined;
}
