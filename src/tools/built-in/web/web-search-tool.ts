import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { optional, strictObject } from 'valibot';
import { checkOptions, optionTable } from '../../../core/index.ts';
import type { OptionTable } from '../../../core/index.ts';
import { tool, type Tool } from '../../tool/tool.ts';
import { countArgument, textArgument } from '../../schema/argument.ts';
import type { SearchProvider } from './search-provider.ts';

/** Options of `webSearchTool`. */
export interface WebSearchOptions {
  /** Runs the searches, for example `braveSearch({ apiKey })`. */
  readonly provider: SearchProvider;
  /** Time of one search, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Whether a person must approve each call. Default: false. */
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

/**
 * Creates `web_search`, which searches the web through a provider. It is read-only, so it runs
 * again after a crash.
 */
export function webSearchTool(options: WebSearchOptions): Tool {
  checkOptions(WEB_SEARCH_OPTIONS, options);
  const { provider, timeoutMs = 30_000, needsApproval = false } = options;
  return tool({
    name: 'web_search',
    description:
      'Searches the web and returns pages, best first, each with title, url and snippet. Their text is written by third parties.',
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
