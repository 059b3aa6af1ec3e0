import { InvalidInputError } from '../core/index.ts';

/**
 * How an operator's list of origins matches a URL. `named`: the origin is listed literally, so it may have any address.
 * `public`: a pattern matches, so it must have a public address. `unlisted`: no entry matches, so it is not requested.
 */
export type OriginMatch = 'named' | 'public' | 'unlisted';

/** Matches a URL against a list of origins. */
export type OriginMatcher = (url: URL) => OriginMatch;

const PATTERN = /^https:\/\/\*(?<domain>(?:\.[^.*/?#@\s:[\]]+)+)?(?::(?<port>\d{1,5}))?$/i;

/**
 * Parses an operator's list of origins. `http://127.0.0.1:11434` is that origin alone. `https://*.example.com` is every
 * host below it, `https://*` every host; both require TLS and a public address.
 * @throws InvalidInputError for `field` if an entry is neither, such as a URL with a path
 */
export function parseOrigins(list: readonly string[], field: string): OriginMatcher {
  const named = new Set<string>();
  const patterns: ((url: URL) => boolean)[] = [];
  for (const entry of list) {
    const pattern = PATTERN.exec(entry)?.groups;
    if (pattern !== undefined) patterns.push(parsePattern(pattern['domain'], pattern['port']));
    else named.add(parseOrigin(entry, field));
  }
  return (url) => {
    if (named.has(normalizeOrigin(url))) return 'named';
    return patterns.some((allows) => allows(url)) ? 'public' : 'unlisted';
  };
}

function parsePattern(domain: string | undefined, port = ''): (url: URL) => boolean {
  // Spelled as the URL parser spells it: lower case, punycode.
  const suffix =
    domain === undefined ? '' : (URL.parse(`https://host${domain}`)?.host.slice(4) ?? domain);
  const expectedPort = port === '443' ? '' : port;
  return (url) =>
    url.protocol === 'https:' && url.port === expectedPort && normalizeHost(url).endsWith(suffix);
}

function parseOrigin(entry: string, field: string): string {
  const url = URL.parse(entry);
  const isOrigin =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    `${url.pathname}${url.search}${url.hash}` === '/' &&
    !entry.includes('*');
  if (isOrigin) return normalizeOrigin(url);
  // An entry with credentials is not shown in the message.
  const shown = entry.includes('@') ? 'an entry with credentials' : JSON.stringify(entry);
  throw new InvalidInputError(
    field,
    'must list origins such as "http://127.0.0.1:11434" or "https://*.example.com", without a path; ' +
      `it has ${shown}.`,
  );
}

/** The origin of a URL. A trailing dot of the host name is removed. */
function normalizeOrigin(url: URL): string {
  return `${url.protocol}//${normalizeHost(url)}${url.port === '' ? '' : `:${url.port}`}`;
}

function normalizeHost({ hostname }: URL): string {
  return hostname.replace(/\.$/, '');
}
