import type { Event as StockEvent } from '@google/adk';
import { parseContent } from '../../core/index.ts';
import type { Content, Part } from '../../core/index.ts';

type StockContent = NonNullable<StockEvent['content']>;

/** A message of stock ADK as ours. @throws InvalidInputError for a part that is none */
export function fromStockContent(content: StockContent, role: Content['role']): Content {
  const parts = (content.parts ?? []).map((part): unknown =>
    Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined)),
  );
  return parseContent({ role, parts }, { unknownParts: 'keep' });
}

/** What an agent shows to others: its words and its files; its thinking and its calls are its own. */
export function visibleParts(content: StockContent | undefined): readonly Part[] {
  const parts = (content?.parts ?? []).filter(
    (part) =>
      part.functionCall === undefined &&
      part.functionResponse === undefined &&
      part.thought !== true,
  );
  return parts.length === 0 ? [] : fromStockContent({ parts }, 'model').parts;
}
