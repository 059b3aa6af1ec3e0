import { omitUndefined } from '../../core/internal.ts';
import type { IncomingMessage } from 'node:http';
import { InvalidInputError } from '../../core/index.ts';
import {
  parseAllowedHosts,
  egressRule,
  pinnedRequest,
  parseWebUrl,
  type ResolveHost,
} from '../../egress/index.ts';

/** Maximum size of a response, and thereby of a tool result. */
const MAX_RESPONSE_BYTES = 1_048_576;

/** Addresses that webhooks may have. They are checked when a webhook is created, and again for each delivery. */
export interface WebhookRules {
  /** Hosts that may have a private address and plain http: `127.0.0.1:8080`, `*.internal`. Default: none. */
  readonly allowHosts?: readonly string[];
  /** Resolves host names. Default: the system's resolver. */
  readonly resolve?: ResolveHost;
}

export interface WebhookResponse {
  readonly status: number;
  readonly body: string;
}

/** Sends messages to webhooks. */
export interface WebhookSender {
  /** @throws InvalidInputError when the URL cannot be a webhook's */
  readonly assertAllowed: (url: string) => Promise<void>;
  /**
   * Sends a POST request. It follows no redirects.
   * @throws an error when there is no response; the reason of the signal
   */
  readonly send: (
    url: string,
    body: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<WebhookResponse>;
}

/**
 * Creates a sender that requires a public address and TLS, so that a caller who names an address cannot reach the
 * internal network. The address is checked for each delivery, and the connection goes to exactly the checked address.
 */
export function createWebhookSender({
  allowHosts = [],
  resolve,
}: WebhookRules = {}): WebhookSender {
  const resolveAddress = egressRule({
    isTrusted: parseAllowedHosts(allowHosts),
    ...omitUndefined({ resolve }),
  });
  return {
    assertAllowed: async (text) => {
      try {
        await resolveAddress(parseWebUrl(text));
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        throw new InvalidInputError('url', `cannot be used: ${problem}`, { cause: error });
      }
    },
    send: async (text, body, headers, signal) => {
      const url = parseWebUrl(text);
      const address = await resolveAddress(url);
      signal.throwIfAborted();
      const response = await pinnedRequest(url, address, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...headers,
          'content-length': Buffer.byteLength(body),
        },
        body,
        signal,
      });
      return { status: response.statusCode ?? 0, body: await readResponseBody(response) };
    },
  };
}

async function readResponseBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response) {
      const bytes = Buffer.from(chunk);
      size += bytes.byteLength;
      if (size > MAX_RESPONSE_BYTES)
        throw new Error(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`);
      chunks.push(bytes);
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    response.destroy();
  }
}
