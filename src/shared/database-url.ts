/** What stands in the place of a password, and of what is in place of one. */
const mask = '***';

/** Where a database is and who asks, of `postgresql://user:password@host:port/database?sslmode=require`. */
export interface DatabaseAddress {
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string | undefined;
  readonly tls: DatabaseTls;
  /** Seconds that a connection may take to come about. */
  readonly connectTimeout: number | undefined;
  /** The same as a URL without the password, for people. */
  readonly shown: string;
}

export interface DatabaseTls {
  readonly mode: TlsMode;
  /** Files. */
  readonly authority: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/** As libpq means them; `allow` is `prefer`. */
const tlsModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof tlsModes)[number];

/** The parameters that are understood. Another one may be a promise that would not be kept. */
const parameters = new Set([
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'host', 'port', 'user', 'password', 'dbname', 'connect_timeout'],
  ...['application_name'],
]);

export type ReadDatabaseUrl =
  | { readonly ok: true; readonly value: DatabaseAddress }
  /** What is wrong, in words that repeat nothing of the URL. */
  | { readonly ok: false; readonly fault: string };

/** Reads a URL as libpq does, so that one that works for psql works here. */
export function parseDatabaseUrl(text: string): ReadDatabaseUrl {
  const given = text.trim();
  if (!/^postgres(ql)?:\/\//i.test(given)) return fault('it must begin with postgresql:// or postgres://');
  const url = readUrl(given);
  if (url === undefined)
    return fault('it is not a URL; special characters in a password are written as %40, %2F and so on');
  const unknown = [...url.searchParams.keys()].find((name) => !parameters.has(name));
  if (unknown !== undefined) return fault(`the parameter "${unknown.slice(0, 40)}" is not supported`);
  const parameter = (name: string) => url.searchParams.get(name) || undefined;
  const tls = readTls(parameter);
  if (typeof tls === 'string') return fault(tls);
  const port = Number(parameter('port') ?? (url.port || '5432'));
  const connectTimeout = parameter('connect_timeout');
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return fault('the port must be a number from 1 to 65535');
  if (connectTimeout !== undefined && !/^[1-9]\d{0,3}$/.test(connectTimeout)) {
    return fault('connect_timeout must be a number of seconds');
  }
  const value = {
    user: parameter('user') ?? decoded(url.username),
    password: parameter('password') ?? decoded(url.password),
    host: parameter('host') ?? decoded(url.hostname)?.replace(/^\[(.+)\]$/, '$1') ?? 'localhost',
    port,
    database: parameter('dbname') ?? decoded(url.pathname.slice(1)),
    tls,
    connectTimeout: connectTimeout === undefined ? undefined : Number(connectTimeout),
    shown: maskDatabaseUrl(given),
  };
  return { ok: true, value };
}

/** @returns what is wrong, in words, where it makes no sense */
function readTls(parameter: (name: string) => string | undefined): DatabaseTls | string {
  const mode = (parameter('sslmode') ?? 'prefer').replace(/^allow$/, 'prefer') as TlsMode;
  const [authority, certificate, key] = [parameter('sslrootcert'), parameter('sslcert'), parameter('sslkey')];
  if (!tlsModes.includes(mode)) return `sslmode must be one of ${tlsModes.join(', ')}`;
  if (mode === 'verify-ca' && authority === undefined) {
    return 'sslmode=verify-ca takes sslrootcert=<file>, the certificate of the authority';
  }
  return { mode, authority, certificate, key };
}

/** A URL without its password, wherever that stands in it. What is no URL shows nothing. */
export function maskDatabaseUrl(text: string): string {
  const url = readUrl(text.trim());
  if (url === undefined) return mask;
  if (url.password !== '') url.password = mask;
  if (url.searchParams.has('password')) url.searchParams.set('password', mask);
  return url.href
    .replace(`//${placeholder}`, '//')
    .replace(`@${placeholder}`, '@')
    .replaceAll(encodeURIComponent(mask), mask);
}

/** The WHATWG parser takes no empty host beside a user, as a URL of a Unix socket has it. */
const placeholder = 'no-host.invalid';

function readUrl(text: string): URL | undefined {
  if (URL.canParse(text)) return new URL(text);
  const filled = text.replace(/^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?=[:/?]|$)/i, `$1${placeholder}`);
  if (!URL.canParse(filled)) return undefined;
  return new URL(filled);
}

/** @returns undefined for what is empty */
function decoded(text: string): string | undefined {
  if (text === placeholder || text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function fault(words: string): ReadDatabaseUrl {
  return { ok: false, fault: words };
}
