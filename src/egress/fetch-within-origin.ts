const MAX_REDIRECTS = 5;

/**
 * Follows a redirect only where it stays at the same origin: a key goes along in headers that `fetch` takes to anywhere.
 * One that leads elsewhere is an error that says so.
 */
export function fetchWithinOrigin(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    // The packages say where as a text, and what as a text: both can be sent again.
    if (input instanceof Request) return fetch(input, { ...init, redirect: 'error' });
    let url = new URL(input);
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(url, { ...init, redirect: 'manual' });
      const location = response.headers.get('location');
      const isRedirect = response.status >= 300 && response.status < 400 && location !== null;
      if (!isRedirect) return response;
      await response.body?.cancel();
      const next = new URL(location, url);
      const preservesMethod = response.status === 307 || response.status === 308;
      if (next.origin !== url.origin || !preservesMethod || redirects === MAX_REDIRECTS) {
        throw new CrossOriginRedirectError(response.status, next);
      }
      url = next;
    }
  };
}

/** Told to the caller as an error of the model, of kind `bad_request`. */
class CrossOriginRedirectError extends Error {
  readonly statusCode = 400;

  constructor(status: number, { origin, pathname }: URL) {
    super(
      `the server redirects (${status}) to ${origin}${pathname}, and a request with credentials is not taken there: set baseUrl or url to where it is meant to go.`,
    );
    this.name = 'RedirectedError';
  }
}
