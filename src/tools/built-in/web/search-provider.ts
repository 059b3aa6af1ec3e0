/** One search result. All its text is untrusted. */
export interface WebSearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** When the page was published or changed, if the provider knows. */
  readonly date?: string;
}

/** A web search service. */
export interface SearchProvider {
  readonly name: string;
  /**
   * Returns at most `count` pages, best first.
   * @throws SearchError if the provider fails or sends no valid results; the abort reason of the
   *   signal
   */
  readonly search: (
    query: string,
    options: { readonly count: number; readonly signal: AbortSignal },
  ) => Promise<readonly WebSearchResult[]>;
}
