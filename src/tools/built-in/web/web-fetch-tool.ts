import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { strictObject } from 'valibot';
import { checkOptions, optionTable } from '../../../core/index.ts';
import type { OptionTable } from '../../../core/index.ts';
import {
  parseAllowedHosts,
  FetchError,
  loadPublicAddressRule,
  systemResolver,
  type AddressRule,
  type ResolveHost,
} from '../../../egress/index.ts';
import { tool, type Tool } from '../../tool/tool.ts';
import { textArgument } from '../../schema/argument.ts';
import { fetchPage } from './fetch-page.ts';
import { pageText } from './page-text.ts';
import type { WebResponse } from './web-response.ts';

/** Options of `webFetchTool`: the allowed hosts and the limits. */
export interface WebFetchOptions {
  /**
   * Allowed hosts: `example.com`, `*.example.com`, `example.com:8080`; `*` for the whole public
   * web.
   */
  readonly hosts: readonly string[];
  /** The largest decompressed body, in bytes. Default: 4 MiB. */
  readonly maxBytes?: number;
  /**
   * The longest text for the model, in characters. A longer one is cut and marked as truncated.
   * Default: 100,000.
   */
  readonly maxCharacters?: number;
  /** Time for the whole call including redirects, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Default: 5. One more is rejected. */
  readonly maxRedirects?: number;
  /** Whether a person must approve each call. Default: false. */
  readonly needsApproval?: boolean;
  /** Resolves host names. Default: the resolver of the system. */
  readonly resolve?: ResolveHost;
  /**
   * Checks each address before the connection. Default: public addresses only. Pass a rule to reach
   * internal servers.
   */
  readonly allowsAddress?: AddressRule;
}

/** The options of `webFetchTool`. */
export const WEB_FETCH_OPTIONS: OptionTable = optionTable<WebFetchOptions>(
  'webFetchTool',
  {
    hosts: true,
    maxBytes: true,
    maxCharacters: true,
    timeoutMs: true,
    maxRedirects: true,
    needsApproval: true,
    resolve: true,
    allowsAddress: true,
  },
  { requireConfirmation: 'needsApproval' },
);

/**
 * Creates `web_fetch`, which reads a web page as text. By default it cannot reach a private,
 * loopback, link-local or metadata address, whether by URL, host name or redirect. It is read-only,
 * so it runs again after a crash.
 * @throws InvalidInputError if an entry of `hosts` is not a host
 */
export function webFetchTool(options: WebFetchOptions): Tool {
  checkOptions(WEB_FETCH_OPTIONS, options);
  const { maxBytes = 4 * 1024 * 1024, maxCharacters = 100_000, maxRedirects = 5 } = options;
  const allowsHost = parseAllowedHosts(options.hosts);
  return tool({
    name: 'web_fetch',
    description:
      'Reads a page of the web by its URL (http or https) and returns its text. HTML becomes plain text; other content than text is rejected.' +
      (options.hosts.includes('*') ? '' : ` Only these hosts: ${options.hosts.join(', ')}.`),
    parameters: toStandardJsonSchema(
      strictObject({ url: textArgument('The whole URL, with https://.', 8_000) }),
    ),
    readOnly: true,
    needsApproval: options.needsApproval ?? false,
    timeoutMs: options.timeoutMs ?? 30_000,
    execute: async ({ url }, { signal }) => {
      const response = await fetchPage(
        url,
        {
          allowsHost,
          allowsAddress: options.allowsAddress ?? (await loadPublicAddressRule()),
          resolve: options.resolve ?? systemResolver,
          maxBytes,
          maxRedirects,
        },
        signal,
      );
      const text = await toText(response);
      return {
        url: response.url.href,
        status: response.status,
        content_type: response.mediaType,
        content: text.slice(0, maxCharacters),
        truncated: text.length > maxCharacters,
      };
    },
  });
}

async function toText({ mediaType, charset, body, url }: WebResponse): Promise<string> {
  if (!isText(mediaType) || body.subarray(0, 8_192).includes(0)) {
    throw new FetchError(
      'response_not_text',
      `The response is not text. Its type is ${mediaType || 'not stated'}.`,
    );
  }
  const text = decoderFor(charset).decode(body);
  return /^(?:text\/html|application\/xhtml\+xml)$/.test(mediaType)
    ? pageText(text, url.href)
    : text;
}

function isText(mediaType: string): boolean {
  return /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml|javascript|yaml|x-ndjson)$/.test(
    mediaType,
  );
}

function decoderFor(charset: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}
