/** One thing a search found. All of it is text that strangers wrote. */
export interface WebSearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** When the page was published or changed, as far as the provider knows. */
  readonly date?: string;
}

/** Somebody who searches the web. */
export interface SearchProvider {
  readonly name: string;
  /**
   * Finds at most `count` pages, best first.
   * @throws SearchError when the provider does not answer, or not with results; the reason of the signal.
   */
  readonly search: (
    query: string,
    options: { readonly count: number; readonly signal: AbortSignal },
  ) => Promise<readonly WebSearchResult[]>;
}
