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

/** What `web_fetch` may reach, and how much of it the model gets. */
export interface WebFetchOptions {
  /** Hosts that may be asked: `example.com`, `*.example.com`, `example.com:8080`; `*` for the whole public web. */
  readonly hosts: readonly string[];
  /** Of one body, unpacked. 4 MiB unless said. */
  readonly maxBytes?: number;
  /** Of the text that the model gets; the rest is cut, and that is said. 100,000 unless said. */
  readonly maxCharacters?: number;
  /** For all of it, redirects too. 30,000 unless said. */
  readonly timeoutMs?: number;
  /** 5 unless said; one more is refused. */
  readonly maxRedirects?: number;
  /** Whether a person is asked before each call; no unless said. */
  readonly needsApproval?: boolean;
  /** Resolves names; the system does unless said. */
  readonly resolve?: ResolveHost;
  /** Judges each address before it is connected to. Public ones only, unless said: give a rule to reach servers inside. */
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
 * `web_fetch`: reads a page of the web as text. It reaches nothing inside: no private, loopback, link-local or metadata
 * address, whatever a URL, a name or a redirect says. It only asks, so a crash asks again.
 * @throws InvalidInputError for an entry of `hosts` that is not a host.
 */
export function webFetchTool(options: WebFetchOptions): Tool {
  checkOptions(WEB_FETCH_OPTIONS, options);
  const { maxBytes = 4 * 1024 * 1024, maxCharacters = 100_000, maxRedirects = 5 } = options;
  const allowsHost = parseAllowedHosts(options.hosts);
  return tool({
    name: 'web_fetch',
    description:
      'Reads a page of the web by its URL (http or https) and returns its text. HTML becomes plain text; what is not text is refused.' +
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
      `It is not text, but ${mediaType || 'of no stated type'}.`,
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
