import { isJsonObject, sha256Hex } from '../../core/index.ts';
import type { Json, SessionId } from '../../core/index.ts';
import type { ContentBlock } from '../../managed/index.ts';
import type { Wire } from './component.ts';

/**
 * An event in the format of the HTTP API. `seq` is the number of the log entry that it shows; several events may show
 * the same entry.
 */
export type WireEvent = Wire<'SessionEvent'>;

/** The source of an image. */
type BinarySource = Extract<Wire<'EventContentBlock'>, { readonly type: 'image' }>['source'];

/**
 * Derives the id of an event from its session and its key. The id is the same in every process and at every read. The
 * id of an event that a client sends is known before the event is in the log.
 */
export function wireEventId(sessionUid: string, key: string): string {
  return `sevt_${sha256Hex(`${sessionUid}:${key}`).slice(0, 24)}`;
}

/** The id of a session's thread in the HTTP API. */
export function toThreadId(session: SessionId): string {
  return `sthr_${sha256Hex(session).slice(0, 24)}`;
}

/** Converts content blocks to the format of the HTTP API. */
export function toWireContent(
  blocks: readonly ContentBlock[],
): readonly Wire<'EventContentBlock'>[] {
  return blocks.map((block) => {
    switch (block.type) {
      case 'text':
        return { type: 'text', text: block.text };
      case 'file':
        return { type: 'document', source: { type: 'file', file_id: block.file_id } };
      case 'image': {
        const mediaType = block.source['media_type'];
        const isImage = typeof mediaType !== 'string' || mediaType.startsWith('image/');
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the converters of content blocks write these two sources only
        const source = block.source as BinarySource;
        return { type: isImage ? 'image' : 'document', source };
      }
      case 'opaque':
        return { type: 'text', text: JSON.stringify(block.value) };
      default:
        return block satisfies never;
    }
  });
}

/**
 * Converts the response of a tool to content blocks. If it holds only a text, the block is that text; otherwise it is
 * the JSON.
 */
export function toWireResult(response: Json): readonly Wire<'EventContentBlock'>[] {
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
