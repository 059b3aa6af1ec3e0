import { InvalidInputError } from '../../core/index.ts';
import { UnsupportedStoreUrlError } from '../store-errors.ts';

/** A parsed store URL. */
export type StoreUrl =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'mysql'; readonly url: string };

/**
 * Parses a store URL. Accepts the forms of other tools: a driver after `+` is ignored, `sqlite:///x` is relative to the
 * working directory, `sqlite:////x` is absolute. Text without a scheme is a path of a SQLite file.
 * @throws UnsupportedStoreUrlError with the scheme only, because the rest may contain a password
 * @throws InvalidInputError when the URL is empty or not a string, is only a scheme such as `memory`, or names a file
 *   `undefined` or `null`
 */
export function parseStoreUrl(url: string): StoreUrl {
  if (typeof url !== 'string' || url === '') {
    throw new InvalidInputError('store', 'must be a non-empty URL or path.');
  }
  if (url === ':memory:') return { kind: 'memory' };
  // A single letter before the colon is a Windows drive.
  const [, scheme, rest = ''] = /^([a-z][a-z0-9.+-]+):(.*)$/is.exec(url) ?? [];
  if (scheme === undefined) return parsePath(url);
  const [name = ''] = scheme.toLowerCase().split('+');
  const parse = PARSERS.get(name);
  if (parse !== undefined) return parse(rest, url);
  if (name === 'spanner') throw new UnsupportedStoreUrlError(SPANNER);
  throw new UnsupportedStoreUrlError(`Unknown store URL scheme "${scheme}:".`);
}

const SPANNER =
  'There is no store for Cloud Spanner yet. Use PostgreSQL or MySQL, for example on Cloud SQL, or implement Store and check it with storeContract.';

const toPostgres = (_rest: string, url: string): StoreUrl => ({ kind: 'postgres', url });
const toMysql = (_rest: string, url: string): StoreUrl => ({ kind: 'mysql', url });

/** The parser of each scheme, which gets the text after the colon, and the whole URL. */
const PARSERS: ReadonlyMap<string, (rest: string, url: string) => StoreUrl> = new Map([
  ['memory', parseMemory],
  ['sqlite', parseSqlite],
  ['postgres', toPostgres],
  ['postgresql', toPostgres],
  ['mysql', toMysql],
  ['mariadb', toMysql],
]);

/** Rejects a scheme without its colon, which would be the name of a file. */
function parsePath(path: string): StoreUrl {
  const scheme = path.toLowerCase();
  if (PARSERS.has(scheme))
    throw new InvalidInputError(
      'store',
      `is "${path}", a scheme without its colon. Write "${scheme}:" and what follows it; a SQLite file of this name is "./${path}".`,
    );
  return toSqlite(path);
}

function parseMemory(rest: string): StoreUrl {
  if (rest === '' || rest === '//') return { kind: 'memory' };
  throw new UnsupportedStoreUrlError('A memory store has no name: use "memory:".');
}

function parseSqlite(rest: string): StoreUrl {
  if (rest.includes('?')) {
    throw new UnsupportedStoreUrlError(
      'Options in a SQLite URL are not supported: remove "?" and the text after it.',
    );
  }
  if (rest.startsWith('//') && !rest.startsWith('///') && rest !== '//') {
    throw new UnsupportedStoreUrlError(
      'A SQLite URL has no host: use three slashes before a relative path, four before an absolute one.',
    );
  }
  const file = rest.startsWith('//') ? rest.slice(3) : rest;
  if (file === '' || file === ':memory:') return { kind: 'memory' };
  return toSqlite(file);
}

/** Rejects the text of a value that is missing, from which a template string made a path. */
function toSqlite(file: string): StoreUrl {
  if (file === 'undefined' || file === 'null') {
    throw new InvalidInputError(
      'store',
      `names the file "${file}", so the value it was made from is probably missing. Pass the path of the SQLite file; a file of this name is "./${file}".`,
    );
  }
  return { kind: 'sqlite', file };
}
