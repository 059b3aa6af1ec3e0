import { InvalidInputError, isJsonObject, type JsonObject } from '../../core/index.ts';

/** Where a request carries a credential. Its values are secrets. */
export interface CredentialPlace {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** The secrets themselves, so that no response shows them. */
  readonly secrets: readonly string[];
}

/**
 * Finds where a credential belongs, by the scheme of the operation. A credential has ADK's form: `{ apiKey }`,
 * `{ http: { credentials: { token } } }`, `{ http: { credentials: { username, password } } }` or
 * `{ oauth2: { accessToken } }`.
 * @throws InvalidInputError if the credential does not fit the scheme. The message does not contain it.
 */
export function placeCredential(scheme: JsonObject, credential: unknown): CredentialPlace {
  const given = isJsonObject(credential) ? credential : {};
  const { type, in: place, name } = scheme;
  if (type === 'apiKey') {
    const key = readText(given['apiKey']);
    if (key === undefined || typeof name !== 'string') throw mismatch('an apiKey');
    const value = { [name]: key };
    const header = place === 'cookie' ? { cookie: `${name}=${encodeURIComponent(key)}` } : value;
    return place === 'query'
      ? { headers: {}, query: value, secrets: [key] }
      : { headers: header, query: {}, secrets: [key] };
  }
  const http = isJsonObject(given['http']) ? given['http'] : {};
  const parts = isJsonObject(http['credentials']) ? http['credentials'] : {};
  if (type === 'http' && readText(scheme['scheme'])?.toLowerCase() === 'basic') {
    const user = readText(parts['username']);
    const password = readText(parts['password']);
    if (user === undefined || password === undefined) throw mismatch('a username and a password');
    const encoded = Buffer.from(`${user}:${password}`).toString('base64');
    return toAuthorization(`Basic ${encoded}`, [password, encoded]);
  }
  const oauth2 = isJsonObject(given['oauth2']) ? given['oauth2'] : {};
  const token = readText(parts['token']) ?? readText(oauth2['accessToken']);
  if (token === undefined) throw mismatch('a token');
  return toAuthorization(`Bearer ${token}`, [token]);
}

function toAuthorization(authorization: string, secrets: readonly string[]): CredentialPlace {
  return { headers: { authorization }, query: {}, secrets };
}

function mismatch(expected: string): InvalidInputError {
  return new InvalidInputError('credential', `must have ${expected}, as the scheme requires.`);
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
