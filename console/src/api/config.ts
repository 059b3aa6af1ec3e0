/** What the server says of itself to the console that it serves. */
export interface ConsoleConfig {
  /** The address of the API. */
  readonly server: string;
  readonly readOnly: boolean;
  readonly version: string;
  /** Whether the server proves properties of agents. */
  readonly proofs: boolean;
  /** The store that is looked at, when no server runs on it. */
  readonly store: string | undefined;
}

/** Reads what the server wrote into the page. Without it, the API is one level above the mount. */
export function readConfig(): ConsoleConfig {
  const written = document.querySelector('meta[name="petrichor-config"]')?.getAttribute('content');
  const value: unknown = JSON.parse(written ?? '{}');
  const read = (name: string): unknown => Reflect.get(Object(value), name);
  const [server, store, version] = [read('server'), read('store'), read('version')];
  return {
    server: new URL(typeof server === 'string' ? server : '../', document.baseURI).href,
    readOnly: read('read_only') === true,
    proofs: read('proofs') === true,
    version: typeof version === 'string' ? version : '',
    store: typeof store === 'string' ? store : undefined,
  };
}
