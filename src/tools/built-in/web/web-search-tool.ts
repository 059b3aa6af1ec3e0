import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { optional, strictObject } from 'valibot';
import { checkOptions, optionTable } from '../../../core/index.ts';
import type { OptionTable } from '../../../core/index.ts';
import { tool, type Tool } from '../../tool/tool.ts';
import { countArgument, textArgument } from '../../schema/argument.ts';
import type { SearchProvider } from './search-provider.ts';

/** Who answers `web_search`, how long that may take, and whether a person is asked before. */
export interface WebSearchOptions {
  /** Who searches; `braveSearch({ apiKey })` is one. */
  readonly provider: SearchProvider;
  /** 30,000 unless said. */
  readonly timeoutMs?: number;
  /** Whether a person is asked before each call; no unless said. */
  readonly needsApproval?: boolean;
}

/** The options of `webSearchTool`. */
export const WEB_SEARCH_OPTIONS: OptionTable = optionTable<WebSearchOptions>(
  'webSearchTool',
  { provider: true, timeoutMs: true, needsApproval: true },
  { requireConfirmation: 'needsApproval' },
);

const MAX_RESULTS = 20;
const MAX_TITLE_LENGTH = 300;
const MAX_SNIPPET_LENGTH = 2_000;

/** `web_search`: asks a provider for pages on the web. It only asks, so a crash asks again. */
export function webSearchTool(options: WebSearchOptions): Tool {
  checkOptions(WEB_SEARCH_OPTIONS, options);
  const { provider, timeoutMs = 30_000, needsApproval = false } = options;
  return tool({
    name: 'web_search',
    description:
      'Searches the web and returns pages, best first, each with title, url and snippet. What they say was written by others.',
    parameters: toStandardJsonSchema(
      strictObject({
        query: textArgument('What to search for.', 400),
        count: optional(countArgument('How many pages to return.', 1, MAX_RESULTS), 10),
      }),
    ),
    readOnly: true,
    needsApproval,
    timeoutMs,
    execute: async ({ query, count }, { signal }) => {
      const found = await provider.search(query, { count, signal });
      return {
        results: found.slice(0, count).map(({ title, snippet, ...rest }) => ({
          title: title.slice(0, MAX_TITLE_LENGTH),
          snippet: snippet.slice(0, MAX_SNIPPET_LENGTH),
          ...rest,
        })),
      };
    },
  });
}
