import { InvalidInputError } from '../core/index.ts';

/** True if the URL's host and port are allowed. */
export type HostRule = (url: URL) => boolean;

/**
 * Parses a list of hosts. `example.com` allows that host alone, `*.example.com` every host below it, `*` every host. A
 * port other than the protocol's default must be written: `example.com:8080`.
 * @throws InvalidInputError for any other entry, such as a URL
 */
export function parseAllowedHosts(list: readonly string[]): HostRule {
  const rules = list.map(parseHostRule);
  return (url) => rules.some((allows) => allows(url));
}

const ENTRY =
  /^(?<wild>\*\.|\*)?(?<host>\[[0-9a-f:.]+\]|(?!\.)[^*/?#@\s:[\]]*)(?::(?<port>\d{1,5}))?$/i;

function parseHostRule(entry: string): HostRule {
  const { wild, host = '', port = '' } = ENTRY.exec(entry)?.groups ?? {};
  // Spelled as the URL parser spells it: lower case, punycode, normalized IP addresses.
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
