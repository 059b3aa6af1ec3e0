import type { Part as A2aPart, Task } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { importOptional, isModuleNotFound } from '../../core/internal.ts';
import type { Content, Part } from '../../core/index.ts';
import { egressFetch, egressRule, parseAllowedHosts, parseWebUrl } from '../../egress/index.ts';
import { limitResponse } from './limit-response.ts';
import { RemoteAgentError } from './remote-agent-error.ts';

/** Where a remote agent is, and what may be requested to reach it. */
export interface RemoteAddress {
  /** The address of the card of the agent. */
  readonly cardUrl: string;
  /** Hosts that may have a private address and plain http, and that the card may name as an endpoint. */
  readonly allowHosts: readonly string[];
  /** Headers of each request, for example with a key. */
  readonly headers?: (() => RemoteHeaders | Promise<RemoteHeaders>) | undefined;
  /** How large a response, or an event of a stream, may be. */
  readonly maxResponseBytes: number;
}

/** Headers by name, as in `{ authorization: … }`. */
export type RemoteHeaders = Readonly<Record<string, string>>;

/** Loads the official client of A2A for an agent. */
export async function openA2aClient(address: RemoteAddress): Promise<Client> {
  const sdk = await importOptional(import('@a2a-js/sdk/client'), (cause) =>
    isModuleNotFound(cause)
      ? new RemoteAgentError('A remote agent needs a package. Run "npm install @a2a-js/sdk".', {
          cause,
        })
      : cause,
  );
  const fetchImpl = createFetch(address);
  const legacyCompat = { enabled: true };
  const factory = new sdk.ClientFactory({
    transports: [
      new sdk.JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
      new sdk.RestTransportFactory({ fetchImpl, legacyCompat }),
    ],
    cardResolver: new sdk.DefaultAgentCardResolver({ fetchImpl, legacyCompat }),
    clientConfig: { polling: true },
  });
  return factory.createFromUrl(address.cardUrl, '');
}

/**
 * The card comes from outside, so an endpoint that it names is requested only at the origin of the card, or at a host
 * that the program listed. Headers with keys go nowhere else.
 */
function createFetch({
  cardUrl,
  allowHosts,
  headers,
  maxResponseBytes,
}: RemoteAddress): typeof globalThis.fetch {
  const { origin } = parseWebUrl(cardUrl);
  const isTrusted = parseAllowedHosts(allowHosts);
  const rule = egressRule({ isTrusted });
  const fetch = egressFetch(async (url) => {
    if (url.origin === origin || isTrusted(url)) return rule(url);
    throw new RemoteAgentError(
      `The card of the remote agent names ${url.origin}, another origin than its own. List ${url.host} in allowHosts to allow it.`,
    );
  });
  return async (input, init) => {
    const own = new Headers(init?.headers);
    for (const [name, value] of Object.entries((await headers?.()) ?? {})) own.set(name, value);
    return limitResponse(await fetch(input, { ...init, headers: own }), maxResponseBytes);
  };
}

/** The parts of a message for a remote agent. */
export function toA2aParts({ parts }: Content): readonly A2aPart[] {
  return parts.flatMap(toA2aPart);
}

function toA2aPart(part: Part): readonly A2aPart[] {
  const empty = { metadata: undefined, filename: '', mediaType: '' };
  if ('text' in part)
    return part.thought === true || part.text === ''
      ? []
      : [{ ...empty, content: { $case: 'text', value: part.text } }];
  if ('inlineData' in part) {
    const { data, mimeType, displayName = '' } = part.inlineData;
    const value = Buffer.from(data, 'base64');
    return [
      { ...empty, content: { $case: 'raw', value }, mediaType: mimeType, filename: displayName },
    ];
  }
  if ('fileData' in part) {
    const { fileUri, mimeType } = part.fileData;
    return [{ ...empty, content: { $case: 'url', value: fileUri }, mediaType: mimeType }];
  }
  return [];
}

/** What a remote agent answered: the texts and files of its artifacts, or the question that it waits for. */
export function toAnswer({ artifacts, status }: Task, isWaiting: boolean): readonly Part[] {
  const parts = [
    ...artifacts.flatMap((artifact) => artifact.parts),
    ...(isWaiting || artifacts.length === 0 ? (status?.message?.parts ?? []) : []),
  ];
  return parts.flatMap(fromA2aPart);
}

/** A part of a remote agent's answer. */
export function fromA2aPart({ content, mediaType, filename }: A2aPart): readonly Part[] {
  const mimeType = mediaType === '' ? 'application/octet-stream' : mediaType;
  switch (content?.$case) {
    case 'text':
      return content.value === '' ? [] : [{ text: content.value }];
    case 'data':
      return [{ text: JSON.stringify(content.value) }];
    case 'raw': {
      const data = Buffer.from(content.value).toString('base64');
      return [
        { inlineData: { mimeType, data, ...(filename !== '' && { displayName: filename }) } },
      ];
    }
    case 'url':
      return [{ fileData: { mimeType, fileUri: content.value } }];
    default:
      return [];
  }
}

/** The text of a message of a remote agent. */
export function joinText(parts: readonly A2aPart[]): string {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}
