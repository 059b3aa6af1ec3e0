import { InvalidInputError } from '../core/index.ts';

/** Says whether a URL's host, with its port, may be asked. */
export type HostRule = (url: URL) => boolean;

/**
 * Reads a list of hosts: `example.com` is that host alone, `*.example.com` all below it, `*` every host. A port other
 * than that of the protocol must be given: `example.com:8080`.
 * @throws InvalidInputError for what is not one of these, such as a URL.
 */
export function parseAllowedHosts(list: readonly string[]): HostRule {
  const rules = list.map(parseHostRule);
  return (url) => rules.some((allows) => allows(url));
}

const ENTRY =
  /^(?<wild>\*\.|\*)?(?<host>\[[0-9a-f:.]+\]|(?!\.)[^*/?#@\s:[\]]*)(?::(?<port>\d{1,5}))?$/i;

function parseHostRule(entry: string): HostRule {
  const { wild, host = '', port = '' } = ENTRY.exec(entry)?.groups ?? {};
  // As the URL parser spells it: lower case, punycode, plain addresses.
  const name = host === '' ? '' : URL.parse(`http://${host}/`)?.hostname;
  const isWhole = wild === '*' ? host === '' : host !== '';
  if (name === undefined || !isWhole) {
    throw new InvalidInputError(
      'hosts',
      `"${entry}" is not a host such as example.com or *.example.com.`,
    );
  }
  return (url) => {
    if (url.port !== port) return false;
    if (wild === '*') return true;
    const requestedHost = url.hostname.replace(/\.$/, '');
    return wild === undefined ? requestedHost === name : requestedHost.endsWith(`.${name}`);
  };
}
