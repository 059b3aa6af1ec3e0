const MAX_REDIRECTS = 5;

/**
 * Wraps `fetch` so that it follows redirects within the same origin only. `fetch` alone would send headers that contain
 * a key to any origin. A redirect that is not followed rejects with an error that names its target.
 */
export function fetchWithinOrigin(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    // The provider packages pass the URL and the body as text, so both can be sent again. A Request cannot.
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

/** Callers report it as a model error of kind `bad_request`, because of its `statusCode`. */
class CrossOriginRedirectError extends Error {
  readonly statusCode = 400;

  constructor(status: number, { origin, pathname }: URL) {
    super(
      `the server redirects (${status}) to ${origin}${pathname}, and a request with credentials does not follow it. Set baseUrl or url to the final address.`,
    );
    this.name = 'RedirectedError';
  }
}
