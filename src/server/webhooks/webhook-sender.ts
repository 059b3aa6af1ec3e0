import type { IncomingMessage } from 'node:http';
import { InvalidInputError } from '../../core/index.ts';
import {
  parseAllowedHosts,
  egressRule,
  pinnedRequest,
  parseWebUrl,
  type ResolveHost,
} from '../../egress/index.ts';

/** Of an answer; a result of a tool that is longer is none. */
const MAX_RESPONSE_BYTES = 1_048_576;

/**
 * Which addresses webhooks may be sent to; what they refuse is refused when the webhook is made and again at each
 * sending.
 */
export interface WebhookRules {
  /**
   * Hosts that may be told although their address is not public, and without TLS: `127.0.0.1:8080`, `*.internal`. None
   * unless said.
   */
  readonly allowHosts?: readonly string[];
  /** Finds a host's addresses; as the system does unless given. */
  readonly resolve?: ResolveHost;
}

export interface WebhookResponse {
  readonly status: number;
  readonly body: string;
}

/** Sends a body to an address. */
export interface WebhookSender {
  /** @throws InvalidInputError when nothing would ever be sent there */
  readonly assertAllowed: (url: string) => Promise<void>;
  /** Redirects are answers like others. @throws when there is no answer; the reason of the signal */
  readonly send: (
    url: string,
    body: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<WebhookResponse>;
}

/**
 * Sends to public addresses only, and only with TLS, so that nobody who can name an address can reach what this machine
 * can reach. The address is judged anew each time, and is the very one that is connected to.
 */
export function createWebhookSender({
  allowHosts = [],
  resolve,
}: WebhookRules = {}): WebhookSender {
  const resolveAddress = egressRule({
    isTrusted: parseAllowedHosts(allowHosts),
    ...(resolve !== undefined && { resolve }),
  });
  return {
    assertAllowed: async (text) => {
      try {
        await resolveAddress(parseWebUrl(text));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new InvalidInputError('url', `cannot be used: ${why}`, { cause: error });
      }
    },
    send: async (text, body, headers, signal) => {
      const url = parseWebUrl(text);
      const address = await resolveAddress(url);
      signal.throwIfAborted();
      const response = await pinnedRequest(url, address, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
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
        throw new Error(`the answer is above ${MAX_RESPONSE_BYTES} bytes`);
      chunks.push(bytes);
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    response.destroy();
  }
}
