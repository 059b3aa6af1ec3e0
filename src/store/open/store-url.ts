import { InvalidInputError } from '../../core/errors/invalid-input-error.ts';
import { UnsupportedStoreUrlError } from '../store-errors.ts';

/** What a store URL names. */
export type StoreUrl =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string };

/**
 * Reads a store URL, the forms of other tools included: a driver after `+` is ignored, `sqlite:///x` is a path relative to
 * the working folder and `sqlite:////x` an absolute one. Without a scheme it is a path.
 * @throws UnsupportedStoreUrlError naming the scheme; never the rest, which may hold a password.
 */
export function parseStoreUrl(url: string): StoreUrl {
  if (typeof url !== 'string' || url === '') {
    throw new InvalidInputError('store', 'must be a URL or a path.');
  }
  if (url === ':memory:') return { kind: 'memory' };
  // One letter before the colon is a drive.
  const [, scheme, rest = ''] = /^([a-z][a-z0-9.+-]+):(.*)$/is.exec(url) ?? [];
  if (scheme === undefined) return { kind: 'sqlite', file: url };
  const [name] = scheme.toLowerCase().split('+');
  if (name === 'memory') return parseMemory(rest);
  if (name === 'sqlite') return parseSqlite(rest);
  if (name === 'postgres' || name === 'postgresql') return { kind: 'postgres', url };
  throw new UnsupportedStoreUrlError(`No store is known for URLs that start with "${scheme}:".`);
}

function parseMemory(rest: string): StoreUrl {
  if (rest === '' || rest === '//') return { kind: 'memory' };
  throw new UnsupportedStoreUrlError('A store in memory has no name: write "memory:".');
}

function parseSqlite(rest: string): StoreUrl {
  if (rest.includes('?')) {
    throw new UnsupportedStoreUrlError(
      'A SQLite URL takes no options here: leave out "?" and what follows.',
    );
  }
  if (rest.startsWith('//') && !rest.startsWith('///') && rest !== '//') {
    throw new UnsupportedStoreUrlError(
      'A SQLite URL names no host: write three slashes before a relative path, four before an absolute one.',
    );
  }
  const file = rest.startsWith('//') ? rest.slice(3) : rest;
  if (file === '' || file === ':memory:') return { kind: 'memory' };
  return { kind: 'sqlite', file };
}
