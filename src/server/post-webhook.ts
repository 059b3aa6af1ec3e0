import type { IncomingMessage } from 'node:http';
import { InvalidInputError } from '../core/index.ts';
import {
  allowedHosts,
  egressRule,
  pinnedRequest,
  webUrl,
  type ResolveHost,
} from '../egress/index.ts';

/** Of an answer; a result of a tool that is longer is none. */
const MAX_ANSWER_BYTES = 1_048_576;

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

export interface WebhookAnswer {
  readonly status: number;
  readonly body: string;
}

/** Sends a body to an address. */
export interface PostWebhook {
  /** @throws InvalidInputError when nothing would ever be sent there */
  readonly check: (url: string) => Promise<void>;
  /** Redirects are answers like others. @throws when there is no answer; the reason of the signal */
  readonly post: (
    url: string,
    body: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<WebhookAnswer>;
}

/**
 * Sends to public addresses only, and only with TLS, so that nobody who can name an address can reach what this machine
 * can reach. The address is judged anew each time, and is the very one that is connected to.
 */
export function postWebhook({ allowHosts = [], resolve }: WebhookRules = {}): PostWebhook {
  const addressFor = egressRule({
    isNamed: allowedHosts(allowHosts),
    ...(resolve !== undefined && { resolve }),
  });
  return {
    check: async (text) => {
      try {
        await addressFor(webUrl(text));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new InvalidInputError('url', `cannot be used: ${why}`, { cause: error });
      }
    },
    post: async (text, body, headers, signal) => {
      const url = webUrl(text);
      const address = await addressFor(url);
      signal.throwIfAborted();
      const answer = await pinnedRequest(url, address, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
        body,
        signal,
      });
      return { status: answer.statusCode ?? 0, body: await textOf(answer) };
    },
  };
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer) {
      const bytes = Buffer.from(chunk);
      size += bytes.byteLength;
      if (size > MAX_ANSWER_BYTES) throw new Error(`the answer is above ${MAX_ANSWER_BYTES} bytes`);
      chunks.push(bytes);
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    answer.destroy();
  }
}
