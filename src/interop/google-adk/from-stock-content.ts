import type { Event as StockEvent } from '@google/adk';
import { omitUndefined } from '../../core/internal.ts';
import { parseContent } from '../../core/index.ts';
import type { Content, Part } from '../../core/index.ts';

type StockContent = NonNullable<StockEvent['content']>;

/**
 * Converts content of stock ADK.
 * @throws InvalidInputError for an invalid part
 */
export function fromStockContent(content: StockContent, role: Content['role']): Content {
  const parts = (content.parts ?? []).map((part) => omitUndefined(part));
  return parseContent({ role, parts }, { unknownParts: 'keep' });
}

/**
 * The parts of an agent's content that other agents see: text and files, without thinking and
 * calls.
 */
export function visibleParts(content: StockContent | undefined): readonly Part[] {
  const parts = (content?.parts ?? []).filter(
    (part) =>
      part.functionCall === undefined &&
      part.functionResponse === undefined &&
      part.thought !== true,
  );
  return parts.length === 0 ? [] : fromStockContent({ parts }, 'model').parts;
}
