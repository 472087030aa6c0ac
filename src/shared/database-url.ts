import { resolve } from 'node:path';
import { type Parsed, parsed, problem } from './parsed.ts';

const mask = '***';

/** The address of a database, parsed from `postgresql://user:password@host:port,other/database?sslmode=require`. */
export interface DatabaseAddress {
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** The hosts in the order in which they are tried; the first that accepts writes is used. */
  readonly hosts: readonly DatabaseHost[];
  readonly database: string | undefined;
  readonly tls: DatabaseTls;
  /** Time limit for connecting, in seconds. */
  readonly connectTimeout: number | undefined;
  /** The URL without the password, for display. */
  readonly shown: string;
}

export interface DatabaseHost {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

export interface DatabaseTls {
  readonly mode: TlsMode;
  /** A path, like the next two. Undefined for Node's own authorities, as with `sslrootcert=system`. */
  readonly authority: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/**
 * The modes of libpq; `allow` is treated as `prefer`. The default is `verify-full`, or `prefer` if all hosts are this
 * machine.
 */
const tlsModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof tlsModes)[number];

/** Accepted values of `target_session_attrs`. All mean a server that accepts writes, because petstock writes. */
const writable = ['any', 'read-write', 'primary'];

/** The parameters that are accepted. The name of an application affects nothing. */
const accepted = new Set([
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'host', 'port', 'user', 'password', 'dbname'],
  ...['connect_timeout', 'target_session_attrs', 'application_name'],
]);

/**
 * Describes what is wrong with the parameters of a URL, without repeating a value, because it may be a password.
 * Undefined if nothing is.
 */
function faultOf(search: URLSearchParams): string | undefined {
  for (const name of search.keys()) {
    const shown = `the parameter "${name.slice(0, 40)}"`;
    if (!accepted.has(name)) return `${shown} is not supported`;
    if (search.getAll(name).length > 1) return `${shown} appears twice`;
  }
  return undefined;
}

/**
 * Parses a URL by the rules of libpq, but rejects parameters that petstock does not support. Errors never repeat a
 * value from the URL.
 */
