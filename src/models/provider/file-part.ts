import { omitUndefined } from '../../core/internal.ts';
import type { FileDataPart, InlineDataPart, Part } from '../../core/index.ts';
import type { PromptPart, StreamPart } from './language-model.ts';

/** Converts a file part to a part of a prompt. Other parts give none. */
export function toFilePart(
  part: Part,
  target: { readonly version: 'v3' | 'v4'; readonly family: string },
): readonly PromptPart[] {
  if ('inlineData' in part) {
    const { mimeType: mediaType, data, displayName: filename } = part.inlineData;
    const named = filename === undefined ? {} : { filename };
    return [
      {
        type: 'file',
        mediaType,
        data: target.version === 'v3' ? data : { type: 'data', data },
        ...named,
      },
    ];
  }
  if (!('fileData' in part)) return [];
  const { mimeType: mediaType, fileUri, displayName: filename } = part.fileData;
  const named = filename === undefined ? {} : { filename };
  return [{ type: 'file', mediaType, data: toFileData(fileUri, target), ...named }];
}

/** Converts a file that a model generated. */
export function fromFilePart(part: StreamPart): InlineDataPart | FileDataPart | undefined {
  const { mediaType: mimeType, data } = part;
  if (typeof mimeType !== 'string') return undefined;
  const inside = isTagged(data) ? (data.data ?? data.url) : data;
  if (typeof inside === 'string' && !(isTagged(data) && data.type === 'url')) {
    return { inlineData: { mimeType, data: inside } };
  }
  if (inside instanceof Uint8Array) {
    return { inlineData: { mimeType, data: Buffer.from(inside).toString('base64') } };
  }
  const fileUri = inside instanceof URL ? inside.href : inside;
  return typeof fileUri === 'string' ? { fileData: { mimeType, fileUri } } : undefined;
}

// A name that is not a URL is the provider's own id of a file that it stores.
function toFileData(
  fileUri: string,
  { version, family }: { readonly version: 'v3' | 'v4'; readonly family: string },
): unknown {
  const url = URL.parse(fileUri);
  if (version === 'v3') return url ?? fileUri;
  if (url === null) return { type: 'reference', reference: { [family]: fileUri } };
  // Parsing a gs: URL loses information, so the original text is sent, too.
  return {
    type: 'url',
    url,
    ...omitUndefined({ originalUrl: url.protocol === 'gs:' ? fileUri : undefined }),
  };
}

function isTagged(
  data: unknown,
): data is { readonly type: string; readonly data?: unknown; readonly url?: unknown } {
  return (
    typeof data === 'object' && data !== null && !ArrayBuffer.isView(data) && !(data instanceof URL)
  );
}
