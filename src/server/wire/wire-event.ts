import { isJsonObject, sha256Hex } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type { ContentBlock } from '../../managed/index.ts';

/** An event as clients read it. `seq` is the number of the log event that it shows; one may show several. */
export type WireEvent = JsonObject & {
  readonly id: string;
  readonly type: string;
  readonly seq: number;
};

/**
 * The id of an event, from what it is about: the same in every process and at every read, and for what a client sends
 * known before it stands in the log.
 */
export function wireEventId(sessionUid: string, key: string): string {
  return `sevt_${sha256Hex(`${sessionUid}:${key}`).slice(0, 24)}`;
}

/** Content as the wire spells it. */
export function toWireContent(blocks: readonly ContentBlock[]): readonly Json[] {
  return blocks.map((block): Json => {
    switch (block.type) {
      case 'text':
        return { type: 'text', text: block.text };
      case 'file':
        return { type: 'document', source: { type: 'file', file_id: block.file_id } };
      case 'image': {
        const media = block.source['media_type'];
        const isImage = typeof media !== 'string' || media.startsWith('image/');
        return { type: isImage ? 'image' : 'document', source: block.source };
      }
      case 'opaque':
        return { type: 'text', text: JSON.stringify(block.value) };
      default:
        return block satisfies never;
    }
  });
}

/** What a tool gave, as the wire shows it: its text where that is all there is. */
export function toWireResult(response: Json): readonly Json[] {
  return [{ type: 'text', text: toResultText(response) }];
}

function toResultText(response: Json): string {
  if (typeof response === 'string') return response;
  if (isJsonObject(response)) {
    const { result, error, ...rest } = response;
    if (Object.keys(rest).length === 0) {
      if (typeof result === 'string') return result;
      const message =
        typeof error === 'object' && error !== null && 'message' in error
          ? error['message']
          : error;
      if (typeof message === 'string') return message;
    }
  }
  return JSON.stringify(response);
}