export function parseDatabaseUrl(text: string): Parsed<DatabaseAddress> {
  const given = text.trim();
  if (/[\0-\x20\x7f]/.test(given))
    return problem('it is not a URL, because it contains a space (write %20) or a control character');
  if (!/^postgres(ql)?:\/\//i.test(given)) return problem('it must begin with postgresql:// or postgres://');
  const url = readUrl(given);
  if (url === undefined)
    return problem('it is not a URL: check the port, and write special characters in a password as %40, %2F and so on');
  // Unlike in a form, a plus is not a space.
  const search = new URLSearchParams(url.search.replaceAll('+', '%2B'));
  const unsupported = faultOf(search);
  if (unsupported !== undefined) return problem(unsupported);
  const parameter = (name: string) => search.get(name) || undefined;
  const connectTimeout = parameter('connect_timeout');
  if (connectTimeout !== undefined && !/^[1-9]\d{0,3}$/.test(connectTimeout)) {
    return problem('connect_timeout must be a number of seconds from 1 to 9999');
  }
  const wanted = parameter('target_session_attrs');
  if (wanted !== undefined && !writable.includes(wanted)) {
    return problem('target_session_attrs must be read-write, primary or any, because petstock writes to the database');
  }
  const hosts = readHosts(given, parameter);
  if (typeof hosts === 'string') return problem(hosts);
  const tls = readTls(parameter, hosts);
  if (typeof tls === 'string') return problem(tls);
  return parsed({
    user: parameter('user') ?? decoded(url.username),
    password: parameter('password') ?? decoded(url.password),
    hosts,
    database: parameter('dbname') ?? decoded(url.pathname.slice(1)),
    tls,
    connectTimeout: connectTimeout === undefined ? undefined : Number(connectTimeout),
    shown: maskDatabaseUrl(given),
  });
}

/**
 * Returns a URL with absolute paths of its files (`sslrootcert`, `sslcert`, `sslkey`), because a relative path depends
 * on the current folder. `sslrootcert=system` stays.
 */
export function withAbsoluteFiles(text: string): string {
  return text.replace(/(?<=[?&]ssl(?:rootcert|cert|key)=)(?!system(?:&|$))[^&]+/g, (file) => {
    return encodeURIComponent(resolve(decoded(file) ?? '')).replaceAll('%2F', '/');
  });
}

/** @returns a description of the problem if the hosts are not valid */
function readHosts(text: string, parameter: (name: string) => string | undefined): DatabaseHost[] | string {
  const inUrl = partsOf(text).hosts.split(',').map(hostOf);
  const names = parameter('host')?.split(',') ?? inUrl.map(({ host }) => host);
  const given = parameter('port')?.split(',');
  if (given !== undefined && given.length !== 1 && given.length !== names.length) {
    return 'there must be one port, or one for each host';
  }
  const ports = given ?? (parameter('host') === undefined ? inUrl.map(({ port }) => port) : [inUrl[0]?.port ?? '']);
  const hosts = names.map((host, index) => {
    return { host: host || 'localhost', port: Number(ports[ports.length === 1 ? 0 : index] || '5432') };
  });
  const areValid = hosts.every(({ port }) => Number.isInteger(port) && port >= 1 && port <= 65_535);
  return areValid ? hosts : 'the port must be a number from 1 to 65535';
}

/** Parses a host like `db.example:5432`, `[::1]:5432` or `:5432`. */
function hostOf(text: string): { readonly host: string; readonly port: string } {
  const [, host = '', port = ''] = /^(.*?)(?::(\d*))?$/.exec(text) ?? [];
  return { host: (decoded(host) ?? '').replace(/^\[(.+)\]$/, '$1'), port };
}

/** @returns a description of the problem if the parameters are not valid */
function readTls(
  parameter: (name: string) => string | undefined,
  hosts: readonly DatabaseHost[],
): DatabaseTls | string {
  const usual = hosts.every(isThisMachine) ? 'prefer' : 'verify-full';
  const isOfSystem = parameter('sslrootcert') === 'system';
  const mode = (parameter('sslmode') ?? (isOfSystem ? 'verify-full' : usual)).replace(/^allow$/, 'prefer') as TlsMode;
  const authority = isOfSystem ? undefined : parameter('sslrootcert');
  const [certificate, key] = [parameter('sslcert'), parameter('sslkey')];
  if (!tlsModes.includes(mode)) return `sslmode must be one of ${tlsModes.join(', ')}`;
  if (isOfSystem && mode !== 'verify-full') return 'sslrootcert=system requires sslmode=verify-full';
  if (mode === 'verify-ca' && authority === undefined) {
    return 'sslmode=verify-ca requires sslrootcert=<file>, the certificate of the authority';
  }
  return { mode, authority, certificate, key };
}

/**
 * Reports whether a host is the folder of a Unix socket, or a loopback address: no one can intercept the connection.
 */
function isThisMachine({ host }: DatabaseHost): boolean {
  return /^(\/|localhost$|127(\.\d{1,3}){3}$|::1$)/i.test(host);
}

/** Returns a URL without its password, wherever the password is. For text that is not a URL, returns only the mask. */
export function maskDatabaseUrl(text: string): string {
  const url = readUrl(text.trim());
  if (url === undefined) return mask;
  if (url.password !== '') url.password = mask;
  if (url.searchParams.has('password')) url.searchParams.set('password', mask);
  const { hosts } = partsOf(text.trim());
  return url.href
    .replace(/(?<=\/\/|@)no-host\.invalid/, () => (hosts.includes(',') ? hosts : ''))
    .replaceAll(encodeURIComponent(mask), mask);
}

/** Stands for hosts that the WHATWG parser rejects: several hosts, or none after a user (as for a Unix socket). */
const placeholder = 'no-host.invalid';

function readUrl(text: string): URL | undefined {
  const { before, hosts, after } = partsOf(text);
  const isList = hosts.includes(',');
  // `after` may be the rest of a password whose slash, `?` or `#` is not percent-encoded. Digits before that character
  // look like a port.
  if (/#|^[^?]*@|[?&](?!(?:user|password)=)[^&]*@/.test(after)) return undefined;
  if (!isList && URL.canParse(text)) return new URL(text);
  // A host of any other form may be the start of a password that contains a slash.
  const areHosts = hosts.split(',').every((host) => /^([^:[\]]*|\[[\da-f:.]+\])(:\d*)?$/i.test(host));
  if (before === '' || (isList ? !areHosts : !/^(:|$)/.test(hosts))) return undefined;
  const filled = `${before}${placeholder}${isList ? '' : hosts}${after}`;
  return URL.canParse(filled) ? new URL(filled) : undefined;
}

/** Returns the hosts of a URL as written, and the parts before and after; all empty if the text is not a URL. */
function partsOf(text: string) {
  const [, before = '', hosts = '', after = ''] =
    /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is.exec(text) ?? [];
  return { before, hosts, after };
}

/** @returns undefined for an empty text; the text itself if it can't be decoded */
function decoded(text: string): string | undefined {
  if (text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
