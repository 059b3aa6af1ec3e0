import { FetchError } from './fetch-error.ts';

const MAX_URL_LENGTH = 4_000;

/**
 * Parses an http or https URL without credentials.
 * @throws FetchError with `url_refused` for anything else, and above 4,000 characters
 */
export function parseWebUrl(text: string): URL {
  const url = text.length > MAX_URL_LENGTH ? null : URL.parse(text);
  if (url === null) throw new FetchError('url_refused', 'This is not a URL. Begin with https://.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new FetchError('url_refused', 'Only http and https can be fetched.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new FetchError('url_refused', 'A URL with a user name or a password is not fetched.');
  }
  return url;
}
