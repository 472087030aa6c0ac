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
  readonly confirm?: 'bulk' | 'always';
  readonly 'low-stock'?: number;
  readonly 'max-changes'?: number;
  readonly 'max-zero'?: number;
  readonly 'read-first'?: boolean;
  /** An absolute path. */
  readonly 'ca-file'?: string;
  readonly output?: 'table' | 'json' | 'ndjson' | 'csv' | 'tsv';
}

/** The whole of the configuration file. */
export interface StoredConfig {
  readonly settings: StoredSettings;
  readonly keys: Readonly<Partial<Record<RemoteEnvironmentName, string>>>;
  readonly urls: Readonly<Partial<Record<RemoteEnvironmentName, string>>>;
  /** The origin that each key was stored for. Absent for a key from before origins were stored, or stored before any URL. */
  readonly keyOrigins?: Readonly<Partial<Record<RemoteEnvironmentName, string>>>;
}
